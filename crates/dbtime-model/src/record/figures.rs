//! The figures of a run: by which key each is named, what it is called, its unit, which way it is
//! better, and where a record has it.
//!
//! Limits, verdicts, comparisons, tables of runs and charts read them here, by their keys.

use super::{CountsInfo, LatencySet, LatencyUs, RunRecord};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFigureUnit {
    /// Microseconds.
    Us,
    /// Events per second.
    PerSecond,
    /// How many for a transaction.
    PerTransaction,
    /// How many in the window.
    Count,
    /// Percent.
    Percent,
    /// Bytes.
    Bytes,
}

/// Which way a figure is better, and what a run is called that is better by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetterWay {
    /// More of it is faster.
    MoreIsFaster,
    /// Less of it is faster.
    LessIsFaster,
    /// Less of it is cheaper.
    LessIsCheaper,
    /// Less of it is better.
    LessIsBetter,
}

impl BetterWay {
    /// Whether more of it is better.
    pub fn is_higher(self) -> bool {
        self == Self::MoreIsFaster
    }

    /// What a run is called that is better by it, and one that is worse.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Self::MoreIsFaster | Self::LessIsFaster => ["faster", "slower"],
            Self::LessIsCheaper => ["cheaper", "dearer"],
            Self::LessIsBetter => ["better", "worse"],
        }
    }
}

/// Where a record has a figure; `None`: it has none.
type FigureReader = fn(&RunRecord) -> Option<f64>;

/// A figure of a run. Shape: two of the same key are the same.
#[derive(Clone, Copy, Debug)]
pub struct RunFigure {
    /// Its name on a command line, and in the plan of a study.
    pub key: &'static str,
    /// Its name among the columns of a table that programs read, with its unit.
    pub column: &'static str,
    /// Its name in words.
    pub name: &'static str,
    /// Its unit.
    pub unit: RunFigureUnit,
    /// Which way it is better; `None`: neither.
    pub better: Option<BetterWay>,
    of: FigureReader,
}

impl PartialEq for RunFigure {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl RunFigure {
    /// The figure of this key.
    ///
    /// # Panics
    /// There is none. Keys from elsewhere are read by [`super::PrimaryMetric`].
    pub fn listed(key: &str) -> &'static Self {
        let found = FIGURES.iter().find(|figure| figure.key == key);
        found.unwrap_or_else(|| panic!("`{key}` is the key of no figure"))
    }

    /// The figure of this key or alias.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let key = alias.map_or(name, |(_, key)| *key);
        FIGURES.iter().find(|figure| figure.key == key)
    }

    /// Its value in a run; `None`: it has none.
    pub fn value(&self, record: &RunRecord) -> Option<f64> {
        (self.of)(record)
    }

    /// Its value in a run, for a table that programs read; empty where it has none.
    pub fn cell(&self, record: &RunRecord) -> String {
        match (self.value(record), self.unit) {
            (None, _) => String::new(),
            (Some(value), RunFigureUnit::Count) => format!("{value:.0}"),
            (Some(value), _) => format!("{value:.3}"),
        }
    }
}

/// Other names that limits have for a figure, with its key.
const ALIASES: [(&str, &str); 1] = [("avg", "mean")];

/// A unit, and which way figures of it are better.
type FigureKind = (RunFigureUnit, Option<BetterWay>);

const SPEED: FigureKind = (RunFigureUnit::PerSecond, Some(BetterWay::MoreIsFaster));
const PACE: FigureKind = (RunFigureUnit::PerSecond, None);
const TIME: FigureKind = (RunFigureUnit::Us, Some(BetterWay::LessIsFaster));
const CPU: FigureKind = (RunFigureUnit::Us, Some(BetterWay::LessIsCheaper));
const EACH: FigureKind = (RunFigureUnit::PerTransaction, Some(BetterWay::LessIsBetter));
const FAULTS: FigureKind = (RunFigureUnit::Percent, Some(BetterWay::LessIsBetter));
const USE: FigureKind = (RunFigureUnit::Percent, None);
const SIZE: FigureKind = (RunFigureUnit::Bytes, Some(BetterWay::LessIsBetter));

const fn figure(
    key: &'static str,
    column: &'static str,
    name: &'static str,
    (unit, better): FigureKind,
    of: FigureReader,
) -> RunFigure {
    RunFigure { key, column, name, unit, better, of }
}

/// How many transactions: neither more nor less of them is better, for a longer run has more.
const fn count(key: &'static str, of: FigureReader) -> RunFigure {
    figure(key, key, key, (RunFigureUnit::Count, None), of)
}

