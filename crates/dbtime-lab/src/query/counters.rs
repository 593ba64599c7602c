//! What a database counts for one execution: read before and behind it on the same session, the
//! price of reading taken off.

use super::session::{QuerySession, SessionForm};
use dbtime_engines::server::StatementAnswer;
use dbtime_engines::socket::QueryTable;
use dbtime_load::program::SqlValue;
use dbtime_model::query::{ExecutionCounter, PlanOperation, QueryForm};
use dbtime_model::{Product, SqlDialect};
use std::collections::BTreeMap;

/// Executions that are looked at.
const EXECUTIONS: usize = 3;

/// Counters by name.
type CounterReading = BTreeMap<String, f64>;

/// Counters of MySQL and MariaDB that belong to a session and tell of a statement's work.
const MYSQL: &str = "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler\\_%' OR Variable_name \
     LIKE 'Sort\\_%' OR Variable_name LIKE 'Select\\_%' OR Variable_name LIKE 'Created\\_tmp%' OR \
     Variable_name IN ('Rows_read', 'Rows_sent', 'Rows_tmp_read', 'Last_query_cost')";

/// Those of MySQL and MariaDB that count how transactions end.
const TRANSACTION_ENDS: [&str; 3] = ["Handler_commit", "Handler_prepare", "Handler_rollback"];

/// Those of PostgreSQL that the transaction has not yet handed over to all others.
const POSTGRES: &str = "SELECT coalesce(sum(seq_scan), 0) AS seq_scan, \
     coalesce(sum(seq_tup_read), 0) AS seq_tup_read, coalesce(sum(idx_scan), 0) AS idx_scan, \
     coalesce(sum(idx_tup_fetch), 0) AS idx_tup_fetch, coalesce(sum(n_tup_ins), 0) AS n_tup_ins, \
     coalesce(sum(n_tup_upd), 0) AS n_tup_upd, coalesce(sum(n_tup_del), 0) AS n_tup_del \
     FROM pg_stat_xact_user_tables";

/// What an execution of the form counts with each of the keys in turn, the mean; empty where there
/// is nothing to be read.
///
/// # Errors
/// What the database says.
pub(super) fn counters_of(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    keys: &[Vec<SqlValue>],
) -> StatementAnswer<Vec<ExecutionCounter>> {
    let mut sums = CounterReading::new();
    let none = Vec::new();
    for turn in 0..EXECUTIONS {
        let key = if keys.is_empty() { &none } else { &keys[turn % keys.len()] };
        for (name, value) in one(session, form, key)? {
            *sums.entry(name).or_default() += value / EXECUTIONS as f64;
        }
    }
    let source = match session.product.dialect() {
        SqlDialect::Mysql => "SHOW SESSION STATUS",
        SqlDialect::Postgres => "pg_stat_xact_user_tables",
        SqlDialect::Sqlite => "sqlite3_stmt_status, sqlite3_db_status",
    };
    // How a transaction ends that dbtime begins and rolls back is none of the statement's work.
    let is_undone = form.text.writes && !session.commits;
    let is_own = |name: &str| is_undone && TRANSACTION_ENDS.contains(&name);
    let counters = sums.into_iter().filter(|(name, value)| *value != 0.0 && !is_own(name));
    let counter = |(name, value)| ExecutionCounter { name, source: source.to_owned(), value };
    Ok(counters.map(counter).collect())
}

/// That counters are not those of all processes that executed a form.
pub(super) fn workers_note(product: Product, form: &QueryForm) -> Option<String> {
    let steps = form.plan.as_ref()?.root.steps();
    let is_parallel = steps.iter().any(|step| step.operation == PlanOperation::Parallel);
    let is_short = product == Product::Postgres && is_parallel && !form.counters.is_empty();
    is_short.then(|| {
        format!(
            "{} was executed by several processes, and PostgreSQL shows the counters of one: rows \
             that the others read are not in them",
            form.name
        )
    })
}

