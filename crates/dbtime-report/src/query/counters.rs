//! What the server counted for an execution of each form, side by side where it differs.

use super::ratio_text::ratio;
use crate::document::{ReportDocument, RestOfRows, RowLimit};
use crate::format::{NONE, counted, if_any, one_line, rate};
use crate::terminal::{ReportTable, TextCell, TextColumn};
use dbtime_model::query::QueryForm;
use std::collections::BTreeMap;

/// Counters of two forms that differ by no more than this share are the same.
const SAME: f64 = 0.05;

/// The counters; without `all` of two forms those alone that differ, and so many rows.
pub(super) fn counters(forms: &[QueryForm], all: bool, most: usize, document: &mut ReportDocument) {
    let rows = counted_rows(forms, all);
    if rows.is_empty() {
        return;
    }
    document.heading(match forms.len() {
        2 if !all => "Counters of an execution that differ",
        _ => "Counters of an execution",
    });
    let mut columns = vec![TextColumn::text("Counter")];
    columns.extend(forms.iter().map(|form| TextColumn::figure(&one_line(&form.name))));
    if forms.len() == 2 {
        columns.push(TextColumn::figure("B / A"));
    }
    let mut table = ReportTable::new(columns);
    for (name, values) in &rows {
        let mut cells = vec![TextCell::from(one_line(name))];
        cells.extend(values.iter().map(|value| TextCell::from(if_any(*value, rate))));
        if let [a, b] = values[..] {
            cells.push(by(a, b).into());
        }
        table.row(cells);
    }
    let further = rows.len().saturating_sub(most) as u64;
    let rest = RestOfRows::Text(counted(further, "further counter"));
    let limit = (!all).then(|| RowLimit::new(most, rest));
    document.limited_table(&table, limit);
}

/// A counter and its value of each form.
type CountedRow<'a> = (&'a str, Vec<Option<f64>>);

/// Those that are shown, in the order of A's, and behind them what only B has.
fn counted_rows(forms: &[QueryForm], all: bool) -> Vec<CountedRow<'_>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows: Vec<CountedRow<'_>> = Vec::new();
    for (at, form) in forms.iter().enumerate() {
        for counter in &form.counters {
            let place = *places.entry(counter.name.as_str()).or_insert(rows.len());
            if place == rows.len() {
                rows.push((counter.name.as_str(), vec![None; forms.len()]));
            }
            rows[place].1[at] = Some(counter.value);
        }
    }
    rows.retain(|(_, values)| all || is_of_interest(values));
    rows
}

fn is_of_interest(values: &[Option<f64>]) -> bool {
    match values {
        [a, b] => {
            let [a, b] = [a, b].map(|value| value.unwrap_or(0.0));
            let gap = (a - b).abs();
            // What is no number differs from everything.
            gap.is_nan() || gap > SAME * a.abs().max(b.abs())
        }
        values => values.iter().flatten().any(|value| *value != 0.0),
    }
}

/// B's value by A's.
fn by(a: Option<f64>, b: Option<f64>) -> String {
    match (a, b) {
        (Some(a), Some(b)) if a != 0.0 => ratio(b / a),
        _ => NONE.to_owned(),
    }
}
