//! `dbtime compare`: two runs, or two sweeps, side by side.

use super::report::write_whole;
use crate::cli::CompareArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::screen;
use dbtime_model::record::{is_sweep, read_run_record, read_sweep, record_folder};
use dbtime_report::compare::{
    RunComparison, SweepComparison, runs_page, runs_text, sweeps_page, sweeps_text,
};
use serde::Serialize;

pub(crate) fn run(args: &CompareArgs) -> Result<ProcessExit, CommandFailure> {
    let folders = [&args.a, &args.b].map(|path| record_folder(path));
    let [a, b] = [&folders[0], &folders[1]];
    let places = [&args.a, &args.b].map(|path| path.display().to_string());
    match (is_sweep(a), is_sweep(b)) {
        (true, true) => {
            let sweeps = [read_sweep(a)?, read_sweep(b)?];
            let compared =
                SweepComparison::of([(&places[0], &sweeps[0]), (&places[1], &sweeps[1])]);
            show(args, &compared, sweeps_text, sweeps_page)?;
        }
        (false, false) => {
            let runs = [read_run_record(a)?, read_run_record(b)?];
            let compared = RunComparison::of([(&places[0], &runs[0]), (&places[1], &runs[1])]);
            show(args, &compared, runs_text, runs_page)?;
        }
        (a_is, _) => {
            let ([sweep, run], folder) =
                if a_is { ([&args.a, &args.b], a) } else { ([&args.b, &args.a], b) };
            // What is neither says so itself.
            read_run_record(if a_is { b } else { a })?;
            return Err(CommandFailure::usage(format!(
                "{} is a sweep and {} is a run: name two runs (a run of the sweep is {}) or two \
                 sweeps",
                sweep.display(),
                run.display(),
                folder.join("001").display()
            )));
        }
    }
    Ok(ProcessExit::Fine)
}

fn show<T: Serialize>(
    args: &CompareArgs,
    compared: &T,
    text: fn(&T, dbtime_report::terminal::PageStyle) -> String,
    page: fn(&T) -> String,
) -> Result<(), CommandFailure> {
    if let Some(path) = &args.html {
        write_whole(path, &page(compared))?;
    }
    if args.json {
        let json = serde_json::to_string_pretty(compared).map_err(CommandFailure::environment)?;
        screen::json(&(json + "\n"));
        return Ok(());
    }
    match &args.html {
        Some(path) => screen::result(&format!("Report: {}\n", path.display())),
        None => screen::result(&text(compared, screen::style())),
    }
    Ok(())
}
