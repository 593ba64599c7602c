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
mod factor_value;
mod figures;
mod file_wait;
mod folded;
mod folder;
mod interval_log;
mod layer;
mod lock_chain;
mod measuring_cost;
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
    /// Version of the record: [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// The command that repeats it: without `--out`, and with passwords left to the environment and
    /// the clients' own files.
    pub command: String,
    /// The folder it was given in, which relative paths are relative to; empty in records of
    /// before.
    pub directory: String,
    /// The run as it can be made again; `null` in records of before, and of runs that other tools'
    /// command lines describe.
    pub spec: Option<RecordedSpec>,
    /// When the load started, UTC, RFC 3339.
    pub started_at: String,
    /// When the last transaction had ended, UTC, RFC 3339.
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
    /// When the run came to each of its phases, in their order.
    pub phases: Vec<PhaseTime>,
    /// `response` (from the due instant) or `service` (a closed loop has no due instant).
    pub basis: Basis,
    /// offered = completed + failed + dropped + unfinished.
    pub counts: CountsInfo,
    /// How often each error code occurred in the window, retried ones included; beyond 200 codes by
    /// class.
    pub errors: BTreeMap<String, u64>,
    /// The first message of each of them, on one line of at most 512 characters for each of its
    /// parts, with a remedy where one is known; what may be a value is masked.
    pub error_messages: BTreeMap<String, String>,
    /// Warnings (MySQL, MariaDB) and notices (PostgreSQL) that came with the answers of the window;
    /// 0 on an embedded engine, which has none.
    pub warnings: u64,
    /// Completed transactions per second of the window.
    pub throughput_tps: f64,
    /// Response, service, queue, lag over all operations.
    pub latency_us: LatencySet,
    /// The response distribution on its way to the maximum, for plots.
    pub percentiles: Vec<PercentilePoint>,
    /// How many independent transactions those of the window are worth, for neighbours in time are
    /// alike; `null` with fewer than 8 s.
    pub effective_transactions: Option<f64>,
    /// How well single percentiles of the response are known; empty with the former.
    pub percentile_ranges: Vec<PercentileRange>,
    /// How the window changed; `null` with fewer than 9 s.
    pub trend: Option<WindowTrend>,
    /// The response distribution by power-of-two bucket.
    pub histogram: Vec<HistogramBucket>,
    /// What was required of the whole run, and whether it held.
    pub limits: Vec<Check>,
    /// By operation.
    pub operations: Vec<OperationSummary>,
    /// By statement; those that were never executed are left out.
    pub statements: Vec<StatementSummary>,
    /// Mean per transaction; the non-null parts add up to `total`. `null` with `--no-budget`, and
    /// where no transaction was measured.
    pub budget_us: Option<BudgetUs>,
    /// Σ |unexplained| / Σ response over single transactions, without what is known to count twice.
    /// `null` without a budget.
    pub budget_error: Option<f64>,
    /// How the budget was measured.
    pub budget: Option<BudgetInfo>,
    /// The tracer beside the run; `null`: there was none.
    pub trace: Option<TraceInfo>,
    /// Cost by layer, from transactions or statements down to the disk (embedded engine, and traced
    /// servers).
    pub layers: Vec<BudgetLayer>,
    /// Calls and time by file and kind of call (embedded engine only).
    pub files: Vec<FileIo>,
    /// Who held the lock that others waited for (embedded engine, and traced servers).
    pub lock_holders: Vec<BudgetLockHolder>,
    /// The chains of what the holders of locks did meanwhile; `null` where that was not measured.
    pub lock_chains: Option<Vec<BudgetLockChain>>,
    /// The files that were waited for; `null` where that was not measured.
    pub file_waits: Option<Vec<BudgetFileWait>>,
    /// Who had the CPU that the server's threads waited for; `null` where nothing was traced.
    pub cpu_holders: Option<Vec<BudgetCpuHolder>>,
    /// Messages to the server and back per completed transaction; `null` when none was completed.
    /// On an embedded engine these are calls.
    pub round_trips_per_tx: Option<f64>,
    /// What became of connections to a server; `null` on an embedded engine, and for scripts of
    /// sysbench, which connect by themselves.
    pub connections: Option<ConnectionsInfo>,
    /// Times in which transactions were due and none was completed, outages left out: longer than
    /// ten times the 99th percentile of an ordinary second, and than a tenth of a second. In the
    /// order of time.
    pub stalls: Vec<SpanInfo>,
    /// What the driver itself used.
    pub client: ClientInfo,
    /// What the server used; `null` on an embedded engine, which is part of `client`, and for a
    /// server that is not visible.
    pub server: Option<ServerInfo>,
    /// What the server counted in the window; `null` where it was not asked.
    pub counters: Option<CountersInfo>,
    /// What was sampled of the server every second, the columns of `server.csv`; empty where it
    /// could not be asked.
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

    /// Why the run is in no verdict on several; `None`: it is.
    pub fn discount(&self) -> Option<String> {
        match self.window.ended_early {
            true => Some("it was ended early".to_owned()),
            false => self.validity.reason(),
        }
    }

    /// Why the first of what is undecided is that; `None`: nothing is.
    pub fn doubt(&self) -> Option<CheckDoubt> {
        self.checks().find_map(|(_, check)| check.reason())
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
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// Main memory in bytes.
    pub memory_bytes: u64,
    /// Share of all CPU time the hypervisor took away in the window, in percent.
    pub steal_pct: f64,
    /// Share of all CPU time that other processes used in the window, in percent, without the
    /// driven server where it is visible.
    pub foreign_cpu_pct: f64,
    /// Cost of one clock read, in nanoseconds.
    pub clock_read_ns: f64,
    /// How late the machine wakes a sleeper: the median of the self-test before the run.
    pub timer_late_p50_us: f64,
    /// The 99th percentile likewise.
    pub timer_late_p99_us: f64,
    /// Cost of the two thread clocks read around a measured statement, in nanoseconds.
    pub probe_ns: f64,
}

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkloadInfo {
    /// As its file or its script has it; `query` of one that was on the command line.
    pub name: String,
    /// How many times its base size.
    pub scale: u64,
    /// Rows by table at that scale.
    pub rows: BTreeMap<String, u64>,
}

