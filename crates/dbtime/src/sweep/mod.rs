//! `--sweep`, `--repeat` and `--find-rate`: many runs, a process and a record each, one table.
//!
//! A sweep is a study of rounds ([`rounds`]), a search one of runs whose rate those before decide
//! ([`find_rate`]), whether they are recorded or not. Repetitions go in rounds, so that a machine
//! that changes changes for every combination. With `--rate auto` all runs are offered the same, or
//! the table would compare loads and not what is swept: the flat-out rate is measured once, before
//! the first.

mod factors;
mod find_rate;
mod folder;
mod rate_trials;
mod rounds;
mod run_reasons;

pub(crate) use find_rate::{exit as search_exit, resume as resume_search};
pub(crate) use rounds::resume;

use crate::artifacts;
use crate::cli::RunArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::spec::BaseRun;
use crate::{interrupt, screen, secrets};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::store::{CreatedFolders, check_place, make_folder, remove_sweep};
use dbtime_lab::study::{
    PlannedRun, RunControls, RunSet, TrialResult, failed_run, hold_rate, identify_program,
    number_alike, plan_rounds, rate_reference,
};
use dbtime_lab::{RecordedRun, RunOutcome, RunProgress};
use dbtime_model::plain_text::legible_path;
use dbtime_model::record::RunRecord;
use dbtime_model::study::{
    FoundRate, RecordedStudy, RunSurroundings, StudyPlan, StudyTrial, TrialRecord,
};
use dbtime_report::terminal;
use run_reasons::RunReasons;
use std::path::{Path, PathBuf};

/// Makes all runs.
pub(crate) fn run(args: &RunArgs, arguments: &[String]) -> Result<ProcessExit, CommandFailure> {
    if let Some(limit) = &args.find_rate {
        return find_rate::run(args, arguments, &limit.text);
    }
    // All of them are read before the first is run.
    let combinations = factors::combinations(&args.sweep)?;
    let base = BaseRun::of(args)?;
    let planned = combinations.iter().map(|one| base.with_settings(one));
    let mut planned = planned.collect::<Result<Vec<_>, _>>()?;
    number_alike(&mut planned, &combinations);
    if args.print_spec {
        return print_specs(&planned);
    }
    let Some(first) = planned.first() else {
        return Err(CommandFailure::usage("--sweep has no combination: write workers=40,10,4"));
    };
    let mut sweep = begun(args, first)?;
    let stop = interrupt::install_with(left_by_interrupt(sweep.folder.is_some()));
    find_flat_out(&mut planned, ProgressAudience::of(args.quiet), &stop)?;
    let rounds = args.repeat.unwrap_or(1);
    let plan = plan_rounds(&planned, rounds, surroundings(args, arguments), sweep.place());
    let mut runs = sweep.run_set(plan, &stop)?;
    let made = rounds::make(&mut runs, &mut sweep, planned, &stop);
    // What was measured is shown all the same.
    sweep.trouble = sweep.trouble.or(made.err());
    sweep.finish(&runs, &stop)
}

/// A sweep before its first run, with its folder.
///
/// Errors: the folder exists, or cannot be made.
fn begun(args: &RunArgs, first: &PlannedRun) -> Result<SweepCourse, CommandFailure> {
    let out = artifacts::folder(args, &first.spec.workload)?;
    out.as_deref().map(check_place).transpose()?;
    // A place that cannot be written is known before anything is loaded.
    let made = out.as_deref().map(make_folder).transpose()?;
    let (json, quiet, strict) = (args.json, args.quiet, args.strict);
    let manner = SweepManner { json, quiet, strict };
    Ok(SweepCourse { made, ..SweepCourse::new(out, manner) })
}

/// What the runs have beside what they are; paths as they are from everywhere.
fn surroundings(args: &RunArgs, arguments: &[String]) -> RunSurroundings {
    let whole = |path: &PathBuf| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        path.to_string_lossy().into_owned()
    };
    RunSurroundings {
        strict: args.strict,
        snapshots: args.snapshots.as_ref().map(whole),
        password_file: args.password_file.as_ref().map(whole),
        command: secrets::command_line(arguments),
    }
}

