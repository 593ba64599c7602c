//! Flags of other tools, and of other commands of dbtime, that no single flag of a run stands for,
//! with what to do in their place. Words that mean one flag are in `table`.

/// Words, with what to do in their place.
const REMEDIES: [(&[&str], &str); 16] = [
    (&["--allow-shell"], "scripts run programs only under `dbtime pgbench --allow-shell`"),
    (
        &["--table-size", "--tables", "--rand-type"],
        "options of a script of sysbench are --script-set table_size=1000, and the size of a \
         workload is --scale N",
    ),
    (
        &["--stage", "--stages", "--burst-rate"],
        "a rate that changes is --rate 0s:100/s,30s:500/s or --rate ramp:100/s..2000/s",
    ),
    (
        &["--latency", "-L"],
        "reports always have percentiles, and a limit on one is --limit 'p99<=10ms'",
    ),
    (
        &["--latency-correction"],
        "with --rate a response counts from the instant at which it was due",
    ),
    (
        &["--report-interval", "--progress", "-P"],
        "progress is on stderr, and series.csv of the record has a row for each second",
    ),
    (
        &["--select-only", "-S"],
        "`dbtime pgbench -S` runs that script, and --query SQL a statement of your own",
    ),
    (&["--skip-some-updates", "-N"], "`dbtime pgbench -N` runs that script"),
    (&["--report-latencies", "-r"], "reports have the latency of each statement with --details"),
    (&["--verbose"], "the whole report is printed with --details"),
    (
        &["-u"],
        "clients are --connections N, and a user is part of --target mysql://USER@HOST:PORT/DB",
    ),
    (&["-p"], "connections are --connections N, and a password is read from --password-file FILE"),
    (&["-i"], "iterations are --transactions N, and `dbtime init` loads data"),
    (&["--prepare"], "private servers load their data themselves, others by `dbtime init`"),
    (&["--csv"], "series.csv of a run has a row for each second, runs.csv of a study for each run"),
    (
        &["--confidence", "--alpha"],
        "verdicts have 95 % confidence; the smallest change of interest is --margin of `dbtime \
         study ab` and `dbtime compare`",
    ),
];

/// What to do in place of such a word; `None`: it is none.
pub(super) fn remedy(word: &str) -> Option<&'static str> {
    let found = REMEDIES.iter().find(|(words, _)| words.contains(&word));
    found.map(|(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse::complaint_of as refused;
    use crate::cli::run_flags::find;

    #[test]
    fn words_without_a_flag_are_answered_with_what_to_do() {
        for words in ["run atm", "study ab atm --a workers=1 --b workers=2"] {
            for (word, told) in [
                ("--table-size 1000", "the size of a workload is --scale N"),
                ("--rand-type=uniform", "--script-set"),
                ("--stages 30s:10", "--rate 0s:100/s,30s:500/s"),
                ("--latency", "--limit 'p99<=10ms'"),
                ("--report-interval=1", "progress is on stderr"),
                ("-P 5", "progress is on stderr"),
                ("-S", "`dbtime pgbench -S`"),
                ("-r", "--details"),
                ("-phush", "--password-file"),
                ("-u 10", "--connections N"),
                ("--verbose", "--details"),
                ("--prepare x", "`dbtime init`"),
                ("--alpha 0.01", "95 % confidence"),
            ] {
                let text = refused(&format!("dbtime {words} {word}"));
                assert!(text.contains(told) && text.lines().count() == 1, "{word}: {text}");
                assert!(!text.contains("hush") && text.contains(" has no flag -"), "{text}");
            }
        }
    }

    /// Else the answer would never be given, or another one would.
    #[test]
    fn no_word_is_a_flag_or_there_twice() {
        let mut words: Vec<&str> = REMEDIES.iter().flat_map(|(words, _)| *words).copied().collect();
        assert!(words.iter().all(|word| find(word.trim_start_matches('-')).is_none()), "{words:?}");
        words.sort_unstable();
        assert!(words.windows(2).all(|two| two[0] != two[1]), "{words:?}");
    }
}
