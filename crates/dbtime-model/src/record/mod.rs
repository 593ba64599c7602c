//! The run record: what a run was, how it went, and whether its figures can be trusted.
//!
//! A run is a folder: `run.json` (these types), `latency.hlog`, `series.csv`, `transactions.csv`,
//! `counters.json`.
//! Times in microseconds unless a name says otherwise.
//! Readers accept records of an older `schema`, ignore fields they do not know, and refuse a newer
//! schema by name.
//! This module is the only one that decides the file format; the command line and the engines have
//! types of their own.

mod budget;
mod counters;
mod cpu_holder;
pub mod csv;
mod driver_lag;
mod factor_value;
mod figures;
mod file_wait;
mod folded;
mod folder;
mod interval_log;
mod layer;
mod lock_chain;
mod measuring_cost;
mod metric_flaws;
mod primary_metric;
mod recorded_spec;
mod resources;
pub mod server_seconds;
mod stacks;
mod steadiness;
mod summary;
mod trace;
mod validity;
mod values;

pub use budget::{
    BudgetBucket, BudgetInfo, BudgetLockHolder, BudgetMethod, BudgetUs, FileIo, OutsideHolder,
};
pub use counters::{CounterUnit, CountersInfo, KeyCounterDelta};
pub use cpu_holder::{BudgetCpuHolder, CpuHolderKind};
pub use driver_lag::{LagEffect, MAX_LAG_SHARE};
pub use factor_value::{FactorValue, combination_text};
pub use figures::{BetterWay, FIGURES, RunFigure, RunFigureUnit};
pub use file_wait::{BudgetFileWait, WaitedFile};
pub use folded::{FoldedStack, FoldedStacks, folded_text, frame_name};
pub(crate) use folder::LISTED_SWEEP;
pub use folder::{
    ReadError, Run, SeriesRow, TransactionRow, TransactionStatement, read_run, read_run_json,
    read_run_record, record_folder,
};
pub use interval_log::ResponseSecond;
pub use layer::{BudgetLayer, LayerCell, LayerScope, Provenance, relate_layers};
pub use lock_chain::{BudgetLockChain, ChainCause, MAX_CHAIN_DEPTH};
pub use measuring_cost::{CostCertainty, MeasuringCost, ThroughputCost};
pub use metric_flaws::MAX_STANDSTILL_LOSS;
pub use primary_metric::{PrimaryMetric, PrimaryMetricError};
pub use recorded_spec::RecordedSpec;
pub use resources::{ClientInfo, NetworkUse, ServerInfo, ServerThreads};
pub use server_seconds::{SampledCounter, ServerSecond};
pub use stacks::{StackSums, StacksInfo};
pub use steadiness::{PercentileRange, TrendMetric, WindowTrend};
pub use summary::{
    Check, CheckDoubt, CheckOrigin, CheckOutcome, CheckUnit, HistogramBucket, LatencySet,
    LatencyUs, OperationSummary, PercentilePoint, StatementSummary, ThinkSummary,
};
pub use trace::{JoinCounts, JoinedRecording, SessionsBefore, TraceInfo};
pub use validity::{GradeReason, Validity, ValidityGrade, Warning, WarningKind};
pub use values::{
    ArrivalProcess, BacklogPolicy, CheckMetric, ConnectionCipher, ExemplarKind, LoadMode,
    SamplingOrigin, SeriesPhase,
};

use crate::growing::growing;
use crate::spec::RunSpec;
use crate::units::count_sum;
use crate::{Histogram, Nanos, RunPhase};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the record that this program writes.
pub const SCHEMA: u32 = 1;