/// Has all runs offer the same share of the flat-out rate, which is measured once, and shows that.
fn find_flat_out(
    planned: &mut [PlannedRun],
    audience: ProgressAudience,
    stop: &RunStop,
) -> Result<(), CommandFailure> {
    let Some(from) = rate_reference(planned) else { return Ok(()) };
    if audience == ProgressAudience::Terminal {
        screen::note(&format!("the rate of all runs, found by {}", from.combination()));
    }
    let live = LiveProgress::new(audience);
    let follow = |progress: RunProgress| live.show(&progress);
    Ok(hold_rate(planned, RunControls { progress: &follow, stop })?)
}

/// What a sweep leaves that a second signal ends.
fn left_by_interrupt(has_folder: bool) -> String {
    let left = if has_folder { "only completed runs are recorded" } else { "nothing was recorded" };
    left.to_owned()
}

/// Prints what the runs are made from, a line each.
fn print_specs(planned: &[PlannedRun]) -> Result<ProcessExit, CommandFailure> {
    for run in planned {
        let line = serde_json::to_string(&run.spec).map_err(CommandFailure::environment)?;
        screen::result(&(line + "\n"));
    }
    Ok(ProcessExit::Fine)
}

/// What shows the runs of a sweep, and what ends them.
#[derive(Clone, Copy)]
struct SweepControls<'a> {
    live: &'a LiveProgress,
    stop: &'a RunStop,
}

/// How a sweep is shown, and how its runs end.
#[derive(Clone, Copy)]
struct SweepManner {
    json: bool,
    quiet: bool,
    strict: bool,
}

/// The runs so far.
struct SweepCourse {
    manner: SweepManner,
    /// Where they are recorded; `None` with --no-record.
    folder: Option<PathBuf>,
    /// What each run of the journal left, in their order, also where it could not be written.
    records: Vec<Option<TrialRecord>>,
    /// Why runs ended as they did.
    reasons: RunReasons,
    exit: ProcessExit,
    /// What could not be written of the last: there are no more behind it.
    trouble: Option<CommandFailure>,
    /// The folder goes with a sweep that has made no run; `None`: it was there before.
    made: Option<CreatedFolders>,
}

impl SweepCourse {
    /// One without runs, in this folder.
    fn new(folder: Option<PathBuf>, manner: SweepManner) -> Self {
        Self {
            manner,
            folder,
            records: Vec::new(),
            reasons: RunReasons::default(),
            exit: ProcessExit::Fine,
            trouble: None,
            made: None,
        }
    }

