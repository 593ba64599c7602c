//! pgbench's log of transactions: a line for each, or one for every few seconds.
//!
//! Every thread has a log of its own. It takes transactions and gives the text that belongs into
//! the thread's file; files, clocks and random numbers are the caller's.

use super::options::{BenchmarkOptions, LogDetail, LogOptions};
use super::report::RunningMoments;
use super::statistics::PgbenchCounts;
use std::fmt::Write as _;

/// Microseconds in a second.
const SECOND: i64 = 1_000_000;

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogOutcome {
    /// It is complete, after so many microseconds.
    Complete(f64),
    /// It was not begun, for it was late already.
    Skipped,
    /// It could not be serialized, and its tries are used up.
    Serialization,
    /// It was in a deadlock, and its tries are used up.
    Deadlock,
}

/// One transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// Whose it was.
    pub client: u32,
    /// Which of the client's, from 1.
    pub number: u64,
    /// Which script, from 0.
    pub script: usize,
    /// What became of it.
    pub fate: LogOutcome,
    /// When it ended. Unit: microseconds since 1970.
    pub ended_us: i64,
    /// How late it began, with a rate. Unit: microseconds.
    pub lag_us: f64,
    /// Tries beyond the first.
    pub retries: u64,
}

/// The name of a thread's file.
pub fn log_file_name(prefix: &str, process: u32, thread: u32) -> String {
    match thread {
        0 => format!("{prefix}.{process}"),
        _ => format!("{prefix}.{process}.{thread}"),
    }
}

/// Which columns lines have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogColumns {
    has_rate: bool,
    has_limit: bool,
    has_retries: bool,
    is_failure_detailed: bool,
}

/// A thread's log.
#[derive(Clone, Debug)]
pub struct ThreadLog {
    detail: LogDetail,
    columns: LogColumns,
    sums: LogSums,
}

impl ThreadLog {
    /// The log of a thread that began at `began_us`, in microseconds since 1970.
    pub fn new(log: &LogOptions, benchmark: &BenchmarkOptions, began_us: i64) -> Self {
        let columns = LogColumns {
            has_rate: benchmark.rate.is_some(),
            has_limit: benchmark.latency_limit_ms.is_some(),
            has_retries: benchmark.max_tries != 1,
            is_failure_detailed: benchmark.is_failure_detailed,
        };
        Self { detail: log.detail, columns, sums: LogSums::of(began_us.div_euclid(SECOND)) }
    }

    /// Takes a transaction and adds the lines that are due to `text`. `draw` is a random number
    /// from 0 up to 1, for the share that is logged.
    pub fn record(&mut self, entry: &LogEntry, draw: f64, text: &mut String) {
        match self.detail {
            LogDetail::Every => self.line(entry, text),
            LogDetail::Sampled(share) if draw > share => {}
            LogDetail::Sampled(_) => self.line(entry, text),
            LogDetail::Aggregated(seconds) => {
                self.pass(seconds, entry.ended_us, text);
                self.sums.counts.add_entry(entry);
            }
        }
    }

    /// Adds what is left at the end to `text`. An interval that is not over is left out, as pgbench
    /// leaves it out.
    pub fn end(&mut self, now_us: i64, text: &mut String) {
        if let LogDetail::Aggregated(seconds) = self.detail {
            self.pass(seconds, now_us, text);
        }
    }

    fn line(&self, entry: &LogEntry, text: &mut String) {
        let LogEntry { client, number, script, .. } = *entry;
        let seconds = entry.ended_us.div_euclid(SECOND);
        let micros = entry.ended_us.rem_euclid(SECOND);
        let _ = write!(text, "{client} {number} ");
        let _ = match entry.fate {
            LogOutcome::Complete(latency_us) => write!(text, "{latency_us:.0}"),
            LogOutcome::Skipped => write!(text, "skipped"),
            LogOutcome::Serialization if self.columns.is_failure_detailed => {
                write!(text, "serialization")
            }
            LogOutcome::Deadlock if self.columns.is_failure_detailed => write!(text, "deadlock"),
            LogOutcome::Serialization | LogOutcome::Deadlock => write!(text, "failed"),
        };
        let _ = write!(text, " {script} {seconds} {micros}");
        if self.columns.has_rate {
            // What was not begun was not late to begin.
            let lag_us = if entry.fate == LogOutcome::Skipped { 0.0 } else { entry.lag_us };
            let _ = write!(text, " {lag_us:.0}");
        }
        if self.columns.has_retries {
            let _ = write!(text, " {}", entry.retries);
        }
        text.push('\n');
    }

    /// Writes every interval that is over.
    fn pass(&mut self, seconds: u32, now_us: i64, text: &mut String) {
        let seconds = i64::from(seconds);
        while self.sums.began_s + seconds <= now_us.div_euclid(SECOND) {
            self.sums.line(self.columns, text);
            self.sums = LogSums::of(self.sums.began_s + seconds);
        }
    }
}

/// What a line for several transactions tells.
#[derive(Clone, Copy, Debug)]
struct LogSums {
    began_s: i64,
    counts: PgbenchCounts,
}

impl LogSums {
    fn of(began_s: i64) -> Self {
        Self { began_s, counts: PgbenchCounts::default() }
    }

