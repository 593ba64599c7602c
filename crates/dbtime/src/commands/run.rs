//! `dbtime run`: drive a database and show where the time of its transactions went.

use super::runs::RECORDS;
use crate::cli::RunArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::run_events;
use crate::spec::{self, DescribedRun, RunContext};
use crate::{interrupt, screen, secrets, sweep};
use dbtime_lab::{RunRequest, RunResult};
use dbtime_model::record::{CheckOutcome, WarningKind, WorkloadSpec};
use dbtime_report::terminal::{self, TerminalOptions};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs) -> Result<ProcessExit, CommandFailure> {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if args.json || args.events {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    if args.events {
        return Ok(run_events::run(args, &arguments));
    }
    if !args.sweep.is_empty() || args.repeat.is_some_and(|times| times > 1) {
        return sweep::run(args, &arguments);
    }
    let request = described(args, &arguments)?;
    if args.print_spec {
        let text =
            serde_json::to_string_pretty(&request.spec).map_err(CommandFailure::environment)?;
        screen::result(&(text + "\n"));
        return Ok(ProcessExit::Fine);
    }
    let stop = interrupt::install();
    let live = LiveProgress::new(ProgressAudience::of(args.quiet));
    let finished = dbtime_lab::run(&request, &|progress| live.show(&progress), &stop);
    drop(live);
    let finished = finished?;
    let kept = show(args, &finished)?;
    Ok(kept.end(verdict(args, &finished).show()))
}

/// The run that flags or a file describe.
pub(crate) fn described(
    args: &RunArgs,
    arguments: &[String],
) -> Result<RunRequest, CommandFailure> {
    let DescribedRun { spec, secrets, command } = spec::described(args)?;
    let command = command.unwrap_or_else(|| secrets::command_line(arguments));
    let out = if args.print_spec { None } else { folder(args, &spec.workload)? };
    let context = RunContext { secrets, command, out };
    let request = spec::request(&spec, &context)?;
    if args.server_threads && !request.target.is_server() {
        return Err(spec::for_server("--server-threads", "there are only those of dbtime"));
    }
    Ok(request)
}

/// Prints the report, and writes the HTML beside the record.
fn show(args: &RunArgs, finished: &RunResult) -> Result<RunArtifacts, CommandFailure> {
    if args.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::json(&(json.map_err(CommandFailure::environment)? + "\n"));
        return Ok(RunArtifacts::of(finished));
    }
    let (style, histogram) = (screen::style(), args.histogram);
    let options = TerminalOptions { style, histogram, threads: args.server_threads };
    screen::result(&terminal::run_report(&finished.run, &options));
    let kept = RunArtifacts::of(finished);
    screen::result(&kept.lines);
    Ok(kept)
}
/// What there is of a run beside its report, which does not depend on it.
pub(crate) struct RunArtifacts {
    /// Say where it is.
    pub(crate) lines: String,
    /// What could not be written.
    pub(crate) trouble: Option<CommandFailure>,
}

impl RunArtifacts {
    /// Writes the HTML into the folder of the record, where there is one.
    pub(crate) fn of(finished: &RunResult) -> Self {
        let Some(folder) = &finished.folder else {
            let trouble = finished.unrecorded.as_ref().map(CommandFailure::environment);
            return Self { lines: String::new(), trouble };
        };
        let mut lines = format!("\nRecord: {}\n", folder.display());
        let path = folder.join("report.html");
        let html = dbtime_report::html::report(&finished.run);
        let written = super::report::write_whole(&path, &html);
        if written.is_ok() {
            lines += &format!("Report: {}\n", path.display());
        }
        Self { lines, trouble: written.err() }
    }

    /// Tells what could not be written, and gives the exit code of a run that would have had this.
    pub(crate) fn end(self, exit: ProcessExit) -> ProcessExit {
        let Some(failure) = self.trouble else { return exit };
        failure.report();
        exit.without_output()
    }
}

/// How the process ends after a run.
pub(crate) struct RunVerdict {
    /// Its exit code.
    pub(crate) exit: ProcessExit,
    /// Why, where that is not what the report is about.
    pub(crate) reason: Option<String>,
}

impl RunVerdict {
    /// Prints the reason, and gives the exit code.
    pub(crate) fn show(self) -> ProcessExit {
        self.reason.iter().for_each(|reason| screen::error(reason));
        self.exit
    }
}

impl From<ProcessExit> for RunVerdict {
    fn from(exit: ProcessExit) -> Self {
        Self { exit, reason: None }
    }
}

/// How the process ends after this run.
pub(crate) fn verdict(args: &RunArgs, finished: &RunResult) -> RunVerdict {
    let validity = &finished.run.record.validity;
    let counts = &finished.run.record.counts;
    // Whoever ends a run before anything has ended knows that.
    let is_cut_short = finished.run.record.window.ended_early && counts.failed == 0;
    let unserved = validity.warnings.iter().find(|w| w.kind == WarningKind::MostlyFailed);
    if let Some(warning) = unserved.filter(|_| !is_cut_short) {
        let reason = format!("most of what was asked did not happen: {}", warning.text);
        return RunVerdict { exit: ProcessExit::Environment, reason: Some(reason) };
    }
    if args.strict && !validity.valid {
        let culprit = validity.warnings.iter().find(|warning| warning.kind.invalidates());
        let why = culprit.map_or("", |warning| &warning.text);
        let reason = format!("the measurement is not valid (--strict): {why}");
        return RunVerdict { exit: ProcessExit::Undecided, reason: Some(reason) };
    }
    // Counts that do not add up prove no limit; lag is in the limits' outcome.
    let is_miscounted = validity.warnings.iter().any(|w| w.kind == WarningKind::Counts);
    match finished.limits {
        CheckOutcome::Failed if is_miscounted => ProcessExit::Undecided.into(),
        CheckOutcome::Failed => ProcessExit::Failed.into(),
        CheckOutcome::Undecided => {
            let reason = "undecided: a limit was missed, and would have been met without the \
                          driver's own lateness";
            RunVerdict { exit: ProcessExit::Undecided, reason: Some(reason.to_owned()) }
        }
        CheckOutcome::Passed => ProcessExit::Fine.into(),
    }
}

/// Where the record goes.
pub(crate) fn folder(
    args: &RunArgs,
    workload: &WorkloadSpec,
) -> Result<Option<PathBuf>, CommandFailure> {
    if args.no_record {
        return Ok(None);
    }
    if let Some(out) = &args.out {
        return Ok(Some(out.clone()));
    }
    let named = workload.name.as_deref().or(workload.script.as_deref());
    let name = named.unwrap_or(if workload.query.is_some() { "query" } else { "atm" });
    let name =
        Path::new(name).file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let base = Path::new(RECORDS);
    // Two runs may start in one second.
    let mut numbers = 1..1000;
    let free = numbers.find_map(|n| {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        let path = base.join(format!("{time}-{name}{suffix}"));
        path.symlink_metadata().is_err().then_some(path)
    });
    let none = || CommandFailure::environment(format!("no free name in {RECORDS}: use --out"));
    free.map(Some).ok_or_else(none)
}