/// The names of the files of a run folder.
pub mod file {
    /// What, how, summary and validity.
    pub const RUN: &str = "run.json";
    /// Per-second HdrHistogram interval log of the response, tag `response`.
    pub const LATENCY: &str = "latency.hlog";
    /// A line per second.
    pub const SERIES: &str = "series.csv";
    /// What a private server wrote.
    pub const SERVER_LOG: &str = "server.log";
    /// The slowest and a random choice of transactions with all their parts.
    pub const TRANSACTIONS: &str = "transactions.csv";
    /// Every statement of the window of a traced run, with its parts.
    pub const STATEMENTS: &str = "statements.parquet";
    /// What the driver saw of every statement and transaction of the window, to be joined later.
    pub const DRIVEN: &str = "driven.blocks";
    /// The statements of those transactions that were traced.
    pub const TRANSACTION_STATEMENTS: &str = "transaction_statements.csv";
    /// Where the server's threads were on a CPU: collapsed stacks.
    pub const STACKS_ON_CPU: &str = "stacks-on-cpu.folded";
    /// The same of their waits.
    pub const STACKS_OFF_CPU: &str = "stacks-off-cpu.folded";
    /// A line per sample of the server's counters while the load went on.
    pub const SERVER_SECONDS: &str = "server.csv";
    /// Every counter of the server, as the difference over the window.
    pub const COUNTERS: &str = "counters.json";
    /// What listed the runs of a sweep up to version 0.0, which had no plan.
    pub const LISTED_SWEEP: &str = "sweep.json";
}

/// One run, as in `run.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRecord {
    /// Version of the record's meaning.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// The command that repeats it, without `--out` and passwords.
    pub command: String,
    /// The folder that relative paths start from; empty where not known.
    pub directory: String,
    /// The run as it can be made again; `None` too for command lines of other tools.
    pub spec: Option<RecordedSpec>,
    /// Start of the load, UTC, RFC 3339.
    pub started_at: String,
    /// End of the last transaction, likewise.
    pub ended_at: String,
    /// The machine, and how quiet it was.
    pub environment: MachineEnvironment,
    /// What was run.
    pub workload: WorkloadInfo,
    /// Against what.
    pub target: TargetInfo,
    /// How the load was made.
    pub load: LoadInfo,
    /// What was measured.
    pub window: WindowInfo,
    /// When the run came to each phase.
    pub phases: Vec<PhaseTime>,
    /// Start of `latency_us.response`.
    pub basis: Basis,
    /// offered = completed + failed + dropped + unfinished.
    pub counts: CountsInfo,
    /// Occurrences by error code in the window, retried ones included; beyond 200 codes by class.
    pub errors: BTreeMap<String, u64>,
    /// The first message of each, masked, of at most 512 characters, with a known remedy.
    pub error_messages: BTreeMap<String, String>,
    /// Warnings (MySQL, MariaDB) and notices (PostgreSQL) in the answers of the window.
    pub warnings: u64,
    /// Completed transactions per second of the window.
    pub throughput_tps: f64,
    /// Distributions over all operations.
    #[serde(serialize_with = "LatencySet::as_measured")]
    pub latency_us: LatencySet,
    /// The response distribution up to the maximum, for plots.
    pub percentiles: Vec<PercentilePoint>,
    /// Independent transactions that the window is worth; `None` below 8 s.
    pub effective_transactions: Option<f64>,
    /// How well percentiles of the response are known; empty then.
    pub percentile_ranges: Vec<PercentileRange>,
    /// How the window changed; `None` below 9 s.
    pub trend: Option<WindowTrend>,
    /// Responses by power-of-two bucket.
    pub histogram: Vec<HistogramBucket>,
    /// Requirements on the whole run, and whether they held.
    pub limits: Vec<Check>,
    /// By operation.
    pub operations: Vec<OperationSummary>,
    /// By statement, as far as executed.
    pub statements: Vec<StatementSummary>,
    /// Mean per transaction; `None` with `--no-budget`, and where none was measured.
    pub budget_us: Option<BudgetUs>,
    /// Σ |unexplained| / Σ response over single transactions, without known double counts.
    pub budget_error: Option<f64>,
    /// How the budget was measured.
    pub budget: Option<BudgetInfo>,
    /// The tracer beside the run.
    pub trace: Option<TraceInfo>,
    /// Cost by layer, down to the disk (embedded engine, and traced servers).
    pub layers: Vec<BudgetLayer>,
    /// Calls by file and kind of call (embedded engine only).
    pub files: Vec<FileIo>,
    /// Holders of the locks that were waited for (embedded engine, and traced servers).
    pub lock_holders: Vec<BudgetLockHolder>,
    /// Chains of lock holders, and what they did meanwhile.
    pub lock_chains: Option<Vec<BudgetLockChain>>,
    /// The files that were waited for.
    pub file_waits: Option<Vec<BudgetFileWait>>,
    /// Holders of the CPU that the server's threads waited for.
    pub cpu_holders: Option<Vec<BudgetCpuHolder>>,
    /// Messages to the server and back per completed transaction; calls on an embedded engine.
    pub round_trips_per_tx: Option<f64>,
    /// Connections to a server; `None` too for scripts of sysbench.
    pub connections: Option<ConnectionsInfo>,
    /// Times of the warning `stall`, outages left out.
    pub stalls: Vec<SpanInfo>,
    /// What the driver itself used.
    pub client: ClientInfo,
    /// What the server used; `None` too for one that is not visible, and an embedded one.
    pub server: Option<ServerInfo>,
    /// What the server counted in the window.
    pub counters: Option<CountersInfo>,
    /// The columns of `server.csv`.
    pub sampled_counters: Vec<SampledCounter>,
    /// Whether the figures can be trusted.
    pub validity: Validity,
}

