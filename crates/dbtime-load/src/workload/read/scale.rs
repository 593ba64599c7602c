//! Whether a workload makes sense at a scale.

use crate::keys::KeySpec;
use crate::keys::formula::KeyFormula;
use crate::workload::{Workload, WorkloadError};

/// Refuses scale 0, rows beyond 63 bits, and ranges that are empty at this scale.
pub(in crate::workload) fn check_scale(
    workload: &Workload,
    scale: u64,
) -> Result<(), WorkloadError> {
    let refuse = |reason: String| {
        Err(WorkloadError::Scale { workload: workload.name.clone(), scale, reason })
    };
    if scale == 0 {
        return refuse("the scale must be at least 1".to_owned());
    }
    let mut rows = Vec::new();
    for table in &workload.tables {
        let factor = if table.per_scale { scale } else { 1 };
        match table.rows.checked_mul(factor).filter(|rows| i64::try_from(*rows).is_ok()) {
            Some(count) => rows.push(count),
            None => {
                return refuse(format!(
                    "table `{}` would have {} × {scale} rows, more than 63 bits hold",
                    table.name, table.rows
                ));
            }
        }
    }
    for key in &workload.scripts.keys {
        if let Some((low, high)) = empty_range(&key.spec, &rows, scale) {
            return refuse(format!("the range of key `{}` is empty: {low} to {high}", key.name));
        }
    }
    for (table, data) in workload.tables.iter().zip(&workload.data) {
        let columns = table.columns.iter().filter(|column| !column.auto);
        for (column, spec) in columns.zip(&data.columns) {
            if let Some((low, high)) = empty_range(spec, &rows, scale) {
                let name = format!("{}.{}", table.name, column.name);
                return refuse(format!("the range of column `{name}` is empty: {low} to {high}"));
            }
        }
    }
    Ok(())
}

/// The ends of a range that is empty and depends on nothing but the scale.
fn empty_range(spec: &KeySpec, rows: &[u64], scale: u64) -> Option<(i64, i64)> {
    let value = |formula: &KeyFormula| formula.bind(rows, scale).constant();
    let (low, high) = match spec {
        KeySpec::Sequence { first, last: Some(last) } => (value(first)?, value(last)?),
        KeySpec::Choose(choices) => {
            return choices.iter().find_map(|(_, spec)| empty_range(spec, rows, scale));
        }
        other => {
            let range = other.range()?;
            (value(&range.low)?, value(&range.high)?)
        }
    };
    (low > high).then_some((low, high))
}
