//! `dbtime run --events`: a run for another program to follow, a JSON document a line.

use crate::cli::RunArgs;
use crate::commands::run::{Kept, RunVerdict, described, verdict};
use crate::exit::{Exit, Failure};
use crate::{interrupt, screen};
use dbtime_engines::plan::Stop;
use dbtime_lab::{Progress, RecordedRun, RunEvent, RunOutcome};
use dbtime_machine::now;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// Makes the run. What is printed of it are its events; the last is its outcome.
pub(crate) fn run(args: &RunArgs, arguments: &[String]) -> Exit {
    let stop = interrupt::install_silently();
    let outcome = follow_parent(args.parent, &stop).and_then(|()| made(args, arguments, &stop));
    let (outcome, exit) = outcome.unwrap_or_else(|failure| {
        let exit = failure.exit();
        (RunOutcome::Failure { exit_code: exit.code(), text: failure.words() }, exit)
    });
    print(&RunEvent::Outcome(outcome));
    exit
}

fn made(args: &RunArgs, arguments: &[String], stop: &Stop) -> Result<(RunOutcome, Exit), Failure> {
    let request = described(args, arguments)?;
    let show = |progress: Progress| {
        print(&RunEvent::Progress(progress));
        // Nobody follows the run any more.
        if screen::is_lost() {
            stop.at(now());
        }
    };
    if args.find_rate {
        let auto = dbtime_lab::find_rate(&request, &show, stop)?;
        return Ok((RunOutcome::FlatOutRate { auto }, Exit::Fine));
    }
    let finished = dbtime_lab::run(&request, &show, stop)?;
    let RunVerdict { exit, reason } = verdict(args, &finished);
    let kept = Kept::of(&finished);
    let exit = if kept.trouble.is_some() { exit.without_output() } else { exit };
    let unwritten = kept.trouble.map(|failure| failure.words());
    let (record, folder) = (finished.run.record, finished.folder);
    let record = RecordedRun { record, folder, unwritten, reason };
    Ok((RunOutcome::Record(Box::new(record)), exit))
}

/// Ends with the process that has started this one: nobody else would end the run.
fn follow_parent(parent: Option<i32>, stop: &Stop) -> Result<(), Failure> {
    let Some(parent) = parent else { return Ok(()) };
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(Failure::environment)?;
    // It may have ended before.
    if getppid().map(Pid::as_raw_pid) != Some(parent) {
        stop.at(now());
    }
    Ok(())
}

/// What cannot be written is noted where it is written.
fn print(event: &RunEvent) {
    if let Ok(line) = serde_json::to_string(event) {
        screen::json(&(line + "\n"));
    }
}
