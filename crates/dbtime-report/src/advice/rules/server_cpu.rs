//! CPU in the database: the statement that takes most, and whether it reads much for little.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{count, percent, rate};
use dbtime_model::record::StatementSummary;
use dbtime_model::{Part, Product, SqlDialect};

pub(super) const RULE: AdviceRule = AdviceRule::new("server_cpu", &[Part::Cpu], advise);

/// Rows read per transaction below this need no index.
const MIN_SCANNED: f64 = 100.0;

/// So many rows read for each returned or changed are too many.
const MIN_SCANNED_PER_ROW: f64 = 10.0;

/// A hypervisor that takes more of the machine makes CPU time look longer. Unit: percent.
const MIN_STEAL_PCT: f64 = 3.0;

/// A statement with less CPU each time is parsed and planned for a good share of it, where it is
/// sent as text. Unit: microseconds.
const MAX_PLANNED_US: f64 = 500.0;

/// What the work is, as far as counters and statements tell.
fn cause(case: &AdviceCase<'_>) -> String {
    let most = case.most(RULE.parts, |_| true);
    let of = most.map_or("the statements".to_owned(), |(most, _)| case.statement_name(most));
    if scanned(case).is_some() {
        return format!("many rows are read for few, as without an index, mostly by {of}");
    }
    if let Some((large, rows)) = case.large_result() {
        let (name, rows) = (case.statement_name(large), count(rows.round() as u64));
        return format!("large results: {name} returns {rows} rows each time");
    }
    if is_planned_anew(case) {
        return format!(
            "statements are sent as text: the server parses and plans {of} each time, or executes \
             it for that long; the trace does not separate the two"
        );
    }
    format!("work on a CPU, mostly for {of}")
}

/// Whether statements are sent as text that are so short that reading and planning them counts.
fn is_planned_anew(case: &AdviceCase<'_>) -> bool {
    let most = case.most(RULE.parts, |_| true).and_then(|(most, _)| most.budget_us.as_ref());
    let cpu_us = most.and_then(|budget| budget.cpu);
    is_text(case) && cpu_us.is_some_and(|us| us <= MAX_PLANNED_US)
}

fn is_text(case: &AdviceCase<'_>) -> bool {
    case.record.target.protocol.as_deref().is_some_and(|protocol| protocol.starts_with("text"))
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.because(cause(case));
    if is_planned_anew(case) {
        protocol(advice);
    }
    let commits = case.most(RULE.parts, |_| true).filter(|(most, _)| is_commit(most));
    if let Some((commit, share)) = commits {
        advice.bounded_step(
            format!("commit less often: {} has most of it", case.statement_name(commit)),
            share,
            Some("the changes of a transaction are undone together, and its locks are held longer"),
        );
    }
    plan(case, advice);
    if is_text(case) {
        protocol(advice);
    }
    let steal = case.record.environment.steal_pct;
    if steal >= MIN_STEAL_PCT {
        advice.figure(format!("the hypervisor took {}, which looks like CPU time", percent(steal)));
        advice.step("use a host with fewer neighbours");
    }
}

/// The statement whose plan decides most of it.
fn plan(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let (statement, share) = match case.most(RULE.parts, has_plan) {
        Some((statement, share)) => (case.statement_name(statement), share),
        None => ("the statements".to_owned(), 1.0),
    };
    match scanned(case) {
        Some(figure) => {
            advice.figure(figure);
            advice.bounded_step(
                format!(
                    "look at the plan of {statement} ({}): an index for what it filters by",
                    explain(case)
                ),
                share,
                Some("every change of the table then changes the index too"),
            );
        }
        None => advice.bounded_step(
            format!("look at the plan of {statement} ({})", explain(case)),
            share,
            None,
        ),
    }
}

/// The first word of a statement, in capitals; empty where its text is not known.
fn verb(statement: &StatementSummary) -> String {
    let word = statement.fingerprint.split_whitespace().next().unwrap_or_default();
    word.trim_end_matches(';').to_ascii_uppercase()
}

fn is_commit(statement: &StatementSummary) -> bool {
    matches!(verb(statement).as_str(), "COMMIT" | "END")
}

/// What only begins, ends or sets something has none.
fn has_plan(statement: &StatementSummary) -> bool {
    let without =
        ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET", "PRAGMA"];
    !without.contains(&verb(statement).as_str())
}

fn explain(case: &AdviceCase<'_>) -> &'static str {
    match (case.product, case.dialect()) {
        (Some(Product::Mariadb), _) => "ANALYZE FORMAT=JSON",
        (_, Some(SqlDialect::Mysql)) => "EXPLAIN ANALYZE",
        (_, Some(SqlDialect::Postgres)) => "EXPLAIN (ANALYZE, BUFFERS)",
        (_, Some(SqlDialect::Sqlite)) => "EXPLAIN QUERY PLAN",
        (_, None) => "EXPLAIN",
    }
}

/// Rows that were read for few that were returned or changed.
fn scanned(case: &AdviceCase<'_>) -> Option<String> {
    let (name, what) = match case.dialect()? {
        SqlDialect::Mysql => {
            let handlers = ["Handler_read_rnd_next", "Handler_read_next", "Handler_read_prev"];
            let most = |name: &&str| case.counted(name).unwrap_or(0.0);
            let name = handlers.into_iter().max_by(|a, b| most(a).total_cmp(&most(b)))?;
            (
                name,
                if name == "Handler_read_rnd_next" { "in scans of tables" } else { "along a key" },
            )
        }
        SqlDialect::Postgres => ("tup_returned", "in scans of tables and indexes"),
        SqlDialect::Sqlite => return None,
    };
    let read = case.counted(name)?;
    let completed = case.record.counts.completed as f64;
    let rows: u64 = case.record.statements.iter().map(|s| s.rows).fold(0, u64::saturating_add);
    let each = rows as f64 / completed;
    let is_much = read >= MIN_SCANNED && read >= MIN_SCANNED_PER_ROW * each.max(1.0);
    (is_much && completed > 0.0).then(|| {
        format!(
            "a transaction reads {} rows {what} ({name}) and returns or changes {}",
            count(read.round() as u64),
            rate(each)
        )
    })
}

/// Statements that the server reads and plans anew each time.
fn protocol(advice: &mut BudgetAdvice) {
    advice.step_at_price(
        "--protocol prepared: the server parses a statement once for a connection",
        "each connection holds its statements in the server's memory, and a plan may be made \
         without its parameters",
    );
}