impl RunRecord {
    /// The run as it can be made again; `None` where this version does not know how.
    pub fn known_spec(&self) -> Option<&RunSpec> {
        self.spec.as_ref()?.known()
    }

    /// Everything that was required, with the name of what it was required of.
    pub fn checks(&self) -> impl Iterator<Item = (&str, &Check)> {
        let whole = self.limits.iter().map(|check| ("whole run", check));
        let of_operation = self.operations.iter().flat_map(|operation| {
            operation.limits.iter().map(|check| (operation.name.as_str(), check))
        });
        whole.chain(of_operation)
    }

    /// The mean response of the transactions that may be in the budget, in microseconds: of those
    /// that are outstanding no part is known. `None` where nobody knows what these took at least:
    /// the window of a run that is ended early ends before the load does.
    pub fn budgeted_mean_us(&self) -> Option<f64> {
        let (counts, mean_us) = (&self.counts, self.latency_us.response.mean);
        let budgeted = [counts.completed, counts.failed, counts.unfinished];
        let budgeted: f64 = budgeted.iter().map(|n| *n as f64).sum();
        if counts.outstanding == 0 || budgeted == 0.0 {
            return Some(mean_us);
        }
        if self.window.ended_early {
            return None;
        }
        // The mean has the window's length as its histogram has it: many short ones weigh less than
        // what that is off.
        let mut length = Histogram::<u64>::fine();
        length.record(Nanos::from_secs_f64(self.window.measure_s));
        let outstanding = counts.outstanding as f64;
        let sum_us = mean_us * (budgeted + outstanding) - length.mean_ns() / 1e3 * outstanding;
        Some((sum_us / budgeted).max(0.0))
    }

    /// How late all transactions together were for the driver's waits for a CPU, in seconds: what
    /// was due in such a wait was late with it, half of it on average, and at least one. `None`
    /// where these waits are not known.
    pub fn runq_lateness_s(&self) -> Option<f64> {
        let rate = self.load.rate_tps.unwrap_or(self.throughput_tps);
        let due_meanwhile = (rate * self.latency_us.lag.p999 / 1e6 / 2.0).max(1.0);
        self.late_runq_s().map(|waited_s| waited_s * due_meanwhile)
    }

    /// How late all transactions together were for the driver's standing still in the window, in
    /// seconds: whatever was due in a standstill waited for its end, also behind the window.
    pub fn standstill_lateness_s(&self) -> f64 {
        let begin = self.window.warmup_s;
        let end = begin + self.window.measure_s.max(0.0);
        let waits = self.client.standstills.iter().map(|span| {
            let (from, due_until) = (span.from_s.clamp(begin, end), span.until_s.clamp(begin, end));
            (due_until - from) * (span.until_s - f64::midpoint(from, due_until))
        });
        self.load.rate_tps.unwrap_or(self.throughput_tps) * waits.sum::<f64>()
    }

    /// How long the driver's threads waited for a CPU so that they were late, in seconds: of those
    /// that execute the transactions too, before these were sent, and not for each other's. `None`
    /// where these waits are not known.
    pub fn late_runq_s(&self) -> Option<f64> {
        match (self.client.ready_runq_s, self.client.own_contention_s) {
            (Some(waited_s), Some(own_s)) => Some((waited_s - own_s).max(0.0)),
            _ => self.client.threads_runq_s,
        }
    }

    /// How all that decides about the run came out, the worst of it; `None` where nothing does.
    pub fn limits_outcome(&self) -> Option<CheckOutcome> {
        let deciding = self.checks().map(|(_, check)| check).filter(|check| check.decides());
        deciding.map(Check::outcome).max()
    }

