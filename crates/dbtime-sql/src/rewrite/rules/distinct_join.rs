//! `DISTINCT` over a join of which one table is only there to be looked for.

use super::super::parts::{
    JoinedTable, SelectParts, SelectedItem, SqlCondition, TableLink, is_same_name,
};
use super::super::{RewriteRule, RuleOutcome};
use super::qualifiers;
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "distinct-join", rewrite };

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    let [kept, joined] = parts.tables.as_slice() else { return None };
    let is_distinct = parts.is_distinct && !parts.is_grouped();
    if !is_distinct || !matches!(kept.link, TableLink::Listed) || !is_looked_for(parts, kept) {
        return None;
    }
    let linked = match &joined.link {
        TableLink::Inner(conditions) => conditions.clone(),
        TableLink::Listed => Vec::new(),
        TableLink::Other(_) => return None,
    };
    let (inside, outside) = divided(parts, linked, joined)?;
    let query = SelectParts {
        tables: vec![JoinedTable { link: TableLink::Listed, ..joined.clone() }],
        conditions: inside,
        items: vec![SelectedItem::written("1")],
        ..SelectParts::default()
    };
    let mut form = parts.clone();
    form.tables.truncate(1);
    form.conditions = outside;
    form.conditions.push(SqlCondition::written(format!("EXISTS ({})", query.sql())));
    let finding = format!(
        "the join with {} makes rows of {} several times, which DISTINCT removes again",
        joined.name, kept.name
    );
    let caveats = ["without an index for the join's columns it may take longer"];
    Some(RuleOutcome::of(&form, finding, &caveats))
}

/// Whether all that is returned and ordered by is of the table that stays.
fn is_looked_for(parts: &SelectParts, kept: &JoinedTable) -> bool {
    let items = parts.items.iter().map(|item| &item.term);
    let mut terms = items.chain(parts.order_by.iter().map(|one| &one.term));
    terms.all(|term| {
        let names = qualifiers(&term.columns);
        !term.columns.is_empty()
            && names.is_some_and(|names| names.iter().all(|name| is_same_name(name, &kept.name)))
    })
}

/// The conditions that name the joined table, and the others; `None`: a column does not say of
/// which table it is, or nothing joins them.
fn divided(
    parts: &SelectParts,
    linked: Vec<SqlCondition>,
    joined: &JoinedTable,
) -> Option<(Vec<SqlCondition>, Vec<SqlCondition>)> {
    let all: Vec<SqlCondition> = linked.into_iter().chain(parts.conditions.clone()).collect();
    if all.iter().any(|one| qualifiers(&one.columns).is_none()) {
        return None;
    }
    let is_inside = |one: &SqlCondition| {
        let names = qualifiers(&one.columns).unwrap_or_default();
        names.iter().any(|name| is_same_name(name, &joined.name))
    };
    let has_link = all.iter().any(|one| is_inside(one) && one.equation().is_some());
    has_link.then(|| all.into_iter().partition(is_inside))
}
