//! The runs of a study as they are made: each a process of its own, with progress.

use crate::exit::CommandFailure;
use crate::live::{LiveProgress, ProgressAudience};
use crate::planned_run::{PlannedRun, RunControls};
use crate::screen;
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::study::{StudyProgress, StudyRunner, TrialMaker, TrialResult};
use dbtime_lab::{LabError, RunOutcome};
use dbtime_model::study::{StudyPlan, TrialOutcome};
use std::path::{Path, PathBuf};

/// A run of each configuration, ready to be made again and again.
pub(crate) struct CellRuns<'a> {
    runs: Vec<PlannedRun>,
    live: &'a LiveProgress,
    stop: &'a RunStop,
}

impl<'a> CellRuns<'a> {
    /// Those of a plan, with the passwords of the surroundings.
    ///
    /// Errors: a password file that cannot be read.
    pub(crate) fn new(
        plan: &StudyPlan,
        live: &'a LiveProgress,
        stop: &'a RunStop,
    ) -> Result<Self, CommandFailure> {
        let secrets = RunSecrets::of_surroundings(None)?;
        let run = |cell: &dbtime_model::study::StudyCell| {
            let run = PlannedRun::of_spec(cell.spec.clone(), cell.command.clone(), secrets.clone());
            let directory = PathBuf::from(&plan.directory);
            if directory.is_dir() { run.in_directory(directory) } else { run }
        };
        Ok(Self { runs: plan.cells.iter().map(run).collect(), live, stop })
    }
}

impl TrialMaker for CellRuns<'_> {
    fn make(&mut self, cell: usize, seed: u64, out: &Path) -> TrialResult {
        // The process of the run may work in another folder.
        let out = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
        let controls = RunControls { live: self.live, stop: self.stop };
        let made = self.runs[cell].with_seed(seed).make(Some(out), false, controls);
        // A run that was ended early is none of the plan's.
        if self.stop.is_set() {
            return TrialResult::Interrupted;
        }
        match made.map(|made| made.outcome) {
            Ok(RunOutcome::Record(made)) => match made.unwritten {
                Some(reason) => TrialResult::Failed(reason),
                None => TrialResult::Recorded(Box::new(made.record)),
            },
            Ok(RunOutcome::Failure { text, .. }) => TrialResult::Failed(text),
            Ok(RunOutcome::FlatOutRate { .. }) => TrialResult::Failed("it made no run".to_owned()),
            Err(failure) => TrialResult::Failed(failure.words()),
        }
    }
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
    let mut maker = CellRuns::new(&plan, &live, stop)?;
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
