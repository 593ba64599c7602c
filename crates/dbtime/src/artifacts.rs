//! What a run leaves behind: the folder of its record, with the page in it.

use crate::cli::RunArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::output_file::write_into_record;
use dbtime_lab::RunResult;
use dbtime_model::plain_text::legible_path;
use dbtime_model::record::Run;
use dbtime_model::spec::WorkloadSpec;
use std::path::{Path, PathBuf};

/// Where records go that are not told another place, below the working folder.
pub(crate) const RECORDS: &str = "dbtime-runs";

/// The page in the folder of a record.
pub(crate) const PAGE: &str = "report.html";

/// What there is of a run beside its report, which does not depend on it.
pub(crate) struct RunArtifacts {
    /// Say where it is.
    pub(crate) lines: String,
    /// What could not be written.
    pub(crate) trouble: Option<CommandFailure>,
}

impl RunArtifacts {
    /// Writes the HTML into the folder of the record, where there is one.
    pub(crate) fn of(finished: &RunResult) -> Self {
        let Some(folder) = &finished.folder else {
            let trouble = finished.unrecorded.as_ref().map(CommandFailure::environment);
            return Self { lines: String::new(), trouble };
        };
        Self::recorded(&finished.run, folder)
    }

    /// The same of a run that has a record.
    pub(crate) fn recorded(run: &Run, folder: &Path) -> Self {
        let mut lines = format!("\nRecord: {}\n", legible_path(folder));
        let path = folder.join(PAGE);
        let html = dbtime_report::html::report(run);
        let written = write_into_record(&path, &html);
        if written.is_ok() {
            lines += &format!("Report: {}\n", legible_path(&path));
        }
        Self { lines, trouble: written.err() }
    }

    /// Tells what could not be written, and gives the exit code of a run that would have had this.
    pub(crate) fn end(self, exit: ProcessExit) -> ProcessExit {
        let Some(failure) = self.trouble else { return exit };
        failure.report();
        exit.without_output()
    }
}

/// Where the record goes.
pub(crate) fn folder(
    args: &RunArgs,
    workload: &WorkloadSpec,
) -> Result<Option<PathBuf>, CommandFailure> {
    if args.no_record {
        return Ok(None);
    }
    if let Some(out) = &args.out {
        return Ok(Some(out.clone()));
    }
    let named = workload.name.as_deref().or(workload.script.as_deref());
    let name = named.unwrap_or(if workload.query.is_some() { "query" } else { "atm" });
    let name =
        Path::new(name).file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let base = Path::new(RECORDS);
    // Two runs may start in one second.
    let mut numbers = 1..1000;
    let free = numbers.find_map(|n| {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        let path = base.join(format!("{time}-{name}{suffix}"));
        path.symlink_metadata().is_err().then_some(path)
    });
    let none = || CommandFailure::environment(format!("no free name in {RECORDS}: use --out"));
    free.map(Some).ok_or_else(none)
}
