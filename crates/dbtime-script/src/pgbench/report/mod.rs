//! pgbench's report and its lines of progress, to the letter: wrapper scripts read them.
//!
//! Everything takes figures and gives text; nothing here measures or prints. Where pgbench 15
//! prints `NaN`, so does this.

mod moments;
mod outcome;

#[cfg(test)]
mod tests;

pub use moments::RunningMoments;
pub use outcome::{CommandOutcome, PgbenchOutcome, ScriptOutcome};

use super::init::PartitionScheme;
use super::options::{BenchmarkOptions, RunLength};
use super::statistics::PgbenchCounts;
use std::fmt::Write as _;

/// Microseconds in a millisecond, and milliseconds in a second.
const THOUSAND: f64 = 1e3;

/// What is said after the report of a run in which a client gave up.
pub const ABORTED: &str = "pgbench: error: Run was aborted; the above results are incomplete.\n";

/// The first line of all.
pub fn banner(server: Option<&str>) -> String {
    let server = server.map(|version| format!(", server {version}")).unwrap_or_default();
    format!("pgbench (dbtime {}{server})\n", env!("CARGO_PKG_VERSION"))
}

/// A line of progress: what `interval` counted in `interval_s` seconds. `now_s` is the time since
/// the start, or since 1970 with `--progress-timestamp`.
pub fn progress(
    benchmark: &BenchmarkOptions,
    now_s: f64,
    interval_s: f64,
    interval: &PgbenchCounts,
) -> String {
    let digits = if benchmark.is_progress_timestamped { 3 } else { 1 };
    let rate = interval.completed as f64 / interval_s;
    let (latency, deviation) = or_zeros(&interval.latency);
    let mut line = format!(
        "progress: {now_s:.digits$} s, {rate:.1} tps, lat {latency:.3} ms stddev {deviation:.3}, \
         {} failed",
        interval.failures()
    );
    if benchmark.rate.is_some() {
        let _ = write!(line, ", lag {:.3} ms", or_zeros(&interval.lag).0);
        if benchmark.latency_limit_ms.is_some() {
            let _ = write!(line, ", {} skipped", interval.skipped);
        }
    }
    if benchmark.max_tries != 1 {
        let _ = write!(line, ", {} retried, {} retries", interval.retried, interval.retries);
    }
    line + "\n"
}

/// Mean and deviation in milliseconds; zeros where there is nothing.
fn or_zeros(moments: &RunningMoments) -> (f64, f64) {
    if moments.count == 0 {
        return (0.0, 0.0);
    }
    (moments.mean() / THOUSAND, moments.deviation() / THOUSAND)
}

/// The report, after the banner.
pub fn report(benchmark: &BenchmarkOptions, outcome: &PgbenchOutcome) -> String {
    let report = PgbenchReport { benchmark, outcome };
    let mut text = report.settings() + &report.counts();
    let total = &outcome.total;
    if total.completed + total.skipped == 0 {
        // Nothing was done that anything else could be said about.
        return text;
    }
    text.push_str(&report.limits());
    text.push_str(&report.times());
    if benchmark.scripts.len() > 1 {
        (0..benchmark.scripts.len()).for_each(|index| text.push_str(&report.script(index)));
    } else if benchmark.is_reported_per_command {
        let commands = outcome.scripts.first().map_or(&[][..], |script| &script.commands);
        text.push_str(&report.commands("", commands));
    }
    text
}

/// A count and its share of all.
fn share(count: u64, of: u64) -> String {
    format!("{count} ({:.3}%)", 100.0 * count as f64 / of as f64)
}

struct PgbenchReport<'a> {
    benchmark: &'a BenchmarkOptions,
    outcome: &'a PgbenchOutcome,
}

