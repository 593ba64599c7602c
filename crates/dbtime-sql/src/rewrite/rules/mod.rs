//! The rules, one file each.

mod column_range;
mod distinct_join;
mod in_to_exists;
mod in_to_join;
mod not_in;
mod or_to_union;
mod order_column;
mod rare_complement;
mod scalar_to_join;

use super::parts::{ColumnName, ConditionKind, SelectParts, SqlCondition, SqlTerm, TermKind};
use super::{RewriteRule, RuleOutcome, StatementRewrite};
use dbtime_model::SqlDialect;

/// Values that one column tells apart and the other does not would multiply rows.
const ONE_KIND: &str =
    "the same rows for all data only where both columns have one type and one collation";

/// Every rule for a single `SELECT`.
const RULES: &[RewriteRule] = &[
    in_to_join::RULE,
    in_to_exists::RULE,
    scalar_to_join::RULE,
    not_in::RULE,
    rare_complement::RULE,
    column_range::RULE,
    or_to_union::RULE,
    distinct_join::RULE,
    order_column::RULE,
];

/// What the rules make of a `SELECT`.
pub(super) fn of_select(parts: &SelectParts, dialect: SqlDialect) -> Vec<StatementRewrite> {
    let form = |rule: &RewriteRule| {
        let RuleOutcome { sql, finding, caveats } = (rule.rewrite)(parts, dialect)?;
        Some(StatementRewrite { rule: rule.name, sql, finding, caveats })
    };
    RULES.iter().filter_map(form).collect()
}

/// A `UNION` that keeps duplicates.
pub(super) fn union_all(arms: &[String], tail: &str) -> StatementRewrite {
    StatementRewrite {
        rule: "union-all",
        sql: format!("{}{tail}", arms.join(" UNION ALL ")),
        finding: "UNION looks for duplicates among all rows".to_owned(),
        caveats: vec![
            "the same rows only as long as no row is there twice, which data can change".to_owned(),
        ],
    }
}

/// Where the first condition `IN (SELECT one_column …)` is, with what is looked for and the query.
fn in_select(parts: &SelectParts, negated: bool) -> Option<(usize, &SqlTerm, &SelectParts)> {
    parts.conditions.iter().enumerate().find_map(|(at, condition)| match &condition.kind {
        ConditionKind::InSelect { left, query, is_negated }
            if *is_negated == negated && query.items.len() == 1 =>
        {
            Some((at, left, query.as_ref()))
        }
        _ => None,
    })
}

/// `EXISTS` in place of an `IN` at `at`: looks for the row of the query that is equal.
fn exists(
    parts: &SelectParts,
    (at, left, query): (usize, &SqlTerm, &SelectParts),
    word: &str,
) -> Option<SelectParts> {
    // Duplicates and order make no difference.
    if !query.has_all_rows() || query.is_grouped() || parts.shares_names(query) {
        return None;
    }
    let outer = parts.qualified(left.column()?)?;
    let inner = query.qualified(query.items[0].term.column()?)?;
    let mut inside = query.clone();
    inside.is_distinct = false;
    inside.order_by.clear();
    inside.items[0].text = "1".to_owned();
    // SQLite compares by the collation of the left side, as `IN` does.
    inside.conditions.push(SqlCondition::written(format!("{outer} = {inner}")));
    let mut form = parts.clone();
    form.conditions[at] = SqlCondition::written(format!("{word} ({})", inside.sql()));
    Some(form)
}

/// The columns that a term or condition names, if all of them say of which table they are.
fn qualifiers(columns: &[ColumnName]) -> Option<Vec<&str>> {
    columns.iter().map(|column| column.qualifier.as_deref()).collect()
}

/// Whether a query is the count of its rows and nothing else.
fn is_row_count(parts: &SelectParts) -> bool {
    let is_count = |term: &SqlTerm| {
        let arguments = term.call("count").unwrap_or_default();
        matches!(arguments, [only] if only.kind == TermKind::Star)
    };
    matches!(parts.items.as_slice(), [only] if is_count(&only.term))
}
