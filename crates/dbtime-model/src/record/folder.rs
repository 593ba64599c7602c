//! Reading a run folder. Writing one is the lab's business alone.

use super::{
    ExemplarKind, FoldedStacks, ResponseSecond, RunRecord, SCHEMA, SeriesPhase, ServerSecond, file,
};
use crate::bounded_file::recorded_bytes;
use crate::counters::{CounterDocument, CounterReport, DocumentError};
use crate::study::{RunOrder, is_study, read_plan, study_file};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A run as read from its folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// `run.json`.
    pub record: RunRecord,
    /// `series.csv`, a row per second.
    pub series: Vec<SeriesRow>,
    /// `transactions.csv`; empty when the run kept none.
    pub transactions: Vec<TransactionRow>,
    /// `latency.hlog`: how the responses of each second are distributed.
    pub responses: Vec<ResponseSecond>,
    /// `server.csv`: what the server counted second by second, in the order of the record's
    /// `sampled_counters`.
    pub server_seconds: Vec<ServerSecond>,
    /// `counters.json`; `None` where the server was not asked.
    pub counters: Option<CounterReport>,
    /// `stacks-on-cpu.folded` and `stacks-off-cpu.folded`.
    pub stacks: FoldedStacks,
}

/// One second of a run, as in `series.csv`. Latencies in microseconds, `%usr` and `%sys` in percent
/// of one CPU, `steal` in percent of all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeriesRow {
    /// Seconds since the start of the load.
    pub second: u32,
    /// `warmup`, `measure` or `rundown`.
    pub phase: SeriesPhase,
    /// Transactions due in this second; `null` in a closed loop.
    pub offered: Option<u64>,
    /// Completed in this second.
    pub completed: u64,
    /// Failed in this second.
    pub failed: u64,
    /// Retries of what ended in this second.
    pub retries: u64,
    /// Mean response.
    pub response_mean_us: f64,
    /// Median response.
    pub response_p50_us: f64,
    /// 90th percentile.
    pub response_p90_us: f64,
    /// 99th percentile.
    pub response_p99_us: f64,
    /// Largest response.
    pub response_max_us: f64,
    /// Mean service time.
    pub service_mean_us: f64,
    /// User CPU of this process.
    pub usr_pct: f64,
    /// System CPU of this process.
    pub sys_pct: f64,
    /// CPU of a server on this machine, in percent of one CPU; `null` where there is none.
    pub server_pct: Option<f64>,
    /// CPU of all processes but this one and the server.
    pub foreign_pct: f64,
    /// Tasks running or waiting for a CPU at the end of the second, machine-wide.
    pub run_queue: u32,
    /// CPU the hypervisor took away.
    pub steal_pct: f64,
}

impl SeriesRow {
    /// The row as it is written: microseconds to the nanosecond, percent to a hundredth. A report
    /// drawn before that and one drawn from the file are then the same.
    #[must_use]
    pub fn rounded(mut self) -> Self {
        let to = |value: &mut f64, parts: f64| *value = (*value * parts).round() / parts;
        for us in [
            &mut self.response_mean_us,
            &mut self.response_p50_us,
            &mut self.response_p90_us,
            &mut self.response_p99_us,
            &mut self.response_max_us,
            &mut self.service_mean_us,
        ] {
            to(us, 1000.0);
        }
        let server = self.server_pct.as_mut();
        let others =
            [&mut self.usr_pct, &mut self.sys_pct, &mut self.foreign_pct, &mut self.steal_pct];
        for pct in others.into_iter().chain(server) {
            to(pct, 100.0);
        }
        self
    }
}

/// One transaction kept whole, as in `transactions.csv`. Unit: microseconds; what was not measured
/// is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactionRow {
    /// `slowest` or `random`.
    pub kept: ExemplarKind,
    /// Its operation.
    pub operation: String,
    /// How it ended.
    pub outcome: String,
    /// Its due instant, since the start of the load.
    pub due_us: f64,
    /// When it could have begun, likewise; `None` in earlier records.
    pub ready_us: Option<f64>,
    /// When its first byte was sent, likewise; `None` in earlier records.
    pub sent_us: Option<f64>,
    /// Its retries.
    pub retries: u32,
    /// Its parts; `total` is its response.
    pub budget: super::BudgetUs,
    /// Its statements, in the order in which they were sent; empty where it was not traced.
    pub statements: Vec<TransactionStatement>,
}

