//! `--sweep`, `--repeat` and `--find-rate`: many runs, a process and a record each, one table.
//!
//! A sweep that is recorded is a study of rounds ([`rounds`]), a search one of runs whose rate the
//! runs before decide ([`find_rate`]). Repetitions go in rounds, so that a machine that changes
//! changes for every combination. With `--rate auto` all runs are offered the same, or the table
//! would compare loads and not what is swept: the flat-out rate is measured once, before the first.

mod factors;
mod find_rate;
mod folder;
mod rate_trials;
mod rounds;
mod run_reasons;

pub(crate) use find_rate::resume as resume_search;
pub(crate) use rounds::resume;

use crate::artifacts::folder;
use crate::cli::RunArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::spec::BaseRun;
use crate::{interrupt, screen, secrets};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::store::{CreatedFolders, check_place, make_folder, remove_sweep};
use dbtime_lab::study::{
    PlannedRun, RunControls, RunSet, TrialResult, failed_run, hold_rate, number_alike, plan_rounds,
    rate_reference,
};
use dbtime_lab::{RecordedRun, RunOutcome, RunProgress};
use dbtime_model::record::FoundRate;
use dbtime_model::study::{RunSurroundings, TrialRecord};
use dbtime_report::terminal::{self, SweepRow};
use folder::{SweepFolder, SweepPlace};
use run_reasons::RunReasons;
use std::path::{Path, PathBuf};

/// Makes all runs.
pub(crate) fn run(args: &RunArgs, arguments: &[String]) -> Result<ProcessExit, CommandFailure> {
    if let Some(limit) = &args.find_rate {
        return find_rate::run(args, arguments, &limit.text);
    }
    // All of them are read before the first is run.
    let combinations = factors::combinations(&args.sweep)?;
    let names = factors::names(&combinations);
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
    let rounds = args.repeat.unwrap_or(1);
    let total = rounds as usize * planned.len();
    let mut sweep = begun(args, arguments, first, names, total)?;
    let stop = interrupt::install_with(left_by_interrupt(sweep.folder.path().is_some()));
    let audience = ProgressAudience::of(args.quiet);
    find_flat_out(&mut planned, audience, &stop)?;
    match sweep.folder.path().map(Path::to_owned) {
        Some(folder) => {
            let plan = plan_rounds(&planned, rounds, surroundings(args), &folder);
            let made = sweep.folder.write().and_then(|()| {
                let runner = RunSet::begin(&folder, &plan)?;
                rounds::make(runner, &mut sweep, planned, &stop)
            });
            // What was measured is shown all the same.
            sweep.trouble = sweep.trouble.or(made.err());
            if sweep.folder.is_empty() {
                let removed = remove_sweep(&folder).map_err(CommandFailure::from);
                sweep.trouble = sweep.trouble.or(removed.err());
            }
        }
        None => {
            let live = LiveProgress::of_runs(audience, total);
            let controls = SweepControls { live: &live, stop: &stop };
            for index in 0..total {
                if stop.is_set() || sweep.trouble.is_some() {
                    break;
                }
                let (round, combination) = (index / planned.len(), index % planned.len());
                let place = SweepPlace { number: index + 1, round, combination };
                sweep.make(&planned[combination], place, controls);
            }
        }
    }
    sweep.finish(&stop)
}

/// A sweep before its first run, with its folder. So many runs are planned; 0: nobody knows.
///
/// Errors: the folder exists, or cannot be made.
fn begun(
    args: &RunArgs,
    arguments: &[String],
    first: &PlannedRun,
    factors: Vec<String>,
    planned: usize,
) -> Result<SweepCourse, CommandFailure> {
    let out = folder(args, &first.spec.workload)?;
    out.as_deref().map(check_place).transpose()?;
    // A place that cannot be written is known before anything is loaded.
    let made = out.as_deref().map(make_folder).transpose()?;
    let folder = SweepFolder::new(out, secrets::command_line(arguments), factors, planned);
    let (json, quiet, strict) = (args.json, args.quiet, args.strict);
    let manner = SweepManner { json, quiet, strict };
    Ok(SweepCourse { _made: made, ..SweepCourse::of(folder, manner) })
}

/// What the runs have beside what they are; paths as they are from everywhere.
fn surroundings(args: &RunArgs) -> RunSurroundings {
    let whole = |path: &PathBuf| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        path.to_string_lossy().into_owned()
    };
    RunSurroundings {
        strict: args.strict,
        snapshots: args.snapshots.as_ref().map(whole),
        password_file: args.password_file.as_ref().map(whole),
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
        screen::note(&format!("the rate of all, found by {}", from.combination()));
    }
    let live = LiveProgress::new(audience);
    let follow = |progress: RunProgress| live.show(&progress);
    Ok(hold_rate(planned, RunControls { progress: &follow, stop })?)
}

/// What a sweep leaves that a second signal ends.
fn left_by_interrupt(has_folder: bool) -> String {
    let left =
        if has_folder { "only runs that had ended are recorded" } else { "nothing was recorded" };
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
    /// With the place of their combination.
    rows: Vec<(usize, SweepRow)>,
    folder: SweepFolder,
    /// Why runs ended as they did.
    reasons: RunReasons,
    exit: ProcessExit,
    /// What could not be written of the last: there are no more behind it.
    trouble: Option<CommandFailure>,
    /// The folder goes with a sweep that has made no run.
    _made: Option<CreatedFolders>,
}

impl SweepCourse {
    /// One without runs, in this folder.
    fn of(folder: SweepFolder, manner: SweepManner) -> Self {
        Self {
            manner,
            rows: Vec::new(),
            folder,
            reasons: RunReasons::default(),
            exit: ProcessExit::Fine,
            trouble: None,
            _made: None,
        }
    }

