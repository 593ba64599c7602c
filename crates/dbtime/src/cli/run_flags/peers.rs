//! Words that other tools have for flags of `dbtime run`: some are taken for the flag, all others
//! are answered with it. Whatever is written down has dbtime's own name.

use super::{RunFlag, all, foreign_words};

/// What other tools call a flag.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerWords {
    /// Long names that mean exactly this flag and no other, without dashes: they are taken for it.
    pub(super) taken: &'static [&'static str],
    /// Words that several tools use for different things: they are refused, and the refusal names
    /// the flag.
    pub(super) refused: &'static [&'static str],
    /// The flag as it is written, in a phrase with an example.
    pub(super) example: &'static str,
}

impl PeerWords {
    pub(super) const NONE: Self = Self { taken: &[], refused: &[], example: "" };

    /// Whether it is one of them, with its dashes.
    fn have(&self, word: &str) -> bool {
        let is_taken = |long: &str| self.taken.contains(&long);
        self.refused.contains(&word) || word.strip_prefix("--").is_some_and(is_taken)
    }

    /// The flag as it is written, with the value that the word was given where both are numbers: no
    /// other is repeated, since it may be a secret.
    fn written(&self, value: Option<&str>) -> String {
        let mut words = self.example.splitn(3, ' ');
        let (flag, usual) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let number = value.and_then(as_number).filter(|_| as_number(usual).is_some());
        let Some(number) = number else { return self.example.to_owned() };
        // A bare number has the unit of the example.
        let unit = match number.bytes().all(|byte| byte.is_ascii_digit()) {
            true => usual.trim_start_matches(|sign: char| sign.is_ascii_digit()),
            false => "",
        };
        let rest = words.next().map_or(String::new(), |rest| format!(" {rest}"));
        format!("{flag} {number}{unit}{rest}")
    }
}

/// A value that is as short and plain as a number with a unit; `None`: it is another one.
pub(crate) fn as_number(text: &str) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./%".contains(&byte);
    let begins = text.starts_with(|sign: char| sign.is_ascii_digit());
    (begins && text.len() <= 12 && text.bytes().all(is_plain)).then_some(text)
}

/// What to write in place of another tool's word, of a command such as `dbtime run`, and of the
/// value that it has; `None`: it is none.
pub(crate) fn led_to(command: &str, word: &str, value: Option<&str>) -> Option<String> {
    let flag = all().find(|flag| flag.peers.have(word));
    let remedy = match flag {
        Some(flag) => format!("write {}", flag.peers.written(value)),
        None => foreign_words::remedy(word)?.to_owned(),
    };
    Some(format!("`{command}` has no flag {word}: {remedy}"))
}

/// Where the flags of the runs stand that a command is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FlagPlace {
    /// Among its own.
    CommandLine,
    /// In the file of a study that it plans.
    StudyFile,
    /// In the plan of a study that was begun.
    MadeStudy,
    /// In the records of runs that it shows.
    MadeRuns,
}

/// Words whose flag is another one in `dbtime run` than in the commands on a study.
const OF_RUN_ALONE: [(&str, &str); 2] =
    [("--events", "--transactions N"), ("--runs", "--repeat N")];

/// What to write in place of a word that a command does not have, and of its value, whose runs have
/// their flags in this place; `None`: it is no flag of a run, and no other tool's word for a flag.
pub(crate) fn placed_in(
    place: FlagPlace,
    command: &str,
    word: &str,
    value: Option<&str>,
) -> Option<String> {
    let is_of_run = |flag: &&RunFlag| {
        let is_meant = word.strip_prefix("--") == Some(flag.name) || flag.peers.have(word);
        // A study has seeds of its own.
        is_meant && flag.can_vary() && flag.name != "seed"
    };
    let own = match (all().find(is_of_run), place) {
        (Some(flag), _) if flag.peers.have(word) => flag.peers.written(value),
        (Some(_), _) => word.to_owned(),
        (None, FlagPlace::MadeRuns) => {
            let (_, own) = OF_RUN_ALONE.iter().find(|(name, _)| *name == word)?;
            (*own).to_owned()
        }
        (None, _) => return led_to(command, word, value),
    };
    let answer = match place {
        FlagPlace::CommandLine => return led_to(command, word, value),
        FlagPlace::StudyFile => {
            format!("flags of its runs go into `run` in the study's file: write {own}")
        }
        FlagPlace::MadeStudy => format!(
            "the plan of a started study is fixed: start another, and in `run` of its file write \
             {own}"
        ),
        FlagPlace::MadeRuns => {
            format!("it shows finished runs: make others by `dbtime run` with {own}")
        }
    };
    Some(format!("`{command}` has no flag {word}: {answer}"))
}

