//! A sweep is a study whose runs are made in rounds, each once: with its journal it is resumed, and
//! with its plan it has verdicts.

use super::folder::{SweepFolder, SweepPlace};
use super::{SweepControls, SweepCourse, SweepManner, left_by_interrupt};
use crate::cli::StudyShownArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::interrupt;
use crate::live::{LiveProgress, ProgressAudience};
use crate::spec::RunSecrets;
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::study::{PlannedRun, RunSet, TrialMaker, TrialResult};
use dbtime_model::record::{
    CheckOutcome, FailedRun, RunRecord, SweepRecord, SweepRun, read_sweep_record,
};
use dbtime_model::secret_text::MASK;
use dbtime_model::study::{
    RecordedStudy, StudyCell, StudyData, StudyPlan, StudyRun, StudyTrial, TrialOutcome,
    TrialRecord, study_file,
};
use dbtime_report::terminal::SweepRow;
use std::path::{Path, PathBuf};

/// The runs of a sweep as those of its study.
struct SweepTrials<'a> {
    course: &'a mut SweepCourse,
    planned: &'a [PlannedRun],
    controls: SweepControls<'a>,
}

impl TrialMaker for SweepTrials<'_> {
    fn make(&mut self, trial: &StudyTrial, _: u64, _: &Path) -> TrialResult {
        let place = SweepPlace {
            number: trial.run as usize,
            round: trial.block as usize - 1,
            combination: trial.cell as usize,
        };
        let run = &self.planned[place.combination];
        let made = self.course.make(run, place, self.controls);
        if self.controls.stop.is_set() || self.course.trouble.is_some() {
            return TrialResult::Interrupted;
        }
        self.course.result_of(made)
    }
}

/// Makes the runs that are missing.
pub(super) fn make(
    mut runner: RunSet,
    course: &mut SweepCourse,
    planned: Vec<PlannedRun>,
    stop: &RunStop,
) -> Result<(), CommandFailure> {
    let plan = runner.plan();
    let own = runner.folder().join(study_file::SNAPSHOTS);
    let own = (plan.data == StudyData::Snapshot).then(|| std::path::absolute(&own).unwrap_or(own));
    let given = plan.surroundings.snapshots.as_ref().map(PathBuf::from);
    let planned: Vec<_> = match given.or(own) {
        None => planned,
        Some(kept) => planned
            .into_iter()
            .map(|run| {
                let seed = run.spec.seed;
                run.with_snapshots(kept.clone(), seed)
            })
            .collect(),
    };
    let total = planned.len() * plan.design.blocks as usize;
    let made = runner.history().runs.iter().filter(|run| run.outcome.is_some()).count();
    let audience = ProgressAudience::of(course.manner.quiet);
    let live = LiveProgress::of_runs(audience, (total - made).max(1));
    let controls = SweepControls { live: &live, stop };
    let mut trials = SweepTrials { course, planned: &planned, controls };
    let ended = runner.run(&mut trials, &|_| {}, stop);
    drop(live);
    // One that goes on loads them again.
    let removed = runner.remove_snapshots();
    ended?;
    Ok(removed?)
}

/// Goes on with a sweep.
///
/// Errors: its list or its records are damaged.
pub(crate) fn resume(
    runner: RunSet,
    shown: &StudyShownArgs,
) -> Result<ProcessExit, CommandFailure> {
    let folder = &runner.folder().to_owned();
    refuse_lost_values(runner.plan())?;
    let record = read_sweep_record(folder)?;
    let planned = planned(&runner)?;
    let study = RecordedStudy::read(folder).map_err(CommandFailure::environment)?;
    let runs: Vec<_> = ended(&study);
    let failed = failed(&study);
    let row = |(run, record): &(SweepRun, &RunRecord)| {
        (run.combination as usize, SweepRow::of_run(record, &run.factors))
    };
    let (exit, rows) = (exit(&runs, &failed), runs.iter().map(row).collect());
    let runs = runs.into_iter().map(|(run, _)| run).collect();
    let list = SweepFolder::of(folder.to_owned(), SweepRecord { runs, failed, ..record });
    let manner = manner(runner.plan(), shown);
    let mut course = SweepCourse { exit, rows, ..SweepCourse::of(list, manner) };
    course.folder.write()?;
    let stop = interrupt::install_with(left_by_interrupt(true));
    let made = make(runner, &mut course, planned, &stop);
    course.trouble = course.trouble.or(made.err());
    course.finish(&stop)
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
            "what is swept are secrets, which no record holds: make the sweep anew",
        )),
    }
}

/// The runs that the journal has to their end: a run that was ended early is made again.
fn ended(study: &RecordedStudy) -> Vec<(SweepRun, &RunRecord)> {
    let runs = study.history.runs.iter().zip(&study.records);
    let ended = runs.filter_map(|(run, record)| match record {
        Some(TrialRecord::Run(record)) if run.outcome.is_some() => Some((&run.trial, &**record)),
        _ => None,
    });
    let of = |(trial, record): (&StudyTrial, _)| {
        let run = SweepRun {
            folder: trial.folder.clone(),
            round: trial.block.into(),
            combination: trial.cell.into(),
            factors: study.plan.cells[trial.cell as usize].factors.clone(),
            ..SweepRun::from_record(record)
        };
        (run, record)
    };
    ended.map(of).collect()
}

/// Those that could not be made.
fn failed(study: &RecordedStudy) -> Vec<FailedRun> {
    let failed = |run: &&StudyRun| run.outcome == Some(TrialOutcome::Failed);
    let of = |run: &StudyRun| FailedRun {
        number: run.trial.run,
        round: run.trial.block.into(),
        combination: run.trial.cell.into(),
        factors: study.plan.cells[run.trial.cell as usize].factors.clone(),
        reason: run.reason.clone().unwrap_or_default(),
    };
    study.history.runs.iter().filter(failed).map(of).collect()
}

/// How it would have ended so far.
fn exit(runs: &[(SweepRun, &RunRecord)], failed: &[FailedRun]) -> ProcessExit {
    let of = |(run, _): &(SweepRun, _)| match run.limits {
        Some(CheckOutcome::Failed) => ProcessExit::Failed,
        Some(CheckOutcome::Undecided) => ProcessExit::Undecided,
        Some(CheckOutcome::Passed) | None => ProcessExit::Fine,
    };
    let failed = if failed.is_empty() { ProcessExit::Fine } else { ProcessExit::Environment };
    runs.iter().map(of).fold(failed, ProcessExit::max)
}