/// Against what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetInfo {
    /// `sqlite`, `mysql` (MariaDB too), `postgres`, `null`.
    pub engine: String,
    /// The engine's own version; of a server with its product: `MariaDB 10.11.19`.
    pub version: String,
    /// Without password: as given, for PostgreSQL with the user and place from the environment.
    pub url: String,
    /// Settings read back from the engine: for SQLite with the file system, for a server those that
    /// influence a load.
    pub settings: BTreeMap<String, String>,
    /// Bytes of its data before the load started: of SQLite the file, of a server the workload's
    /// tables with their indexes, as it counts them; `null` without tables.
    pub data_bytes: Option<u64>,
    /// How statements go to a server: `text`, `text with parameters` (`pgbench -M extended`) or
    /// `prepared`, with `, pipelined` for `--pipeline`; `null` on an embedded engine, and for
    /// scripts that prepare some statements and others not.
    pub protocol: Option<String>,
    /// What connections to a server are encrypted by: `off`, or the version of TLS and the cipher
    /// suite, such as `TLS 1.3, TLS_AES_256_GCM_SHA384`; `null` on an embedded engine.
    pub tls: Option<ConnectionCipher>,
    /// Statements that all connections together have prepared; `null` where the server does not
    /// limit them, or none is prepared.
    pub prepared_statements: Option<u64>,
    /// Whether its data were restored from a snapshot; else the run loaded them, or they were there.
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