    fn line(&self, columns: LogColumns, text: &mut String) {
        let only = |has: bool, count: u64| if has { count } else { 0 };
        let Self { began_s, counts } = self;
        let count = counts.latency.count;
        let latency = counts.latency.columns();
        let lag = if columns.has_rate { counts.lag } else { RunningMoments::default() };
        let lag = lag.columns();
        let skipped = only(columns.has_limit, counts.skipped);
        let [retried, retries] =
            [counts.retried, counts.retries].map(|count| only(columns.has_retries, count));
        let [serializations, deadlocks] = [counts.serialization_failures, counts.deadlock_failures]
            .map(|count| only(columns.is_failure_detailed, count));
        let _ = writeln!(
            text,
            "{began_s} {count} {latency} {lag} {skipped} {retried} {retries} {serializations} \
             {deadlocks}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgbench::options::{PgbenchCommand, read};

    const BEGAN: i64 = 1_795_286_603 * SECOND + 900_000;

    fn log(line: &str) -> ThreadLog {
        match read(line.split_whitespace()) {
            Ok(PgbenchCommand::Benchmark(run)) => {
                ThreadLog::new(run.log.as_ref().expect("a log"), &run, BEGAN)
            }
            other => panic!("{other:?}"),
        }
    }

    fn entry(fate: LogOutcome) -> LogEntry {
        let ended_us = BEGAN + 42_073;
        LogEntry { client: 2, number: 473, script: 0, fate, ended_us, lag_us: 171.7, retries: 1 }
    }

    fn line(options: &str, fate: LogOutcome) -> String {
        let mut text = String::new();
        log(options).record(&entry(fate), 0.0, &mut text);
        text
    }

    #[test]
    fn a_line_has_the_columns_that_the_run_asks_for() {
        let complete = LogOutcome::Complete(796.6);
        assert_eq!(line("-l", complete), "2 473 797 0 1795286603 942073\n");
        assert_eq!(line("-l -R 9", complete), "2 473 797 0 1795286603 942073 172\n");
        assert_eq!(
            line("-l -R 9 --max-tries=2", complete),
            "2 473 797 0 1795286603 942073 172 1\n"
        );
        assert_eq!(line("-l -R 9", LogOutcome::Skipped), "2 473 skipped 0 1795286603 942073 0\n");
    }

    #[test]
    fn failures_are_told_by_their_kinds_where_that_is_asked() {
        let failed = "2 473 failed 0 1795286603 942073\n";
        assert_eq!(line("-l", LogOutcome::Serialization), failed);
        assert_eq!(line("-l", LogOutcome::Deadlock), failed);
        let detailed = |fate| line("-l --failures-detailed --max-tries=2", fate);
        assert_eq!(
            detailed(LogOutcome::Serialization),
            "2 473 serialization 0 1795286603 942073 1\n"
        );
        assert_eq!(detailed(LogOutcome::Deadlock), "2 473 deadlock 0 1795286603 942073 1\n");
    }

    #[test]
    fn microseconds_are_not_padded() {
        let mut text = String::new();
        let ended_us = 1_795_286_615 * SECOND + 6_567;
        let entry = LogEntry { ended_us, ..entry(LogOutcome::Complete(1.0)) };
        log("-l").record(&entry, 0.0, &mut text);
        assert!(text.ends_with("1795286615 6567\n"), "{text}");
    }

    #[test]
    fn a_share_is_logged() {
        let (mut log, mut text) = (log("-l --sampling-rate=0.25"), String::new());
        for draw in [0.1, 0.3, 0.2, 0.9] {
            log.record(&entry(LogOutcome::Complete(1.0)), draw, &mut text);
        }
        assert_eq!(text.lines().count(), 2);
    }

    fn aggregated(options: &str) -> String {
        let (mut log, mut text) = (log(options), String::new());
        for fate in [
            LogOutcome::Complete(2000.0),
            LogOutcome::Complete(3000.0),
            LogOutcome::Serialization,
            LogOutcome::Deadlock,
            LogOutcome::Skipped,
        ] {
            log.record(&LogEntry { lag_us: 10.0, ..entry(fate) }, 0.0, &mut text);
        }
        assert_eq!(text, "");
        log.end(BEGAN + 2 * SECOND, &mut text);
        text
    }

    #[test]
    fn an_interval_is_a_line_and_an_empty_one_is_zeros() {
        let expected = "1795286603 2 5000 13000000 2000 3000 0 0 0 0 0 0 0 0 0\n\
                        1795286604 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
        assert_eq!(aggregated("-l --aggregate-interval=1"), expected);
    }

    #[test]
    fn an_interval_counts_what_the_run_asks_for() {
        let options = "-l --aggregate-interval=2 -R 9 -L 9 --max-tries=2 --failures-detailed";
        let expected = "1795286603 2 5000 13000000 2000 3000 20 200 10 10 1 4 4 1 1\n";
        assert_eq!(aggregated(options), expected);
    }

    #[test]
    fn an_interval_that_is_not_over_is_left_out() {
        let (mut log, mut text) = (log("-l --aggregate-interval=5"), String::new());
        log.record(&entry(LogOutcome::Complete(1.0)), 0.0, &mut text);
        log.end(BEGAN + 4 * SECOND, &mut text);
        assert_eq!(text, "");
        log.end(BEGAN + 5 * SECOND, &mut text);
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn threads_beyond_the_first_have_their_number_in_the_files_name() {
        assert_eq!(log_file_name("p", 28164, 0), "p.28164");
        assert_eq!(log_file_name("p", 28164, 1), "p.28164.1");
    }
}