    /// Why the run confirms nothing, whatever is asked of it; `None`: it may. A verdict goes by
    /// [`Self::discount_for`].
    pub fn discount(&self) -> Option<String> {
        self.early_end().or_else(|| self.validity.reason())
    }

    fn early_end(&self) -> Option<String> {
        self.window.ended_early.then(|| "it was ended early".to_owned())
    }

    /// Why the first of what decides and is undecided is that; `None`: nothing is.
    pub fn doubt(&self) -> Option<CheckDoubt> {
        let mut deciding = self.checks().map(|(_, check)| check).filter(|check| check.decides());
        deciding.find_map(Check::reason)
    }
}

/// The machine, and how quiet it was during the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineEnvironment {
    /// Kernel release.
    pub kernel: String,
    /// Host name.
    pub host: String,
    /// CPUs this process may run on.
    pub cpus: u32,
    /// As the kernel names it.
    pub cpu_model: String,
    /// Main memory.
    pub memory_bytes: u64,
    /// Of all CPU time in the window, taken by the hypervisor.
    pub steal_pct: f64,
    /// Likewise, by other processes, without a visible server.
    pub foreign_cpu_pct: f64,
    /// Cost of one clock read.
    pub clock_read_ns: f64,
    /// How late the machine wakes a sleeper: median of the self-test before the run.
    pub timer_late_p50_us: f64,
    /// 99th percentile.
    pub timer_late_p99_us: f64,
    /// Cost of reading two thread clocks around a measured statement.
    pub probe_ns: f64,
    /// Checks of `dbtime doctor` on machine, driver and server that were bad or worth a note before
    /// the load, by name; `null` where no check was made, as in earlier records.
    pub findings: Option<Vec<String>>,
}

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkloadInfo {
    /// Of its file or script; `query` for one on the command line.
    pub name: String,
    /// How many times its base size.
    pub scale: u64,
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
}

/// Against what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetInfo {
    /// `sqlite`, `mysql` (MariaDB too), `postgres`, `null`.
    pub engine: String,
    /// The engine's version, of a server with its product: `MariaDB 10.11.19`.
    pub version: String,
    /// Without password; for PostgreSQL with user and place from the environment.
    pub url: String,
    /// Settings read back.
    pub settings: BTreeMap<String, String>,
    /// Size of its data before the load.
    pub data_bytes: Option<u64>,
    /// `text`, `text with parameters` (`pgbench -M extended`) or `prepared`, with `, pipelined` for
    /// `--pipeline`.
    pub protocol: Option<String>,
    /// Cipher of connections: the version of TLS and the suite, such as `TLS 1.3,
    /// TLS_AES_256_GCM_SHA384`.
    pub tls: Option<ConnectionCipher>,
    /// Statements prepared on all connections together, where the server limits them.
    pub prepared_statements: Option<u64>,
    /// Whether its data came from a snapshot.
    pub is_restored: bool,
}

impl TargetInfo {
    /// Product and version: `sqlite 3.50.4`, `MariaDB 10.11.19`, where the version begins with the
    /// product; empty where neither is known.
    pub fn identity(&self) -> String {
        match self.version.starts_with(char::is_alphabetic) {
            true => self.version.clone(),
            false => format!("{} {}", self.engine, self.version).trim().to_owned(),
        }
    }
}

/// How the load was made. Plain values of flags are in the spec alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadInfo {
    /// The pace.
    pub mode: LoadMode,
    /// Offered rate of an open loop (its mean where it changes).
    pub rate_tps: Option<f64>,
    /// The rate as given: `500/s`, `ramp:100/s..2000/s`, `auto:50%`.
    pub rate: Option<String>,
    /// How `auto` found the rate.
    pub auto: Option<AutoRate>,
    /// Width of the jitter around due instants of steady arrivals.
    pub jitter_us: Option<f64>,
    /// How due instants fall.
    pub arrivals: ArrivalProcess,
    /// Clients of a closed loop, connections of an open one.
    pub connections: u32,
    /// Size of the worker pool; `None`: each client has a connection.
    pub workers: Option<u32>,
    /// Shards of the event loop; `None` with worker threads.
    pub shards: Option<u32>,
    /// Mean think time.
    pub think_us: Option<f64>,
    /// The think time as given.
    pub think: Option<String>,
    /// For a due transaction without a free worker.
    pub on_backlog: BacklogPolicy,
    /// `every-transaction`; `None`: connections stay.
    pub reconnect: Option<String>,
    /// Limit on a statement.
    pub statement_timeout_us: Option<f64>,
    /// Simulated delay of each request.
    #[serde(default)]
    pub network_delay_us: Option<f64>,
    /// Simulated limit in each direction.
    #[serde(default)]
    pub network_bits_per_s: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
}