/// Every figure of a run that a table, a limit or a verdict names.
pub const FIGURES: &[RunFigure] = &[
    figure("throughput", "throughput_tps", "throughput per second", SPEED, |r| {
        Some(r.throughput_tps)
    }),
    figure("offered-rate", "offered_tps", "offered per second", PACE, |r| r.load.rate_tps),
    figure("mean", "response_mean_us", "response mean", TIME, |r| response(r, |l| l.mean)),
    figure("p50", "response_p50_us", "response p50", TIME, |r| response(r, |l| l.p50)),
    figure("p90", "response_p90_us", "response p90", TIME, |r| response(r, |l| l.p90)),
    figure("p95", "response_p95_us", "response p95", TIME, |r| response(r, |l| l.p95)),
    figure("p99", "response_p99_us", "response p99", TIME, |r| response(r, |l| l.p99)),
    figure("p99.9", "response_p999_us", "response p99.9", TIME, |r| response(r, |l| l.p999)),
    figure("max", "response_max_us", "response max", TIME, |r| response(r, |l| l.max)),
    figure("service-mean", "service_mean_us", "service mean", TIME, |r| {
        r.known_of_ended(r.latency_us.service.mean)
    }),
    figure("service-p99", "service_p99_us", "service p99", TIME, |r| {
        r.known_of_ended(r.latency_us.service.p99)
    }),
    figure("queue-mean", "queue_mean_us", "queue mean", TIME, |r| {
        r.known_of_ended(r.latency_us.queue.mean)
    }),
    figure("lag-mean", "lag_mean_us", "lag mean", TIME, |r| {
        r.known_of_ended(r.latency_us.lag.mean)
    }),
    figure("client-cpu", "client_cpu_us_per_tx", "client CPU per transaction", CPU, |r| {
        r.client.cpu_us_per_tx
    }),
    figure("server-cpu", "server_cpu_us_per_tx", "server CPU per transaction", CPU, |r| {
        r.server.as_ref()?.cpu_us_per_tx
    }),
    figure("round-trips", "round_trips_per_tx", "round trips per transaction", EACH, |r| {
        r.round_trips_per_tx
    }),
    figure("errors", "failed_pct", "share of failed transactions", FAULTS, |r| {
        failed_pct(&r.counts)
    }),
    count("offered", |r| Some(r.counts.offered as f64)),
    count("completed", |r| Some(r.counts.completed as f64)),
    count("failed", |r| Some(r.counts.failed as f64)),
    count("dropped", |r| Some(r.counts.dropped as f64)),
    count("unfinished", |r| Some(r.counts.unfinished as f64)),
    count("outstanding", |r| Some(r.counts.outstanding as f64)),
    count("retries", |r| Some(r.counts.retries as f64)),
    figure("server-usr", "server_usr_pct", "server user CPU", USE, |r| {
        Some(r.server.as_ref()?.usr_pct)
    }),
    figure("server-sys", "server_sys_pct", "server system CPU", USE, |r| {
        Some(r.server.as_ref()?.sys_pct)
    }),
    figure("server-rss", "server_rss_bytes", "server RSS", SIZE, |r| {
        size(r.server.as_ref()?.rss_bytes)
    }),
    figure("server-rss-peak", "server_rss_peak_bytes", "server RSS at its peak", SIZE, |r| {
        size(r.server.as_ref()?.rss_peak_bytes)
    }),
    figure("server-rss-idle", "server_rss_idle_bytes", "server RSS when idle", SIZE, |r| {
        size(r.server.as_ref()?.rss_idle_bytes)
    }),
    figure("steal", "steal_pct", "CPU taken by the hypervisor", USE, |r| {
        Some(r.environment.steal_pct)
    }),
    figure("foreign-cpu", "foreign_cpu_pct", "CPU taken by others", USE, |r| {
        Some(r.environment.foreign_cpu_pct)
    }),
];

/// A figure of the responses.
fn response(record: &RunRecord, of: fn(&LatencyUs) -> f64) -> Option<f64> {
    record.known_response(of(&record.latency_us.response))
}

impl RunRecord {
    /// A figure of the responses; `None` where there is none, or the record has no latencies, and
    /// zero stands for that. Unit: microseconds.
    pub fn known_response(&self, value_us: f64) -> Option<f64> {
        let is_known = self.has_latencies() && self.counts.has_responses();
        (value_us != 0.0 || is_known).then_some(value_us)
    }

    /// The same of the service, the queue or the lag, which those have alone that ended.
    pub fn known_of_ended(&self, value_us: f64) -> Option<f64> {
        let is_known = self.has_latencies() && self.counts.ended() > 0;
        (value_us != 0.0 || is_known).then_some(value_us)
    }

    fn has_latencies(&self) -> bool {
        self.latency_us != LatencySet::default()
    }
}

fn size(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| bytes as f64)
}

fn failed_pct(counts: &CountsInfo) -> Option<f64> {
    (counts.offered > 0).then(|| 100.0 * counts.failed as f64 / counts.offered as f64)
}

