//! sysbench's report texts, to the letter: wrapper scripts read them.
//!
//! Everything takes figures and gives text; nothing here measures, waits or prints. Interval lines
//! and final blocks are those of 1.0.20; [`CompatMode::V1_1`] has another general block. CSV and
//! JSON
//! are what the ready-made report hooks write.

use super::options::{CompatMode, GeneralOptions};
use super::stats::{ClientShare, StatsTotals};
use std::fmt::Write as _;

#[cfg(test)]
mod tests;

/// What is reported about a stretch of time.
#[derive(Clone, Copy, Debug)]
pub struct IntervalReport<'a> {
    /// What was counted in it.
    pub totals: &'a StatsTotals,
    /// How long it was: rates are over that. Unit: seconds.
    pub interval_s: f64,
    /// How long the run has been by now. Unit: seconds.
    pub total_s: f64,
    /// Threads that are running.
    pub threads: u32,
    /// The percentile of latencies that is wanted; 0: none.
    pub percentile: u32,
    /// What waits, with `--rate`.
    pub queue: Option<QueueReport>,
    /// Whether the script speaks to a database: events are transactions then.
    pub is_sql: bool,
}

/// What waits, and what is under way, in an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueReport {
    /// Events that are due and not begun.
    pub length: u64,
    /// Events under way.
    pub concurrency: u64,
}

impl IntervalReport<'_> {
    /// The figures as report hooks get them. Times are in seconds, latencies in milliseconds.
    pub fn figures(&self) -> Vec<(&'static str, f64)> {
        const SECOND: f64 = 1e9;
        let totals = self.totals;
        let mut figures = vec![
            ("threads_running", f64::from(self.threads)),
            ("time_interval", self.interval_s),
            ("time_total", self.total_s),
            ("latency_pct", self.latency() / 1e3),
            ("latency_min", totals.least_ns as f64 / SECOND),
            ("latency_max", totals.most_ns as f64 / SECOND),
            ("latency_avg", totals.mean_ms() / 1e3),
            ("latency_sum", totals.latency_ns as f64 / SECOND),
        ];
        for (name, count) in [
            ("events", totals.events),
            ("reads", totals.reads),
            ("writes", totals.writes),
            ("other", totals.other),
            ("errors", totals.errors),
            ("reconnects", totals.reconnects),
        ] {
            figures.push((name, count as f64));
        }
        figures
    }

    /// The same for the hook of an interval: what waits is zero in a closed loop.
    pub fn interval_figures(&self) -> Vec<(&'static str, f64)> {
        let QueueReport { length, concurrency } = self.queue.unwrap_or_default();
        let queue = [("queue_length", length as f64), ("concurrency", concurrency as f64)];
        self.figures().into_iter().chain(queue).collect()
    }

    fn per_second(&self, count: u64) -> f64 {
        if self.interval_s > 0.0 { count as f64 / self.interval_s } else { 0.0 }
    }

    fn latency(&self) -> f64 {
        self.totals.latencies.percentile(self.percentile)
    }
}

/// The first line of all.
pub fn banner(compat: CompatMode) -> String {
    let (name, ours) = (compat.version(), env!("CARGO_PKG_VERSION"));
    format!("sysbench {name} (run by dbtime {ours})\n\n")
}

/// What a run says that `--forced-shutdown` has ended with so many events under way.
pub fn forced(unfinished: u64) -> String {
    format!(
        "FATAL: The --max-time limit has expired, forcing shutdown...\n\n\
         Number of unfinished transactions on forced shutdown: {unfinished}\n"
    )
}

/// What a run says before it begins, after the banner.
pub fn opening(general: &GeneralOptions) -> String {
    let mut text = "Running the test with following options:\n".to_owned();
    let mut line = |line: String| text.push_str(&line);
    line(format!("Number of threads: {}\n", general.threads));
    if general.rate > 0 {
        line(format!("Target transaction rate: {}/sec\n", general.rate));
    }
    if general.warmup_time > 0 {
        line(format!("Warmup time: {}s\n", general.warmup_time));
    }
    if general.report_interval > 0 {
        let every = general.report_interval;
        line(format!("Report intermediate results every {every} second(s)\n"));
    }
    if !general.report_checkpoints.is_empty() {
        let at: Vec<_> = general.report_checkpoints.iter().map(u32::to_string).collect();
        line(format!("Report checkpoint(s) at {} seconds\n", at.join(", ")));
    }
    if general.debug {
        line("Debug mode enabled.\n\n".to_owned());
    }
    if general.validate {
        line("Validation checks: on.\n\n".to_owned());
    }
    match general.seed {
        0 => line("Initializing random number generator from current time\n\n".to_owned()),
        seed => line(format!("Initializing random number generator from seed ({seed}).\n\n")),
    }
    if let Some(seconds) = general.shutdown_s() {
        line(format!("Forcing shutdown in {seconds} seconds\n"));
    }
    text + "\n"
}

/// What is said before the threads are made ready.
pub const WORKERS: &str = "Initializing worker threads...\n\n";

