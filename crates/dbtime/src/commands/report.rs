//! `dbtime report`: the record of a run, a sweep or a study as one self-contained HTML file, as
//! text, or as Markdown.

use crate::cli::ReportArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::screen;
use dbtime_lab::store::replace_file;
use dbtime_model::record::{Run, read_run, record_folder};
use dbtime_model::study::{RecordedStudy, RunOrder, is_study};
use dbtime_report::compare::{
    StudyComparison, short_study_document, study_document, unended_junit,
};
use dbtime_report::reports::run_document;
use dbtime_report::terminal::{TerminalOptions, sweep_text};
use dbtime_report::{ReportDocument, html};
use std::fs;
use std::io;
use std::path::Path;

/// What a folder is a record by.
const RECORD_MARKS: [&str; 2] = ["run.json", "plan.json"];

/// How the names of files end in which a record keeps what was measured.
const MEASURED: [&str; 6] = ["json", "jsonl", "csv", "hlog", "log", "parquet"];

/// How the report of a run is shown on this terminal, by the flags for it.
pub(crate) fn options(details: bool, histogram: bool, threads: bool) -> TerminalOptions {
    let style = screen::style();
    TerminalOptions { style, short: !details, histogram, threads, ..TerminalOptions::default() }
}

pub(crate) fn run(args: &ReportArgs) -> Result<ProcessExit, CommandFailure> {
    let folder = record_folder(&args.run);
    let record = ReportedRecord::read(&folder)?;
    if args.text || args.markdown {
        screen::result(&record.printed(args)?);
        return Ok(ProcessExit::Fine);
    }
    let path = match &args.html {
        Some(path) => {
            write_whole(path, &record.page())?;
            path.clone()
        }
        None => {
            let path = folder.join("report.html");
            write_into_record(&path, &record.page())?;
            path
        }
    };
    screen::result(&format!("Report: {}\n", path.display()));
    Ok(ProcessExit::Fine)
}

/// What a report is of.
enum ReportedRecord {
    Run(Box<Run>),
    Study(Box<RecordedStudy>),
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
            RunOrder::Blocks => Self::Study(Box::new(study)),
            RunOrder::Rounds | RunOrder::Search => Self::Sweep(Box::new(study)),
        })
    }

    fn page(&self) -> String {
        match self {
            Self::Run(run) => html::report(run),
            Self::Study(study) => study_document(&StudyComparison::of(study)).html(),
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
            Self::Study(study) => study_report(study, args.details),
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

fn study_report(study: &RecordedStudy, has_details: bool) -> ReportDocument {
    let compared = StudyComparison::of(study);
    if has_details { study_document(&compared) } else { short_study_document(&compared) }
}

/// Writes a file that somebody has named, whole or not at all. What is there and no file of its own
/// (a link, a pipe, a device) is written to and stays what it is.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), CommandFailure> {
    refuse_measured(path)?;
    let is_file = |there: &fs::Metadata| there.is_file() || there.is_dir();
    let written = match path.symlink_metadata() {
        Ok(there) if !is_file(&there) => fs::write(path, text),
        _ => replace_file(path, text),
    };
    written.map_err(|error| unwritten(path, &error))
}

/// Puts a JUnit file that has not ended in the place of the one that `command` is to write, which
/// must not be taken for its result. So it is known before anything is measured whether it can be
/// written; a pipe or a device takes one document alone, in the end.
pub(crate) fn begin_junit(path: Option<&Path>, command: &str) -> Result<(), CommandFailure> {
    begin(path, &unended_junit(command))
}

/// The same of a Markdown file.
pub(crate) fn begin_markdown(path: Option<&Path>, command: &str) -> Result<(), CommandFailure> {
    begin(path, &format!("`{command}` has not ended: its report comes with its end.\n"))
}

fn begin(path: Option<&Path>, text: &str) -> Result<(), CommandFailure> {
    let is_stream =
        |path: &&Path| path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir());
    let Some(path) = path.filter(|path| !is_stream(path)) else { return Ok(()) };
    write_whole(path, text)
}

/// Writes a file into the folder of a record, which may have come from elsewhere: nobody has named
/// what a link there leads to.
pub(crate) fn write_into_record(path: &Path, text: &str) -> Result<(), CommandFailure> {
    replace_file(path, text).map_err(|error| unwritten(path, &error))
}

