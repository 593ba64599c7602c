//! The runs of a plan as they are made, each a process of its own: of dbtime, or of an external
//! program.

use super::pilot_slices::SeenSeconds;
use super::planned_run::{PlannedRun, RunControls, failed_run};
use super::program::ProgramTrials;
use super::{HoldResult, PilotFolder, StartResult, TrialMaker, TrialResult};
use crate::error::LabError;
use crate::held_run::HeldRun;
use crate::progress::RunProgress;
use crate::run_event::{RunOutcome, SliceRequest};
use crate::run_process::own_program;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_model::Nanos;
use dbtime_model::record::{PrimaryMetric, RunRecord, WarningKind};
use dbtime_model::spec::RunSpec;
use dbtime_model::study::{PilotRuns, StudyCell, StudyData, StudyPlan, StudyTrial, TrialRecord};
use dbtime_stats::neighbour_deviation;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why there is no record where none was wanted.
const NO_RUN: &str = "it made no run";

/// What runs of the baseline have shown before a study.
#[derive(Clone, Debug)]
pub struct PilotFindings {
    /// Their values, and how long one took that has no data to load.
    pub runs: PilotRuns,
    /// The standard deviation of the log ratio of neighbouring slices of two seconds within them;
    /// `None`: too few were seen, or the verdict is not on the throughput.
    pub slice_deviation: Option<f64>,
    /// Why the server was not traced, in words; `None`: it was, or was not to be.
    pub untraced: Option<String>,
}

/// A run of each configuration, ready to be made again and again.
pub struct CellRuns<'a> {
    plan: &'a StudyPlan,
    /// Passwords, by the variables that the processes have them in.
    secrets: Vec<(String, ServerSecret)>,
    controls: RunControls<'a>,
    /// Where the data of its runs are kept.
    snapshots: PathBuf,
    /// The targets of the block that is made in slices, by their configurations.
    held: BTreeMap<u32, HeldRun>,
}

impl<'a> CellRuns<'a> {
    /// Those of a plan, with passwords by the variables that the processes have them in, and with
    /// snapshots in this folder.
    pub fn new(
        plan: &'a StudyPlan,
        secrets: Vec<(String, ServerSecret)>,
        controls: RunControls<'a>,
        snapshots: &Path,
    ) -> Self {
        // The process of a run may work in another folder.
        let snapshots = std::path::absolute(snapshots).unwrap_or_else(|_| snapshots.to_owned());
        Self { plan, secrets, controls, snapshots, held: BTreeMap::new() }
    }

    /// Makes so many runs of the first configuration, the baseline, without a record: fewer where
    /// they would take longer than `most_s` seconds, but two where that takes no more than twice as
    /// long. `begins` takes the number of each, from 1.
    ///
    /// Errors: one could not be made, or the study is to end.
    pub fn pilot(
        &self,
        runs: u32,
        most_s: f64,
        begins: &dyn Fn(u32),
    ) -> Result<PilotFindings, LabError> {
        let (mut values, mut lengths_s) = (Vec::new(), Vec::<f64>::new());
        let (mut lives, mut untraced) = (Vec::new(), None);
        for number in 1..=runs {
            let spent_s: f64 = lengths_s.iter().sum();
            let next_s = lengths_s.last().copied().unwrap_or(0.0);
            // Of a single one the noise is not known.
            let most_s = if number == 2 { 2.0 * most_s } else { most_s };
            if number > 1 && spent_s + next_s > most_s {
                break;
            }
            begins(number);
            let begun = Instant::now();
            let (made, slices) = self.piloted(u64::from(number))?;
            lengths_s.push(begun.elapsed().as_secs_f64());
            lives.push(slices);
            values.extend(made.as_ref().and_then(|record| record.value(&self.plan.primary)));
            untraced = made.as_ref().and_then(why_untraced);
        }
        let is_known = self.plan.primary == PrimaryMetric::usual(true).key();
        let slice_deviation = neighbour_deviation(&lives).filter(|_| is_known);
        let seconds_a_run = typical_s(&lengths_s);
        let runs = PilotRuns { values, seconds_a_run, chosen: None };
        Ok(PilotFindings { runs, slice_deviation, untraced })
    }

    /// A run of the baseline without a record, and the throughput of the slices within it.
    fn piloted(&self, seed: u64) -> Result<(Option<TrialRecord>, Vec<f64>), LabError> {
        let (seen, shown) = (SeenSeconds::default(), self.controls.progress);
        let follow = |progress: RunProgress| {
            seen.take(&progress);
            shown(progress);
        };
        let controls = RunControls { progress: &follow, stop: self.controls.stop };
        let made = self.tried(0, seed, controls)?;
        let spec = self.plan.cells[0].spec.as_ref();
        let slices = spec.map(|spec| seen.slices(&spec.window)).unwrap_or_default();
        Ok((made, slices))
    }

