//! Sweeps and searches among the records: studies whose runs are shown one by one.

use crate::exit::CommandFailure;
use dbtime_model::study::{RecordedStudy, RunOrder, is_study};
use std::path::Path;

/// The sweep or the search in a folder; `None`: it holds something else.
///
/// Errors: what is there is damaged.
pub(crate) fn recorded_sweep(folder: &Path) -> Result<Option<RecordedStudy>, CommandFailure> {
    if !is_study(folder) {
        return Ok(None);
    }
    let study = RecordedStudy::read(folder).map_err(CommandFailure::environment)?;
    Ok(Some(study).filter(|study| study.plan.order != RunOrder::Blocks))
}
