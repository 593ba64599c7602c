//! `dbtime join`: a run and a recording of its server, in one budget.

use crate::artifacts::RunArtifacts;
use crate::cli::JoinArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::{interrupt, recording_end, screen};
use dbtime_lab::{JoinedRun, join_recording};
use dbtime_model::record::record_folder;
use dbtime_report::terminal::{TerminalOptions, run_report};

pub(crate) fn run(args: &JoinArgs) -> Result<ProcessExit, CommandFailure> {
    interrupt::end_by_first();
    let folder = record_folder(&args.run);
    let joined = join_recording(&folder, &args.recording, args.force)?;
    let JoinedRun { run, recording_end, missing } = joined;
    let kept = RunArtifacts::recorded(&run, &folder);
    if args.json {
        let json = serde_json::to_string_pretty(&run.record);
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
    } else {
        let style = screen::style();
        let options = TerminalOptions { style, ..TerminalOptions::default() };
        screen::result(&run_report(&run, &options));
        screen::result(&kept.lines);
    }
    if let Some(missing) = missing {
        screen::note(&format!("{} lacks part of the run: {missing}", args.recording.display()));
    }
    let exit = recording_end::judged(&args.recording, recording_end, false, ProcessExit::Fine);
    Ok(kept.end(exit))
}
