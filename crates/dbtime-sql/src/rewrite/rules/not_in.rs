//! `NOT IN (SELECT …)` as `NOT EXISTS`, which can be an anti-join.

use super::super::parts::SelectParts;
use super::super::{RewriteRule, RuleOutcome};
use super::{exists, in_select};
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "not-in", rewrite };

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    let found = in_select(parts, true)?;
    let form = exists(parts, found, "NOT EXISTS")?;
    let (_, left, query) = found;
    let finding = format!(
        "{} NOT IN (SELECT {} …) has to look for NULL too, and can be no anti-join",
        left.text, query.items[0].term.text
    );
    let caveats = ["the same rows only if neither column is ever NULL: NOT IN returns no row then"];
    Some(RuleOutcome::of(&form, finding, &caveats))
}