    /// Makes one run, and returns its record. One that fails or crashes is noted, and the others go
    /// on.
    fn make(
        &mut self,
        run: &PlannedRun,
        place: SweepPlace,
        controls: SweepControls<'_>,
    ) -> Option<Box<RecordedRun>> {
        controls.live.next_run();
        let number = match self.folder.record().planned {
            0 => place.number.to_string(),
            total => format!("{} of {total}", place.number),
        };
        if ProgressAudience::of(self.manner.quiet) == ProgressAudience::Terminal {
            let (shown, round) = (run.combination(), place.round + 1);
            screen::note(&format!("run {number}, round {round}: {shown}"));
        }
        let out = self.folder.path().map(|out| out.join(format!("{:03}", place.number)));
        // The process of a sweep that goes on may work in another folder.
        let out = out.map(|out| std::path::absolute(&out).unwrap_or(out));
        let follow = |progress: RunProgress| controls.live.show(&progress);
        let followed = RunControls { progress: &follow, stop: controls.stop };
        let failure: CommandFailure = match run.make(out, self.manner.strict, followed) {
            Ok(result) => {
                self.exit = self.exit.max(ProcessExit::of_process(result.exit_code));
                match result.outcome {
                    RunOutcome::Record(recorded) => {
                        self.add(&recorded, run, place);
                        return Some(recorded);
                    }
                    RunOutcome::Failure { exit_code, text } => failed_run(exit_code, text).into(),
                    RunOutcome::FlatOutRate { .. } => CommandFailure::environment("it made no run"),
                }
            }
            Err(error) => error.into(),
        };
        screen::error(&format!("run {number}: {}", failure.words()));
        // Ctrl-C is no failure of the run.
        if !controls.stop.is_set() {
            self.exit = self.exit.max(failure.exit());
            self.add_failed(failure.words(), run, place);
        }
        None
    }

    /// What became of a run, for its journal.
    fn result_of(&self, made: Option<Box<RecordedRun>>) -> TrialResult {
        match made {
            Some(run) => TrialResult::Recorded(TrialRecord::Run(Box::new(run.record))),
            None => {
                let failed = self.folder.record().failed.last();
                TrialResult::Failed(failed.map_or_else(String::new, |run| run.reason.clone()))
            }
        }
    }

    /// The number of the next run.
    fn next_number(&self) -> usize {
        let record = self.folder.record();
        record.runs.len() + record.failed.len() + 1
    }

    fn add(&mut self, run: &RecordedRun, planned: &PlannedRun, place: SweepPlace) {
        run.reason.iter().for_each(|reason| self.reasons.add(reason));
        self.rows.push((place.combination, SweepRow::of_run(&run.record, &planned.factors)));
        if self.manner.json {
            self.print(&run.record);
        }
        let listed = self.folder.add(run, planned.factors.clone(), place);
        self.trouble = run.unwritten.as_ref().map(CommandFailure::environment).or(listed.err());
    }

    fn add_failed(&mut self, reason: String, planned: &PlannedRun, place: SweepPlace) {
        let failed = place.failed(planned.factors.clone(), reason);
        if self.manner.json {
            self.print(&serde_json::json!({ "failed": failed }));
        }
        self.trouble = self.folder.add_failed(failed).err();
    }

    /// Prints one of the documents of a sweep, a line each.
    fn print(&mut self, document: &impl serde::Serialize) {
        match serde_json::to_string(document) {
            Ok(line) => screen::json(&(line + "\n")),
            Err(error) => self.trouble = Some(CommandFailure::environment(error)),
        }
    }

    /// Ends a search with what it found.
    fn found(mut self, found: FoundRate, stop: &RunStop) -> Result<ProcessExit, CommandFailure> {
        let written = self.folder.found(found.clone());
        match self.manner.json {
            true => self.print(&serde_json::json!({ "found": found })),
            false => find_rate::show(&found),
        }
        self.trouble = self.trouble.or(written.err());
        self.finish(stop)
    }

    /// Prints why runs ended as they did, and the table with what did not go as planned, writes the
    /// page, and tells how the sweep ends.
    fn finish(mut self, stop: &RunStop) -> Result<ProcessExit, CommandFailure> {
        self.reasons.lines().for_each(|line| screen::error(&line));
        // What was measured before an end is shown all the same.
        if !self.rows.is_empty() {
            self.show();
        }
        let exit = match stop.is_set() {
            // As of a run that was ended before its window.
            true if self.rows.is_empty() && self.exit < ProcessExit::Failed => {
                ProcessExit::Environment.or_by_signal()
            }
            true => self.exit.of_part(),
            false => self.exit,
        };
        self.trouble.map_or(Ok(exit), Err)
    }

    fn show(&mut self) {
        let text = terminal::sweep_table(&self.rows(), screen::style())
            + &terminal::sweep_troubles(self.folder.record(), screen::style());
        let place = self.folder.finish().unwrap_or_else(|failure| {
            let place = self.folder.path().map(|path| format!("\nRecords: {}\n", path.display()));
            self.trouble.get_or_insert(failure);
            place.unwrap_or_default()
        });
        if !self.manner.json {
            screen::result(&(text + &place));
        }
    }

    /// The lines of the table: repetitions stand together.
    fn rows(&mut self) -> Vec<SweepRow> {
        self.rows.sort_by_key(|(combination, _)| *combination);
        self.rows.iter().map(|(_, row)| row.clone()).collect()
    }
}
