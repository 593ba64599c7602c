//! The run itself: sysbench's lines as it goes, its report at the end, and then dbtime's own.

use super::clock::{ReportClock, ReportHooks, SysbenchEnd};
use super::fatal_words::{fatal, in_its_words};
use super::main_state::StateThread;
use super::{SysbenchJob, report_failure, request};
use crate::artifacts::RunArtifacts;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::report_overdue_script;
use crate::{interrupt, screen};
use dbtime_lab::store::RunStore;
use dbtime_lab::{ReportedRun, RunProgress, RunRequest, RunResult};
use dbtime_machine::now;
use dbtime_model::{PhaseInstant, RunPhase};
use dbtime_report::terminal::{self, TerminalOptions};
use dbtime_script::sysbench::{MainTask, SysbenchCommand, report};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What sysbench's own rate is over, by its rules.
const RATE_BASIS: &str = "sysbench's rates also count what ended after it";

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
        return Err(in_its_words(format!("FATAL: cannot find the event() function in {script}")));
    }
    print(&report::opening(&job.options.general));
    let script = Arc::new(job.script(SysbenchCommand::Run)?);
    let request = request::run(job, Arc::clone(&script))?;
    let hooks = ReportHooks::new(job, main)?;
    print(report::WORKERS);
    let clock = ReportClock { job, script: &script, print: &print };
    let driven = drive(&clock, hooks, store, &request);
    // One of the run does not end `done()`; one that comes from here on does.
    interrupt::back_to(&job.stop);
    let (finished, end) = match driven {
        Ok(driven) => driven,
        Err(SysbenchAbort { failure, has_begun: false }) => return Err(failure),
        Err(SysbenchAbort { failure, has_begun: true }) => {
            report_failure(failure, job.options.own.json, job.options.own.classic);
            main.answer(MainTask::Function("done"))?;
            return Ok(ProcessExit::OfCommand(1).or_by_signal());
        }
    };
    let exit = show(job, &finished)?.end(match end {
        SysbenchEnd::Forced => ProcessExit::OfCommand(2),
        SysbenchEnd::Own if script.fails_late() => ProcessExit::OfCommand(1),
        // As the shell sees a sysbench that a signal has ended.
        SysbenchEnd::Own if finished.run.record.window.ended_early => ProcessExit::Fine.of_part(),
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
    let has_begun = AtomicBool::new(false);
    let broken = |failure| SysbenchAbort { failure, has_begun: has_begun.load(Ordering::Relaxed) };
    let progress = |progress: RunProgress| match progress {
        // Before the first event, whatever else has the CPU: the threads wait until this returns.
        RunProgress::Phase(PhaseInstant { phase: RunPhase::Connected, .. }) => {
            (clock.print)(report::STARTED);
            has_begun.store(true, Ordering::Relaxed);
        }
        other => report_overdue_script(other),
    };
    let run = ReportedRun { request, store, progress: &progress, stop };
    // A script whose hooks fail ends its run.
    let result = run
        .drive(|moments| clock.tick(hooks, &moments).inspect_err(|_| stop.at(now())))
        .map_err(|error| broken(CommandFailure::environment(error)))?;
    // A hook that failed has ended the run: its words say why.
    let end = result.report.map_err(broken)?;
    Ok((result.run.map_err(|error| broken(fatal(error)))?, end))
}

/// What dbtime has to say beyond sysbench's report.
fn show(job: &SysbenchJob, finished: &RunResult) -> Result<RunArtifacts, CommandFailure> {
    let own = &job.options.own;
    if own.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
    } else if !own.classic {
        let (style, other_basis) = (screen::style(), Some(RATE_BASIS));
        let options = TerminalOptions { style, other_basis, ..TerminalOptions::default() };
        screen::result(&terminal::run_report(&finished.run, &options));
    }
    let kept = RunArtifacts::of(finished);
    if !own.json && !own.classic {
        screen::result(&kept.lines);
    }
    Ok(kept)
}