/// How the load was made, also of a run without a spec: what became of what its spec says, in words
/// that may be those of another version. A flag of which there is nothing more to tell than its
/// value is in the spec alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadInfo {
    /// `closed` or `open`.
    pub mode: LoadMode,
    /// Offered rate of an open loop, per second (its mean where it changes); `null` closed, and
    /// when all are due at once.
    pub rate_tps: Option<f64>,
    /// The rate as given: `500/s`, `ramp:100/s..2000/s`, `auto:50%`.
    pub rate: Option<String>,
    /// How `auto` found the rate; `null` otherwise.
    pub auto: Option<AutoRate>,
    /// Width of the jitter around each due instant; `null` when arrivals are not steady.
    pub jitter_us: Option<f64>,
    /// `steady`, `poisson`, `uniform`, `burst:20`, `at-once`; `closed` in a closed loop.
    pub arrivals: ArrivalProcess,
    /// Clients of a closed loop, connections of an open one.
    pub connections: u32,
    /// Size of the worker pool; `null` when every connection has its own.
    pub workers: Option<u32>,
    /// Shards of the event loop; `null` on an engine with worker threads.
    pub shards: Option<u32>,
    /// Mean think time; `null` when there is none.
    pub think_us: Option<f64>,
    /// The think time as given.
    pub think: Option<String>,
    /// `wait`, `drop` or `deadline:50ms`.
    pub on_backlog: BacklogPolicy,
    /// `every-transaction` where each has a connection of its own; `null` where connections stay.
    pub reconnect: Option<String>,
    /// How long a statement may take; `null` without such a limit.
    pub statement_timeout_us: Option<f64>,
    /// How long each request was held back before it was sent, as the round trip of a network would
    /// hold it; `null`: it was not.
    #[serde(default)]
    pub network_delay_us: Option<f64>,
    /// What the simulated network passed in each direction, at most, in bits per second; `null`: no
    /// limit was simulated.
    #[serde(default)]
    pub network_bits_per_s: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
}

/// How `--rate auto` found its rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AutoRate {
    /// Completed transactions per second flat out.
    pub flat_out_tps: f64,
    /// How long it was measured, in seconds.
    pub measured_s: f64,
    /// The share of it that was offered, in percent.
    pub share_pct: f64,
    /// Workers, or connections where each has its own, that it was measured with; 0 in records
    /// that do not say. In a sweep these are those of one run, and all runs are offered the same.
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
    /// Load before the window, in seconds.
    pub warmup_s: f64,
    /// Length of the window, in seconds: as planned, or until an early end or the last transaction.
    pub measure_s: f64,
    /// As it was planned, in seconds; `null` where a number of transactions ends it, and in records
    /// of before.
    pub planned_s: Option<f64>,
    /// Time after the window until the last transaction had ended, in seconds.
    pub rundown_s: f64,
    /// Transactions that ended but were due before or after the window.
    pub outside: u64,
    /// Whether something, such as a signal or its own script, ended the run before its time.
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
    /// The instant a closed loop's client was ready: no transaction had to wait for its turn.
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
    /// Still under way or waiting at the end.
    pub unfinished: u64,
    /// Sent before the window and not over at its end: in no other count, and in the responses with
    /// the window's length, which they took at least.
    pub outstanding: u64,
    /// Sent as the window began (within its first twentieth, and its first second) and not over at
    /// its end: in the other counts too, and in the responses as they are there.
    pub held: u64,
    /// Those of them that failed.
    pub held_failed: u64,
    /// Those of them that never ended.
    pub held_unfinished: u64,
    /// Attempts beyond the first, over all but those that are outstanding.
    pub retries: u64,
}

impl CountsInfo {
    /// Transactions that did not end well: failed, dropped, unfinished, or outstanding.
    pub fn lost(&self) -> u64 {
        count_sum([self.failed, self.dropped, self.unfinished, self.outstanding])
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

/// What became of connections, over the whole run, those before the load included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionsInfo {
    /// Connections made; `latency_us.connect` has their times.
    pub made: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Connections that broke after they had been made.
    pub lost: u64,
    /// Connections that the load was to have, that were tried and could not be made, not once;
    /// `null` in records of before it was counted.
    pub never_made: Option<u64>,
    /// From the first attempt until all that the load began with had been made or refused, in
    /// seconds.
    pub opening_s: f64,
    /// Times of a tenth of a second and more in which connections failed and nothing was completed,
    /// longest first, at most twenty.
    pub outages: Vec<OutageInfo>,
}

/// A time in which connections failed and nothing was completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutageInfo {
    /// The first failure, in seconds since the start of the load.
    pub from_s: f64,
    /// The first transaction completed again, likewise; `null` when there was none.
    pub until_s: Option<f64>,
}

/// A stretch of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpanInfo {
    /// Its beginning, in seconds since the start of the load.
    pub from_s: f64,
    /// Its end, likewise.
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