    /// Makes a run of few transactions of a configuration, without a record: whether it works at
    /// all. What it loads is restored for those behind it. A program has no such run.
    ///
    /// Errors: it does not work, or the study is to end.
    pub fn try_out(&self, cell: u32, seed: u64) -> Result<(), LabError> {
        let cell = &self.plan.cells[cell as usize];
        let Some(spec) = &cell.spec else { return Ok(()) };
        let controls = RunControls { progress: &|_| {}, stop: self.controls.stop };
        let made = self.planned(spec, &cell.command, seed).shortened().make(None, false, controls);
        if self.controls.stop.is_set() {
            return Err(LabError::Interrupted("while a configuration was tried"));
        }
        match made?.outcome {
            RunOutcome::Record(made) => unserved(&made.record).map_or(Ok(()), Err),
            RunOutcome::Failure { exit_code, text } => Err(failed_run(exit_code, text)),
            RunOutcome::FlatOutRate { .. } | RunOutcome::Held => {
                Err(LabError::Target(NO_RUN.to_owned()))
            }
        }
    }

    /// The folder that runs work in, if it is there.
    fn directory(&self) -> Option<PathBuf> {
        Some(PathBuf::from(&self.plan.directory)).filter(|directory| directory.is_dir())
    }

    /// A run of dbtime, before it is made.
    fn planned(&self, spec: &RunSpec, command: &str, seed: u64) -> PlannedRun {
        let run = PlannedRun::of_spec(spec.clone(), command.to_owned(), self.secrets.clone());
        let run = run.with_seed(seed);
        let run = match self.plan.data {
            StudyData::Snapshot => {
                run.with_snapshots(self.snapshots.clone(), self.plan.design.seed)
            }
            StudyData::Loaded => run,
        };
        match self.directory() {
            Some(directory) => run.in_directory(directory),
            None => run,
        }
    }

    /// Whether a configuration can be run at all: makes a run of it without a record.
    fn tried(
        &self,
        cell: usize,
        seed: u64,
        controls: RunControls<'_>,
    ) -> Result<Option<TrialRecord>, LabError> {
        let cell = &self.plan.cells[cell];
        let Some(spec) = &cell.spec else { return self.tried_program(cell, seed) };
        let made = self.planned(spec, &cell.command, seed).make(None, false, controls)?;
        if self.controls.stop.is_set() {
            return Err(interrupted());
        }
        match made.outcome {
            RunOutcome::Record(made) => Ok(Some(TrialRecord::Run(Box::new(made.record)))),
            RunOutcome::Failure { exit_code, text } => Err(failed_run(exit_code, text)),
            RunOutcome::FlatOutRate { .. } | RunOutcome::Held => Ok(None),
        }
    }

    fn tried_program(&self, cell: &StudyCell, seed: u64) -> Result<Option<TrialRecord>, LabError> {
        let folder = PilotFolder::temporary()?;
        match self.of_program(cell, seed, &folder.path().join("run")) {
            TrialResult::Recorded(record) => Ok(Some(record)),
            TrialResult::Failed(reason) => {
                Err(LabError::Target(format!("{}: {reason}", cell.name)))
            }
            TrialResult::Interrupted => Err(interrupted()),
        }
    }

    /// A run of dbtime.
    fn own(&self, run: &PlannedRun, out: PathBuf) -> TrialResult {
        let made = run.make(Some(out), false, self.controls);
        self.result(made.map(|made| made.outcome))
    }

    /// A slice on the target that is held, which ends with one that cannot be made.
    fn held_slice(&mut self, cell: u32, slice: &SliceRequest) -> TrialResult {
        let RunControls { progress, stop } = self.controls;
        let Some(held) = self.held.get_mut(&cell) else {
            return TrialResult::Failed("its target has ended".to_owned());
        };
        let made = held.slice(slice, progress, stop);
        let result = self.result(made);
        if !matches!(result, TrialResult::Recorded(_)) {
            self.held.remove(&cell);
        }
        result
    }

