//! How a server executes a form: each product is asked in its own way, and what it answers is read
//! by `dbtime_observe::plans`.
//!
//! Times of a plan are those of an execution that looks at the clock, or counts, at every step:
//! [`with_inflation`] adds by how much it takes longer than a plain one.

#[cfg(test)]
mod benchmark_tests;
mod literals;
mod mysql;
mod mysql_notes;
#[cfg(test)]
mod mysql_tests;
mod postgres;
mod sqlite;

use super::samples::taken;
use super::session::{QuerySession, SessionForm};
use dbtime_engines::server::StatementAnswer;
use dbtime_engines::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::Product;
use dbtime_model::query::StatementPlan;
use dbtime_sql::StatementOutline;
use std::ops::Deref;

/// Executions of a form that make a duration to compare that of its plan with.
const PLAIN_EXECUTIONS: usize = 5;

/// What a plan is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanDepth {
    /// What the planner expects: nothing is executed.
    Estimated,
    /// An execution, whose writes are taken back even where the session commits.
    Executed,
}

/// The plan of a form with a key. A key that is empty although the form has parameters is not
/// known. A session with a snapshot has no plans: to take writes back would end it.
///
/// # Errors
/// Why there is none, in words that have no literals: what the server says, or that its answer
/// cannot be read.
pub(crate) fn plan_of(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
    depth: PlanDepth,
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let plan_of = match session.product {
        Product::Mariadb | Product::Mysql => mysql::plan_of,
        Product::Postgres => postgres::plan_of,
        Product::Sqlite => sqlite::plan_of,
    };
    let mut plan = plan_of(session, form, key, depth, is_raw)?;
    let outline = StatementOutline::of(&form.text.given, &session.place.lexical_rules());
    plan.root.mark_cut(outline.has_limit);
    Ok(plan)
}

/// The plan with the ratio of its own execution to plain ones with the same key.
pub(crate) fn with_inflation(
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

/// What the server answers to an EXPLAIN of a form, under the form's own switch.
fn explanation(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    sql: &str,
) -> StatementAnswer<QueryTable> {
    taken_back(session, form.text.writes, |session| {
        session.under_switch(&form.text, |session| session.table(sql))?
    })
}

/// Does something in a transaction that is rolled back, where it `writes`, or may do so.
fn taken_back<T>(
    session: &mut QuerySession<'_>,
    writes: bool,
    work: impl FnOnce(&mut QuerySession<'_>) -> StatementAnswer<T>,
) -> StatementAnswer<T> {
    if !writes && !session.undoes_writes() && !session.commits {
        return work(session);
    }
    session.begin_undone()?;
    let answer = work(session);
    let undone = match session.connection.is_given_up() {
        // With the connection goes the transaction.
        true => Ok(()),
        false => session.roll_back(),
    };
    answer.and_then(|value| undone.map(|()| value))
}

/// What a server says against a plan.
fn refusal(failure: impl Deref<Target = DatabaseFailure>) -> String {
    failure.message.clone()
}