/// Writes a page that somebody has named, whole or not at all, and through nothing that stands in
/// its place.
///
/// Errors: a link, a pipe or a device stands there, or it cannot be written.
pub(crate) fn write_page(path: &Path, page: &str) -> Result<(), CommandFailure> {
    refuse_measured(path)?;
    match path.symlink_metadata() {
        Ok(there) if !(there.is_file() || there.is_dir()) => {
            Err(CommandFailure::environment(format!(
                "{} is a link, a pipe or a device: a page is a file of its own, so name another \
                 place for it",
                path.display()
            )))
        }
        _ => write_into_record(path, page),
    }
}

/// Refuses a file of a record that holds what was measured: that is never overwritten.
fn refuse_measured(path: &Path) -> Result<(), CommandFailure> {
    let is_there = |name: &&str| path.with_file_name(name).is_file();
    let extension = path.extension().and_then(|extension| extension.to_str());
    let holds_data = extension.is_some_and(|extension| MEASURED.contains(&extension));
    if !(holds_data && path.is_file() && RECORD_MARKS.iter().any(is_there)) {
        return Ok(());
    }
    Err(CommandFailure::usage(format!(
        "{} is a file of a record, which is never overwritten: name another place",
        path.display()
    )))
}

fn unwritten(path: &Path, error: &io::Error) -> CommandFailure {
    let remedy = dbtime_lab::want_of_room(error)
        .unwrap_or("name a file in a folder that is there and can be written");
    CommandFailure::environment(format!("cannot write {}: {error}; {remedy}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_was_measured_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name);
        write_whole(&place("own.json"), "{}").expect("it is of no record");
        for name in ["run.json", "series.csv"] {
            fs::write(place(name), "measured").expect("written");
            for write in [write_whole, write_page] {
                let error = write(&place(name), "page").expect_err("it is of a record");
                assert!(error.words().contains("never overwritten"), "{}", error.words());
            }
            assert_eq!(fs::read_to_string(place(name)).expect("it is there"), "measured");
        }
        write_whole(&place("report.html"), "page").expect("it holds nothing");
        write_whole(&place("new.json"), "{}").expect("it is not there yet");
    }

    #[test]
    fn what_is_no_file_stays_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let [link, there] = ["link", "there"].map(|name| folder.path().join(name));
        symlink(&there, &link).expect("a link");
        write_whole(&link, "page").expect("written");
        assert!(link.symlink_metadata().expect("there").is_symlink());
        assert_eq!(fs::read_to_string(&there).expect("a file"), "page");
        write_into_record(&link, "of the record").expect("written");
        assert!(link.symlink_metadata().expect("there").is_file());
        assert_eq!(fs::read_to_string(&there).expect("a file"), "page");
        write_whole(&there, "new").expect("written");
        assert_eq!(fs::read_to_string(&there).expect("a file"), "new");
        write_whole(Path::new("/dev/null"), "nothing").expect("written");
        assert!(!Path::new("/dev/null").metadata().expect("there").is_file());
        symlink(&there, folder.path().join("other")).expect("a link");
        for place in [folder.path().join("other"), "/dev/null".into()] {
            let error = write_page(&place, "page").expect_err("no file");
            assert!(error.words().contains("is a link, a pipe or a device"), "{error:?}");
        }
        assert_eq!(fs::read_to_string(&there).expect("a file"), "new");
        write_page(&there, "page").expect("written");
        assert_eq!(fs::read_to_string(&there).expect("a file"), "page");
        let error = write_whole(&folder.path().join("no/page"), "x").expect_err("no folder");
        assert!(error.words().contains("name a file in a folder that is there"), "{error:?}");
    }

    #[test]
    fn no_result_of_before_is_taken_for_the_one_to_come() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("there.xml");
        fs::write(&there, "all passed").expect("written");
        begin_junit(Some(&there), "dbtime run").expect("written");
        let begun = fs::read_to_string(&there).expect("a file");
        assert!(begun.contains("errors=\"1\"") && !begun.contains("all passed"), "{begun}");
        for place in [folder.path().to_owned(), folder.path().join("no/run.xml")] {
            let error = begin_junit(Some(&place), "dbtime run").expect_err("no place for a file");
            assert!(error.words().contains("name a file in a folder"), "{error:?}");
        }
        begin_junit(Some(Path::new("/dev/null")), "dbtime run").expect("left alone");
        begin_junit(None, "dbtime run").expect("nothing is to be written");
        begin_markdown(Some(&there), "dbtime run").expect("written");
        let begun = fs::read_to_string(&there).expect("a file");
        assert!(begun.starts_with("`dbtime run` has not ended"), "{begun}");
    }
}
