//! What a sweep or a search leaves beside its runs, its plan and its journal: a table and a page.

use crate::exit::CommandFailure;
use crate::output_file::write_into_record;
use dbtime_lab::store::remove_sweep;
use dbtime_lab::study::write_table;
use dbtime_model::plain_text::legible_path;
use dbtime_model::record::file;
use dbtime_model::shell;
use dbtime_model::study::{RecordedStudy, RunOrder, StudyRun};
use dbtime_report::html::sweep_report;
use std::path::Path;

/// Writes both of what there is, and says where everything is; neither where that is nothing.
pub(super) fn written(folder: &Path, study: &RecordedStudy) -> Result<String, CommandFailure> {
    if is_empty(folder, study) {
        return Ok(String::new());
    }
    write_table(folder, study)?;
    let path = folder.join("report.html");
    write_into_record(&path, &sweep_report(study))?;
    let (records, report) = (legible_path(folder), legible_path(&path));
    Ok(format!("\nRecords: {records}\nReport: {report}\n{}", further(folder, study)))
}

/// Takes away what a sweep has begun that has come to nothing.
pub(super) fn remove_empty(folder: &Path, study: &RecordedStudy) -> Result<(), CommandFailure> {
    match is_empty(folder, study) {
        true => Ok(remove_sweep(folder)?),
        false => Ok(()),
    }
}

/// Whether no run has left a record, and none has failed.
fn is_empty(folder: &Path, study: &RecordedStudy) -> bool {
    let has_record = |run: &StudyRun| folder.join(&run.trial.folder).join(file::RUN).is_file();
    !study.history.runs.iter().any(has_record) && study.failed_runs().next().is_none()
}

/// What can be done with it.
fn further(folder: &Path, study: &RecordedStudy) -> String {
    let place = legible_path(folder);
    let place = shell::quoted(&place);
    let plan = &study.plan;
    match (plan.order, study.history.finished.is_some()) {
        (RunOrder::Search, false) => format!("Continue: dbtime study resume {place}\n"),
        (_, false) => format!("Remaining runs: dbtime study resume {place}\n"),
        (RunOrder::Rounds, true) if plan.design.blocks > 1 && plan.cells.len() > 1 => {
            format!("Verdicts: dbtime study report {place}\n")
        }
        (_, true) => String::new(),
    }
}