/// How `--rate auto` found its rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoRate {
    /// Completed per second flat out.
    pub flat_out_tps: f64,
    /// Length of that measurement.
    pub measured_s: f64,
    /// The share of it that was offered.
    pub share_pct: f64,
    /// Workers, or connections where each has its own.
    #[serde(alias = "servers")]
    pub concurrency: u32,
}

impl AutoRate {
    /// What was offered. Unit: transactions per second.
    pub fn offered_tps(&self) -> f64 {
        self.flat_out_tps * self.share_pct / 100.0
    }
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowInfo {
    /// Load before the window.
    pub warmup_s: f64,
    /// Length of the window: as planned, or until an early end or the last transaction.
    pub measure_s: f64,
    /// As planned; `None` where a number of transactions ends it.
    pub planned_s: Option<f64>,
    /// From the window's end to the last transaction's.
    pub rundown_s: f64,
    /// Transactions ended but due outside the window.
    pub outside: u64,
    /// Whether something, such as a signal or its script, ended the run early.
    pub ended_early: bool,
}

/// When a run came to a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    /// The phase.
    pub phase: RunPhase,
    /// Seconds since the load started, negative before.
    pub at_s: f64,
}

/// What `latency_us.response` starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The due instant.
    Response,
    /// A closed loop's client was ready.
    #[default]
    Service,
}

/// offered = completed + failed + dropped + unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountsInfo {
    /// Due (closed: started) in the window.
    pub offered: u64,
    /// Ended well.
    pub completed: u64,
    /// Ended in an error.
    pub failed: u64,
    /// Given up by the backlog policy.
    pub dropped: u64,
    /// Under way or waiting at the end.
    pub unfinished: u64,
    /// Sent before the window and not over at its end: in no other count.
    pub outstanding: u64,
    /// Sent in the window's first twentieth, and its first second, and not over at its end: in the
    /// other counts too.
    pub held: u64,
    /// Of those, failed.
    pub held_failed: u64,
    /// Of those, never ended.
    pub held_unfinished: u64,
    /// Attempts beyond the first, over all but those that are outstanding.
    pub retries: u64,
}

impl CountsInfo {
    /// Transactions that did not end well: failed, dropped, unfinished, or outstanding.
    pub fn lost(&self) -> u64 {
        count_sum([self.failed, self.dropped, self.unfinished, self.outstanding])
    }

    /// Completed or failed: those that have a service, a queue and a lag.
    pub fn ended(&self) -> u64 {
        self.completed.saturating_add(self.failed)
    }

    /// Whether there is any response: what never ended has its age for one.
    pub fn has_responses(&self) -> bool {
        self.ended() > 0 || self.unfinished > 0 || self.outstanding > 0
    }

    /// What falls to each completed transaction of a sum; `None` where none was completed.
    pub fn each(&self, sum: f64) -> Option<f64> {
        (self.completed > 0).then(|| sum / self.completed as f64)
    }

    /// Whether the counts obey their identity. Those of a recorder do: `offered` is counted where a
    /// transaction enters the engine, the others where it leaves.
    pub fn add_up(&self) -> bool {
        let ended = [self.completed, self.failed, self.dropped, self.unfinished];
        self.offered == count_sum(ended)
    }
}

growing! {
    CountsInfo {
        offered, completed, failed, dropped, unfinished, outstanding, held, held_failed,
        held_unfinished, retries
    }
}

/// What became of connections. Those before the load are included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionsInfo {
    /// Connections made, whose times are in `latency_us.connect`.
    pub made: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Connections that broke later.
    pub lost: u64,
    /// Connections that every attempt failed to make.
    pub never_made: Option<u64>,
    /// From the first attempt until all that the load began with were made or refused.
    pub opening_s: f64,
    /// The twenty longest outages.
    pub outages: Vec<OutageInfo>,
}