/// A statement of a transaction that was traced, as in `transaction_statements.csv`. Instants in
/// microseconds since the start of the load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactionStatement {
    /// Its name in the workload; empty where it has none.
    pub name: String,
    /// Before its first byte was handed to the kernel.
    pub sent_us: f64,
    /// When the last byte of its answer had been read.
    pub read_us: f64,
    /// How long the answer lay in the driver's socket because the driver had no CPU.
    pub late_us: f64,
    /// When it came to the server's socket; `None` where that was not seen.
    pub arrived_us: Option<f64>,
    /// When the server had read its first byte; `None` where it was not alone in its request.
    pub began_us: Option<f64>,
    /// When the last write of its answer had returned, which may be after the client has read it;
    /// `None` likewise.
    pub ended_us: Option<f64>,
    /// The tracer's number of its connection.
    pub connection: Option<u64>,
    /// The server's thread that read it.
    pub thread: Option<u32>,
    /// Its longest wait for a lock, in microseconds; `None`: there was none.
    pub lock_wait_us: Option<f64>,
    /// What the server calls that lock; empty where it does not.
    pub lock: String,
    /// Who let it go.
    pub holder: String,
    /// That one's thread; `None`: nobody's.
    pub holder_thread: Option<u32>,
    /// The thread that had the CPU for longest while the server could have run for it; empty where
    /// none had.
    pub cpu_holder: String,
    /// Its parts: wire, server's queue and what the server did, as sums.
    pub budget: super::BudgetUs,
}

/// What a file that is not whole means, and what to do.
const DAMAGED: &str =
    "the record is damaged or incomplete; restore it from a copy, or repeat the run";

/// What a folder is that has `sweep.json` and no plan.
pub(crate) const LISTED_SWEEP: &str = "is a sweep of dbtime 0.0, which no later version reads: \
     report it with version 0.0, or make the sweep anew";

/// Why a folder is no run.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no `run.json`.
    #[error("{0} holds no run: {why}", why = absence(.0))]
    NotARun(PathBuf),
    /// It is a folder of records, not one itself.
    #[error("{0} holds records: `dbtime runs {0}` lists them; name one of them")]
    HoldsRecords(PathBuf),
    /// It is a study, a sweep or a search: many runs.
    #[error("{0} is {remedy}", remedy = ways_to_runs(.0))]
    HoldsStudy(PathBuf),
    /// It is a sweep whose runs `sweep.json` lists.
    #[error("{0} {LISTED_SWEEP}")]
    ListedSweep(PathBuf),
    /// A file of a record stands for it.
    #[error("{path} is a file of a record: name its folder, {folder}")]
    PartOfRecord {
        /// The file.
        path: PathBuf,
        /// The record.
        folder: PathBuf,
    },
    /// A file is missing that every record has.
    #[error("{0} is missing: {DAMAGED}")]
    Missing(PathBuf),
    /// A file does not have the form of its kind.
    #[error("{path}, line {line}: {problem}: {DAMAGED}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// The record was written by a later program.
    #[error(
        "{path} has record schema {schema}, this program reads up to {latest}: use a newer dbtime"
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its schema.
        schema: u32,
        /// The latest that this program reads.
        latest: u32,
    },
    /// A file of counters is none, or was written by a later program.
    #[error("{path} {source}")]
    Counters {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: DocumentError,
    },
}

/// Reads a run folder whole.
///
/// Errors: [`ReadError`] names the file, the line and what to do.
pub fn read_run(folder: &Path) -> Result<Run, ReadError> {
    let record = read_run_record(folder)?;
    let series_file = folder.join(file::SERIES);
    let series = super::csv::series(&read_text(&series_file)?, &series_file)?;
    let mut transactions =
        if_there(folder, file::TRANSACTIONS, super::csv::transactions)?.unwrap_or_default();
    if_there(folder, file::TRANSACTION_STATEMENTS, |text, path| {
        super::csv::statements(text, path, &mut transactions)
    })?;
    let responses = if_there(folder, file::LATENCY, super::interval_log::read)?.unwrap_or_default();
    let server_seconds = if_there(folder, file::SERVER_SECONDS, |text, path| {
        super::server_seconds::read(text, path, &record.sampled_counters)
    })?;
    let server_seconds = server_seconds.unwrap_or_default();
    let counters = if_there(folder, file::COUNTERS, read_counters)?;
    let on_cpu = if_there(folder, file::STACKS_ON_CPU, super::folded::read)?;
    let off_cpu = if_there(folder, file::STACKS_OFF_CPU, super::folded::read)?;
    let stacks = FoldedStacks { on_cpu, off_cpu };
    Ok(Run { record, series, transactions, responses, server_seconds, counters, stacks })
}

/// What is read of a file of the folder; `None` where there is none.
fn if_there<T>(
    folder: &Path,
    name: &str,
    read: impl FnOnce(&str, &Path) -> Result<T, ReadError>,
) -> Result<Option<T>, ReadError> {
    let path = folder.join(name);
    path.exists().then(|| read(&read_text(&path)?, &path)).transpose()
}

/// The folder of a record that is named by it, or by its `run.json`, `plan.json` or `sweep.json`.
pub fn record_folder(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    match (name, parent_of(path)) {
        (Some(file::RUN | study_file::PLAN | file::LISTED_SWEEP), Some(parent))
            if path.is_file() =>
        {
            parent.to_owned()
        }
        _ => path.to_owned(),
    }
}