/// A command line of `dbtime run` as it is written down: each flag by its own name.
pub(crate) fn own_words(words: Vec<String>) -> Vec<String> {
    let mut is_behind_flags = false;
    let own = words.into_iter().map(|word| {
        is_behind_flags |= word == "--";
        match is_behind_flags {
            true => word,
            false => own_word(&word).unwrap_or(word),
        }
    });
    own.collect()
}

fn own_word(word: &str) -> Option<String> {
    let text = word.strip_prefix("--")?;
    let (name, value) = text.split_at(text.find('=').unwrap_or(text.len()));
    let flag = all().find(|flag| flag.peers.taken.contains(&name))?;
    Some(format!("--{}{value}", flag.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse::{complaint, parse};
    use crate::cli::run_flags::{find, setting};
    use crate::cli::{Cli, CliCommand};

    fn parsed(words: &str) -> Result<Cli, clap::Error> {
        parse(words.split(' '))
    }

    #[test]
    fn words_with_one_meaning_are_taken_for_the_flag() {
        for (word, own, value) in [
            ("--clients", "connections", "8"),
            ("--users", "connections", "8"),
            ("--vus", "connections", "8"),
            ("--duration", "time", "30s"),
        ] {
            let cli = parsed(&format!("dbtime run atm {word} {value}")).expect(word);
            let CliCommand::Run(args) = cli.command else { panic!("{word}: another command") };
            assert!(args.has(own), "{word}: {:?}", args.described);
        }
        let error = parsed("dbtime run atm --duration x").expect_err("no time");
        assert!(complaint(&error).is_some_and(|text| text.contains("--time")), "{error}");
    }

    #[test]
    fn all_others_are_answered_with_the_flag() {
        for (words, flag) in [
            ("--threads 8", "--connections 8"),
            ("--threads=8", "--connections 8"),
            ("-c 8", "--connections 8"),
            ("-c8", "--connections 8"),
            ("--threads=4", "--connections 4"),
            ("--threads hush", "--connections 8"),
            ("-j 2", "--shards 2"),
            ("-T 30", "--time 30s"),
            ("-T 2m", "--time 2m"),
            ("--host db1", "--target mysql://USER@HOST:PORT/DB"),
            ("--url=mysql://u:hush@h/d", "--target mysql://USER@HOST:PORT/DB"),
            ("-z 30s", "--time 30s"),
            ("-d 2m", "--time 2m"),
            ("-t 500", "--transactions 500"),
            ("-n 500", "--transactions 500"),
            ("--iterations=500", "--transactions 500"),
            ("--events 500", "--transactions N"),
            ("--qps=200", "--rate 200/s"),
            ("-R 200", "--rate 200/s"),
            ("-q 200", "--rate 200/s"),
            ("--runs 10", "--repeat 10"),
            ("-s 3", "--scale 3"),
            ("-M prepared", "--protocol prepared"),
            ("-f own.sql", "--script FILE"),
            ("--format json", "--json"),
            ("--allow-shell", "dbtime pgbench --allow-shell"),
            ("--length 5", "--time 5s"),
            ("--max-time=60", "--time 60s"),
            ("--seconds 10", "--time 10s"),
            ("--max-requests 500", "--transactions 500"),
            ("--count 500", "--transactions 500"),
            ("--timeout 5", "--statement-timeout 5s"),
            ("--mysql-host=hush", "--target mysql://USER@HOST:PORT/DB"),
            ("--mysql-password=hush", "--target mysql://USER@HOST:PORT/DB"),
            ("--db-driver mysql", "--target mysql://USER@HOST:PORT/DB"),
            ("-U hush", "--target mysql://USER@HOST:PORT/DB"),
            ("-C", "--reconnect every-transaction"),
            ("--export-json hush.json", "--json"),
            ("--samples 10", "--repeat 10"),
            ("--min-runs 10", "--repeat 10"),
        ] {
            let error = parsed(&format!("dbtime run atm {words}")).expect_err(words);
            let text = complaint(&error).expect("an error");
            assert!(text.contains(flag) && text.lines().count() == 1, "{words}: {text}");
            assert!(!text.contains("hush"), "{text}");
            assert_eq!(error.exit_code(), 2, "{words}");
        }
        let pair = "dbtime study ab atm --a workers=1 --b workers=2 --threads 4";
        let text = complaint(&parsed(pair).expect_err("no flag")).expect("an error");
        let expected = "`dbtime study ab` has no flag --threads: write --connections 4";
        assert!(text.starts_with(expected), "{text}");
        let error = parsed("dbtime init atm --target sqlite --threads 8").expect_err("no flag");
        assert!(!error.to_string().contains("dbtime run"), "of another command: {error}");
    }

    /// What users of sysbench, pgbench, k6, oha, wrk, hyperfine and vegeta may write.
    const FOREIGN_WORDS: [(&str, &str); 17] = [
        ("--threads 8", "--connections 8"),
        ("--clients 8", "--connections 8"),
        ("-c 8", "--connections 8"),
        ("--vus 8", "--connections 8"),
        ("-j 2", "--shards 2"),
        ("-T 30", "--time 30s"),
        ("--time 30s", "--time"),
        ("--duration 30s", "--time 30s"),
        ("-z 30s", "--time 30s"),
        ("--events 500", "--transactions"),
        ("--iterations 500", "--transactions 500"),
        ("-n 500", "--transactions 500"),
        ("--rps 200", "--rate 200/s"),
        ("--qps 200", "--rate 200/s"),
        ("-q 200", "--rate 200/s"),
        ("--runs 10", "--repeat"),
        ("--warmup 3s", "--warmup"),
    ];

    #[test]
    fn words_of_other_tools_are_taken_or_lead_to_the_flag_in_every_command() {
        let pair = "study ab atm --a workers=1 --b workers=2";
        for (words, flag) in FOREIGN_WORDS {
            for command in ["run atm", pair, "compare a b", "report r"] {
                let Err(error) = parsed(&format!("dbtime {command} {words}")) else {
                    assert!(command == "run atm" || command == pair, "{command} {words}");
                    continue;
                };
                // The time for all runs says how many a pair has.
                let flag = if command == pair && flag == "--repeat" { "--for TIME" } else { flag };
                let text = complaint(&error).expect("an error");
                assert!(text.contains(flag) && text.lines().count() == 1, "{words}: {text}");
                assert_eq!(error.exit_code(), 2, "{words}");
            }
        }
        let error = parsed("dbtime compare a b --threads 8").expect_err("no flag");
        let expected = "`dbtime compare` has no flag --threads: it shows finished runs: make \
                        others by `dbtime run` with --connections 8 for clients";
        let text = complaint(&error).expect("an error");
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn commands_on_a_study_are_answered_with_the_place_of_the_flag() {
        for (words, flag) in [
            ("plan s.toml --threads 8", "in the study's file: write --connections 8 for"),
            ("run s.toml --clients=8", "in the study's file: write --connections 8 for"),
            ("run s.toml --connections 8", "in the study's file: write --connections"),
            ("run s.toml -T 30", "in the study's file: write --time 30s"),
            ("plan s.toml --runs 10", "`dbtime study plan` has no flag --runs: write --blocks 10"),
            ("resume s --threads 8", "start another, and in `run` of its file write --conn"),
            ("verify s --threads 8", "start another, and in `run` of its file write --conn"),
            ("report s --duration 8s", "start another, and in `run` of its file write --time"),
            ("report s --format json", "`dbtime study report` has no flag --format: write --json"),
        ] {
            let error = parsed(&format!("dbtime study {words}")).expect_err(words);
            let text = complaint(&error).expect("an error");
            assert!(text.contains(flag) && text.lines().count() == 1, "{words}: {text}");
            assert!(text.starts_with("`dbtime study ") && error.exit_code() == 2, "{text}");
        }
        let error = parsed("dbtime study run s.toml --seed 3").expect_err("its own");
        assert!(!error.to_string().contains("go into `run`"), "{error}");
    }

    #[test]
    fn a_sweep_and_a_study_are_answered_too() {
        for (name, flag) in [("threads", "--connections 8"), ("clients", "--connections 8")] {
            let error = setting(name, "8").expect_err(name);
            assert!(error.contains(flag), "{error}");
        }
    }

    #[test]
    fn what_is_written_down_has_names_of_dbtime() {
        let words = "dbtime run --clients=8 --users 4 --duration 5s --time 6s --query a -- --vus";
        let own = own_words(words.split(' ').map(str::to_owned).collect()).join(" ");
        let expected = "dbtime run --connections=8 --connections 4 --time 5s --time 6s --query a \
                        -- --vus";
        assert_eq!(own, expected);
    }

    /// Else a flag of dbtime's own would be refused, or taken for another.
    #[test]
    fn no_word_is_a_flag_or_there_twice() {
        let mut words: Vec<String> = Vec::new();
        for flag in all() {
            let peers = flag.peers;
            let has_none = peers.taken.is_empty() && peers.refused.is_empty();
            assert_eq!(peers.example.is_empty(), has_none, "{}", flag.name);
            assert!(has_none || peers.example.starts_with(&format!("--{}", flag.name)));
            words.extend(peers.taken.iter().map(|long| format!("--{long}")));
            words.extend(peers.refused.iter().map(|&word| word.to_owned()));
        }
        words.sort_unstable();
        assert!(words.windows(2).all(|two| two[0] != two[1]), "{words:?}");
        assert!(words.iter().all(|word| find(word.trim_start_matches('-')).is_none()));
    }
}
