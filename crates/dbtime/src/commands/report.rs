//! `dbtime report`: the record of a run, a sweep or a study as one self-contained HTML file, or as
//! text.

use crate::cli::ReportArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::{begin_page, write_into_record, write_named};
use crate::screen;
use dbtime_model::plain_text::legible_path;
use dbtime_model::record::{read_run, record_folder};
use dbtime_model::study::{RecordedStudy, RunOrder, is_study};
use dbtime_report::compare::{StudyComparison, short_study_document, study_document};
use dbtime_report::html;
use dbtime_report::terminal::{TerminalOptions, run_report, sweep_text};

/// How the report of a run is shown on this terminal, by the flags for it.
pub(crate) fn options(details: bool, histogram: bool, threads: bool) -> TerminalOptions {
    let style = screen::style();
    TerminalOptions { style, short: !details, histogram, threads, ..TerminalOptions::default() }
}

pub(crate) fn run(args: &ReportArgs) -> Result<ProcessExit, CommandFailure> {
    begin_page(args.html.as_deref(), "dbtime report")?;
    let folder = record_folder(&args.run);
    let (text, page) = match is_study(&folder) {
        true => of_study(
            &RecordedStudy::read(&folder).map_err(CommandFailure::environment)?,
            args.details,
        ),
        false => {
            let run = read_run(&folder)?;
            let options = options(args.details, args.histogram, args.server_threads);
            (run_report(&run, &options), html::report(&run))
        }
    };
    if args.text {
        screen::result(&text);
        return Ok(ProcessExit::Fine);
    }
    let path = match &args.html {
        Some(path) => {
            write_named(path, &page)?;
            path.clone()
        }
        None => {
            let path = folder.join("report.html");
            write_into_record(&path, &page)?;
            path
        }
    };
    screen::result(&format!("Report: {}\n", legible_path(&path)));
    Ok(ProcessExit::Fine)
}

/// A study, a sweep or a search as text and as a page.
fn of_study(study: &RecordedStudy, has_details: bool) -> (String, String) {
    match study.plan.order {
        RunOrder::Blocks => {
            let compared = StudyComparison::of(study);
            let document = study_document(&compared);
            let shown =
                if has_details { document.clone() } else { short_study_document(&compared) };
            (shown.text(screen::style()), document.html())
        }
        RunOrder::Rounds | RunOrder::Search => {
            (sweep_text(study, screen::style()), html::sweep_report(study))
        }
    }
}
