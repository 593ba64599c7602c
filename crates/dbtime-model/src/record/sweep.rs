//! A sweep: many runs in one folder, and `sweep.json`, which says which is which.
//!
//! The file is written anew after every run, so that a sweep that was ended has what there is.

use super::folder::{ReadError, parent_of, read_run_record, read_text};
use super::{CheckOutcome, CountsInfo, LatencyUs, RunFigure, RunRecord, ServerInfo, file};
use crate::inner_path::is_inner;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The version of `sweep.json` that this program writes.
pub const SWEEP_SCHEMA: u32 = 1;

/// One sweep, as in `sweep.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepRecord {
    /// [`SWEEP_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Version of the program that wrote it.
    pub dbtime: String,
    /// The command that repeats it, without passwords.
    pub command: String,
    /// The folder it was given in, which relative paths are relative to.
    pub directory: String,
    /// When the sweep started, UTC, RFC 3339.
    pub started_at: String,
    /// How many runs were planned.
    pub planned: u64,
    /// Whether all of them were made or have failed: `false` while it goes on, and where it was
    /// ended.
    pub complete: bool,
    /// The swept factors, in the order of the command line.
    pub factors: Vec<String>,
    /// What a search for a rate found; `null`: there was none, or it goes on.
    pub found: Option<FoundRate>,
    /// The runs made so far, in the order they were made.
    pub runs: Vec<SweepRun>,
    /// Those that could not be made, likewise.
    pub failed: Vec<FailedRun>,
}

/// The highest rate that meets a limit, as a search found it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FoundRate {
    /// The limit, as it was given.
    pub limit: String,
    /// The rate; `null`: none was found. Unit: transactions per second.
    pub rate_tps: Option<f64>,
    /// The lowest rate that was seen to miss it; `null`: none. Unit: transactions per second.
    pub above_tps: Option<f64>,
    /// Whether that rate was not seen to miss it, as in records of before: the driver itself was
    /// late there, so that nobody knows.
    pub is_above_unjudged: bool,
    /// How many fresh runs confirmed it, all that were made for that.
    pub confirmed: u64,
    /// What is carried flat out, whatever the response. Unit: transactions per second.
    pub flat_out_tps: f64,
    /// Why it is not known; `null`: it is.
    pub unknown: Option<String>,
}

/// A run of a sweep that could not be made, or crashed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FailedRun {
    /// Its number among all, from 1, in the order of time.
    pub number: u64,
    /// Which repetition it was, from 1.
    pub round: u64,
    /// Where its combination stands among all, from 0.
    pub combination: u64,
    /// The values of the factors it was to be made with.
    pub factors: Vec<FactorValue>,
    /// Cause and remedy.
    pub reason: String,
}

/// A factor and its value in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct FactorValue {
    /// The flag that is swept, without its dashes.
    pub name: String,
    /// Its value, without passwords.
    pub value: String,
}

impl fmt::Display for FactorValue {
    /// As on the command line: `workers=4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

/// Factors as they are shown: `workers=4 rate=500/s`; `as given` where there are none.
pub fn combination_text<'a>(factors: impl IntoIterator<Item = &'a FactorValue>) -> String {
    let pairs: Vec<String> = factors.into_iter().map(FactorValue::to_string).collect();
    if pairs.is_empty() { "as given".to_owned() } else { pairs.join(" ") }
}

