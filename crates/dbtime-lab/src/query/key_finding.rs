//! What was found of the rows of a key: how they relate, and what should be known beside that, in
//! sentences without literals.

use dbtime_load::program::SqlValue;
use dbtime_model::query::{RowsDifference, RowsOutcome};
use dbtime_sql::{LexicalRules, fingerprint};

/// A's order leaves room.
pub(super) const TIED: &str =
    "A's ORDER BY does not tell all rows apart: their order is not determined";

/// The same rows came in another order, and there is no telling whether A leaves room for that.
pub(super) const UNKNOWN_ORDER: &str = "whether A's ORDER BY tells the rows apart is not known, \
    since it orders by what is no column of the result: add that to both forms";

/// Other rows came of a query that returns some of them alone.
pub(super) const UNKNOWN_TIES: &str = "whether the rows differ only where A's ORDER BY leaves it \
    open which ones LIMIT returns is not known, since it orders by what is no column of the \
    result: add that to both forms";

/// Values that differ although they are shown alike.
pub(super) const READ_ALIKE: &str = "rows that differ read the same: their types differ, such as \
    those of a number and a text, or what is not shown of long values";

/// Statements that write return no rows.
pub(super) const CHANGED_ALONE: &str =
    "A and B change as many rows, and return none: what they write is not compared";

/// How the rows of a key relate.
#[derive(Debug, Default)]
pub(super) struct KeyFinding {
    /// `None`: both forms failed alike.
    pub(super) outcome: Option<RowsOutcome>,
    /// Rows of A.
    pub(super) rows: u64,
    pub(super) difference: Option<RowsDifference>,
    /// Why they could not be compared.
    pub(super) refusal: Option<String>,
    pub(super) note: Option<String>,
}

impl KeyFinding {
    pub(super) fn of(outcome: RowsOutcome, rows: u64) -> Self {
        Self { outcome: Some(outcome), rows, ..Self::default() }
    }

    pub(super) fn with_note(self, note: &str) -> Self {
        Self { note: Some(note.to_owned()), ..self }
    }
}

/// A value of a key as text; `None` is NULL.
pub(super) fn shown_value(value: &SqlValue) -> Option<String> {
    match value {
        SqlValue::Null => None,
        SqlValue::Integer(value) => Some(value.to_string()),
        SqlValue::Real(value) => Some(value.to_string()),
        SqlValue::Text(text) => Some(text.clone()),
    }
}

/// A name without literals: MySQL calls a column as it is computed.
pub(super) fn shown_column(name: &str, rules: &LexicalRules) -> String {
    let mut shown = String::new();
    fingerprint(name, rules, &mut shown);
    shown
}

/// That a column of B has another name than A's at its place; `None`: none has, as far as names
/// can be shown.
pub(super) fn renamed_column(a: &[String], b: &[String], rules: &LexicalRules) -> Option<String> {
    let mut places = (1..).zip(a.iter().zip(b));
    places.find_map(|(place, (a, b))| {
        let [a, b] = [a, b].map(|name| shown_column(name, rules));
        (!a.eq_ignore_ascii_case(&b)).then(|| {
            format!("column {place} is {a} in A and {b} in B: columns are compared by their places")
        })
    })
}

/// Whether a row that only A has is shown as one that only B has.
pub(super) fn reads_alike(a: &[Vec<Option<String>>], b: &[Vec<Option<String>>]) -> bool {
    a.iter().any(|row| b.contains(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::SqlDialect;

    #[test]
    fn names_are_compared_by_place_and_without_literals() {
        let rules = LexicalRules::defaults(SqlDialect::Mysql);
        let names = |names: [&str; 2]| names.map(str::to_owned);
        let renamed = |a, b| renamed_column(&names(a), &names(b), &rules);
        assert_eq!(renamed(["id", "COUNT(*)"], ["ID", "count(*)"]), None);
        assert_eq!(renamed(["id", "x + 7"], ["id", "x + 8"]), None);
        let turned = renamed(["id", "dept"], ["dept", "id"]).expect("a note");
        assert!(turned.starts_with("column 1 is id in A and dept in B"), "{turned}");
    }

    #[test]
    fn rows_of_other_types_read_alike() {
        let rows = |value: &str| vec![vec![Some(value.to_owned()), None]];
        assert!(reads_alike(&rows("1"), &rows("1")));
        assert!(!reads_alike(&rows("1"), &rows("2")) && !reads_alike(&rows("1"), &[]));
    }
}
