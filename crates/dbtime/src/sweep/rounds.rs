//! A sweep is a study whose runs are made in rounds, each once: with its journal it is resumed, and
//! with its plan it has verdicts.

use super::{SweepControls, SweepCourse, SweepManner, left_by_interrupt};
use crate::cli::StudyShownArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::interrupt;
use crate::live::{LiveProgress, ProgressAudience};
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::study::{PlannedRun, RunSet, TrialMaker, TrialResult};
use dbtime_model::record::CheckOutcome;
use dbtime_model::secret_text::MASK;
use dbtime_model::study::{
    RecordedStudy, StudyCell, StudyData, StudyPlan, StudyRun, StudyTrial, TrialRecord, study_file,
};
use std::path::{Path, PathBuf};

/// The runs of a sweep as those of its study.
struct SweepTrials<'a> {
    course: &'a mut SweepCourse,
    planned: &'a [PlannedRun],
    total: Option<u64>,
    controls: SweepControls<'a>,
}

impl TrialMaker for SweepTrials<'_> {
    fn make(&mut self, trial: &StudyTrial, _: u64, _: &Path) -> TrialResult {
        let run = &self.planned[trial.cell as usize];
        self.course.make(run, trial, self.total, self.controls)
    }
}

/// Makes the runs that are missing.
pub(super) fn make(
    runner: &mut RunSet,
    course: &mut SweepCourse,
    planned: Vec<PlannedRun>,
    stop: &RunStop,
) -> Result<(), CommandFailure> {
    let planned = restored(runner, course, planned);
    let total = runner.plan().most_runs();
    let made = runner.history().runs.iter().filter(|run| run.is_made()).count();
    let left = total.unwrap_or(0) as usize;
    let audience = ProgressAudience::of(course.manner.quiet);
    let live = LiveProgress::of_runs(audience, left.saturating_sub(made).max(1));
    let controls = SweepControls { live: &live, stop };
    let mut trials = SweepTrials { course, planned: &planned, total, controls };
    let ended = runner.run(&mut trials, &|_| {}, stop);
    drop(live);
    // One that goes on loads them again.
    let removed = runner.remove_snapshots();
    ended?;
    Ok(removed?)
}

/// The runs with data that are restored from a folder, where there is one for that.
fn restored(runner: &RunSet, course: &SweepCourse, planned: Vec<PlannedRun>) -> Vec<PlannedRun> {
    let plan = runner.plan();
    let own = course.folder.as_ref().filter(|_| plan.data == StudyData::Snapshot);
    let own = own.map(|folder| folder.join(study_file::SNAPSHOTS));
    let own = own.map(|own| std::path::absolute(&own).unwrap_or(own));
    let given = plan.surroundings.snapshots.as_ref().map(PathBuf::from);
    let Some(kept) = given.or(own) else { return planned };
    let with_kept = |run: PlannedRun| {
        let seed = run.spec.seed;
        run.with_snapshots(kept.clone(), seed)
    };
    planned.into_iter().map(with_kept).collect()
}

/// Goes on with a sweep.
///
/// Errors: its journal or its records are damaged.
pub(crate) fn resume(
    mut runner: RunSet,
    shown: &StudyShownArgs,
) -> Result<ProcessExit, CommandFailure> {
    refuse_lost_values(runner.plan())?;
    let planned = planned(&runner)?;
    let folder = runner.folder().to_owned();
    let study = RecordedStudy::read(&folder).map_err(CommandFailure::environment)?;
    let (exit, manner) = (exit(&study), manner(runner.plan(), shown));
    let records = study.records;
    let mut course = SweepCourse { exit, records, ..SweepCourse::new(Some(folder), manner) };
    let stop = interrupt::install_with(left_by_interrupt(true));
    let made = make(&mut runner, &mut course, planned, &stop);
    course.trouble = course.trouble.or(made.err());
    course.finish(&runner, &stop)
}

/// How a sweep or a search that goes on is shown, and how its runs end.
pub(super) fn manner(plan: &StudyPlan, shown: &StudyShownArgs) -> SweepManner {
    SweepManner { json: shown.json, quiet: shown.quiet, strict: plan.surroundings.strict }
}

/// The runs of the plan of a sweep or a search that goes on.
///
/// Errors: a password file that cannot be read, and a secret that is missing where runs are.
pub(super) fn planned(runs: &RunSet) -> Result<Vec<PlannedRun>, CommandFailure> {
    let plan = runs.plan();
    let file = plan.surroundings.password_file.as_ref().map(Path::new);
    let secrets = RunSecrets::of_surroundings(file)?;
    if runs.history().finished.is_none() {
        // Each of them would fail, and be made for the last time.
        let mut specs = plan.cells.iter().filter_map(|cell| cell.spec.as_ref());
        specs.try_for_each(|spec| secrets.check(spec))?;
    }
    let secrets = secrets.environment();
    let directory = Some(PathBuf::from(&plan.directory)).filter(|path| path.is_dir());
    let of_cell = |cell: &StudyCell| {
        let run = PlannedRun::of_spec(cell.spec.clone()?, cell.command.clone(), secrets.clone());
        let run = run.with_factors(cell.factors.clone());
        Some(match &directory {
            Some(directory) => run.in_directory(directory.clone()),
            None => run,
        })
    };
    Ok(plan.cells.iter().filter_map(of_cell).collect())
}

/// Refuses a sweep whose runs differ by what no record holds: they would all be the same now.
fn refuse_lost_values(plan: &StudyPlan) -> Result<(), CommandFailure> {
    let mut cells = plan.cells.iter().enumerate();
    let is_lost = |(at, cell): (usize, &StudyCell)| {
        let is_hidden = cell.factors.iter().any(|factor| factor.value.contains(MASK));
        let is_same = |other: &StudyCell| other.spec == cell.spec && other.name != cell.name;
        is_hidden && plan.cells[..at].iter().any(is_same)
    };
    match cells.any(is_lost) {
        false => Ok(()),
        true => Err(CommandFailure::environment(
            "the swept values are secrets, which no record holds: start a new sweep",
        )),
    }
}

/// How it would have ended so far. A run that was cut off is made again.
fn exit(study: &RecordedStudy) -> ProcessExit {
    let failed = match study.failed_runs().next() {
        Some(_) => ProcessExit::Environment,
        None => ProcessExit::Fine,
    };
    let limits = |(run, record): (&StudyRun, &Option<TrialRecord>)| {
        run.outcome?;
        record.as_ref()?.run()?.limits_outcome()
    };
    let of = |outcome: CheckOutcome| match outcome {
        CheckOutcome::Failed => ProcessExit::Failed,
        CheckOutcome::Undecided => ProcessExit::Undecided,
        CheckOutcome::Passed => ProcessExit::Fine,
    };
    let runs = study.history.runs.iter().zip(&study.records);
    runs.filter_map(limits).map(of).fold(failed, ProcessExit::max)
}
