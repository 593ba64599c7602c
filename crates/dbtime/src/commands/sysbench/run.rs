//! The run itself: sysbench's lines as it goes, its report at the end, and then dbtime's own.

use super::clock::{ClockMessage, ReportClock, ReportHooks, SysbenchEnd};
use super::main_state::StateThread;
use super::{SysbenchJob, fatal, report_failure, request};
use crate::commands::run::RunArtifacts;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::report_overdue_script;
use crate::{interrupt, screen};
use dbtime_lab::store::RunStore;
use dbtime_lab::{RunProgress, RunRequest, RunResult};
use dbtime_machine::now;
use dbtime_model::{Nanos, PhaseInstant, RunPhase};
use dbtime_report::terminal::{self, TerminalOptions};
use dbtime_script::sysbench::{MainTask, SysbenchCommand, report};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

/// Runs a script and reports. Returns what the command ends with, which is sysbench's code.
pub(super) fn run(
    job: &SysbenchJob,
    main: &mut StateThread,
) -> Result<ProcessExit, CommandFailure> {
    let print = |text: &str| {
        if !job.options.own.json {
            job.output.report(text);
        }
    };
    // A place that cannot be written is known before the script touches anything.
    let out = job.options.own.out.as_deref().map(Path::new);
    let store = out.map(RunStore::create).transpose().map_err(fatal)?;
    main.answer(MainTask::Function("init"))?;
    if !job.declared.functions.contains(&"event") {
        let script = job.file_name();
        return Err(CommandFailure::usage(format!(
            "FATAL: cannot find the event() function in {script}"
        )));
    }
    print(&report::opening(&job.options.general));
    let script = Arc::new(job.script(SysbenchCommand::Run)?);
    let request = request::run(job, Arc::clone(&script))?;
    let hooks = ReportHooks::new(job, main)?;
    print(report::WORKERS);
    let clock = ReportClock { job, script: &script, print: &print };
    let (finished, end) = match drive(&clock, hooks, store, &request) {
        Ok(driven) => driven,
        Err(SysbenchAbort { failure, has_begun: false }) => return Err(failure),
        Err(SysbenchAbort { failure, has_begun: true }) => {
            report_failure(failure, job.options.own.json, job.options.own.classic);
            main.answer(MainTask::Function("done"))?;
            return Ok(ProcessExit::OfCommand(1));
        }
    };
    let exit = show(job, &finished)?.end(match end {
        SysbenchEnd::Forced => ProcessExit::OfCommand(2),
        SysbenchEnd::Own if script.fails_late() => ProcessExit::OfCommand(1),
        SysbenchEnd::Own => ProcessExit::Fine,
    });
    main.answer(MainTask::Function("done"))?;
    Ok(exit)
}

/// Why there is nothing to report.
struct SysbenchAbort {
    failure: CommandFailure,
    /// Whether the threads had started.
    has_begun: bool,
}

/// Drives the load while the clock prints.
fn drive(
    clock: &ReportClock<'_>,
    hooks: ReportHooks<'_>,
    store: Option<RunStore>,
    request: &RunRequest,
) -> Result<(RunResult, SysbenchEnd), SysbenchAbort> {
    let stop = &*interrupt::from_here(&clock.job.stop);
    let (sender, messages) = channel::<ClockMessage>();
    let has_begun = AtomicBool::new(false);
    let broken = |failure| SysbenchAbort { failure, has_begun: has_begun.load(Ordering::Relaxed) };
    std::thread::scope(|scope| {
        let ticking = std::thread::Builder::new().name("reports".to_owned());
        let ticking = ticking
            .spawn_scoped(scope, move || {
                // A script whose hooks fail ends its run.
                clock.tick(hooks, &messages).inspect_err(|_| stop.at(now()))
            })
            .map_err(|error| broken(CommandFailure::environment(error)))?;
        let progress = |progress: RunProgress| match progress {
            RunProgress::Phase(PhaseInstant { phase: RunPhase::Started, at }) => {
                (clock.print)(report::STARTED);
                has_begun.store(true, Ordering::Relaxed);
                // A clock that has failed listens no more; joining it tells why.
                let _ = sender.send(ClockMessage::Started(at));
            }
            other => report_overdue_script(other),
        };
        let finished = dbtime_lab::run_into(store, request, &progress, stop);
        if let Ok(finished) = &finished {
            let window = &finished.run.record.window;
            let length = Nanos::from_secs_f64(window.measure_s + window.rundown_s);
            let _ = sender.send(ClockMessage::Ended(length));
        }
        drop(sender);
        let reported = ticking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A hook that failed has ended the run: its words say why.
        let end = reported.map_err(broken)?;
        Ok((finished.map_err(|error| broken(fatal(error)))?, end))
    })
}

/// What dbtime has to say beyond sysbench's report.
fn show(job: &SysbenchJob, finished: &RunResult) -> Result<RunArtifacts, CommandFailure> {
    let own = &job.options.own;
    if own.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
    } else if !own.classic {
        let options = TerminalOptions { style: screen::style(), ..TerminalOptions::default() };
        screen::result(&terminal::run_report(&finished.run, &options));
    }
    let kept = RunArtifacts::of(finished);
    if !own.json && !own.classic {
        screen::result(&kept.lines);
    }
    Ok(kept)
}
