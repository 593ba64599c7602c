//! `IN (SELECT …)` as a join with the different values of the subquery, which a server without
//! semi-joins would execute for every row.

use super::super::parts::SelectParts;
use super::super::{RewriteRule, RuleOutcome};
use super::{ONE_KIND, in_select};
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "in-to-join", rewrite };

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    let (at, left, query) = in_select(parts, false)?;
    let (outer, is_taken) = (left.column()?.text(), parts.has_table("picked"));
    if query.is_correlated() || !query.has_all_rows() || query.is_grouped() || is_taken {
        return None;
    }
    let mut inside = query.clone();
    inside.is_distinct = true;
    inside.order_by.clear();
    inside.items[0].text = format!("{} AS picked_key", inside.items[0].term.text);
    let mut form = parts.clone();
    form.name_stars()?;
    form.conditions.remove(at);
    let derived = inside.sql();
    form.join("picked", format!("JOIN ({derived}) AS picked ON {outer} = picked.picked_key"));
    let finding = "IN (SELECT …) may be executed again for every row".to_owned();
    let caveats = ["a server that has semi-joins may do the same by itself", ONE_KIND];
    Some(RuleOutcome::of(&form, finding, &caveats))
}
