//! Plans beside those of an earlier record.

use crate::error::LabError;
use dbtime_model::bounded_file::recorded_text;
use dbtime_model::plain_text::legible_path;
use dbtime_model::query::{PlanChange, QueryRecord, SCHEMA, StatementPlan};
use std::path::Path;

/// Compares the plan of each form with that of the form of the same name in the record of `path`.
/// A note says where that cannot be done.
///
/// # Errors
/// [`LabError::Usage`] where that is no record of a query.
pub(super) fn compare(record: &mut QueryRecord, path: &Path) -> Result<(), LabError> {
    let earlier = read(path)?;
    let since = legible_path(path);
    let QueryRecord { forms, notes, .. } = record;
    for form in forms {
        let before = earlier.forms.iter().find(|before| before.name == form.name);
        let before = before.and_then(|before| before.plan.as_ref());
        let Some(plan) = &mut form.plan else { continue };
        let before = before.ok_or_else(|| format!("{since} has no plan of it"));
        match before.and_then(|before| change(plan, before, &since)) {
            Ok(change) => plan.change = Some(change),
            Err(why) => notes
                .push(format!("whether the plan of {} has changed is not known: {why}", form.name)),
        }
    }
    Ok(())
}

/// How a plan differs from an earlier one.
///
/// # Errors
/// Why that is not known.
fn change(plan: &StatementPlan, before: &StatementPlan, since: &str) -> Result<PlanChange, String> {
    let is_same = plan.shape == before.shape;
    if !is_same && detail(&plan.source) != detail(&before.source) {
        let (own, other) = (&plan.source, &before.source);
        return Err(format!(
            "it is from {own}, that of {since} from {other}, which shows other steps"
        ));
    }
    Ok(PlanChange { since: since.to_owned(), shape: before.shape.clone(), is_same })
}

/// How much of an execution MySQL's kinds of `EXPLAIN` show, which is the same of all others.
fn detail(source: &str) -> u8 {
    match source {
        "EXPLAIN EXTENDED" | "EXPLAIN FORMAT=TRADITIONAL" => 0,
        source if source.starts_with("EXPLAIN ANALYZE ") => 2,
        _ => 1,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_from_unlike_sources_are_the_same_or_unknown() {
        let plan = |source: &str, shape: &str| StatementPlan {
            source: source.to_owned(),
            shape: shape.to_owned(),
            ..StatementPlan::default()
        };
        let of = |own: &str, other: &str, shape| {
            let changed = change(&plan(own, "a"), &plan(other, shape), "monday.json");
            changed.map(|change| change.is_same)
        };
        let (executed, estimated) = ("EXPLAIN ANALYZE FORMAT=JSON", "EXPLAIN FORMAT=JSON");
        assert_eq!(of(executed, executed, "b"), Ok(false));
        assert_eq!(of(executed, estimated, "a"), Ok(true));
        let why = of(executed, estimated, "b").expect_err("other steps");
        assert!(why.contains("that of monday.json from EXPLAIN FORMAT=JSON"), "{why}");
        assert_eq!(of("ANALYZE FORMAT=JSON", estimated, "b"), Ok(false));
        assert_eq!(of("EXPLAIN (ANALYZE)", "EXPLAIN (VERBOSE)", "b"), Ok(false));
    }
}
