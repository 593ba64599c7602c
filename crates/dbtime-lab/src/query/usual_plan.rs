//! The plan of an execution that took as long as is usual, and how much looking at it took.

use super::plans::{PlanDepth, plan_of};
use super::samples::taken;
use super::session::{QuerySession, SessionForm};
use dbtime_load::program::SqlValue;
use dbtime_model::query::StatementPlan;

/// Executions whose plans are read: of one alone whatever else the machine did would be in its
/// times.
const PLAN_EXECUTIONS: usize = 3;

/// One that takes longer is the only one. Unit: microseconds.
const LONG_US: f64 = 1e6;

/// Plain executions that make a duration to compare that with.
const PLAIN_EXECUTIONS: usize = 5;

/// The plan of a form with a key, with the ratio of its execution to plain ones with the same key.
///
/// # Errors
/// Those of [`plan_of`].
pub(super) fn usual_plan(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
    depth: PlanDepth,
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let mut plans = vec![plan_of(session, form, key, depth, is_raw)?];
    let is_short = plans[0].execution_us.is_some_and(|us| us <= LONG_US);
    while is_short && plans.len() < PLAN_EXECUTIONS {
        let Ok(plan) = plan_of(session, form, key, depth, is_raw) else { break };
        plans.push(plan);
    }
    Ok(with_inflation(session, form, key, middle(plans)))
}

/// The plan whose execution is in the middle of their order; there is one at least.
fn middle(mut plans: Vec<StatementPlan>) -> StatementPlan {
    let time = |plan: &StatementPlan| plan.execution_us.unwrap_or_default();
    plans.sort_by(|one, other| time(one).total_cmp(&time(other)));
    plans.swap_remove(plans.len() / 2)
}

fn with_inflation(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
    plan: StatementPlan,
) -> StatementPlan {
    let Some(execution_us) = plan.execution_us else { return plan };
    let mut plain: Vec<f64> = (0..PLAIN_EXECUTIONS)
        .filter_map(|_| session.execute(form, key, &mut ()).ok())
        .map(|instants| taken(&instants).as_micros())
        .collect();
    plain.sort_by(f64::total_cmp);
    let median = plain.get(plain.len() / 2).copied().filter(|median| *median > 0.0);
    StatementPlan { inflation: median.map(|median| execution_us / median), ..plan }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_that_was_disturbed_is_not_the_usual_one() {
        let taken = |us| StatementPlan { execution_us: Some(us), ..StatementPlan::default() };
        let found = middle(vec![taken(29_000.0), taken(1500.0), taken(1400.0)]);
        assert_eq!(found.execution_us, Some(1500.0));
        assert_eq!(middle(vec![taken(7.0)]).execution_us, Some(7.0));
        assert_eq!(middle(vec![StatementPlan::default()]).execution_us, None);
    }
}
