//! What a sweep or a search leaves beside its runs, its plan and its journal: a table and a page.

use crate::commands::report::write_into_record;
use crate::exit::CommandFailure;
use dbtime_lab::store::remove_sweep;
use dbtime_lab::study::write_table;
use dbtime_model::record::file;
use dbtime_model::shell;
use dbtime_model::study::{RecordedStudy, RunOrder};
use dbtime_report::html::sweep_report;
use std::path::Path;

/// Writes both of what there is, and says where everything is; nothing where there is no run.
pub(super) fn written(folder: &Path, study: &RecordedStudy) -> Result<String, CommandFailure> {
    if !has_runs(folder, study) {
        return Ok(String::new());
    }
    write_table(folder, study)?;
    let path = folder.join("report.html");
    write_into_record(&path, &sweep_report(study))?;
    let (records, report) = (folder.display(), path.display());
    Ok(format!("\nRecords: {records}\nReport: {report}\n{}", further(folder, study)))
}

/// Takes away what a sweep has begun that has come to nothing, not even to a run that failed.
pub(super) fn remove_empty(folder: &Path, study: &RecordedStudy) -> Result<(), CommandFailure> {
    match has_runs(folder, study) || study.failed_runs().next().is_some() {
        true => Ok(()),
        false => Ok(remove_sweep(folder)?),
    }
}

fn has_runs(folder: &Path, study: &RecordedStudy) -> bool {
    let mut runs = study.history.runs.iter();
    runs.any(|run| folder.join(&run.trial.folder).join(file::RUN).is_file())
}

/// What can be done with it.
fn further(folder: &Path, study: &RecordedStudy) -> String {
    let place = folder.display().to_string();
    let place = shell::quoted(&place);
    let plan = &study.plan;
    match (plan.order, study.history.finished.is_some()) {
        (RunOrder::Search, false) => format!("Go on: dbtime study resume {place}\n"),
        (_, false) => format!("The other runs: dbtime study resume {place}\n"),
        (RunOrder::Rounds, true) if plan.design.blocks > 1 && plan.cells.len() > 1 => {
            format!("Verdicts: dbtime study report {place}\n")
        }
        (_, true) => String::new(),
    }
}
