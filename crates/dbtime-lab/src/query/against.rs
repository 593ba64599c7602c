//! Plans beside those of an earlier record.

use crate::error::LabError;
use dbtime_model::bounded_file::recorded_text;
use dbtime_model::plain_text::legible_path;
use dbtime_model::query::{PlanChange, QueryRecord, SCHEMA};
use std::path::Path;

/// Compares the plan of each form with that of the form of the same name in the record of `path`.
///
/// # Errors
/// [`LabError::Usage`] where that is no record of a query.
pub(super) fn compare(record: &mut QueryRecord, path: &Path) -> Result<(), LabError> {
    let earlier = read(path)?;
    for form in &mut record.forms {
        let before = earlier.forms.iter().find(|before| before.name == form.name);
        let before = before.and_then(|before| before.plan.as_ref());
        if let (Some(plan), Some(before)) = (&mut form.plan, before) {
            let is_same = plan.shape == before.shape;
            let (since, shape) = (legible_path(path), before.shape.clone());
            plan.change = Some(PlanChange { since, shape, is_same });
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<QueryRecord, LabError> {
    let refuse = |why: String| {
        LabError::Usage(format!(
            "--against {}: {why}; give what `dbtime query --json` printed",
            legible_path(path)
        ))
    };
    let text = recorded_text(path).map_err(|error| refuse(error.to_string()))?;
    let record: QueryRecord =
        serde_json::from_str(&text).map_err(|_| refuse("is no record of a query".to_owned()))?;
    if record.schema > SCHEMA {
        return Err(refuse(format!("a newer dbtime wrote it ({})", record.dbtime)));
    }
    Ok(record)
}
