//! `IN (SELECT …)` as `EXISTS`, which may stop at the first row.

use super::super::parts::SelectParts;
use super::super::{RewriteRule, RuleOutcome};
use super::{exists, in_select};
use dbtime_model::SqlDialect;

pub(super) const RULE: RewriteRule = RewriteRule { name: "in-to-exists", rewrite };

fn rewrite(parts: &SelectParts, _: SqlDialect) -> Option<RuleOutcome> {
    let form = exists(parts, in_select(parts, false)?, "EXISTS")?;
    let finding = "IN (SELECT …) may read all rows of the subquery".to_owned();
    let caveats = ["without an index for the column of the subquery it may take longer"];
    Some(RuleOutcome::of(&form, finding, &caveats))
}
