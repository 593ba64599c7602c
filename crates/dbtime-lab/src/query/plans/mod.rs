//! How a server executes a form: each product is asked in its own way, and what it answers is read
//! by `dbtime_observe::plans`.
//!
//! Times of a plan are those of an execution that looks at the clock, or counts, at every step:
//! `usual_plan` adds by how much it takes longer than a plain one.

#[cfg(test)]
mod benchmark_tests;
mod literals;
mod mysql;
mod mysql_notes;
#[cfg(test)]
mod mysql_tests;
mod postgres;
mod sqlite;

pub(crate) use literals::literal;

use super::session::{QuerySession, SessionForm};
use dbtime_engines::server::StatementAnswer;
use dbtime_engines::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::Product;
use dbtime_model::query::{PlanNode, PlanOperation, StatementPlan};
use dbtime_sql::{NamedTable, StatementOutline, named_tables};
use std::ops::Deref;

/// Why a form has no plan without a key.
const NO_KEY: &str = "a plan takes values of the statement's parameters, and none are known: name \
                      where they come from with --dict";

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
    let rules = session.place.lexical_rules();
    name_tables(&mut plan.root, &named_tables(&form.text.native, &rules));
    let outline = StatementOutline::of(&form.text.native, &rules);
    // Not every product has a step for it.
    let is_step = plan.root.steps().iter().any(|step| step.operation == PlanOperation::Limit);
    plan.root.mark_cut(outline.has_limit && !is_step);
    Ok(plan)
}

/// Names tables by their names where a plan has their aliases alone, as those of MySQL and SQLite
/// do. An alias of several tables stays.
fn name_tables(step: &mut PlanNode, named: &[NamedTable]) {
    let table_of = |name: &String| {
        let is_its = |one: &&NamedTable| {
            one.alias.as_ref().is_some_and(|alias| alias.eq_ignore_ascii_case(name))
        };
        let mut tables = named.iter().filter(is_its).map(|one| &one.table);
        let table = tables.next()?;
        (table != name && tables.all(|other| other == table)).then(|| table.clone())
    };
    if step.alias.is_none()
        && let Some(table) = step.relation.as_ref().and_then(table_of)
    {
        step.alias = step.relation.replace(table);
    }
    step.children.iter_mut().for_each(|child| name_tables(child, named));
}

/// Whether the session's product has plans of statements whose parameters have no values.
pub(crate) fn plans_without_key(session: &QuerySession<'_>) -> bool {
    match session.product {
        Product::Postgres => session.version.major >= 12,
        Product::Sqlite => true,
        Product::Mariadb | Product::Mysql => false,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_their_names_beside_their_aliases() {
        let step = |relation: &str| PlanNode {
            relation: Some(relation.to_owned()),
            ..PlanNode::default()
        };
        let named = |(alias, table): (&str, &str)| NamedTable {
            table: table.to_owned(),
            alias: Some(alias.to_owned()),
        };
        let named = [("b", "big"), ("x", "t"), ("X", "u")].map(named);
        let mut root = PlanNode { children: vec![step("x"), step("other")], ..step("B") };
        name_tables(&mut root, &named);
        assert_eq!((root.relation.as_deref(), root.alias.as_deref()), (Some("big"), Some("B")));
        assert_eq!(root.children, [step("x"), step("other")]);
    }
}
