//! `dbtime report`: the record of a run, a sweep or a study as one self-contained HTML file, as
//! text, or as Markdown.

use super::study::at_folder;
use crate::cli::ReportArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::{begin_page, write_into_record, write_named};
use crate::read_files::refuse_clashes;
use crate::screen;
use dbtime_model::plain_text::legible_path;
use dbtime_model::record::{Run, read_run, record_folder};
use dbtime_model::study::{RecordedStudy, RunOrder, is_study};
use dbtime_report::compare::{StudyComparison, short_study_document, study_document};
use dbtime_report::html;
use dbtime_report::reports::run_document;
use dbtime_report::terminal::{TerminalOptions, sweep_text};
use std::path::Path;

/// How the report of a run is shown on this terminal, by the flags for it.
pub(crate) fn options(details: bool, histogram: bool, threads: bool) -> TerminalOptions {
    let style = screen::style();
    TerminalOptions { style, short: !details, histogram, threads, ..TerminalOptions::default() }
}

pub(crate) fn run(args: &ReportArgs) -> Result<ProcessExit, CommandFailure> {
    refuse_clashes(&args.html, [&args.run])?;
    begin_page(args.html.as_deref(), "dbtime report")?;
    let folder = record_folder(&args.run);
    let record = ReportedRecord::read(&folder)?;
    if args.text || args.markdown {
        screen::result(&record.printed(args)?);
        return Ok(ProcessExit::Fine);
    }
    let path = match &args.html {
        Some(path) => {
            write_named(path, &record.page())?;
            path.clone()
        }
        None => {
            let path = folder.join("report.html");
            write_into_record(&path, &record.page())?;
            path
        }
    };
    screen::result(&format!("Report: {}\n", legible_path(&path)));
    Ok(ProcessExit::Fine)
}

/// What a report is of.
enum ReportedRecord {
    Run(Box<Run>),
    Study(Box<StudyComparison>),
    /// A sweep or a search.
    Sweep(Box<RecordedStudy>),
}

impl ReportedRecord {
    fn read(folder: &Path) -> Result<Self, CommandFailure> {
        if !is_study(folder) {
            return Ok(Self::Run(Box::new(read_run(folder)?)));
        }
        let study = RecordedStudy::read(folder).map_err(CommandFailure::environment)?;
        Ok(match study.plan.order {
            RunOrder::Blocks => {
                let compared = at_folder(StudyComparison::of(&study), folder, &study);
                Self::Study(Box::new(compared))
            }
            RunOrder::Rounds | RunOrder::Search => Self::Sweep(Box::new(study)),
        })
    }

    fn page(&self) -> String {
        match self {
            Self::Run(run) => html::report(run),
            Self::Study(compared) => study_document(compared).html(),
            Self::Sweep(sweep) => html::sweep_report(sweep),
        }
    }

    /// The text, or the Markdown where that is asked for.
    ///
    /// Errors: there is no Markdown of a sweep.
    fn printed(&self, args: &ReportArgs) -> Result<String, CommandFailure> {
        let document = match self {
            Self::Run(run) => {
                run_document(run, &options(args.details, args.histogram, args.server_threads))
            }
            Self::Study(compared) if args.details => study_document(compared),
            Self::Study(compared) => short_study_document(compared),
            Self::Sweep(sweep) if args.text => return Ok(sweep_text(sweep, screen::style())),
            Self::Sweep(_) => {
                return Err(CommandFailure::usage(
                    "--markdown is for a run or a study, and this is a sweep or a search: use \
                     --text, or `dbtime study report` with --markdown FILE for its verdicts",
                ));
            }
        };
        Ok(if args.markdown { document.markdown() } else { document.text(screen::style()) })
    }
}
