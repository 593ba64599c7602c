//! `dbtime report`: the record of a run, a sweep or a study as one self-contained HTML file, or as
//! text.

use crate::cli::ReportArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::screen;
use dbtime_lab::store::replace_file;
use dbtime_model::record::{read_run, record_folder};
use dbtime_model::study::{RecordedStudy, RunOrder, is_study};
use dbtime_report::compare::{
    StudyComparison, short_study_document, study_document, unended_junit,
};
use dbtime_report::html;
use dbtime_report::terminal::{TerminalOptions, run_report, sweep_text};
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
            write_whole(path, &page)?;
            path.clone()
        }
        None => {
            let path = folder.join("report.html");
            write_into_record(&path, &page)?;
            path
        }
    };
    screen::result(&format!("Report: {}\n", path.display()));
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
    let is_stream =
        |path: &&Path| path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir());
    let Some(path) = path.filter(|path| !is_stream(path)) else { return Ok(()) };
    write_whole(path, &unended_junit(command))
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
    }
}