impl PgbenchReport<'_> {
    fn settings(&self) -> String {
        let BenchmarkOptions { scripts, clients, jobs, protocol, max_tries, .. } = self.benchmark;
        let name = match &scripts[..] {
            [one] => one.source.name(),
            _ => "multiple scripts",
        };
        let mut text =
            format!("transaction type: {name}\nscaling factor: {}\n", self.outcome.scale);
        if let Some(partitions) = self.outcome.partitions {
            let (method, count) = match partitions {
                PartitionScheme::Range(count) => ("range", count),
                PartitionScheme::Hash(count) => ("hash", count),
            };
            let _ = write!(text, "partition method: {method}\npartitions: {count}\n");
        }
        let _ = write!(
            text,
            "query mode: {}\nnumber of clients: {clients}\nnumber of threads: {jobs}\n",
            protocol.name()
        );
        if *max_tries > 0 {
            let _ = writeln!(text, "maximum number of tries: {max_tries}");
        }
        text
    }

    fn counts(&self) -> String {
        let (benchmark, total) = (self.benchmark, &self.outcome.total);
        let processed = total.completed;
        let mut text = match benchmark.length {
            RunLength::Transactions(each) => format!(
                "number of transactions per client: {each}\n\
                 number of transactions actually processed: {processed}/{}\n",
                u64::from(each) * u64::from(benchmark.clients)
            ),
            RunLength::Seconds(seconds) => format!(
                "duration: {seconds} s\nnumber of transactions actually processed: {processed}\n"
            ),
        };
        text.push_str(&self.failures("", total));
        text
    }

    /// Lines about failures and retries, each after `mark`.
    fn failures(&self, mark: &str, tally: &PgbenchCounts) -> String {
        let of = tally.total();
        let mut text =
            format!("{mark}number of failed transactions: {}\n", share(tally.failures(), of));
        if self.benchmark.is_failure_detailed {
            let _ = write!(
                text,
                "{mark}number of serialization failures: {}\n\
                 {mark}number of deadlock failures: {}\n",
                share(tally.serialization_failures, of),
                share(tally.deadlock_failures, of)
            );
        }
        if self.benchmark.max_tries != 1 {
            let _ = write!(
                text,
                "{mark}number of transactions retried: {}\n{mark}total number of retries: {}\n",
                share(tally.retried, of),
                tally.retries
            );
        }
        text
    }

    fn skipped(&self, mark: &str, tally: &PgbenchCounts) -> String {
        let BenchmarkOptions { rate: Some(_), latency_limit_ms: Some(_), .. } = self.benchmark
        else {
            return String::new();
        };
        let share = share(tally.skipped, tally.total());
        format!("{mark}number of transactions skipped: {share}\n")
    }

    fn limits(&self) -> String {
        let total = &self.outcome.total;
        let mut text = self.skipped("", total);
        if let Some(limit) = self.benchmark.latency_limit_ms {
            let (late, of) = (total.late, total.completed);
            let percent = if of == 0 { 0.0 } else { 100.0 * late as f64 / of as f64 };
            let _ = writeln!(
                text,
                "number of transactions above the {limit:.1} ms latency limit: \
                 {late}/{of} ({percent:.3}%)"
            );
        }
        text
    }

    fn times(&self) -> String {
        let Self { benchmark, outcome } = self;
        let total = &outcome.total;
        let is_timed = benchmark.rate.is_some()
            || benchmark.progress.is_some()
            || benchmark.latency_limit_ms.is_some();
        let mut text =
            if is_timed { latency("", &total.latency) } else { self.latency_by_clients() };
        if benchmark.rate.is_some() {
            let (mean, most) = (total.lag.mean() / THOUSAND, total.lag.most / THOUSAND);
            let _ = writeln!(text, "rate limit schedule lag: avg {mean:.3} (max {most:.3}) ms");
        }
        let connecting = outcome.connecting_s * THOUSAND;
        let rate = total.completed as f64 / outcome.duration_s;
        let _ = if benchmark.is_reconnecting {
            let each = connecting / (total.completed + total.failures()) as f64;
            write!(
                text,
                "average connection time = {each:.3} ms\n\
                 tps = {rate:.6} (including reconnection times)\n"
            )
        } else {
            write!(
                text,
                "initial connection time = {connecting:.3} ms\n\
                 tps = {rate:.6} (without initial connection time)\n"
            )
        };
        text
    }

    /// The mean as it follows from how many clients did how many transactions in which time.
    fn latency_by_clients(&self) -> String {
        let Self { benchmark, outcome } = self;
        let clients = f64::from(benchmark.clients);
        let mean = outcome.duration_s * THOUSAND * clients / outcome.total.total() as f64;
        let note = if outcome.total.failures() > 0 { " (including failures)" } else { "" };
        format!("latency average = {mean:.3} ms{note}\n")
    }

    fn script(&self, index: usize) -> String {
        const MARK: &str = " - ";
        let Self { benchmark, outcome } = self;
        let choice = &benchmark.scripts[index];
        let nothing = ScriptOutcome::default();
        let ScriptOutcome { tally, commands } = outcome.scripts.get(index).unwrap_or(&nothing);
        let weights: u64 = benchmark.scripts.iter().map(|choice| u64::from(choice.weight)).sum();
        let mut text = format!(
            "SQL script {}: {}\n\
             {MARK}weight: {} (targets {:.1}% of total)\n\
             {MARK}{} transactions ({:.1}% of total, tps = {:.6})\n",
            index + 1,
            choice.source.name(),
            choice.weight,
            100.0 * f64::from(choice.weight) / weights as f64,
            tally.completed,
            100.0 * tally.completed as f64 / outcome.total.completed as f64,
            tally.completed as f64 / outcome.duration_s
        );
        text.push_str(&self.failures(MARK, tally));
        if tally.total() > 0 {
            text.push_str(&self.skipped(MARK, tally));
        }
        text.push_str(&latency(MARK, &tally.latency));
        if benchmark.is_reported_per_command {
            text.push_str(&self.commands(MARK, commands));
        }
        text
    }

    fn commands(&self, mark: &str, commands: &[CommandOutcome]) -> String {
        let has_retries = self.benchmark.max_tries != 1;
        let columns = if has_retries { ", failures and retries" } else { " and failures" };
        let mut text = format!("{mark}statement latencies in milliseconds{columns}:\n");
        for CommandOutcome { text: command, latency, failures, retries } in commands {
            let _ = write!(text, "   {:>11.3}  {failures:>10}", or_zeros(latency).0);
            if has_retries {
                let _ = write!(text, "  {retries:>10}");
            }
            let _ = writeln!(text, "  {command}");
        }
        text
    }
}

/// Mean and deviation; nothing where there are none.
fn latency(mark: &str, moments: &RunningMoments) -> String {
    if moments.count == 0 {
        return String::new();
    }
    let (mean, deviation) = or_zeros(moments);
    format!("{mark}latency average = {mean:.3} ms\n{mark}latency stddev = {deviation:.3} ms\n")
}