/// One run of a sweep with the figures of its record that a table of runs needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepRun {
    /// Its folder in that of the sweep.
    pub folder: String,
    /// Which repetition it is, from 1.
    pub round: u64,
    /// Where its combination stands among all, from 0.
    pub combination: u64,
    /// The values of the factors it was made with.
    pub factors: Vec<FactorValue>,
    /// When its load started, UTC, RFC 3339.
    pub started_at: String,
    /// offered = completed + failed + dropped + unfinished.
    pub counts: CountsInfo,
    /// Completed transactions per second of the window.
    pub throughput_tps: f64,
    /// The response, in microseconds.
    pub response_us: LatencyUs,
    /// Mean wait for somebody who is free, in microseconds.
    pub queue_mean_us: f64,
    /// Mean service time, in microseconds.
    pub service_mean_us: f64,
    /// CPU of the client per transaction, in microseconds; `null` when none was completed.
    pub client_cpu_us_per_tx: Option<f64>,
    /// User CPU of the server in percent of one CPU; `null` where there is none.
    pub server_usr_pct: Option<f64>,
    /// System CPU of the server, likewise.
    pub server_sys_pct: Option<f64>,
    /// Whether the figures can be trusted.
    pub valid: bool,
    /// How all limits came out; `null` where nothing was required.
    pub limits: Option<CheckOutcome>,
    /// The limits that were missed: `withdraw: p90 <= 5ms`.
    pub missed: Vec<String>,
}

impl SweepRun {
    /// What the record of a run says of it; its place in the sweep is the caller's to add.
    pub fn from_record(record: &RunRecord) -> Self {
        let server = record.server.as_ref();
        let missed = record.checks().filter(|(_, check)| check.is_missed());
        Self {
            started_at: record.started_at.clone(),
            counts: record.counts,
            throughput_tps: record.throughput_tps,
            response_us: record.latency_us.response,
            queue_mean_us: record.latency_us.queue.mean,
            service_mean_us: record.latency_us.service.mean,
            client_cpu_us_per_tx: record.client.cpu_us_per_tx,
            server_usr_pct: server.map(|server| server.usr_pct),
            server_sys_pct: server.map(|server| server.sys_pct),
            valid: record.validity.valid,
            limits: record.limits_outcome(),
            missed: missed
                .map(|(of, check)| format!("{of}: {} {}", check.metric, check.text))
                .collect(),
            ..Self::default()
        }
    }

    /// A figure of the run; `None`: it has none, or a sweep does not keep it.
    pub fn value(&self, figure: &RunFigure) -> Option<f64> {
        KEPT.contains(&figure.key).then(|| figure.value(&self.kept())).flatten()
    }

    /// Its record, as far as the sweep has it: the figures of [`KEPT`].
    pub(super) fn kept(&self) -> RunRecord {
        let mut record = RunRecord {
            counts: self.counts,
            throughput_tps: self.throughput_tps,
            ..RunRecord::default()
        };
        record.latency_us.response = self.response_us;
        record.latency_us.queue.mean = self.queue_mean_us;
        record.latency_us.service.mean = self.service_mean_us;
        record.client.cpu_us_per_tx = self.client_cpu_us_per_tx;
        let server = |(usr_pct, sys_pct)| ServerInfo { usr_pct, sys_pct, ..ServerInfo::default() };
        record.server = self.server_usr_pct.zip(self.server_sys_pct).map(server);
        record
    }
}

/// The figures that a sweep keeps of a run, by their keys.
const KEPT: [&str; 21] = [
    "throughput",
    "mean",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "max",
    "service-mean",
    "queue-mean",
    "client-cpu",
    "errors",
    "offered",
    "completed",
    "failed",
    "dropped",
    "unfinished",
    "outstanding",
    "retries",
    "server-usr",
    "server-sys",
];

/// A sweep as read from its folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// `sweep.json`.
    pub record: SweepRecord,
    /// Its runs with their `run.json`, those that are there.
    pub runs: Vec<(SweepRun, RunRecord)>,
    /// Folders of runs that are not there any more.
    pub missing: Vec<String>,
}

/// Whether a folder is that of a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join(file::SWEEP).is_file()
}

/// The folder of a record that is named by it, or by its `run.json` or `sweep.json`.
pub fn record_folder(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    match (name, parent_of(path)) {
        (Some(file::RUN | file::SWEEP), Some(parent)) if path.is_file() => parent.to_owned(),
        _ => path.to_owned(),
    }
}

