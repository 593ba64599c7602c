//! `dbtime report`: the record of a run, a sweep or a study as one self-contained HTML file, or as
//! text.

use crate::cli::ReportArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::screen;
use dbtime_lab::store::replace_file;
use dbtime_model::record::{read_run, record_folder};
use dbtime_model::study::{RecordedStudy, RunOrder, is_study};
use dbtime_report::compare::{StudyComparison, study_page, study_text};
use dbtime_report::html;
use dbtime_report::terminal::{TerminalOptions, run_report, sweep_text};
use std::fs;
use std::io;
use std::path::Path;

pub(crate) fn run(args: &ReportArgs) -> Result<ProcessExit, CommandFailure> {
    let folder = record_folder(&args.run);
    let (text, page) = match is_study(&folder) {
        true => of_study(&RecordedStudy::read(&folder).map_err(CommandFailure::environment)?),
        false => {
            let run = read_run(&folder)?;
            let (style, histogram) = (screen::style(), args.histogram);
            let threads = args.server_threads;
            let options =
                TerminalOptions { style, histogram, threads, ..TerminalOptions::default() };
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
fn of_study(study: &RecordedStudy) -> (String, String) {
    match study.plan.order {
        RunOrder::Blocks => {
            let compared = StudyComparison::of(study);
            (study_text(&compared, screen::style()), study_page(&compared))
        }
        RunOrder::Rounds | RunOrder::Search => {
            (sweep_text(study, screen::style()), html::sweep_report(study))
        }
    }
}

/// Writes a file that somebody has named, whole or not at all. What is there and no file of its own
/// (a link, a pipe, a device) is written to and stays what it is.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let is_file = |there: &fs::Metadata| there.is_file() || there.is_dir();
    let written = match path.symlink_metadata() {
        Ok(there) if !is_file(&there) => fs::write(path, text),
        _ => replace_file(path, text),
    };
    written.map_err(|error| unwritten(path, &error))
}

/// Writes a file into the folder of a record, which may have come from elsewhere: nobody has named
/// what a link there leads to.
pub(crate) fn write_into_record(path: &Path, text: &str) -> Result<(), CommandFailure> {
    replace_file(path, text).map_err(|error| unwritten(path, &error))
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
        let error = write_whole(&folder.path().join("no/page"), "x").expect_err("no folder");
        assert!(error.words().contains("name a file in a folder that is there"), "{error:?}");
    }
}
