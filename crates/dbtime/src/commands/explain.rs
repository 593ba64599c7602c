//! `dbtime explain`: what to look at or to try next, by the budget of a recorded run.

use crate::cli::ExplainArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::recorded_sweep::recorded_sweep;
use crate::screen;
use dbtime_model::record::{read_run_record, record_folder};
use dbtime_model::study::{RecordedStudy, RunOrder};
use dbtime_model::units::counted;
use dbtime_report::advice::RunAdvice;
use dbtime_report::reports::advice_document;
use std::path::Path;

pub(crate) fn run(args: &ExplainArgs) -> Result<ProcessExit, CommandFailure> {
    args.document.begin("dbtime explain", [&args.run])?;
    let folder = record_folder(&args.run);
    if let Some(sweep) = recorded_sweep(&folder)? {
        return Err(of_sweep(&folder, &sweep));
    }
    let record = read_run_record(&folder)?;
    let advice = RunAdvice::of(&record);
    let document = advice_document(&record, &advice);
    if args.json {
        let json = serde_json::to_string_pretty(&advice).map_err(CommandFailure::environment)?;
        screen::json(&(json + "\n"));
        args.document.write(&document)?;
    } else {
        let text = || document.text(screen::style());
        let (shown, written) = args.document.shown(&document, text);
        screen::result(&shown);
        written?;
    }
    Ok(ProcessExit::Fine)
}

/// Each run of a sweep or a search has a budget of its own.
fn of_sweep(folder: &Path, sweep: &RecordedStudy) -> CommandFailure {
    let runs = sweep.made_runs();
    let first = runs.first().map_or("001", |run| run.trial.folder.as_str());
    let kind = if sweep.plan.order == RunOrder::Search { "search" } else { "sweep" };
    CommandFailure::usage(format!(
        "{} is a {kind} of {}, each with its own budget: name one run, such as {}",
        folder.display(),
        counted(runs.len() as u64, "run"),
        folder.join(first).display()
    ))
}