/// What is said to whoever names a script as sysbench 0.5 wanted it.
pub const DEPRECATED_TEST: &str = "WARNING: the --test option is deprecated. You can pass a script \
    name or path on the command line without any options.";

/// What is said when all threads are ready.
pub const STARTED: &str = "Threads started!\n\n";

/// The line of an interval; a second one with an open loop.
pub fn interval(moment: &IntervalReport<'_>) -> String {
    let IntervalReport { totals, total_s, threads, percentile, .. } = *moment;
    let (rate, latency) = (|count| moment.per_second(count), moment.latency());
    let events = rate(totals.events);
    let mut text = format!("[ {total_s:.0}s ] thds: {threads} ");
    if moment.is_sql {
        let queries = rate(totals.queries());
        let [reads, writes, other] = [totals.reads, totals.writes, totals.other].map(rate);
        let _ = write!(
            text,
            "tps: {events:.2} qps: {queries:.2} (r/w/o: {reads:.2}/{writes:.2}/{other:.2}) "
        );
    } else {
        let _ = write!(text, "eps: {events:.2} ");
    }
    let _ = write!(text, "lat (ms,{percentile}%): {latency:.2}");
    if moment.is_sql {
        let [errors, again] = [totals.errors, totals.reconnects].map(rate);
        let _ = write!(text, " err/s: {errors:.2} reconn/s: {again:.2}");
    }
    text.push('\n');
    if let Some(QueueReport { length, concurrency }) = moment.queue {
        let _ =
            writeln!(text, "[ {total_s:.0}s ] queue length: {length}, concurrency: {concurrency}");
    }
    text
}

/// The heading of a checkpoint's report; the report itself is [`cumulative`].
pub fn checkpoint_heading(moment: &IntervalReport<'_>) -> String {
    format!("[ {:.0}s ] Checkpoint report:\n", moment.total_s)
}

/// The final blocks, and those of a checkpoint.
pub fn cumulative(moment: &IntervalReport<'_>, compat: CompatMode) -> String {
    let sql = if moment.is_sql { sql(moment) } else { String::new() };
    sql + &general(moment, compat) + &latency(moment) + &fairness(&moment.totals.shares)
}

fn sql(moment: &IntervalReport<'_>) -> String {
    let StatsTotals { reads, writes, other, events, errors, reconnects, .. } = *moment.totals;
    let queries = moment.totals.queries();
    let counted = |name: &str, count: u64| {
        let rate = moment.per_second(count);
        format!("    {name:<37}{count:<6} ({rate:.2} per sec.)\n")
    };
    format!(
        "SQL statistics:
    queries performed:
        read:                            {reads}
        write:                           {writes}
        other:                           {other}
        total:                           {queries}
"
    ) + &counted("transactions:", events)
        + &counted("queries:", queries)
        + &counted("ignored errors:", errors)
        + &counted("reconnects:", reconnects)
}

fn general(moment: &IntervalReport<'_>, compat: CompatMode) -> String {
    let (seconds, events) = (moment.total_s, moment.totals.events);
    match compat {
        CompatMode::V1_0 => format!(
            "
General statistics:
    total time:                          {seconds:.4}s
    total number of events:              {events}
"
        ),
        CompatMode::V1_1 => format!(
            "
Throughput:
    events/s (eps):                      {:.4}
    time elapsed:                        {:.4}s
    total number of events:              {events}
",
            moment.per_second(events),
            moment.interval_s
        ),
    }
}

fn latency(moment: &IntervalReport<'_>) -> String {
    const MILLISECOND: f64 = 1e6;
    let totals = moment.totals;
    let [least, most, sum] =
        [totals.least_ns, totals.most_ns, totals.latency_ns].map(|ns| ns as f64 / MILLISECOND);
    let percentile = match moment.percentile {
        0 => "         percentile stats:               disabled".to_owned(),
        percent => format!("{percent:>11}th percentile:{:>28.2}", moment.latency()),
    };
    format!(
        "
Latency (ms):
         min:{least:>40.2}
         avg:{:>40.2}
         max:{most:>40.2}
{percentile}
         sum:{sum:>40.2}
",
        totals.mean_ms()
    )
}

fn fairness(shares: &[ClientShare]) -> String {
    const SECOND: f64 = 1e9;
    let (events, spread) = mean_and_spread(shares.iter().map(|share| share.events as f64));
    let seconds = shares.iter().map(|share| share.latency_ns as f64 / SECOND);
    let (busy, busy_spread) = mean_and_spread(seconds);
    format!(
        "
Threads fairness:
    events (avg/stddev):           {events:.4}/{spread:.2}
    execution time (avg/stddev):   {busy:.4}/{busy_spread:.2}

"
    )
}

/// The mean and the standard deviation of all values, which are no sample of more.
fn mean_and_spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let square = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, square.sqrt())
}

/// The line before the histogram of all latencies, which stands before the final blocks.
pub const HISTOGRAM: &str = "Latency histogram (values are in milliseconds)\n";