/// What one execution counts.
fn one(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
) -> StatementAnswer<CounterReading> {
    match session.product.dialect() {
        SqlDialect::Sqlite => {
            session.execute(form, key, &mut ())?;
            let counted = session.connection.last_counters().into_iter();
            Ok(counted.map(|(name, value)| (name.to_owned(), value as f64)).collect())
        }
        SqlDialect::Mysql => {
            let first = by_name(&session.table(MYSQL)?);
            let idle = by_name(&session.table(MYSQL)?);
            session.execute(form, key, &mut ())?;
            let after = by_name(&session.table(MYSQL)?);
            // What a look itself counts is the difference of two with nothing between them.
            Ok(difference(&after, &idle, &difference(&idle, &first, &CounterReading::new())))
        }
        SqlDialect::Postgres => {
            session.begin_snapshot()?;
            let counted = transaction_counts(session, form, key);
            session.end_snapshot();
            counted
        }
    }
}

fn transaction_counts(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
) -> StatementAnswer<CounterReading> {
    let before = by_column(&session.table(POSTGRES)?);
    session.execute(form, key, &mut ())?;
    let after = by_column(&session.table(POSTGRES)?);
    Ok(difference(&after, &before, &CounterReading::new()))
}

/// How much more there is, without what looking adds.
fn difference(
    after: &CounterReading,
    before: &CounterReading,
    looking: &CounterReading,
) -> CounterReading {
    let of =
        |readings: &CounterReading, name: &str| readings.get(name).copied().unwrap_or_default();
    let more = |(name, value): (&String, &f64)| {
        // `Last_query_cost` is a state, and no count.
        let is_state = name == "Last_query_cost";
        let counted = value - of(before, name) - of(looking, name);
        (name.clone(), if is_state { 0.0 } else { counted.max(0.0) })
    };
    after.iter().map(more).collect()
}

/// Rows of names and values.
fn by_name(table: &QueryTable) -> CounterReading {
    let pair = |row: &Vec<Option<String>>| {
        let [Some(name), Some(value)] = row.as_slice() else { return None };
        Some((name.clone(), value.parse().ok()?))
    };
    table.rows.iter().filter_map(pair).collect()
}

/// One row with a value in each column.
fn by_column(table: &QueryTable) -> CounterReading {
    let Some(row) = table.rows.first() else { return CounterReading::new() };
    let value = |(name, value): (&String, &Option<String>)| {
        Some((name.clone(), value.as_deref()?.parse().ok()?))
    };
    table.columns.iter().zip(row).filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::query::{PlanNode, StatementPlan};

    #[test]
    fn what_workers_count_is_known_to_be_missing() {
        let form = |operation| QueryForm {
            name: "A".to_owned(),
            counters: vec![ExecutionCounter::default()],
            plan: Some(StatementPlan {
                root: PlanNode { operation, ..PlanNode::default() },
                ..StatementPlan::default()
            }),
            ..QueryForm::default()
        };
        let parallel = form(PlanOperation::Parallel);
        let note = workers_note(Product::Postgres, &parallel).expect("one");
        assert!(note.starts_with("A was executed by several processes"), "{note}");
        assert_eq!(workers_note(Product::Mysql, &parallel), None);
        assert_eq!(workers_note(Product::Postgres, &form(PlanOperation::Sort)), None);
    }

    fn reading(values: &[(&str, f64)]) -> CounterReading {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn what_looking_counts_is_taken_off() {
        let first = reading(&[("Handler_read_rnd_next", 100.0), ("Select_scan", 1.0)]);
        let idle = reading(&[("Handler_read_rnd_next", 140.0), ("Select_scan", 2.0)]);
        let after = reading(&[("Handler_read_rnd_next", 1180.0), ("Select_scan", 4.0)]);
        let looking = difference(&idle, &first, &CounterReading::new());
        let counted = difference(&after, &idle, &looking);
        assert_eq!(counted, reading(&[("Handler_read_rnd_next", 1000.0), ("Select_scan", 1.0)]));
    }

    #[test]
    fn rows_that_are_no_counters_are_left_out() {
        let text = |text: &str| Some(text.to_owned());
        let rows = vec![
            vec![text("Handler_write"), text("7")],
            vec![text("Handler_delete"), text("many")],
            vec![text("Handler_update"), None],
            vec![],
        ];
        let table = QueryTable { columns: Vec::new(), rows };
        assert_eq!(by_name(&table), reading(&[("Handler_write", 7.0)]));
    }
}