    /// Where its runs are recorded; empty where they are not.
    fn place(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(""))
    }

    /// Its runs by this plan, with a journal where they are recorded.
    ///
    /// Errors: it cannot be written, or `stop` is set; then nothing is left.
    fn run_set(&self, plan: StudyPlan, stop: &RunStop) -> Result<RunSet, CommandFailure> {
        let Some(folder) = &self.folder else { return Ok(RunSet::unrecorded(plan)) };
        let begun = identify_program(stop).and_then(|()| RunSet::begin(folder, &plan));
        if begun.is_err() {
            remove_sweep(folder)?;
        }
        Ok(begun?)
    }

    /// Makes one run, of so many as far as that is known. One that fails or crashes is noted, and
    /// the others go on.
    fn make(
        &mut self,
        run: &PlannedRun,
        trial: &StudyTrial,
        of: Option<u64>,
        controls: SweepControls<'_>,
    ) -> TrialResult {
        controls.live.next_run();
        let (number, round) = match of {
            Some(total) => {
                (format!("run {} of {total}", trial.run), format!(", round {}", trial.block))
            }
            None => (format!("run {}", trial.run), String::new()),
        };
        if ProgressAudience::of(self.manner.quiet) == ProgressAudience::Terminal {
            screen::note(&format!("{number}{round}: {}", run.combination()));
        }
        let made = self.made(run, trial, controls);
        let record = made.as_ref().ok().cloned().map(Box::new).map(TrialRecord::Run);
        self.records.push(record);
        let result = match made {
            Ok(record) => TrialResult::Recorded(TrialRecord::Run(Box::new(record))),
            Err(failure) => {
                screen::error(&format!("{number}: {}", failure.words()));
                // Ctrl-C is no failure of the run.
                if !controls.stop.is_set() {
                    self.add_failed(&failure, run, trial);
                }
                TrialResult::Failed(failure.words())
            }
        };
        match controls.stop.is_set() || self.trouble.is_some() {
            true => TrialResult::Interrupted,
            false => result,
        }
    }

    /// Makes one run, and returns its record.
    fn made(
        &mut self,
        run: &PlannedRun,
        trial: &StudyTrial,
        controls: SweepControls<'_>,
    ) -> Result<RunRecord, CommandFailure> {
        let out = self.folder.as_ref().map(|out| out.join(&trial.folder));
        // The process of a sweep that goes on may work in another folder.
        let out = out.map(|out| std::path::absolute(&out).unwrap_or(out));
        let follow = |progress: RunProgress| controls.live.show(&progress);
        let followed = RunControls { progress: &follow, stop: controls.stop };
        let result = run.make(out, self.manner.strict, followed)?;
        // What fails behind a signal fails by it.
        let has_failed = matches!(result.outcome, RunOutcome::Failure { .. });
        let is_by_signal = has_failed && controls.stop.is_set();
        if !is_by_signal {
            self.exit = self.exit.max(ProcessExit::of_process(result.exit_code));
        }
        match result.outcome {
            RunOutcome::Record(made) => {
                self.add(&made);
                Ok(made.record)
            }
            RunOutcome::Failure { exit_code, text } => Err(failed_run(exit_code, text).into()),
            RunOutcome::FlatOutRate { .. } | RunOutcome::Held => {
                Err(CommandFailure::environment("it made no run"))
            }
        }
    }

    fn add(&mut self, made: &RecordedRun) {
        made.reason.iter().for_each(|reason| self.reasons.add(reason));
        if self.manner.json {
            self.print(&made.record);
        }
        if let Some(reason) = &made.unwritten {
            self.trouble = Some(CommandFailure::environment(reason));
        }
    }

    fn add_failed(&mut self, failure: &CommandFailure, run: &PlannedRun, trial: &StudyTrial) {
        self.exit = self.exit.max(failure.exit());
        if self.manner.json {
            let (factors, reason) = (&run.factors, failure.words());
            let failed = serde_json::json!({
                "number": trial.run, "factors": factors, "reason": reason
            });
            self.print(&serde_json::json!({ "failed": failed }));
        }
    }

    /// Prints one of the documents of a sweep, a line each.
    fn print(&mut self, document: &impl serde::Serialize) {
        match serde_json::to_string(document) {
            Ok(line) => screen::json(&(line + "\n")),
            Err(error) => self.trouble = Some(CommandFailure::environment(error)),
        }
    }

    /// Prints why runs ended as they did, and the table with what did not go as planned, writes the
    /// page, and tells how the sweep ends.
    fn finish(mut self, runs: &RunSet, stop: &RunStop) -> Result<ProcessExit, CommandFailure> {
        self.reasons.lines().for_each(|line| screen::error(&line));
        let (plan, history) = (runs.plan().clone(), runs.history().clone());
        let made = RecordedStudy { plan, history, records: std::mem::take(&mut self.records) };
        // What is recorded is shown as every later report has it.
        let recorded = self.folder.as_deref().filter(|_| self.trouble.is_none());
        let recorded = recorded.and_then(|folder| RecordedStudy::read(folder).ok());
        let study = recorded.unwrap_or(made);
        let (has_runs, found) = (!study.made_runs().is_empty(), study.found());
        // What was measured before an end is shown all the same.
        if has_runs || found.is_some() {
            self.show(&study, found.as_ref());
        } else if let Some(folder) = &self.folder {
            let written = folder::written(folder, &study);
            self.trouble = self.trouble.or(written.err());
        }
        if let (Some(folder), Some(_)) = (&self.folder, &self.made) {
            let removed = folder::remove_empty(folder, &study);
            self.trouble = self.trouble.or(removed.err());
        }
        let exit = found.map_or(self.exit, |found| find_rate::exit(&found));
        let exit = match stop.is_set() {
            // As of a run that was ended before its window.
            true if !has_runs && exit < ProcessExit::Failed => {
                ProcessExit::Environment.or_by_signal()
            }
            true => exit.of_part(),
            false => exit,
        };
        self.trouble.map_or(Ok(exit), Err)
    }

    fn show(&mut self, study: &RecordedStudy, found: Option<&FoundRate>) {
        let written = self.folder.as_deref().map(|folder| folder::written(folder, study));
        let place = written.transpose().map(Option::unwrap_or_default);
        let place = place.unwrap_or_else(|failure| {
            self.trouble.get_or_insert(failure);
            format!("\nRecords: {}\n", legible_path(self.place()))
        });
        match (self.manner.json, found) {
            (false, _) => {
                screen::result(&(terminal::sweep_text(study, screen::style()) + &place));
            }
            (true, Some(found)) => self.print(&serde_json::json!({ "found": found })),
            (true, None) => {}
        }
    }
}