    /// What became of a run of dbtime whose process has this outcome.
    fn result(&self, outcome: Result<RunOutcome, LabError>) -> TrialResult {
        // A run that was ended early is none of the plan's.
        if self.controls.stop.is_set() {
            return TrialResult::Interrupted;
        }
        match outcome {
            Ok(RunOutcome::Record(made)) => match made.unwritten {
                Some(reason) => TrialResult::Failed(reason),
                None => TrialResult::Recorded(TrialRecord::Run(Box::new(made.record))),
            },
            Ok(RunOutcome::Failure { text, .. }) => TrialResult::Failed(text),
            Ok(RunOutcome::FlatOutRate { .. } | RunOutcome::Held) => {
                TrialResult::Failed(NO_RUN.to_owned())
            }
            Err(error) => TrialResult::Failed(error.to_string()),
        }
    }

    /// A run of an external program.
    fn of_program(&self, cell: &StudyCell, seed: u64, out: &Path) -> TrialResult {
        let (Some(rules), Some(directory)) = (&self.plan.program, self.directory()) else {
            let missing = &self.plan.directory;
            return TrialResult::Failed(format!(
                "{missing}, where its command works, is not there"
            ));
        };
        let (dbtime, stop) = (own_program(), self.controls.stop);
        ProgramTrials { rules, directory: &directory, dbtime, stop }.make(cell, seed, out)
    }
}

impl TrialMaker for CellRuns<'_> {
    /// A run of few transactions. A program has none: its first run shows whether it works.
    fn start(&mut self, cell: u32, seed: u64) -> StartResult {
        match self.try_out(cell, seed) {
            Ok(()) => StartResult::Works,
            Err(_) if self.controls.stop.is_set() => StartResult::Interrupted,
            Err(error) => StartResult::Failed(error.to_string()),
        }
    }

    fn make(&mut self, trial: &StudyTrial, seed: u64, out: &Path) -> TrialResult {
        let cell = &self.plan.cells[trial.cell as usize];
        // The process of the run may work in another folder.
        let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
        match &cell.spec {
            Some(_) if trial.slice > 0 => self.held_slice(trial.cell, &SliceRequest { out, seed }),
            Some(spec) => {
                let run = self.planned(spec, &cell.command, seed);
                match u64::from(trial.window_ms) {
                    0 => self.own(&run, out),
                    length => self.own(&run.with_window(Nanos::from_millis(length)), out),
                }
            }
            None => self.of_program(cell, seed, &out),
        }
    }

    fn hold(&mut self, cells: &[u32], seed: u64) -> HoldResult {
        self.release();
        for cell in cells.iter().copied() {
            let of = &self.plan.cells[cell as usize];
            let held = match &of.spec {
                Some(spec) => {
                    let run = self.planned(spec, &of.command, seed);
                    run.in_slices(self.plan.design.slices).hold(self.controls)
                }
                None => Err(LabError::Usage("a command has no target that is held".to_owned())),
            };
            match held {
                _ if self.controls.stop.is_set() => return HoldResult::Interrupted,
                Ok(held) => self.held.insert(cell, held),
                Err(error) => return HoldResult::Failed { cell, reason: error.to_string() },
            };
        }
        HoldResult::Held
    }

    fn release(&mut self) {
        // All of them end at once.
        self.held.values_mut().for_each(HeldRun::close);
        self.held.clear();
    }
}

/// Why a run is none of whose transactions came to a good end; `None`: one did, or none has ended.
fn unserved(record: &RunRecord) -> Option<LabError> {
    let counts = &record.counts;
    let message = record.error_messages.values().next();
    let message = message.map_or(String::new(), |message| format!(": {message}"));
    let is_unserved = counts.completed == 0 && counts.failed > 0;
    is_unserved.then(|| LabError::Target(format!("its first transactions failed{message}")))
}

/// Why the server of a run was not traced that was to be.
fn why_untraced(record: &TrialRecord) -> Option<String> {
    let TrialRecord::Run(run) = record else { return None };
    let mut warnings = run.validity.warnings.iter();
    let found = warnings.find(|warning| warning.kind == WarningKind::Untraced);
    found.map(|warning| warning.text.clone())
}

/// How long a run takes; the first of several may have loaded data that the others restore.
fn typical_s(lengths_s: &[f64]) -> f64 {
    match lengths_s {
        [] => 0.0,
        [only] => *only,
        [_, later @ ..] => later.iter().sum::<f64>() / later.len() as f64,
    }
}

fn interrupted() -> LabError {
    LabError::Interrupted("while the noise was measured")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_run_loads_is_in_no_other() {
        assert_eq!([typical_s(&[9.0, 3.0, 5.0]), typical_s(&[3.0, 4.0])], [4.0, 4.0]);
        assert_eq!([typical_s(&[3.0]), typical_s(&[])], [3.0, 0.0]);
    }
}
