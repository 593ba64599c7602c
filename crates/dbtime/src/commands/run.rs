//! `dbtime run`: drive a database and show where the time of its transactions went.

use super::report::options;
use super::study::refuse_taken;
use crate::artifacts::{PAGE, RunArtifacts, folder};
use crate::cli::RunArgs;
use crate::cli::run_flags::own_words;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::output_file::{
    all_of, begin_junit, begin_markdown, check_named, final_place, is_page, write_all_named,
};
use crate::read_files::{refuse_beside_json, refuse_clashes};
use crate::run_events;
use crate::spec::{self, DescribedRun};
use crate::{interrupt, screen, secrets, sweep};
use dbtime_lab::{RunProgress, RunRequest, RunResult};
use dbtime_model::record::{CheckDoubt, CheckOutcome, RunRecord, WarningKind};
use dbtime_report::compare::run_junit;
use dbtime_report::reports::run_document;
use dbtime_report::terminal::{TerminalOptions, run_report};
use std::path::{Path, PathBuf};

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
    begin_files(args, &request)?;
    let stop = interrupt::install();
    let live = LiveProgress::new(ProgressAudience::of(args.quiet));
    let follow = |progress: RunProgress| {
        interrupt::follow(&progress);
        live.show(&progress);
    };
    let finished = dbtime_lab::run(&request, &follow, &stop);
    drop(live);
    let finished = finished?;
    let mut kept = show(args, &finished)?;
    let verdict = verdict(args, &finished);
    let unkept = kept.trouble.as_ref().map(CommandFailure::words);
    let written = write_files(args, &finished, unkept.as_deref().or(verdict.junit_error()));
    let recorded = kept.trouble.take().map_or(Ok(()), Err);
    kept.trouble = all_of([recorded, written]).err();
    Ok(kept.end(verdict.show()))
}

/// Begins what others read of a run besides its record, before anything is measured.
fn begin_files(args: &RunArgs, request: &RunRequest) -> Result<(), CommandFailure> {
    refuse_taken(request.out.as_deref())?;
    let workload = &request.spec.workload;
    let mut read = args.read_files();
    read.extend([&workload.name, &workload.script].into_iter().flatten().map(PathBuf::from));
    refuse_beside_json(args.json, args.junit.iter().chain(&args.markdown))?;
    refuse_clashes(args.junit.iter().chain(&args.markdown), &read)?;
    let [junit, markdown] = [&args.junit, &args.markdown].map(|path| outside_record(args, path));
    let (junit, markdown) = (junit?, markdown?);
    all_of([check_named(junit), check_named(markdown)])?;
    all_of([begin_junit(junit, "dbtime run"), begin_markdown(markdown, "dbtime run")])
}

/// The file, unless it is to be a page in the folder of the record: that is made when the run has
/// ended, and has nothing of before.
///
/// Errors: it is in that folder, and is no page, or in the place of the record's own.
fn outside_record<'a>(
    args: &RunArgs,
    path: &'a Option<PathBuf>,
) -> Result<Option<&'a Path>, CommandFailure> {
    let (Some(path), Some(out)) = (path.as_deref(), args.out.as_deref()) else {
        return Ok(path.as_deref());
    };
    let (place, record) = (final_place(path), final_place(out));
    if !place.starts_with(&record) {
        return Ok(Some(path));
    }
    let is_inside = place.parent() == Some(record.as_path());
    if is_inside && is_page(&place) && !place.ends_with(PAGE) {
        return Ok(None);
    }
    Err(CommandFailure::usage(format!(
        "{} is in the record that this run makes: name a page of its own there, such as {}, or a \
         place elsewhere",
        path.display(),
        out.join("summary.md").display()
    )))
}

/// Writes what others read of a run besides its record; `error` leaves its limits open.
fn write_files(
    args: &RunArgs,
    finished: &RunResult,
    error: Option<&str>,
) -> Result<(), CommandFailure> {
    let run = &finished.run;
    let markdown = || run_document(run, &report_options(args)).markdown();
    let markdown = args.markdown.as_ref().map(|_| markdown()).unwrap_or_default();
    write_all_named([(&args.markdown, markdown), (&args.junit, run_junit(&run.record, error))])
}

/// How the report is shown.
fn report_options(args: &RunArgs) -> TerminalOptions {
    options(args.details, args.histogram, args.server_threads)
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
        return Err(spec::for_server("--server-threads", "the only threads are those of dbtime"));
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
    screen::result(&run_report(&finished.run, &report_options(args)));
    let kept = RunArtifacts::of(finished);
    screen::result(&kept.lines);
    Ok(kept)
}

/// Of a run that a signal ended: what it met until then is no pass.
const CUT_SHORT: &str = "a signal ended the run early, and a partial run meets no limit";

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

    /// What leaves the run without a verdict in JUnit; `None`: its limits say it all.
    fn junit_error(&self) -> Option<&str> {
        match self.exit {
            ProcessExit::EndedEarly(_) => Some(CUT_SHORT),
            // An open limit is a case by itself.
            _ => self.reason.as_deref().filter(|_| !self.is_of_limits),
        }
    }

    /// Prints the reason, and gives the exit code.
    pub(crate) fn show(self) -> ProcessExit {
        self.reason.iter().for_each(|reason| screen::error(reason));
        self.exit
    }
}

