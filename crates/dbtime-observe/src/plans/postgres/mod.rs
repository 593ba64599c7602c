//! PostgreSQL's plans: `EXPLAIN (…, FORMAT JSON)` of 9.6 to 18.
//!
//! Source: `explain.c` of these versions, and "Using EXPLAIN" in PostgreSQL 18's manual.

mod names;
mod notes;
mod steps;

use super::{PlanError, cut, shown};
use dbtime_model::SqlDialect;
use dbtime_model::query::StatementPlan;
use serde_json::Value;

/// Reads what `EXPLAIN (FORMAT JSON)` answers, with or without `ANALYZE`. Where the plan came from
/// is left empty.
///
/// # Errors
/// When the text is no JSON, has no plan, or nests deeper than plans do.
pub fn postgres_json(text: &str, is_raw: bool) -> Result<StatementPlan, PlanError> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| PlanError(error.to_string()))?;
    // A rule may make several statements of one.
    let (statement, more) = match &document {
        Value::Array(statements) => (statements.first(), statements.len().saturating_sub(1)),
        one => (Some(one), 0),
    };
    let (statement, plan) = statement
        .and_then(|statement| Some((statement, statement.get("Plan")?)))
        .ok_or_else(|| PlanError("it has no `Plan`".to_owned()))?;
    let mut notes = notes::of_statement(statement);
    if more > 0 {
        notes.push(format!("a rule adds statements, whose plans are not shown: {more}"));
    }
    let plan = StatementPlan {
        root: steps::tree(plan, is_raw)?,
        planning_us: microseconds(statement, "Planning Time"),
        execution_us: microseconds(statement, "Execution Time"),
        notes,
        verbatim: is_raw.then(|| text.to_owned()),
        ..StatementPlan::default()
    };
    Ok(plan.with_shape())
}

/// A figure, of which none is below zero.
fn number(of: &Value, key: &str) -> Option<f64> {
    of.get(key)?.as_f64().filter(|number| *number >= 0.0)
}

/// A time, which the server gives in milliseconds.
fn microseconds(of: &Value, key: &str) -> Option<f64> {
    number(of, key).map(|time| time * 1000.0)
}

/// A text, cut where it is long.
fn text<'v>(of: &'v Value, key: &str) -> Option<&'v str> {
    of.get(key)?.as_str().map(cut)
}

/// A condition or key as it is shown. The numbers of subqueries are no literals.
fn condition(text: &str, is_raw: bool) -> String {
    if is_raw {
        return shown(text, SqlDialect::Postgres, true);
    }
    let (numbered, words) = (["SubPlan ", "InitPlan "], ["SubPlan_", "InitPlan_"]);
    let pairs = || numbered.into_iter().zip(words);
    let text = pairs().fold(text.to_owned(), |text, (number, word)| text.replace(number, word));
    let shown = shown(&text, SqlDialect::Postgres, false);
    pairs().fold(shown, |text, (number, word)| text.replace(word, number))
}

/// The entries of a list; of what is none there are none.
fn list<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    match of.get(key) {
        Some(Value::Array(entries)) => entries.as_slice(),
        _ => &[],
    }
}

#[cfg(test)]
mod tests;