/// The folder that a path is in; a bare name is in this one.
fn parent_of(path: &Path) -> Option<&Path> {
    let parent = path.parent()?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

/// What is missing of a run.
fn absence(path: &Path) -> String {
    let run = file::RUN;
    match path.exists() {
        true if path.is_file() => {
            "it is a file, and no record; name the folder of a record, or its run.json".to_owned()
        }
        true => {
            format!("there is no {run} in it (a run that was killed before its end leaves none)")
        }
        false => format!("there is no such folder, and no {run} in it"),
    }
}

/// What a study is, how it is shown, and how a run of it is found.
fn ways_to_runs(path: &Path) -> String {
    let is_sweep = read_plan(path).is_ok_and(|(plan, _)| plan.order != RunOrder::Blocks);
    let (kind, report, runs) = match is_sweep {
        true => ("sweep or a search", "report", path.to_owned()),
        false => ("study", "study report", path.join(study_file::RUNS)),
    };
    let (path, runs) = (path.display(), runs.display());
    format!(
        "a {kind}: `dbtime {report} {path}` shows what came of it, and `dbtime runs {runs}` lists \
         its runs; name one of them"
    )
}

/// What a path names that is no run: other records, a file of one, or nothing of that kind.
fn no_run(path: &Path) -> ReadError {
    let is_record = |folder: &Path| folder.join(file::RUN).is_file() || is_study(folder);
    let entries = || fs::read_dir(path).into_iter().flatten().flatten();
    match parent_of(path) {
        Some(folder) if path.is_file() && is_record(folder) => {
            ReadError::PartOfRecord { path: path.to_owned(), folder: folder.to_owned() }
        }
        _ if is_study(path) => ReadError::HoldsStudy(path.to_owned()),
        _ if path.join(file::LISTED_SWEEP).is_file() => ReadError::ListedSweep(path.to_owned()),
        _ if entries().any(|entry| is_record(&entry.path())) => {
            ReadError::HoldsRecords(path.to_owned())
        }
        _ => ReadError::NotARun(path.to_owned()),
    }
}

/// Reads the `run.json` of a run folder alone.
///
/// Errors: as [`read_run`].
pub fn read_run_record(folder: &Path) -> Result<RunRecord, ReadError> {
    let run_file = folder.join(file::RUN);
    if !run_file.exists() {
        return Err(no_run(folder));
    }
    read_run_json(&read_text(&run_file)?, &run_file)
}

fn read_counters(text: &str, path: &Path) -> Result<CounterReport, ReadError> {
    let failed = |source| ReadError::Counters { path: path.to_owned(), source };
    match CounterDocument::read(text).map_err(failed)? {
        CounterDocument::CounterReport(report) => Ok(report),
        CounterDocument::CounterSample(_) => Err(ReadError::Malformed {
            path: path.to_owned(),
            line: 1,
            problem: "it holds a sample of counters in place of differences".to_owned(),
        }),
    }
}

/// What the figures of a record rest on, as far as it is there.
#[derive(Deserialize)]
struct PresentFigures {
    counts: Option<IgnoredAny>,
    latency_us: Option<IgnoredAny>,
}

/// Reads the text of a `run.json`; `path` is only for messages. One without counts or latencies is
/// not valid: what is absent is read as zero.
pub fn read_run_json(text: &str, path: &Path) -> Result<RunRecord, ReadError> {
    let mut record: RunRecord = versioned(text, path, SCHEMA)?;
    let present: PresentFigures = versioned(text, path, SCHEMA)?;
    record.validity.valid &= present.counts.is_some() && present.latency_us.is_some();
    Ok(record)
}

/// Reads a document of at most the version `latest`.
fn versioned<T: DeserializeOwned>(text: &str, path: &Path, latest: u32) -> Result<T, ReadError> {
    let malformed = |error: serde_json::Error| ReadError::Malformed {
        path: path.to_owned(),
        line: error.line(),
        problem: without_position(&error),
    };
    if !text.trim_start().starts_with('{') {
        let problem = "no JSON object stands there".to_owned();
        return Err(ReadError::Malformed { path: path.to_owned(), line: 1, problem });
    }
    /// Only the version, so that a newer record is refused by name whatever else it holds.
    #[derive(Deserialize)]
    struct RecordVersion {
        schema: u32,
    }
    let version: RecordVersion = serde_json::from_str(text).map_err(malformed)?;
    if version.schema > latest {
        let schema = version.schema;
        return Err(ReadError::Newer { path: path.to_owned(), schema, latest });
    }
    serde_json::from_str(text).map_err(malformed)
}

/// What is wrong, without where: the line is told before it.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(problem, _)| problem.to_owned())
}

fn read_text(path: &Path) -> Result<String, ReadError> {
    let bytes = recorded_bytes(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ReadError::Missing(path.to_owned()),
        _ => ReadError::Io { path: path.to_owned(), source },
    })?;
    // A file cut within a character is damaged, not unreadable.
    String::from_utf8(bytes).map_err(|error| {
        let whole = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        ReadError::Malformed {
            path: path.to_owned(),
            line: 1 + whole.iter().filter(|byte| **byte == b'\n').count(),
            problem: "text that is no UTF-8".to_owned(),
        }
    })
}
