//! `OR` over two columns as two queries, each of which can use the index of its column.

use super::super::parts::{ColumnName, ConditionKind, SelectParts, SqlCondition};
use super::super::{RewriteRule, RuleOutcome};
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "or-to-union", rewrite };

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    if !parts.is_plain() || !parts.order_by.is_empty() {
        return None;
    }
    let mut conditions = parts.conditions.iter().enumerate();
    let (at, [one, other], columns) = conditions.find_map(|(at, condition)| {
        let (sides, columns) = sides(condition)?;
        Some((at, sides, columns))
    })?;
    let mut first = parts.clone();
    first.conditions[at] = one.clone();
    let mut second = parts.clone();
    second.conditions[at] = other.clone();
    // Rows that both conditions hold for are in the first query.
    second.conditions.push(SqlCondition::written(format!("({}) IS NOT TRUE", one.text)));
    let [a, b] = columns;
    Some(RuleOutcome {
        sql: format!("{} UNION ALL {}", first.sql(), second.sql()),
        finding: format!("OR over {} and {} may use no index", a.text(), b.text()),
        caveats: vec!["what both queries have in common is executed twice".to_owned()],
    })
}

/// Both sides of an `OR` of two comparisons, and their columns, which are not the same.
fn sides(condition: &SqlCondition) -> Option<([&SqlCondition; 2], [&ColumnName; 2])> {
    let ConditionKind::Any(alternatives) = &condition.kind else { return None };
    let [one, other] = alternatives.as_slice() else { return None };
    let (a, b) = (one.column_and_value()?.0, other.column_and_value()?.0);
    (!a.is(b)).then_some(([one, other], [a, b]))
}
