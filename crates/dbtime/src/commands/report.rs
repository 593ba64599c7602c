//! `dbtime report`: the record of a run, a sweep or a study as one self-contained HTML file, or as
//! text.

use crate::cli::ReportArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::screen;
use dbtime_model::record::{is_sweep, read_run, read_sweep, record_folder};
use dbtime_model::study::{RecordedStudy, is_study};
use dbtime_report::compare::{StudyComparison, study_page, study_text};
use dbtime_report::html;
use dbtime_report::terminal::{TerminalOptions, run_report, sweep_text};
use std::fs;
use std::io;
use std::path::Path;

pub(crate) fn run(args: &ReportArgs) -> Result<ProcessExit, CommandFailure> {
    let folder = record_folder(&args.run);
    let (text, page) = match is_sweep(&folder) {
        false if is_study(&folder) => {
            let study = RecordedStudy::read(&folder).map_err(CommandFailure::environment)?;
            let compared = StudyComparison::of(&study);
            (study_text(&compared, screen::style()), study_page(&compared))
        }
        true => {
            let sweep = read_sweep(&folder)?;
            (sweep_text(&sweep, screen::style()), html::sweep_report(&sweep))
        }
        false => {
            let run = read_run(&folder)?;
            let (style, histogram) = (screen::style(), args.histogram);
            let options = TerminalOptions { style, histogram, threads: args.server_threads };
            (run_report(&run, &options), html::report(&run))
        }
    };
    if args.text {
        screen::result(&text);
        return Ok(ProcessExit::Fine);
    }
    let path = args.html.clone().unwrap_or_else(|| folder.join("report.html"));
    write_whole(&path, &page)?;
    screen::result(&format!("Report: {}\n", path.display()));
    Ok(ProcessExit::Fine)
}

/// Writes a file under a temporary name and gives it its own when it is whole. What is there and no
/// file of its own (a link, a pipe, a device) is written to and stays what it is.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), CommandFailure> {
    let failed = |error: io::Error| {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space",
            _ => "name a file in a folder that is there and can be written",
        };
        let text = format!("cannot write {}: {error}; {remedy}", path.display());
        CommandFailure::environment(text)
    };
    if path.symlink_metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return fs::write(path, text).map_err(failed);
    }
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // What could not be written whole is taken away.
        let _ = fs::remove_file(&partial);
        failed(error)
    })
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
        write_whole(&there, "new").expect("written");
        assert_eq!(fs::read_to_string(&there).expect("a file"), "new");
        write_whole(Path::new("/dev/null"), "nothing").expect("written");
        assert!(!Path::new("/dev/null").metadata().expect("there").is_file());
        let error = write_whole(&folder.path().join("no/page"), "x").expect_err("no folder");
        assert!(error.words().contains("name a file in a folder that is there"), "{error:?}");
    }
}
