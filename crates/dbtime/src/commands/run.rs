//! `dbtime run`: drive a database and show where the time of its transactions went.

use super::report::write_whole;
use crate::artifacts::{RunArtifacts, folder};
use crate::cli::RunArgs;
use crate::cli::run_flags::own_words;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::run_events;
use crate::spec::{self, DescribedRun};
use crate::{interrupt, screen, secrets, sweep};
use dbtime_lab::{RunRequest, RunResult};
use dbtime_model::record::{CheckDoubt, CheckOutcome, WarningKind};
use dbtime_report::compare::run_junit;
use dbtime_report::terminal::{self, TerminalOptions};

pub(crate) fn run(args: &RunArgs) -> Result<ProcessExit, CommandFailure> {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let arguments = own_words(arguments);
    if args.json || args.events {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    if args.events {
        return Ok(run_events::run(args, &arguments));
    }
    if !args.sweep.is_empty()
        || args.find_rate.is_some()
        || args.repeat.is_some_and(|times| times > 1)
    {
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
    let verdict = verdict(args, &finished);
    write_junit(args, &finished, &verdict)?;
    Ok(kept.end(verdict.show()))
}

/// Writes how the limits came out, for the pages of a CI system.
fn write_junit(
    args: &RunArgs,
    finished: &RunResult,
    verdict: &RunVerdict,
) -> Result<(), CommandFailure> {
    let Some(path) = &args.junit else { return Ok(()) };
    // An open limit is a case by itself.
    let error = verdict.reason.as_deref().filter(|_| !verdict.is_of_limits);
    write_whole(path, &run_junit(&finished.run.record, error))
}

/// The run that flags or a file describe.
pub(crate) fn described(
    args: &RunArgs,
    arguments: &[String],
) -> Result<RunRequest, CommandFailure> {
    let DescribedRun { spec, secrets, command } = spec::described(args)?;
    let out = if args.print_spec { None } else { folder(args, &spec.workload)? };
    let mut request = spec::request(&spec, &secrets, args.snapshots.as_deref())?;
    request.command = command.unwrap_or_else(|| secrets::command_line(arguments));
    request.out = out;
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
    let options = TerminalOptions {
        style: screen::style(),
        short: !args.details,
        histogram: args.histogram,
        threads: args.server_threads,
        ..TerminalOptions::default()
    };
    screen::result(&terminal::run_report(&finished.run, &options));
    let kept = RunArtifacts::of(finished);
    screen::result(&kept.lines);
    Ok(kept)
}
/// How the process ends after a run.
pub(crate) struct RunVerdict {
    /// Its exit code.
    pub(crate) exit: ProcessExit,
    /// Why, where that is not what the report is about.
    pub(crate) reason: Option<String>,
    /// Whether the reason is that a limit is open.
    is_of_limits: bool,
}

impl RunVerdict {
    /// A run that is to decide nothing, whatever its limits say.
    fn without(exit: ProcessExit, reason: String) -> Self {
        Self { exit, reason: Some(reason), is_of_limits: false }
    }

    /// Prints the reason, and gives the exit code.
    pub(crate) fn show(self) -> ProcessExit {
        self.reason.iter().for_each(|reason| screen::error(reason));
        self.exit
    }
}

/// How the process ends after this run.
pub(crate) fn verdict(args: &RunArgs, finished: &RunResult) -> RunVerdict {
    let validity = &finished.run.record.validity;
    let counts = &finished.run.record.counts;
    // Whoever ends a run knows why its end has no answers; that it never had one is news.
    let is_cut_short =
        finished.run.record.window.ended_early && counts.failed == 0 && counts.completed > 0;
    let unserved = validity.warnings.iter().find(|w| w.kind == WarningKind::MostlyFailed);
    if let Some(warning) = unserved.filter(|_| !is_cut_short) {
        let reason = format!("most of what was asked did not happen: {}", warning.text);
        return RunVerdict::without(ProcessExit::Environment, reason);
    }
    if args.strict && !validity.valid {
        let culprit = validity.warnings.iter().find(|warning| warning.kind.invalidates());
        let why = culprit.map_or("", |warning| &warning.text);
        let reason = format!("the measurement is not valid (--strict): {why}");
        return RunVerdict::without(ProcessExit::Undecided, reason);
    }
    let untraced = validity.warnings.iter().find(|one| one.kind == WarningKind::Untraced);
    if let Some(untraced) = untraced.filter(|_| args.strict) {
        let reason = format!("the trace is not whole (--strict): {}", untraced.text);
        return RunVerdict::without(ProcessExit::Undecided, reason);
    }
    // Counts that do not add up prove no limit; lag is in the limits' outcome.
    let is_miscounted = validity.warnings.iter().any(|w| w.kind == WarningKind::Counts);
    let exit = match finished.limits {
        CheckOutcome::Failed if is_miscounted => ProcessExit::Undecided,
        CheckOutcome::Failed => ProcessExit::Failed,
        CheckOutcome::Undecided => ProcessExit::Undecided,
        CheckOutcome::Passed => ProcessExit::Fine,
    };
    let record = &finished.run.record;
    let reason = record.doubt().map(|doubt| format!("undecided: {}", undecided_for(doubt)));
    let reason = reason.filter(|_| finished.limits == CheckOutcome::Undecided);
    let exit = if record.window.ended_early { exit.of_part() } else { exit };
    RunVerdict { exit, reason, is_of_limits: true }
}

/// Why nobody knows how a limit came out.
fn undecided_for(doubt: CheckDoubt) -> &'static str {
    match doubt {
        CheckDoubt::Lateness => {
            "a limit was missed, and would have been met without the driver's own lateness"
        }
        CheckDoubt::Noise => {
            "a limit was missed, and what the machine did beside the run, or a driver that stood \
             still or had no CPU left, may be the reason"
        }
        CheckDoubt::EndedEarly => {
            "the run was ended early, and its rest could have changed how a limit comes out"
        }
        CheckDoubt::Unserved => {
            "limits were met for the clients that were served, and some had no connection, or no \
             answer in the window"
        }
        CheckDoubt::Unfinished => {
            "limits were met by what ended, and transactions of the window never did: how long \
             these take is not known"
        }
    }
}
