//! Rows in the order of the column that they are looked for by, whose index is read in that order
//! anyway.

use super::super::parts::{OrderedTerm, SelectParts, SqlTerm, TermKind};
use super::super::{RewriteRule, RuleOutcome};
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "order-column", rewrite };

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    let [OrderedTerm { term, tail }] = parts.order_by.as_slice() else { return None };
    if parts.tables.len() != 1 || parts.has_all_rows() || parts.is_distinct || parts.is_grouped() {
        return None;
    }
    let mut ranges = parts.conditions.iter().filter_map(|condition| condition.range());
    let (column, ..) = ranges.next()?;
    let ordered = term.columns.first().filter(|ordered| !ordered.is(column))?;
    if ranges.any(|(other, ..)| !other.is(column)) {
        return None;
    }
    let columns = vec![column.clone()];
    let kind = TermKind::Column(column.clone());
    let mut form = parts.clone();
    form.order_by = vec![OrderedTerm {
        term: SqlTerm { text: column.text(), kind, columns },
        tail: tail.clone(),
    }];
    let finding = format!(
        "rows are found by {} and sorted by {}: the order of {} may do",
        column.text(),
        ordered.text(),
        column.text()
    );
    let caveats = [
        "right only if the one column never falls while the other rises, which is a property of \
         the data",
        "rows with the same value may come in another order",
    ];
    Some(RuleOutcome::of(&form, finding, &caveats))
}