/// How the process ends after this run.
pub(crate) fn verdict(args: &RunArgs, finished: &RunResult) -> RunVerdict {
    let record = &finished.run.record;
    without_verdict(record, args.strict).unwrap_or_else(|| by_limits(record, finished.limits))
}

/// What leaves a run without a verdict, whatever its limits say.
fn without_verdict(record: &RunRecord, is_strict: bool) -> Option<RunVerdict> {
    let (validity, counts) = (&record.validity, &record.counts);
    let find = |kind: WarningKind| validity.warnings.iter().find(|warning| warning.kind == kind);
    // Whoever ends a run knows why its end has no answers; that it never had one is news.
    let is_cut_short = record.window.ended_early && counts.failed == 0 && counts.completed > 0;
    if let Some(warning) = find(WarningKind::MostlyFailed).filter(|_| !is_cut_short) {
        let reason = format!("most of the requested work did not happen: {}", warning.text);
        return Some(RunVerdict::without(ProcessExit::Environment, reason));
    }
    if !is_strict {
        return None;
    }
    if !validity.valid {
        let culprit = validity.warnings.iter().find(|warning| warning.kind.invalidates());
        let why = culprit.map_or("", |warning| &warning.text);
        let reason = format!("the measurement is not valid (--strict): {why}");
        return Some(RunVerdict::without(ProcessExit::Undecided, reason));
    }
    let untraced = find(WarningKind::Untraced)?;
    let reason = format!("the trace is incomplete (--strict): {}", untraced.text);
    Some(RunVerdict::without(ProcessExit::Undecided, reason))
}

/// How a run ends by its limits, of which this is the worst.
fn by_limits(record: &RunRecord, worst: CheckOutcome) -> RunVerdict {
    let of_part = |exit: ProcessExit| match record.window.ended_early {
        true => exit.of_part(),
        false => exit,
    };
    let of_limits = |exit, reason| RunVerdict { exit: of_part(exit), reason, is_of_limits: true };
    // Counts that do not add up prove no limit; lag is in the limits' outcome.
    let mut warnings = record.validity.warnings.iter();
    match (worst, warnings.find(|warning| warning.kind == WarningKind::Counts)) {
        (CheckOutcome::Passed, _) => of_limits(ProcessExit::Fine, None),
        (CheckOutcome::Failed, None) => of_limits(ProcessExit::Failed, None),
        (CheckOutcome::Failed, Some(warning)) => {
            let reason = format!("undecided: a limit was missed, and {}", warning.text);
            RunVerdict::without(of_part(ProcessExit::Undecided), reason)
        }
        (CheckOutcome::Undecided, _) => {
            let doubt = record.doubt().map(|doubt| format!("undecided: {}", undecided_for(doubt)));
            of_limits(ProcessExit::Undecided, doubt)
        }
    }
}

/// Why nobody knows how a limit came out.
fn undecided_for(doubt: CheckDoubt) -> &'static str {
    match doubt {
        CheckDoubt::Lateness => {
            "a limit was missed, and would have been met without the driver's own lateness"
        }
        CheckDoubt::Noise => {
            "a limit was missed, perhaps because of other activity on the machine, or because the \
             driver stood still or had no CPU left"
        }
        CheckDoubt::EndedEarly => {
            "the run ended early, and the rest could have changed the result of a limit"
        }
        CheckDoubt::Unserved => {
            "limits were met for the clients served, but some clients had no connection, or no \
             answer in the window"
        }
        CheckDoubt::Unfinished => {
            "limits were met by the transactions that ended, but others of the window never did: \
             their response time is unknown"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{Check, Validity, Warning};

    /// A run that missed its one limit, with a warning of this kind.
    fn missed(kind: WarningKind) -> RunRecord {
        let warning = Warning { kind, text: "so it is".to_owned(), ..Warning::default() };
        let validity = Validity { warnings: vec![warning], ..Validity::default() };
        RunRecord { limits: vec![Check::default()], validity, ..RunRecord::default() }
    }

    #[test]
    fn junit_has_no_failure_beside_an_exit_code_that_is_none() {
        for (kind, exit, failures) in [
            (WarningKind::FewSamples, ProcessExit::Failed, 1),
            (WarningKind::Counts, ProcessExit::Undecided, 0),
        ] {
            let record = missed(kind);
            let verdict = by_limits(&record, CheckOutcome::Failed);
            assert_eq!(verdict.exit, exit);
            let junit = run_junit(&record, verdict.junit_error());
            let counts = format!("failures=\"{failures}\"");
            assert!(junit.contains(&counts), "{junit}");
            assert_eq!(junit.contains("so it is"), failures == 0, "{junit}");
        }
        let record = missed(WarningKind::ClientLimited);
        let invalid = without_verdict(&record, true).expect("not valid");
        assert_eq!(invalid.exit, ProcessExit::Undecided);
        let junit = run_junit(&record, invalid.junit_error());
        assert!(junit.contains("failures=\"0\" skipped=\"1\" errors=\"1\""), "{junit}");
        assert!(without_verdict(&record, false).is_none(), "its limits decide");
    }

    #[test]
    fn a_part_of_a_run_is_no_pass_in_junit() {
        let exit = ProcessExit::EndedEarly(interrupt::EndingSignal::Term);
        let early = RunVerdict { exit, reason: None, is_of_limits: true };
        assert_eq!(early.junit_error(), Some(CUT_SHORT));
    }
}
