//! Words of pt-query-digest, pgBadger and GoAccess that `dbtime log` does not know, and what has
//! their place there.

/// The command that these words are given to.
const COMMAND: &str = "dbtime log";

/// Words that mean the same, and what to write or do instead.
const WORDS: [(&[&str], &str); 19] = [
    (
        &["--output", "--report-format", "--no-report", "-x", "--extension"],
        "write --json, --html FILE or --markdown, or --format percona for the report of \
         pt-query-digest",
    ),
    (&["-o", "--outfile"], "write --html FILE, or --json > FILE"),
    (
        &["--review", "--review-history", "--history"],
        "keep outputs of --json, and `dbtime compare OLD.json NEW.json` shows what is new or \
         changed",
    ),
    (
        &["--type", "-f", "--log-file"],
        "name the log without a flag; its format is found by its first lines, or named by \
         --read-as FORMAT",
    ),
    (
        &["--log-format"],
        "write --access-format STRING, with the server's own format string or a name, such as \
         combined",
    ),
    (
        &["--date-format", "--time-format", "--datetime-format"],
        "the time is a part of the format string: write --access-format STRING",
    ),
    (&["-p"], "write --prefix STRING"),
    (&["--top", "-t", "-n"], "write --limit N"),
    (&["--outliers"], "write --order-by max or --order-by p99"),
    (
        &["--filter", "--include-query", "--exclude-query", "--include-file", "--exclude-file"],
        "select records by --since and --until, and divide them by --group-by user, host or \
         database",
    ),
    (
        &["--dbname", "-d", "--dbuser", "-u", "--dbclient", "-c", "--exclude-ip"],
        "write --group-by database, --group-by user or --group-by host",
    ),
    (&["--begin", "-b"], "write --since TIME"),
    (&["--end", "-e"], "write --until TIME"),
    (&["--jobs", "-j", "-J", "--Jobs"], "write --threads N"),
    (
        &["--incremental", "-I", "--last-parsed", "-l", "--resume", "--persist", "--restore"],
        "write --since-last STATE",
    ),
    (&["--timeline"], "the line `load` and the charts of --html show when"),
    (&["--sample"], "--details has two records of each class, with --raw-sql their text"),
    (
        &["--anonymize", "--fingerprints"],
        "leave it out: literals are in no output unless --raw-sql is given",
    ),
    (
        &["--processlist", "--tcpdump", "--real-time-html"],
        "watch the server itself with `dbtime trace` or `dbtime top`",
    ),
];

/// What to write in place of a flag of another tool; `None`: it is of none, or not of this command.
pub(super) fn answer(command: &str, word: &str) -> Option<String> {
    let (_, instead) = WORDS.iter().find(|(words, _)| words.contains(&word))?;
    (command == COMMAND).then(|| format!("`{COMMAND}` has no flag {word}: {instead}"))
}

#[cfg(test)]
mod tests {
    use super::WORDS;
    use crate::cli::parse::{command, complaint_of as refused};

    #[test]
    fn words_of_other_tools_are_answered() {
        for (flags, part) in [
            ("--output json", "has no flag --output: write --json, --html FILE or --markdown"),
            ("--output=report", "has no flag --output: write --json"),
            ("--review h=localhost", "`dbtime compare OLD.json NEW.json`"),
            ("--type slowlog", "named by --read-as FORMAT"),
            ("-f stderr", "has no flag -f: name the log without a flag"),
            ("--log-format=COMBINED", "write --access-format STRING"),
            ("--top 5", "has no flag --top: write --limit N"),
            ("-j 4", "write --threads N"),
            ("--filter x", "select records by --since and --until"),
            ("--incremental", "write --since-last STATE"),
            ("--limit 95%:20", "a number of classes, without a share: 20"),
        ] {
            let text = refused(&format!("dbtime log slow.log {flags}"));
            assert!(text.contains(part) && !text.contains("tip:"), "{flags}: {text}");
        }
    }

    #[test]
    fn no_word_is_a_flag_of_the_command_and_every_flag_that_is_named_is_one() {
        let command = command();
        let log = command.find_subcommand("log").expect("the command");
        let has = |flag: &str| log.get_arguments().any(|arg| arg.get_long() == Some(flag));
        for (words, instead) in &WORDS {
            assert!(words.iter().all(|word| !has(word.trim_start_matches('-'))), "{words:?}");
            let named = instead.split(|sign: char| !sign.is_ascii_lowercase() && sign != '-');
            for flag in named.filter_map(|word| word.strip_prefix("--")) {
                assert!(has(flag), "--{flag} in {instead:?}");
            }
        }
    }

    #[test]
    fn other_commands_have_their_own_words() {
        assert!(!refused("dbtime ps --top 5").contains("--limit"));
    }
}
