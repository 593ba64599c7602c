//! `dbtime report`: a run's record as one self-contained HTML file, or as text.

use crate::cli::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::screen;
use dbtime_model::record::read_run;
use dbtime_report::terminal::{TerminalOptions, run_report};
use std::fs;
use std::path::Path;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let run = read_run(&args.run)?;
    if args.text {
        let (color, histogram) = (screen::wants_color(), args.histogram);
        let options = TerminalOptions { color, histogram, threads: args.server_threads };
        screen::result(&run_report(&run, &options));
        return Ok(Exit::Fine);
    }
    let path = args.html.clone().unwrap_or_else(|| args.run.join("report.html"));
    write_whole(&path, &dbtime_report::html::report(&run))?;
    screen::result(&format!("Report: {}\n", path.display()));
    Ok(Exit::Fine)
}

/// Writes a file under a temporary name and gives it its own when it is whole.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::environment(format!("cannot write {}: {error}", path.display()));
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // What could not be written whole is taken away.
        let _ = fs::remove_file(&partial);
        failed(error)
    })
}
