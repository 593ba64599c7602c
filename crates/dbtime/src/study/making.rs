//! The runs of a study as they are made: each a process of its own, with progress.

use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::planned_run::{PlannedRun, RunControls, failure, own_program};
use crate::screen;
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::study::{ProgramTrials, StudyProgress, StudyRunner, TrialMaker, TrialResult};
use dbtime_lab::{LabError, RunOutcome};
use dbtime_model::spec::RunSpec;
use dbtime_model::study::{
    StudyCell, StudyData, StudyPlan, StudyTrial, TrialOutcome, TrialRecord, study_file,
};
use std::path::{Path, PathBuf};

/// A run of each configuration, ready to be made again and again.
pub(crate) struct CellRuns<'a> {
    plan: &'a StudyPlan,
    secrets: RunSecrets,
    live: &'a LiveProgress,
    stop: &'a RunStop,
    /// Where the data of its runs are kept.
    snapshots: PathBuf,
}

impl<'a> CellRuns<'a> {
    /// Those of a plan, with the passwords of the surroundings, and their snapshots in this folder.
    ///
    /// Errors: a password file that cannot be read.
    pub(crate) fn new(
        plan: &'a StudyPlan,
        live: &'a LiveProgress,
        stop: &'a RunStop,
        snapshots: &Path,
    ) -> Result<Self, CommandFailure> {
        let secrets = RunSecrets::of_surroundings(None)?;
        // The process of a run may work in another folder.
        let snapshots = std::path::absolute(snapshots).unwrap_or_else(|_| snapshots.to_owned());
        Ok(Self { plan, secrets, live, stop, snapshots })
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
    ///
    /// Errors: it cannot, with whose affair that is, or Ctrl-C came.
    pub(super) fn tried(&self, cell: usize, seed: u64) -> Result<Option<f64>, CommandFailure> {
        let cell = &self.plan.cells[cell];
        let Some(spec) = &cell.spec else { return self.tried_program(cell, seed) };
        let controls = RunControls { live: self.live, stop: self.stop };
        let made = self.planned(spec, &cell.command, seed).make(None, false, controls)?;
        if self.stop.is_set() {
            return Err(interrupted());
        }
        match made.outcome {
            RunOutcome::Record(made) => {
                Ok(TrialRecord::Run(Box::new(made.record)).value(&self.plan.primary))
            }
            RunOutcome::Failure { exit_code, text } => Err(failure(exit_code, &text)),
            RunOutcome::FlatOutRate { .. } => Ok(None),
        }
    }

    fn tried_program(&self, cell: &StudyCell, seed: u64) -> Result<Option<f64>, CommandFailure> {
        let folder = tempfile::tempdir().map_err(CommandFailure::environment)?;
        match self.of_program(cell, seed, &folder.path().join("run")) {
            TrialResult::Recorded(record) => Ok(record.value(&self.plan.primary)),
            TrialResult::Failed(reason) => {
                Err(CommandFailure::environment(format!("{}: {reason}", cell.name)))
            }
            TrialResult::Interrupted => Err(interrupted()),
        }
    }

    /// A run of dbtime.
    fn own(&self, spec: &RunSpec, command: &str, seed: u64, out: PathBuf) -> TrialResult {
        let controls = RunControls { live: self.live, stop: self.stop };
        let made = self.planned(spec, command, seed).make(Some(out), false, controls);
        // A run that was ended early is none of the plan's.
        if self.stop.is_set() {
            return TrialResult::Interrupted;
        }
        match made.map(|made| made.outcome) {
            Ok(RunOutcome::Record(made)) => match made.unwritten {
                Some(reason) => TrialResult::Failed(reason),
                None => TrialResult::Recorded(TrialRecord::Run(Box::new(made.record))),
            },
            Ok(RunOutcome::Failure { text, .. }) => TrialResult::Failed(text),
            Ok(RunOutcome::FlatOutRate { .. }) => TrialResult::Failed("it made no run".to_owned()),
            Err(failure) => TrialResult::Failed(failure.words()),
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
        let (dbtime, stop) = (own_program(), self.stop);
        ProgramTrials { rules, directory: &directory, dbtime, stop }.make(cell, seed, out)
    }
}

impl TrialMaker for CellRuns<'_> {
    fn make(&mut self, trial: &StudyTrial, seed: u64, out: &Path) -> TrialResult {
        let cell = &self.plan.cells[trial.cell as usize];
        // The process of the run may work in another folder.
        let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
        match &cell.spec {
            Some(spec) => self.own(spec, &cell.command, seed, out),
            None => self.of_program(cell, seed, &out),
        }
    }
}

fn interrupted() -> CommandFailure {
    LabError::Interrupted("while the noise was measured").into()
}

/// Makes the runs of a study until there are enough. Returns why there will be no more; `None`: it
/// was interrupted.
///
/// Errors: the journal or a record cannot be written.
pub(crate) fn make_runs(
    runner: &mut StudyRunner,
    is_quiet: bool,
    stop: &RunStop,
) -> Result<Option<String>, CommandFailure> {
    let plan = runner.plan().clone();
    let audience = ProgressAudience::of(is_quiet);
    let cells = plan.cells.len();
    let done = runner.history().complete_blocks(cells).len();
    let left = (plan.most_blocks() as usize).saturating_sub(done) * cells;
    let live = LiveProgress::of_runs(audience, left.max(1));
    let snapshots = runner.folder().join(study_file::SNAPSHOTS);
    let mut maker = CellRuns::new(&plan, &live, stop, &snapshots)?;
    let progress = |event: StudyProgress<'_>| show(&event, &live, audience, &plan);
    let ended = runner.run(&mut maker, &progress, stop);
    drop(live);
    ended.map_err(|error: LabError| error.into())
}

fn show(
    event: &StudyProgress<'_>,
    live: &LiveProgress,
    audience: ProgressAudience,
    plan: &StudyPlan,
) {
    if let StudyProgress::RunBegins { .. } = event {
        live.next_run();
    }
    if audience == ProgressAudience::Nobody {
        return;
    }
    match event {
        StudyProgress::Waits(found) => {
            screen::note(&format!("dbtime: waiting for a quiet machine: {found}"));
        }
        StudyProgress::RunBegins { trial, cell, loud } => {
            let again = if trial.attempt > 1 { ", again" } else { "" };
            let (block, blocks) = (trial.block, plan.most_blocks());
            let loud = loud.map_or(String::new(), |found| format!("; not quiet: {found}"));
            screen::note(&format!("block {block} of {blocks}{again}: {}{loud}", cell.name));
        }
        StudyProgress::RunEnded { outcome: TrialOutcome::Valid, .. } => {}
        StudyProgress::RunEnded { reason, .. } => {
            let reason = reason.unwrap_or("no reason is known");
            screen::note(&format!(
                "dbtime: the run does not count, its block is repeated: {reason}"
            ));
        }
        StudyProgress::Looked(found) => screen::note(&format!("dbtime: {found}")),
    }
}
