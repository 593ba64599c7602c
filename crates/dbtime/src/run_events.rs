//! `dbtime run --events`: a run for another program to follow, a JSON document a line.

use crate::artifacts::RunArtifacts;
use crate::cli::RunArgs;
use crate::commands::run::{RunVerdict, described, verdict};
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::deaf_script;
use crate::{given_secrets, interrupt, parent_watch, screen};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::{
    PreparedRun, RecordedRun, RunEvent, RunOutcome, RunProgress, RunResult, SliceRequest,
};
use dbtime_machine::now;
use dbtime_model::bounded_file::line_from;

/// Makes the run. What is printed of it are its events; the last is its outcome.
pub(crate) fn run(args: &RunArgs, arguments: &[String]) -> ProcessExit {
    let stop = interrupt::install_silently(args.parent);
    let made = follow_parent(args).and_then(|()| made(args, arguments, &stop));
    made.unwrap_or_else(|failure| {
        let exit = failure.exit();
        let text = given_secrets::hidden(&failure.words()).into_owned();
        print(&RunEvent::Outcome(RunOutcome::Failure { exit_code: exit.code(), text }));
        exit
    })
}

/// Makes the run, or the slices that are asked for, and prints the outcome of each.
fn made(
    args: &RunArgs,
    arguments: &[String],
    stop: &RunStop,
) -> Result<ProcessExit, CommandFailure> {
    let request = described(args, arguments)?;
    let show = |progress: RunProgress| {
        if let RunProgress::ScriptDeaf { client } = progress {
            if interrupt::signal().is_some() || screen::is_lost() {
                end_with_script(client);
            }
            return;
        }
        print(&RunEvent::Progress(progress));
        // Nobody follows the run any more.
        if screen::is_lost() {
            stop.at(now());
        }
    };
    if args.flat_out_rate {
        let auto = dbtime_lab::flat_out_rate(&request, &show, stop)?;
        print(&RunEvent::Outcome(RunOutcome::FlatOutRate { auto }));
        return Ok(ProcessExit::Fine);
    }
    if args.slices_from_stdin {
        let mut held = PreparedRun::of(request, &show, stop)?;
        print(&RunEvent::Outcome(RunOutcome::Held));
        let mut exit = ProcessExit::Fine;
        for slice in slices() {
            exit = recorded(args, held.slice(&slice?, &show, stop)?);
        }
        return Ok(exit);
    }
    Ok(recorded(args, dbtime_lab::run(&request, &show, stop)?))
}

/// What standard input asks for, line by line, until it ends.
fn slices() -> impl Iterator<Item = Result<SliceRequest, CommandFailure>> {
    std::iter::from_fn(|| {
        let line = match line_from(std::io::stdin().lock()) {
            Ok(line) if line.is_empty() => return None,
            line => line.map_err(CommandFailure::environment),
        };
        Some(line.and_then(|line| {
            serde_json::from_str(&line).map_err(|error| {
                CommandFailure::usage(format!("standard input asks for no slice: {error}"))
            })
        }))
    })
}

/// Prints the record of a run, and gives the exit code.
fn recorded(args: &RunArgs, finished: RunResult) -> ProcessExit {
    let RunVerdict { exit, reason, .. } = verdict(args, &finished);
    let kept = RunArtifacts::of(&finished);
    let exit = if kept.trouble.is_some() { exit.without_output() } else { exit };
    let unwritten = kept.trouble.map(|failure| failure.words());
    let (record, folder) = (finished.run.record, finished.folder);
    let record = RecordedRun { record, folder, unwritten, reason };
    print(&RunEvent::Outcome(RunOutcome::Record(Box::new(record))));
    exit
}

/// Ends at once with the process that has started this one and reads its events: nothing else would
/// end the run, and a part of it is of no use.
fn follow_parent(args: &RunArgs) -> Result<(), CommandFailure> {
    match screen::kept_stdout().filter(|_| args.parent) {
        Some(events) => parent_watch::when_closed(events, || {
            interrupt::end_at_once(ProcessExit::Environment.code());
        }),
        None => Ok(()),
    }
}

/// Ends this process with a script that is to end and does not come back. It is the run that fails
/// by it: a process that follows this one goes on, and shows its other runs.
fn end_with_script(client: Option<u32>) {
    let exit_code = ProcessExit::Environment.or_by_signal().code();
    let text = format!("interrupted: {}", deaf_script(client));
    print(&RunEvent::Outcome(RunOutcome::Failure { exit_code, text }));
    interrupt::end_at_once(exit_code);
}

/// What cannot be written is noted where it is written.
fn print(event: &RunEvent) {
    if let Ok(line) = serde_json::to_string(event) {
        screen::json(&(line + "\n"));
    }
}
