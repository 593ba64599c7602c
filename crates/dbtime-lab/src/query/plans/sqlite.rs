//! Plans of SQLite, which counts what each step does where it is built so.

use super::super::session::{QuerySession, SessionForm};
use super::literals::explained;
use super::{PlanDepth, explanation, refusal, taken_back};
use dbtime_engines::server::{ExecutedStep, StatementAnswer};
use dbtime_engines::socket::QueryTable;
use dbtime_load::program::SqlValue;
use dbtime_machine::counter::TimeStampCounter;
use dbtime_model::query::StatementPlan;
use dbtime_observe::plans::{SqliteFigures, SqliteStep, sqlite_steps};

const SOURCE: &str = "EXPLAIN QUERY PLAN";

/// The plan of a form.
///
/// # Errors
/// As those of all products.
pub(super) fn plan_of(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
    depth: PlanDepth,
    is_raw: bool,
) -> Result<StatementPlan, String> {
    let execution = match depth {
        PlanDepth::Estimated => None,
        PlanDepth::Executed => Some(executed(session, form, key).map_err(refusal)?),
    };
    let (steps, source) = match &execution {
        Some(execution) if !execution.steps.is_empty() => {
            (counted_steps(&execution.steps), "sqlite3_stmt_scanstatus_v2()")
        }
        // Nothing was counted, or the statement reads no table.
        _ => {
            let sql = format!("{SOURCE} {}", explained(form, key, session.product));
            (listed_steps(&explanation(session, form, &sql).map_err(refusal)?), SOURCE)
        }
    };
    let plan = sqlite_steps(&steps, is_raw).map_err(|error| error.to_string())?;
    let execution_us = execution.map(|execution| execution.time_us);
    Ok(StatementPlan { source: source.to_owned(), execution_us, ..plan })
}

/// An execution whose steps were counted.
struct CountedExecution {
    steps: Vec<ExecutedStep>,
    time_us: f64,
}

fn executed(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
) -> StatementAnswer<CountedExecution> {
    session.connection.count_steps(true);
    let execution = counted(session, form, key);
    session.connection.count_steps(false);
    execution
}

fn counted(
    session: &mut QuerySession<'_>,
    form: &SessionForm,
    key: &[SqlValue],
) -> StatementAnswer<CountedExecution> {
    // Steps of what was prepared before are not counted.
    let counted = session.prepare(&form.text)?;
    // Of a session that does not commit, the execution itself is taken back.
    let is_kept = form.text.writes && session.commits;
    let instants = taken_back(session, is_kept, |session| session.execute(&counted, key, &mut ()));
    let steps = session.connection.last_steps();
    session.forget(counted);
    let instants = instants?;
    Ok(CountedExecution { steps, time_us: (instants.done - instants.sent).as_micros() })
}

/// Steps with what was counted for them.
fn counted_steps(steps: &[ExecutedStep]) -> Vec<SqliteStep> {
    let counter = TimeStampCounter::new();
    let time_us = |cycles: u64| counter.between(0, cycles).as_micros();
    let step = |step: &ExecutedStep| SqliteStep {
        id: step.id,
        parent: step.parent,
        detail: step.detail.clone(),
        figures: Some(SqliteFigures {
            loops: step.loops,
            rows: step.rows,
            estimated_rows: step.estimated_rows,
            time_us: step.cycles.map(time_us),
        }),
    };
    steps.iter().map(step).collect()
}

/// The rows of EXPLAIN QUERY PLAN: `id`, `parent`, `notused`, `detail`.
fn listed_steps(table: &QueryTable) -> Vec<SqliteStep> {
    let step = |row: &Vec<Option<String>>| {
        let value = |column: usize| row.get(column)?.as_deref();
        Some(SqliteStep {
            id: value(0)?.parse().ok()?,
            parent: value(1)?.parse().ok()?,
            detail: value(3)?.to_owned(),
            figures: None,
        })
    };
    table.rows.iter().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_counts_become_steps() {
        let row = ["4", "0", "62", "SCAN t"].map(|value| Some(value.to_owned())).to_vec();
        let table = QueryTable { columns: Vec::new(), rows: vec![row, vec![None]] };
        let listed = listed_steps(&table);
        let scan = SqliteStep { id: 4, parent: 0, detail: "SCAN t".to_owned(), figures: None };
        assert_eq!(listed, [scan]);
        let executed = ExecutedStep {
            id: 4,
            detail: "SCAN t".to_owned(),
            loops: 2,
            rows: 6,
            ..ExecutedStep::default()
        };
        let figures = SqliteFigures { loops: 2, rows: 6, ..SqliteFigures::default() };
        assert_eq!(counted_steps(&[executed])[0].figures, Some(figures));
    }
}