#[cfg(test)]
mod tests {
    use super::super::ServerInfo;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_column_and_alias_is_of_one_figure() {
        let keys: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.key).collect();
        let columns: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.column).collect();
        let names: BTreeSet<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        for unique in [&keys, &columns, &names] {
            assert_eq!(unique.len(), FIGURES.len(), "{unique:?}");
        }
        for (alias, key) in ALIASES {
            assert!(keys.contains(key) && !keys.contains(alias), "{alias}");
            assert_eq!(RunFigure::named(alias), Some(RunFigure::listed(key)));
        }
        assert_eq!(RunFigure::named("speed"), None);
    }

    /// A run in which no two figures are alike.
    fn run() -> RunRecord {
        let latency = |from: f64| LatencyUs {
            mean: from,
            p50: from + 1.0,
            p90: from + 2.0,
            p95: from + 3.0,
            p99: from + 4.0,
            p999: from + 5.0,
            max: from + 6.0,
            ..LatencyUs::default()
        };
        let mut run = RunRecord { throughput_tps: 1.5, ..RunRecord::default() };
        run.load.rate_tps = Some(2.5);
        run.latency_us.response = latency(10.0);
        run.latency_us.service = latency(20.0);
        run.latency_us.queue = latency(30.0);
        run.latency_us.lag = latency(40.0);
        run.client.cpu_us_per_tx = Some(50.0);
        run.round_trips_per_tx = Some(51.0);
        (run.environment.steal_pct, run.environment.foreign_cpu_pct) = (52.0, 53.0);
        run.counts = CountsInfo { offered: 200, completed: 101, failed: 41, ..run.counts };
        (run.counts.dropped, run.counts.unfinished) = (103, 104);
        (run.counts.outstanding, run.counts.retries) = (105, 106);
        run.server = Some(ServerInfo {
            cpu_us_per_tx: Some(60.0),
            usr_pct: 61.0,
            sys_pct: 62.0,
            rss_bytes: Some(63),
            rss_peak_bytes: Some(64),
            rss_idle_bytes: Some(65),
            ..ServerInfo::default()
        });
        run
    }

    #[test]
    fn each_figure_is_read_from_its_own_place() {
        let run = run();
        let values: Vec<(&str, String)> =
            FIGURES.iter().map(|figure| (figure.column, figure.cell(&run))).collect();
        let expected = [
            ("throughput_tps", "1.500"),
            ("offered_tps", "2.500"),
            ("response_mean_us", "10.000"),
            ("response_p50_us", "11.000"),
            ("response_p90_us", "12.000"),
            ("response_p95_us", "13.000"),
            ("response_p99_us", "14.000"),
            ("response_p999_us", "15.000"),
            ("response_max_us", "16.000"),
            ("service_mean_us", "20.000"),
            ("service_p99_us", "24.000"),
            ("queue_mean_us", "30.000"),
            ("lag_mean_us", "40.000"),
            ("client_cpu_us_per_tx", "50.000"),
            ("server_cpu_us_per_tx", "60.000"),
            ("round_trips_per_tx", "51.000"),
            ("failed_pct", "20.500"),
            ("offered", "200"),
            ("completed", "101"),
            ("failed", "41"),
            ("dropped", "103"),
            ("unfinished", "104"),
            ("outstanding", "105"),
            ("retries", "106"),
            ("server_usr_pct", "61.000"),
            ("server_sys_pct", "62.000"),
            ("server_rss_bytes", "63.000"),
            ("server_rss_peak_bytes", "64.000"),
            ("server_rss_idle_bytes", "65.000"),
            ("steal_pct", "52.000"),
            ("foreign_cpu_pct", "53.000"),
        ];
        assert_eq!(values, expected.map(|(column, value)| (column, value.to_owned())));
    }

    #[test]
    fn what_a_run_does_not_have_is_empty() {
        let bare = RunRecord::default();
        for key in [
            "offered-rate",
            "server-cpu",
            "server-rss",
            "round-trips",
            "errors",
            "p99",
            "service-p99",
            "lag-mean",
        ] {
            let figure = RunFigure::listed(key);
            assert_eq!((figure.value(&bare), figure.cell(&bare)), (None, String::new()), "{key}");
        }
    }

    #[test]
    fn what_never_ended_has_a_response_and_no_service() {
        let counts = CountsInfo { offered: 2, unfinished: 2, ..CountsInfo::default() };
        let mut open = RunRecord { counts, ..RunRecord::default() };
        open.latency_us.response.p99 = 6e6;
        let of = |key: &str| RunFigure::listed(key).value(&open);
        assert_eq!(["p99", "service-mean", "queue-mean"].map(of), [Some(6e6), None, None]);
        let counts = CountsInfo { offered: 2, completed: 2, ..CountsInfo::default() };
        let mut closed = RunRecord { counts, ..RunRecord::default() };
        let of = |record: &RunRecord| RunFigure::listed("queue-mean").value(record);
        assert_eq!(of(&closed), None, "it has no latencies");
        closed.latency_us.service.mean = 1e3;
        assert_eq!(of(&closed), Some(0.0), "it never waited");
    }
}
