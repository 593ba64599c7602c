//! `dbtime query`: what a statement takes, or whether another form of it is faster and returns the
//! same rows.

mod request;

use crate::cli::QueryArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::{all_of, check_named, write_named};
use crate::read_files::{refuse_beside_json, refuse_clashes};
use crate::{interrupt, screen};
use dbtime_lab::query::{QueryProgress, measure};
use dbtime_model::bounded_file::recorded_file;
use dbtime_model::plain_text::legible_path;
use dbtime_model::query::{QueryExpectation, QueryRecord};
use dbtime_model::units::count;
use dbtime_report::plain_json;
use dbtime_report::query::{QueryReportOptions, query_document};
use request::request;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What files are begun under.
const NAME: &str = "dbtime query";

/// How often a terminal is shown how far measuring is.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &QueryArgs) -> Result<ProcessExit, CommandFailure> {
    let request = request(args)?;
    begin_files(args)?;
    check_earlier(args.against.as_deref())?;
    let stop = interrupt::install_with("nothing was printed".to_owned());
    let status = QueryStatus::new();
    let measured = measure(&request, &|progress| status.show(&progress), &stop);
    status.erase();
    let record = measured?;
    all_of([show(args, &record), write_record(args, &record)])?;
    Ok(match stop.is_set() {
        true => by_expectations(&record.expectations).of_part(),
        false => exit_of(&record),
    })
}

/// Begins what is to be written, before anything is executed.
fn begin_files(args: &QueryArgs) -> Result<(), CommandFailure> {
    let written: Vec<&PathBuf> = args.document.html.iter().chain(&args.out).collect();
    let copied = args.on_copy.iter().flatten();
    let read: Vec<&PathBuf> = args.files.iter().chain(&args.against).chain(copied).collect();
    refuse_beside_json(args.json, written.iter().copied())?;
    refuse_clashes(written, read.iter().copied())?;
    check_named(args.out.as_deref())?;
    args.document.begin(NAME, read)
}

/// What is no file to be read now is none once all is measured.
fn check_earlier(record: Option<&Path>) -> Result<(), CommandFailure> {
    let Some(path) = record else { return Ok(()) };
    let opened = recorded_file(path);
    opened.map(drop).map_err(|error| {
        CommandFailure::usage(format!(
            "--against {}: {error}; give what `dbtime query --json` printed",
            legible_path(path)
        ))
    })
}

fn show(args: &QueryArgs, record: &QueryRecord) -> Result<(), CommandFailure> {
    let details = args.details || args.document.html.is_some();
    if args.json {
        screen::json_of(&written(args, record));
        let options = QueryReportOptions { details, shows_values: args.raw_sql };
        return args.document.write(&query_document(record, options));
    }
    // Values stay on the screen of the one who may read them there.
    let is_seen = screen::columns().is_some() && !args.document.is_given();
    let options = QueryReportOptions { details, shows_values: args.raw_sql || is_seen };
    let document = query_document(record, options);
    let (shown, written) = args.document.shown(&document, || document.text(screen::style()));
    screen::result(&shown);
    written
}

/// The record as files have it.
fn written(args: &QueryArgs, record: &QueryRecord) -> QueryRecord {
    let record = record.clone();
    if args.raw_sql { record } else { record.without_values() }
}

fn write_record(args: &QueryArgs, record: &QueryRecord) -> Result<(), CommandFailure> {
    let Some(path) = &args.out else { return Ok(()) };
    let json = serde_json::to_string_pretty(&written(args, record));
    let json = json.map_err(CommandFailure::environment)?;
    write_named(path, &(plain_json(&json).into_owned() + "\n"))?;
    if !args.json && !args.document.markdown {
        screen::result(&format!("Record: {}\n", legible_path(path)));
    }
    Ok(())
}

/// How the process ends: by what was expected, where there is a measurement.
fn exit_of(record: &QueryRecord) -> ProcessExit {
    let failed = record.forms.iter().find(|form| form.times.is_none());
    if let Some(form) = failed {
        let why = form.failure.as_deref().unwrap_or("it was not executed");
        screen::error(&format!("there are no figures of {}: {why}", form.name));
        return ProcessExit::Environment;
    }
    if record.is_cut {
        screen::error("the connection was lost before all was done");
        return ProcessExit::Environment;
    }
    by_expectations(&record.expectations)
}

/// What is not met fails; what is not known is undecided.
fn by_expectations(expectations: &[QueryExpectation]) -> ProcessExit {
    let exits = expectations.iter().map(|expected| match expected.is_met {
        Some(true) => ProcessExit::Fine,
        Some(false) => ProcessExit::Failed,
        None => ProcessExit::Undecided,
    });
    let exits: Vec<ProcessExit> = exits.collect();
    let worst = [ProcessExit::Failed, ProcessExit::Undecided];
    worst.into_iter().find(|exit| exits.contains(exit)).unwrap_or(ProcessExit::Fine)
}

/// How far measuring is, on a terminal.
struct QueryStatus {
    /// When it was shown last; `None`: there is no terminal, or not yet.
    shown: Cell<Option<Instant>>,
    has_audience: bool,
}

impl QueryStatus {
    fn new() -> Self {
        Self { shown: Cell::new(None), has_audience: screen::has_audience() }
    }

    fn show(&self, progress: &QueryProgress) {
        let now = Instant::now();
        let is_due = self.shown.get().is_none_or(|at| now.duration_since(at) >= STATUS_INTERVAL);
        if self.has_audience && is_due {
            self.shown.set(Some(now));
            screen::status(&status_text(progress));
        }
    }

    fn erase(&self) {
        if self.shown.get().is_some() {
            screen::status("");
        }
    }
}

/// What is being done, and how much of it is.
fn status_text(progress: &QueryProgress) -> String {
    let (step, done) = (&progress.step, count(progress.done));
    match (progress.done, progress.of) {
        (0, 0) => step.clone(),
        (_, 0) => format!("{step}: {done}"),
        (_, of) => format!("{step}: {done} of {}", count(of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::query::{ExecutionTimes, QueryForm};

    #[test]
    fn what_was_expected_decides_how_it_ends() {
        let of = |met: &[Option<bool>]| {
            let expected = |is_met: &Option<bool>| QueryExpectation {
                flag: "--expect-faster".to_owned(),
                is_met: *is_met,
                reason: String::new(),
            };
            by_expectations(&met.iter().map(expected).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), ProcessExit::Fine);
        assert_eq!(of(&[Some(true)]), ProcessExit::Fine);
        assert_eq!(of(&[None, Some(false)]), ProcessExit::Failed);
        assert_eq!(of(&[Some(true), None]), ProcessExit::Undecided);
    }

    #[test]
    fn a_lost_connection_is_no_success() {
        let form = QueryForm { times: Some(ExecutionTimes::default()), ..QueryForm::default() };
        let record = QueryRecord { forms: vec![form], ..QueryRecord::default() };
        assert_eq!(exit_of(&record), ProcessExit::Fine);
        assert_eq!(exit_of(&QueryRecord { is_cut: true, ..record }), ProcessExit::Environment);
    }

    #[test]
    fn progress_says_what_is_done_and_of_how_much() {
        let text =
            |done, of| status_text(&QueryProgress { step: "comparing rows".to_owned(), done, of });
        assert_eq!(text(0, 0), "comparing rows");
        assert_eq!(text(12, 0), "comparing rows: 12");
        assert_eq!(text(12, 1206), "comparing rows: 12 of 1,206");
    }
}
