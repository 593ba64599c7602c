//! A simulated database: it knows no table, but answers as one would by the first word.

use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_model::ErrorClass;
use std::collections::{HashMap, VecDeque};

/// A connection, with all that was asked of it.
#[derive(Default)]
pub(super) struct Database {
    /// Each request in a line.
    pub(super) log: Vec<String>,
    /// The next requests that begin with the text fail.
    pub(super) failures: VecDeque<(&'static str, DatabaseFailure)>,
    prepared: HashMap<u32, String>,
    is_connected: bool,
}

impl Database {
    /// Lets the next request that begins with `text` fail with a code of MySQL's and a state.
    pub(super) fn fail(&mut self, text: &'static str, code: &str, state: &str) {
        let class = if code == "2013" { ErrorClass::Connection } else { ErrorClass::Other };
        let plain = DatabaseFailure::statement(code, state, format!("failure {code}{state}"));
        let failure = DatabaseFailure { class, ..plain };
        self.failures.push_back((text, failure));
    }

    /// The lines that begin with `start`.
    pub(super) fn count(&self, start: &str) -> usize {
        self.log.iter().filter(|line| line.starts_with(start)).count()
    }

    pub(super) fn answer(&mut self, op: &ConnectionOp<'_>) -> Result<ResultSets, DatabaseFailure> {
        let line = self.describe(op);
        self.log.push(line.clone());
        if let Some((text, _)) = self.failures.front()
            && line.starts_with(text)
            && let Some((_, failure)) = self.failures.pop_front()
        {
            if failure.class == ErrorClass::Connection {
                self.is_connected = false;
                self.prepared.clear();
            }
            return Err(failure);
        }
        let wants_connection = !matches!(op, ConnectionOp::Connect | ConnectionOp::Disconnect);
        assert!(self.is_connected || !wants_connection, "{line}");
        assert!(!self.is_connected || *op != ConnectionOp::Connect, "{line}");
        let mut results = ResultSets::default();
        match op {
            ConnectionOp::Connect => self.is_connected = true,
            ConnectionOp::Disconnect => {
                self.is_connected = false;
                self.prepared.clear();
            }
            ConnectionOp::Query(sql) => sql.split(';').for_each(|sql| answer(sql, &mut results)),
            ConnectionOp::Prepare { handle, sql } => {
                let before = self.prepared.insert(*handle, (*sql).to_owned());
                assert_eq!(before, None, "the handle {handle} is taken");
            }
            ConnectionOp::Execute { handle, .. } => answer(&self.prepared[handle], &mut results),
            ConnectionOp::Close { handle } => {
                assert!(self.prepared.remove(handle).is_some(), "{handle} is not prepared");
            }
            ConnectionOp::QueryWith { .. }
            | ConnectionOp::Pipeline(_)
            | ConnectionOp::Copy { .. } => {
                panic!("{op:?}")
            }
        }
        Ok(results)
    }

    fn describe(&self, op: &ConnectionOp<'_>) -> String {
        match op {
            ConnectionOp::Connect => "connect".to_owned(),
            ConnectionOp::Disconnect => "disconnect".to_owned(),
            ConnectionOp::Query(sql) => format!("query {sql}"),
            ConnectionOp::Prepare { sql, .. } => format!("prepare {sql}"),
            ConnectionOp::Execute { handle, parameters, .. } => {
                let sql = self.prepared.get(handle).map_or("(not prepared)", String::as_str);
                format!("execute {sql} {}", shown(parameters))
            }
            ConnectionOp::Close { handle } => format!("close {handle}"),
            other => format!("{other:?}"),
        }
    }
}

fn shown(values: &[SqlValue]) -> String {
    let texts: Vec<String> = values
        .iter()
        .map(|value| match value {
            SqlValue::Null => "NULL".to_owned(),
            SqlValue::Integer(number) => number.to_string(),
            SqlValue::Real(number) => format!("{number:?}"),
            SqlValue::Text(text) => format!("'{text}'"),
        })
        .collect();
    format!("[{}]", texts.join(", "))
}

/// `SELECT … LIMIT n` has `n` rows (else one) of a number and a NULL; what writes changes one row.
fn answer(sql: &str, results: &mut ResultSets) {
    results.begin_set();
    let sql = sql.trim();
    let rows = sql.split("LIMIT ").nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(1);
    match sql.split_whitespace().next().unwrap_or_default() {
        "SELECT" => {
            results.push_column(b"id");
            results.push_column(b"nothing");
            for row in 1..=rows {
                results.push_value(Some(row.to_string().as_bytes()));
                results.push_value(None);
                results.end_row();
            }
        }
        "INSERT" | "UPDATE" | "DELETE" => results.set_affected(1),
        _ => {}
    }
}
