//! `--sweep` and `--repeat`: many runs, a process and a record each, one table.
//!
//! Repetitions go in rounds, so that a machine that changes changes for every combination. With
//! `--rate auto` all runs are offered the same, or the table would compare loads and not what is
//! swept: the flat-out rate is measured once, before the first.

mod factors;
mod folder;
mod planned;

use crate::artifacts::folder;
use crate::cli::RunArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::planned_run::{self, PlannedRun, RunControls};
use crate::{interrupt, screen, secrets};
use dbtime_lab::store::make_folder;
use dbtime_lab::{RecordedRun, RunOutcome};
use dbtime_model::record::{FailedRun, WorkloadSpec};
use dbtime_report::terminal::{self, SweepRow};
use folder::{SweepFolder, SweepPlace};

/// Makes all runs.
pub(crate) fn run(args: &RunArgs, arguments: &[String]) -> Result<ProcessExit, CommandFailure> {
    // All of them are read before the first is run.
    let combinations = factors::combinations(&args.sweep)?;
    let names = factors::names(&combinations);
    let planned = combinations.into_iter();
    let planned = planned.map(|combination| planned::of_combination(combination, arguments));
    let mut planned = planned.collect::<Result<Vec<_>, _>>()?;
    if args.print_spec {
        return print_specs(&planned);
    }
    let workload =
        planned.first().map_or_else(WorkloadSpec::default, |run| run.spec.workload.clone());
    let out = folder(args, &workload)?;
    if let Some(out) = out.as_deref().filter(|out| out.symlink_metadata().is_ok()) {
        return Err(dbtime_lab::LabError::OutExists(out.to_owned()).into());
    }
    let stop = interrupt::install_with(left_by_interrupt(out.is_some()));
    // A place that cannot be written is known before anything is loaded.
    let _made = out.as_deref().map(make_folder).transpose()?;
    let audience = ProgressAudience::of(args.quiet);
    planned::hold_rate(&mut planned, audience, &stop)?;
    let rounds = args.repeat.unwrap_or(1) as usize;
    let total = rounds * planned.len();
    let folder = SweepFolder::new(out, secrets::command_line(arguments), names, total);
    let mut sweep =
        SweepCourse { rows: Vec::new(), folder, exit: ProcessExit::Fine, trouble: None };
    let live = LiveProgress::of_runs(audience, total);
    for index in 0..total {
        if stop.is_set() || sweep.trouble.is_some() {
            break;
        }
        let (round, combination) = (index / planned.len(), index % planned.len());
        let place = SweepPlace { number: index + 1, round, combination };
        sweep.make(args, &planned[combination], place, RunControls { live: &live, stop: &stop });
    }
    drop(live);
    sweep.finish(args)
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

/// The runs so far.
struct SweepCourse {
    /// With the place of their combination.
    rows: Vec<(usize, SweepRow)>,
    folder: SweepFolder,
    exit: ProcessExit,
    /// What could not be written of the last: there are no more behind it.
    trouble: Option<CommandFailure>,
}

impl SweepCourse {
    /// Makes one run. One that fails or crashes is noted, and the others go on.
    fn make(
        &mut self,
        args: &RunArgs,
        run: &PlannedRun,
        place: SweepPlace,
        controls: RunControls<'_>,
    ) {
        controls.live.next_run();
        let (number, total) = (place.number, self.folder.record().planned);
        if ProgressAudience::of(args.quiet) == ProgressAudience::Terminal {
            let (shown, round) = (run.combination(), place.round + 1);
            screen::note(&format!("run {number} of {total}, round {round}: {shown}"));
        }
        let out = self.folder.path().map(|out| out.join(format!("{number:03}")));
        let failure = match run.make(out, args.strict, controls) {
            Ok(result) => {
                self.exit = self.exit.max(ProcessExit::of_process(result.exit_code));
                match result.outcome {
                    RunOutcome::Record(recorded) => return self.add(args, &recorded, run, place),
                    RunOutcome::Failure { exit_code, text } => {
                        planned_run::failure(exit_code, &text)
                    }
                    RunOutcome::FlatOutRate { .. } => CommandFailure::environment("it made no run"),
                }
            }
            Err(failure) => failure,
        };
        self.exit = self.exit.max(failure.exit());
        screen::error(&format!("run {number} of {total}: {}", failure.words()));
        // Ctrl-C is no failure of the run.
        if !controls.stop.is_set() {
            self.add_failed(args, failure.words(), run, place);
        }
    }

    fn add(&mut self, args: &RunArgs, run: &RecordedRun, planned: &PlannedRun, place: SweepPlace) {
        run.reason.iter().for_each(|reason| screen::error(reason));
        let row = SweepRow::from_record(&run.record);
        let named = planned.factors.iter();
        let row = named.fold(row, |row, factor| row.with_factor(&factor.name, &factor.value));
        self.rows.push((place.combination, row));
        if args.json {
            self.print(&run.record);
        }
        let listed = self.folder.add(run, planned.factors.clone(), place);
        self.trouble = run.unwritten.as_ref().map(CommandFailure::environment).or(listed.err());
    }

    fn add_failed(
        &mut self,
        args: &RunArgs,
        reason: String,
        planned: &PlannedRun,
        place: SweepPlace,
    ) {
        let failed = FailedRun {
            number: place.number as u64,
            round: place.round as u64 + 1,
            combination: place.combination as u64,
            factors: planned.factors.clone(),
            reason,
        };
        if args.json {
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

    /// Prints the table with what did not go as planned, writes the page, and tells how the sweep
    /// ends.
    fn finish(mut self, args: &RunArgs) -> Result<ProcessExit, CommandFailure> {
        // What was measured before an end is shown all the same.
        if !self.rows.is_empty() {
            self.show(args);
        }
        self.trouble.map_or(Ok(self.exit), Err)
    }

    fn show(&mut self, args: &RunArgs) {
        let text = terminal::sweep_table(&self.rows(), screen::style())
            + &terminal::sweep_troubles(self.folder.record(), screen::style());
        let place = self.folder.finish().unwrap_or_else(|failure| {
            let place = self.folder.path().map(|path| format!("\nRecords: {}\n", path.display()));
            self.trouble.get_or_insert(failure);
            place.unwrap_or_default()
        });
        if !args.json {
            screen::result(&(text + &place));
        }
    }

    /// The lines of the table: repetitions stand together.
    fn rows(&mut self) -> Vec<SweepRow> {
        self.rows.sort_by_key(|(combination, _)| *combination);
        self.rows.iter().map(|(_, row)| row.clone()).collect()
    }
}