/// Connections failed and nothing was completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutageInfo {
    /// First failure, since the start of the load.
    pub from_s: f64,
    /// Next completed transaction.
    pub until_s: Option<f64>,
}

/// A stretch of a run. In seconds since the start of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpanInfo {
    /// Since the start of the load.
    pub from_s: f64,
    /// Likewise.
    pub until_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outstanding_is_lost_as_what_failed_is() {
        let (failed, dropped, unfinished, outstanding) = (1, 2, 3, 4);
        let counts =
            CountsInfo { failed, dropped, unfinished, outstanding, ..CountsInfo::default() };
        assert_eq!(CountsInfo { completed: 90, held: 3, ..counts }.lost(), 10);
        assert_eq!(CountsInfo { dropped: u64::MAX, ..counts }.lost(), u64::MAX);
    }

    /// A hundred a second, and from 3 s on a window of ten.
    #[test]
    fn what_is_due_while_the_driver_stands_still_waits_for_its_end() {
        let mut record = RunRecord::default();
        (record.window.warmup_s, record.window.measure_s) = (3.0, 10.0);
        record.load.rate_tps = Some(100.0);
        let mut lateness_s = |from_s, until_s| {
            record.client.standstills = vec![SpanInfo { from_s, until_s }];
            record.standstill_lateness_s()
        };
        assert_eq!(lateness_s(4.0, 6.0), 200.0);
        assert_eq!(lateness_s(12.0, 15.0), 250.0, "due for one second of it");
        assert_eq!(lateness_s(1.0, 2.0), 0.0, "in the warm-up");
    }

    /// What is not there is no zero that anything vouches for.
    #[test]
    fn a_record_without_counts_or_latencies_is_not_valid() {
        let validity = Validity::from_warnings(Vec::new());
        let whole = RunRecord { schema: SCHEMA, validity, ..RunRecord::default() };
        let is_valid = |missing: &str| {
            let mut json = serde_json::to_value(&whole).expect("JSON");
            json.as_object_mut().expect("an object").remove(missing);
            let record = read_run_json(&json.to_string(), std::path::Path::new("run.json"));
            record.expect("a record").validity.valid
        };
        assert_eq!(["trend", "counts", "latency_us"].map(is_valid), [true, false, false]);
    }

    #[test]
    fn a_run_in_which_nothing_ended_has_no_service_queue_or_lag() {
        let mut record = RunRecord { schema: SCHEMA, ..RunRecord::default() };
        record.latency_us.response.p99 = 6e6;
        let latencies = |record: &RunRecord| {
            let mut json = serde_json::to_value(record).expect("JSON");
            json["latency_us"].take()
        };
        let open = latencies(&record);
        assert_eq!(open["response"]["p99"], 6e6);
        assert!(["service", "queue", "lag"].iter().all(|name| open.get(name).is_none()), "{open}");
        let json = serde_json::to_string(&record).expect("JSON");
        let read = read_run_json(&json, std::path::Path::new("run.json")).expect("a record");
        assert_eq!(read.latency_us, record.latency_us);
        record.latency_us.service.p99 = 5e6;
        assert_eq!(latencies(&record)["lag"]["p99"], 0.0, "it was never late");
    }

    /// A thousand transactions of 100 µs, and one that is outstanding for all of 30 s.
    #[test]
    fn what_is_outstanding_is_in_no_mean_of_the_budget() {
        let (short, length) = (Nanos::from_micros(100), Nanos::from_secs(30));
        let mut response = Histogram::<u64>::fine();
        (0..1000).for_each(|_| response.record(short));
        response.record(length);
        let mut record = RunRecord::default();
        record.counts.completed = 1000;
        record.counts.outstanding = 1;
        record.window.measure_s = length.as_secs();
        record.latency_us.response.mean = response.mean_ns() / 1e3;
        let mean_us = record.budgeted_mean_us().expect("known");
        assert!((mean_us - 100.0).abs() < 0.1, "{mean_us}");
        record.window.ended_early = true;
        assert_eq!(record.budgeted_mean_us(), None, "its length is another");
        record.counts.outstanding = 0;
        assert_eq!(record.budgeted_mean_us(), Some(record.latency_us.response.mean));
    }
}
