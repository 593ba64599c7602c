//! An index that hypopg has the planner of PostgreSQL believe in: nothing is built, and nothing is
//! executed.
//!
//! Source: README of hypopg 1.4. Its indexes are seen by one session, in `EXPLAIN` without
//! `ANALYZE` alone, and they outlive a rollback.

use super::{TrialScene, TriedProposal};
use crate::query::plans::{PlanDepth, literal, plan_of};
use crate::query::session::{QuerySession, SessionForm};
use dbtime_load::program::SqlValue;
use dbtime_model::Product;
use dbtime_model::query::StatementPlan;
use dbtime_model::units::count;

/// The schema that hypopg is installed in, which need not be one that is searched.
const SCHEMA: &str = "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN \
                      pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = \
                      'hypopg'";

/// With an index that is worth a trial, the planner's cost is at most this share of that without.
const MOST_OF_COST: f64 = 0.5;

/// What a line of evidence begins with that is hypopg's.
pub(super) const HYPOPG: &str = "hypopg: ";

/// What the planner makes of an index.
struct HypotheticalCosts {
    without: f64,
    with: f64,
    /// Whether its plan has the index.
    is_used: bool,
}

/// Asks the planner about the index that `sql` creates.
pub(super) fn imagine_index(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    sql: &str,
    scene: &TrialScene<'_>,
) -> TriedProposal {
    match costs(session, form, sql, scene) {
        None => TriedProposal::Untried,
        Some(costs) if !costs.is_used || costs.with > MOST_OF_COST * costs.without => {
            TriedProposal::NoGain
        }
        Some(costs) => {
            let rounded = |cost: f64| count(cost.round() as u64);
            let (without, with) = (rounded(costs.without), rounded(costs.with));
            let text = format!("the planner's cost falls from {without} to {with} with it");
            TriedProposal::Believed(format!("{HYPOPG}{text}"))
        }
    }
}

/// What the planner says; `None`: there is no hypopg, or one of its answers is missing.
fn costs(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    sql: &str,
    scene: &TrialScene<'_>,
) -> Option<HypotheticalCosts> {
    // Behind a pooler others would find the index.
    if session.product != Product::Postgres || !session.is_direct() {
        return None;
    }
    let schema = session.table(SCHEMA).ok()?.value()?.to_owned();
    let without = estimated(session, form, scene)?.root.cost?;
    let mut create = format!("SELECT indexname FROM {schema}.hypopg_create_index(");
    literal(&SqlValue::Text(sql.to_owned()), Product::Postgres, &mut create);
    create.push(')');
    let created = session.table(&create).ok();
    let plan = created.as_ref().and_then(|_| estimated(session, form, scene));
    // All that is explained on this session from now on would see it.
    session.table(&format!("SELECT {schema}.hypopg_reset()")).ok()?;
    let (created, plan) = (created?, plan?);
    let name = created.value()?;
    let is_used = plan.root.steps().iter().any(|step| step.index.as_deref() == Some(name));
    Some(HypotheticalCosts { without, with: plan.root.cost?, is_used })
}

fn estimated(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    scene: &TrialScene<'_>,
) -> Option<StatementPlan> {
    plan_of(session, form, &scene.keys.draw(0), PlanDepth::Estimated, false).ok()
}

#[cfg(test)]
mod tests;