/// Reads the `sweep.json` of a sweep's folder.
///
/// Errors: as [`read_sweep`].
pub fn read_sweep_record(folder: &Path) -> Result<SweepRecord, ReadError> {
    let path = folder.join(file::SWEEP);
    let text = read_text(&path)?;
    let sweep: SweepRecord = super::folder::versioned(&text, &path, SWEEP_SCHEMA)?;
    match sweep.runs.iter().all(|run| is_inner(Path::new(&run.folder))) {
        true => Ok(sweep),
        false => {
            let problem = "a run has its record outside of the sweep's folder".to_owned();
            Err(ReadError::Malformed { path, line: 1, problem })
        }
    }
}

/// Reads a sweep with the records of all of its runs that are there, and no other file of theirs.
///
/// Errors: [`ReadError`] names the file, the line and what to do.
pub fn read_sweep(folder: &Path) -> Result<Sweep, ReadError> {
    let record = read_sweep_record(folder)?;
    let (mut runs, mut missing) = (Vec::new(), Vec::new());
    for run in &record.runs {
        match read_run_record(&folder.join(&run.folder)) {
            Ok(read) => runs.push((run.clone(), read)),
            Err(ReadError::NotARun(_)) => missing.push(run.folder.clone()),
            Err(error) => return Err(error),
        }
    }
    Ok(Sweep { record, runs, missing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Check, CheckDoubt, CheckOrigin, FIGURES, OperationSummary};

    #[test]
    fn limits_that_nobody_set_pass_nothing() {
        let own = Check { origin: CheckOrigin::Dbtime, passed: true, ..Check::default() };
        let of = |checks: &[Check]| {
            let operation = OperationSummary { limits: checks.to_vec(), ..Default::default() };
            let record = RunRecord { operations: vec![operation], ..RunRecord::default() };
            SweepRun::from_record(&record).limits
        };
        assert_eq!(of(std::slice::from_ref(&own)), None);
        let given = Check { origin: CheckOrigin::Given, ..own.clone() };
        assert_eq!(of(&[own.clone(), given]), Some(CheckOutcome::Passed));
        assert_eq!(of(&[Check { passed: false, ..own }]), Some(CheckOutcome::Failed));
    }

    #[test]
    fn what_an_early_end_leaves_open_was_not_missed() {
        let open = Check {
            origin: CheckOrigin::Given,
            undecided: true,
            doubt: Some(CheckDoubt::EndedEarly),
            ..Check::default()
        };
        let record = RunRecord { limits: vec![open], ..RunRecord::default() };
        let run = SweepRun::from_record(&record);
        assert_eq!((run.limits, run.missed), (Some(CheckOutcome::Undecided), Vec::new()));
    }

    #[test]
    fn a_figure_that_a_sweep_keeps_is_the_one_of_the_record() {
        let run = crate::record::figures::tests::run();
        let kept = SweepRun::from_record(&run);
        for figure in FIGURES {
            let expected = KEPT.contains(&figure.key).then(|| figure.value(&run)).flatten();
            assert_eq!(kept.value(figure), expected, "{}", figure.key);
        }
        assert!(KEPT.iter().all(|key| kept.value(RunFigure::listed(key)).is_some()));
    }

    #[test]
    fn a_run_elsewhere_is_none_of_a_sweep() {
        let dir = tempfile::tempdir().expect("a folder");
        let read = |folder: &str| {
            let run = SweepRun { folder: folder.to_owned(), ..SweepRun::default() };
            let record = SweepRecord { runs: vec![run], ..SweepRecord::default() };
            let text = serde_json::to_string(&record).expect("plain data");
            std::fs::write(dir.path().join(file::SWEEP), text).expect("written");
            read_sweep_record(dir.path())
        };
        assert!(read("001").is_ok());
        for outside in ["../001", "/001", "a/../../b"] {
            let error = read(outside).expect_err("refused").to_string();
            assert!(error.contains("outside of the sweep's folder"), "{error}");
        }
    }

    #[test]
    fn a_combination_of_nothing_is_as_given() {
        let factor =
            |name: &str, value: &str| FactorValue { name: name.into(), value: value.into() };
        assert_eq!(combination_text([]), "as given");
        let factors = [factor("workers", "4"), factor("rate", "500/s")];
        assert_eq!(combination_text(&factors), "workers=4 rate=500/s");
    }
}
