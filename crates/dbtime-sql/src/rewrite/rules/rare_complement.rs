//! The count of many rows as that of all less the few others.

use super::super::parts::{SelectParts, SqlCondition, TermKind, opposite};
use super::super::{RewriteRule, RuleOutcome};
use super::is_row_count;
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "rare-complement", rewrite };

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    let is_count = is_row_count(parts)
        && parts.tables.len() == 1
        && parts.group_by.is_empty()
        && parts.having.is_none()
        && parts.has_all_rows();
    let mut ranges = parts.conditions.iter().enumerate().filter(|(_, one)| one.range().is_some());
    let ((at, condition), None) = (ranges.next()?, ranges.next()) else { return None };
    let (column, op, value) = condition.range().filter(|_| is_count)?;
    let finding = format!("count(*) reads every row in a range of {}", column.text());
    let (column, op) = (column.text(), opposite(op)?);
    // No row fulfils a comparison with NULL.
    let null_key = match value.kind {
        TermKind::Parameter => format!(" OR {} IS NULL", value.text),
        _ => String::new(),
    };
    let mut all = parts.clone();
    all.order_by.clear();
    all.conditions.remove(at);
    all.items[0].text = "count(*)".to_owned();
    let mut others = all.clone();
    let text = format!("({column} {op} {} OR {column} IS NULL{null_key})", value.text);
    others.conditions.push(SqlCondition::written(text));
    let alias = parts.items[0].alias.as_ref();
    let alias = alias.map(|alias| format!(" AS {alias}")).unwrap_or_default();
    Some(RuleOutcome {
        sql: format!("SELECT (({}) - ({})){alias}", all.sql(), others.sql()),
        finding,
        caveats: vec![
            "faster only where few rows are left out".to_owned(),
            "without a snapshot for both counts rows that change in between count wrongly"
                .to_owned(),
        ],
    })
}
