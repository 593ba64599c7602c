//! A subquery for one value of each row as a join with all of these values, made at once.

use super::super::parts::{ConditionKind, SelectParts, SqlCondition, SqlTerm, TermKind};
use super::super::{RewriteRule, RuleOutcome};
use super::ONE_KIND;
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "scalar-to-join", rewrite };

/// What makes one value of a group; a group without rows has NULL, `count` zero.
const AGGREGATES: [&str; 5] = ["count", "sum", "min", "max", "avg"];

/// A subquery as the join that makes its value.
struct JoinedValue {
    /// The derived table's text.
    join: String,
    /// What stands for the subquery.
    value: &'static str,
}

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    if parts.is_grouped() || parts.has_table("picked") {
        return None;
    }
    let mut form = parts.clone();
    form.name_stars()?;
    let joined = in_items(parts, &mut form).or_else(|| in_conditions(parts, &mut form))?;
    form.join("picked", joined.join);
    let finding = "a subquery is executed again for every row".to_owned();
    let caveats =
        ["the join makes the values of all groups, also of those that no row asks for", ONE_KIND];
    Some(RuleOutcome::of(&form, finding, &caveats))
}

/// Replaces the first item that is such a subquery.
fn in_items(parts: &SelectParts, form: &mut SelectParts) -> Option<JoinedValue> {
    let mut items = parts.items.iter().enumerate();
    let (at, joined) = items.find_map(|(at, item)| Some((at, joined_value(parts, &item.term)?)))?;
    let alias = parts.items[at].alias.as_ref();
    let alias = alias.map(|alias| format!(" AS {alias}")).unwrap_or_default();
    form.items[at].text = format!("{}{alias}", joined.value);
    Some(joined)
}

/// Replaces the first such subquery that something is compared with.
fn in_conditions(parts: &SelectParts, form: &mut SelectParts) -> Option<JoinedValue> {
    let mut conditions = parts.conditions.iter().enumerate();
    let (at, joined, text) = conditions.find_map(|(at, condition)| {
        let ConditionKind::Compare { left, op, right } = &condition.kind else { return None };
        let joined = joined_value(parts, right)?;
        let text = format!("{} {op} {}", left.text, joined.value);
        Some((at, joined, text))
    })?;
    form.conditions[at] = SqlCondition::written(text);
    Some(joined)
}

/// The join for a subquery that is an aggregate over the rows with a value of the outer row.
fn joined_value(outer: &SelectParts, term: &SqlTerm) -> Option<JoinedValue> {
    let TermKind::Scalar(query) = &term.kind else { return None };
    let [item] = query.items.as_slice() else { return None };
    let TermKind::Call { name, .. } = &item.term.kind else { return None };
    let is_one_value = query.has_all_rows() && query.group_by.is_empty() && query.having.is_none();
    if !AGGREGATES.contains(&name.as_str()) || !is_one_value || outer.shares_names(query) {
        return None;
    }
    let (at, inner_key, outer_key) = only_link(outer, query)?;
    let mut inside = query.as_ref().clone();
    inside.conditions.remove(at);
    inside.items[0].text = format!("{inner_key} AS picked_key, {} AS picked_value", item.term.text);
    inside.group_by = vec![inner_key];
    inside.order_by.clear();
    let value = match name.as_str() {
        "count" => "COALESCE(picked.picked_value, 0)",
        _ => "picked.picked_value",
    };
    let join = format!("LEFT JOIN ({}) AS picked ON picked.picked_key = {outer_key}", inside.sql());
    Some(JoinedValue { join, value })
}

/// The one condition that names a column outside, as an equation, and its columns: the subquery's
/// and that outside. `None`: there is no such condition, or something else is from outside too.
fn only_link(outer: &SelectParts, query: &SelectParts) -> Option<(usize, String, String)> {
    let link = |condition: &SqlCondition| {
        let (one, other) = condition.equation()?;
        let (inner, foreign) = match (query.may_own(one), query.may_own(other)) {
            (true, false) => (one, other),
            (false, true) => (other, one),
            _ => return None,
        };
        Some((query.qualified(inner)?, outer.qualified(foreign)?))
    };
    let mut links = query.conditions.iter().enumerate();
    let (at, (inner, foreign)) = links.find_map(|(at, one)| Some((at, link(one)?)))?;
    let outside = query.columns.iter().filter(|column| !query.may_own(column)).count();
    (outside == 1).then_some((at, inner, foreign))
}
