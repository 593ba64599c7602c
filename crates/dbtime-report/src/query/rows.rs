//! Whether both forms return the same rows: for which keys that was compared, and the first rows
//! that differ.

use crate::document::ReportDocument;
use crate::format::{count, counted, fit, one_line};
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::query::{RowsCheck, RowsDifference, RowsOutcome};

/// More columns of a row are not shown.
const MOST_COLUMNS: usize = 6;

/// More rows of either form are not shown.
const MOST_ROWS: usize = 3;

/// Columns of a value.
const VALUE_COLUMNS: usize = 40;

/// How rows relate, in words behind which the keys stand.
pub(super) fn outcome_words(outcome: RowsOutcome) -> &'static str {
    match outcome {
        RowsOutcome::Identical => "same rows",
        RowsOutcome::OtherOrder => "same rows in another order",
        RowsOutcome::EqualUpToTies => "same rows up to ties",
        RowsOutcome::EqualUpToRounding => "same rows up to rounding",
        RowsOutcome::Unchecked => "rows not compared",
        RowsOutcome::DuplicatesDiffer => "some rows more or less often",
        RowsOutcome::OrderDiffers => "rows in another order than A's",
        RowsOutcome::ColumnsDiffer => "other columns",
        RowsOutcome::Different => "other rows",
    }
}

/// Same rows, for how many keys; or that they were not compared.
pub(super) fn rows_phrase(check: &RowsCheck) -> String {
    match check.outcome {
        RowsOutcome::Unchecked => outcome_words(check.outcome).to_owned(),
        outcome => {
            let is_empty = check.keys > 0 && check.empty_keys == check.keys;
            let none = if is_empty { ", all without rows" } else { "" };
            format!("{} for {}{none}", outcome_words(outcome), counted(check.keys, "key"))
        }
    }
}

/// That rows are not the same; `None`: they are, or that is not known.
pub(super) fn unlike_rows(check: &RowsCheck) -> Option<String> {
    let is_unlike = check.outcome.is_same() == Some(false);
    is_unlike.then(|| {
        format!(
            "B returns {} for {} of {}",
            outcome_words(check.outcome),
            count(check.differing_keys),
            counted(check.keys, "key")
        )
    })
}

/// What was compared, and what should be known of it.
pub(super) fn rows_facts(check: &RowsCheck, document: &mut ReportDocument) {
    let role = match check.outcome.is_same() {
        Some(true) if check.refusal.is_none() => TextRole::Good,
        Some(false) => TextRole::Bad,
        _ => TextRole::Warn,
    };
    let words = unlike_rows(check).unwrap_or_else(|| rows_phrase(check));
    let why = check.refusal.as_ref().map(|why| format!(": {}", one_line(why)));
    let text = format!("{words}{}{}", why.unwrap_or_default(), compared_keys(check));
    document.fact("rows", &text, role);
    let notes = check.notes.iter();
    notes.for_each(|note| document.fact("", &one_line(note), TextRole::Plain));
}

/// How much was compared, in parentheses.
fn compared_keys(check: &RowsCheck) -> String {
    if check.keys == 0 {
        return String::new();
    }
    let mut parts = vec![counted(check.rows, "row")];
    if check.edge_keys > 0 {
        parts.push(counted(check.edge_keys, "edge key"));
    }
    if check.empty_keys > 0 {
        parts.push(format!("{} without rows, which prove little", count(check.empty_keys)));
    }
    if !check.snapshot.is_empty() {
        parts.push(format!("both in one snapshot: {}", one_line(&check.snapshot)));
    }
    format!(" ({})", parts.join("; "))
}

/// The first key whose rows differ; its rows only where values may be shown.
pub(super) fn rows_difference(
    difference: &RowsDifference,
    shows_values: bool,
    document: &mut ReportDocument,
) {
    document.heading("The first key whose rows differ");
    let values: Vec<String> = difference.key.iter().map(value).collect();
    let key = match shows_values && !values.is_empty() {
        true => format!("key {}: ", values.join(", ")),
        false => String::new(),
    };
    let [a, b] = [difference.rows_a, difference.rows_b].map(|rows| counted(rows, "row"));
    let words = outcome_words(difference.outcome);
    document.paragraph(&format!("{key}{words}; A returns {a}, B {b}"), TextRole::Plain);
    if shows_values {
        document.table(&differing_rows(difference));
    } else if difference.only_in_a.len() + difference.only_in_b.len() > 0 {
        document.paragraph("--raw-sql adds the rows themselves", TextRole::Dim);
    }
}

fn differing_rows(difference: &RowsDifference) -> ReportTable {
    let names: Vec<&String> = difference.columns.iter().take(MOST_COLUMNS).collect();
    let mut columns = vec![TextColumn::text("Only in")];
    columns.extend(names.iter().map(|name| TextColumn::text(&one_line(name))));
    let mut table = ReportTable::new(columns);
    for (form, rows) in [("A", &difference.only_in_a), ("B", &difference.only_in_b)] {
        for row in rows.iter().take(MOST_ROWS) {
            // A file may say anything of how many values a row has.
            let text = |at: usize| row.get(at).map_or_else(String::new, value);
            let cells = (0..names.len()).map(|at| TextCell::from(text(at)));
            table.row([TextCell::from(form)].into_iter().chain(cells).collect());
        }
    }
    table
}

/// A value of a row or of a key.
fn value(value: &Option<String>) -> String {
    value.as_ref().map_or("NULL".to_owned(), |text| fit(&one_line(text), VALUE_COLUMNS))
}
