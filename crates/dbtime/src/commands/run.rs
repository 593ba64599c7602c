//! `dbtime run`: drive a database and show where the time of its transactions went.

use crate::cli::RunArgs;
use crate::exit::{Exit, Failure};
use crate::live::Live;
use crate::{interrupt, options, screen, secrets, sweep};
use dbtime_engines::plan::Stop;
use dbtime_lab::Finished;
use dbtime_model::record::{CheckOutcome, WarningKind};
use dbtime_report::terminal::{self, TerminalOptions};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if !args.sweep.is_empty() || args.repeat.is_some_and(|times| times > 1) {
        return sweep::run(args, &arguments);
    }
    let out = folder(args)?;
    let request = options::request(args, secrets::command_line(&arguments), out)?;
    let stop = interrupt::install();
    let finished = drive(&request, &stop)?;
    let kept = show(args, &finished)?;
    Ok(kept.end(verdict(args, &finished)))
}

/// Makes one run and shows how it goes.
pub(crate) fn drive(request: &dbtime_lab::RunRequest, stop: &Stop) -> Result<Finished, Failure> {
    let live = Live::new();
    let finished = dbtime_lab::run(request, &|progress| live.show(&progress), stop);
    live.finish();
    Ok(finished?)
}

/// Prints the report, and writes the HTML beside the record.
fn show(args: &RunArgs, finished: &Finished) -> Result<Kept, Failure> {
    if args.json {
        let json = serde_json::to_string_pretty(&finished.run.record);
        screen::json(&(json.map_err(Failure::environment)? + "\n"));
        return Ok(Kept::of(finished));
    }
    let (color, histogram) = (screen::wants_color(), args.histogram);
    let options = TerminalOptions { color, histogram, threads: args.server_threads };
    screen::result(&terminal::run_report(&finished.run, &options));
    let kept = Kept::of(finished);
    screen::result(&kept.lines);
    Ok(kept)
}

/// What there is of a run beside its report, which does not depend on it.
pub(crate) struct Kept {
    /// Say where it is.
    pub(crate) lines: String,
    /// What could not be written.
    pub(crate) trouble: Option<Failure>,
}

impl Kept {
    /// Writes the HTML into the folder of the record, where there is one.
    pub(crate) fn of(finished: &Finished) -> Self {
        let Some(folder) = &finished.folder else {
            let trouble = finished.unrecorded.as_ref().map(Failure::environment);
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
    pub(crate) fn end(self, exit: Exit) -> Exit {
        let Some(failure) = self.trouble else { return exit };
        failure.tell();
        exit.without_output()
    }
}

/// How the process ends after this run, and why on stderr where that is not what the report is
/// about.
pub(crate) fn verdict(args: &RunArgs, finished: &Finished) -> Exit {
    let validity = &finished.run.record.validity;
    let counts = &finished.run.record.counts;
    // Whoever ends a run before anything has ended knows that.
    let is_cut_short = finished.run.record.window.ended_early && counts.failed == 0;
    let unserved = validity.warnings.iter().find(|w| w.kind == WarningKind::MostlyFailed);
    if let Some(warning) = unserved.filter(|_| !is_cut_short) {
        screen::error(&format!("most of what was asked did not happen: {}", warning.text));
        return Exit::Environment;
    }
    // Counts that do not add up prove no limit; lag is in the limits' outcome.
    let is_miscounted = validity.warnings.iter().any(|w| w.kind == WarningKind::Counts);
    match finished.limits {
        _ if args.strict && !validity.valid => {
            let culprit = validity.warnings.iter().find(|warning| warning.kind.invalidates());
            let why = culprit.map_or("", |warning| &warning.text);
            screen::error(&format!("the measurement is not valid (--strict): {why}"));
            Exit::Invalid
        }
        CheckOutcome::Failed if is_miscounted => Exit::Invalid,
        CheckOutcome::Failed => Exit::Failed,
        CheckOutcome::Undecided => {
            screen::error(
                "undecided: a limit was missed, and would have been met without the driver's own \
                 lateness",
            );
            Exit::Invalid
        }
        CheckOutcome::Passed => Exit::Fine,
    }
}

/// Where the record goes.
pub(crate) fn folder(args: &RunArgs) -> Result<Option<PathBuf>, Failure> {
    if args.no_record {
        return Ok(None);
    }
    if let Some(out) = &args.out {
        return Ok(Some(out.clone()));
    }
    let script = args.script.as_ref().map(|path| path.to_string_lossy());
    let named = args.workload.as_deref().or(script.as_deref());
    let name = named.unwrap_or(if args.query.is_some() { "query" } else { "atm" });
    let name =
        Path::new(name).file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let base = Path::new("dbtime-runs");
    // Two runs may start in one second.
    let mut numbers = 1..1000;
    let free = numbers.find_map(|n| {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        let path = base.join(format!("{time}-{name}{suffix}"));
        path.symlink_metadata().is_err().then_some(path)
    });
    free.map(Some).ok_or_else(|| Failure::environment("no free name in dbtime-runs: use --out"))
}
