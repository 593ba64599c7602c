//! A database of tests: executions take what was planned, on a clock of its own.

use super::place::QueryPlace;
use super::request::{FormSource, KeyDictionary, QueryRequest};
use super::session::QuerySession;
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{
    ExecutionInstants, PreparedForm, RowVisitor, StatementAnswer, StatementBound,
    StatementConnection,
};
use dbtime_engines::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::{MonoNanos, Nanos, SqlDialect};
use std::sync::{Arc, Mutex};

/// How long an execution of this text with these parameters takes, by how many were before it; or
/// why it fails. Behind [`GIVEN_UP`] the connection is of no use.
pub(super) type PlannedExecution = fn(&str, &[SqlValue], u64) -> Result<Nanos, &'static str>;

pub(super) const GIVEN_UP: &str = "given up";

/// A write that PostgreSQL refuses in a transaction that only reads.
pub(super) const READ_ONLY: &str = "read only";

/// A place with planned executions.
#[derive(Debug)]
pub(super) struct PlannedPlace {
    dialect: SqlDialect,
    execution: PlannedExecution,
    state: Arc<Mutex<PlannedState>>,
}

#[derive(Debug, Default)]
struct PlannedState {
    /// What is answered to questions.
    tables: Vec<(String, QueryTable)>,
    /// What was executed.
    executed: Vec<(String, Vec<SqlValue>)>,
}

struct PlannedConnection {
    execution: PlannedExecution,
    state: Arc<Mutex<PlannedState>>,
    prepared: Vec<String>,
    present: MonoNanos,
    is_given_up: bool,
}

impl Default for PlannedPlace {
    fn default() -> Self {
        Self::new(SqlDialect::Sqlite, |_, _, _| Ok(Nanos::ZERO))
    }
}

impl PlannedPlace {
    pub(super) fn new(dialect: SqlDialect, execution: PlannedExecution) -> Self {
        let place = Self { dialect, execution, state: Arc::default() };
        match dialect {
            SqlDialect::Mysql => place.answer("SELECT VERSION()", &["v"], &["8.0.36"]),
            SqlDialect::Postgres => place.answer("SHOW server_version", &["v"], &["15.4"]),
            SqlDialect::Sqlite => place.answer("SELECT sqlite_version()", &["v"], &["3.45.0"]),
        }
        place
    }

    /// Has a question answered with rows, whose values are between spaces.
    pub(super) fn answer(&self, sql: &str, columns: &[&str], rows: &[&str]) {
        let row = |row: &&str| row.split(' ').map(|value| Some(value.to_owned())).collect();
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        let table = QueryTable { columns, rows: rows.iter().map(row).collect() };
        self.state.lock().expect("a lock").tables.push((sql.to_owned(), table));
    }

    /// The texts that were executed, with their parameters.
    pub(super) fn executed(&self) -> Vec<(String, Vec<SqlValue>)> {
        self.state.lock().expect("a lock").executed.clone()
    }

    pub(super) fn session(&self) -> QuerySession<'_> {
        let bound = StatementBound { limit: Nanos::from_secs(1), stop: RunStop::default() };
        QuerySession::open(self, &bound, false).expect("a session")
    }
}

impl QueryPlace for PlannedPlace {
    fn connect(&self, _: &StatementBound) -> Result<Box<dyn StatementConnection>, LabError> {
        Ok(Box::new(PlannedConnection {
            execution: self.execution,
            state: Arc::clone(&self.state),
            prepared: Vec::new(),
            present: MonoNanos(1),
            is_given_up: false,
        }))
    }

    fn dialect(&self) -> SqlDialect {
        self.dialect
    }

    fn url(&self) -> String {
        "planned".to_owned()
    }
}

impl StatementConnection for PlannedConnection {
    fn prepare(&mut self, sql: &str) -> StatementAnswer<PreparedForm> {
        let handle = u32::try_from(self.prepared.len()).expect("few statements");
        self.prepared.push(sql.to_owned());
        Ok(PreparedForm { handle, ..PreparedForm::default() })
    }

    fn execute(
        &mut self,
        form: &PreparedForm,
        parameters: &[SqlValue],
        _: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let sql = self.prepared[form.handle as usize].clone();
        let mut state = self.state.lock().expect("a lock");
        let answer = (self.execution)(&sql, parameters, state.executed.len() as u64);
        state.executed.push((sql, parameters.to_vec()));
        self.is_given_up |= answer == Err(GIVEN_UP);
        let sent = self.present;
        self.present = sent + answer.map_err(failure)?;
        Ok(ExecutionInstants { sent, done: self.present, rows: 1, bytes: 8, unlisted_rows: 0 })
    }

    fn run_text(
        &mut self,
        sql: &str,
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let form = self.prepare(sql)?;
        self.execute(&form, &[], rows)
    }

    fn table(&mut self, sql: &str) -> StatementAnswer<QueryTable> {
        let state = self.state.lock().expect("a lock");
        let known = state.tables.iter().find(|(text, _)| text == sql);
        match known {
            Some((_, table)) => Ok(table.clone()),
            None => Err(failure("no such table")),
        }
    }

    fn forget(&mut self, _: PreparedForm) {}

    fn number(&self) -> Option<u32> {
        Some(7)
    }

    fn is_given_up(&self) -> bool {
        self.is_given_up
    }
}

fn failure(message: &'static str) -> Box<DatabaseFailure> {
    let code = if message == READ_ONLY { "25006" } else { "1" };
    Box::new(DatabaseFailure::statement(code, "", message))
}

/// A request of one form, `A.sql`, with dictionaries: their parameters between commas, and what
/// they are.
pub(super) fn request_with(sql: &str, dictionaries: &[(&str, &str)]) -> QueryRequest {
    let dictionary = |(names, text): &(&str, &str)| KeyDictionary {
        parameters: names.split(',').map(str::to_owned).collect(),
        text: (*text).to_owned(),
    };
    QueryRequest {
        target: None,
        forms: vec![FormSource { source: "A.sql".to_owned(), sql: sql.to_owned() }],
        dictionaries: dictionaries.iter().map(dictionary).collect(),
        on_copy: None,
        seed: 7,
        budget: Nanos::from_secs(10),
        row_keys: 0,
        margin: 0.02,
        statement_timeout: Nanos::from_secs(1),
        commits: false,
        analyzes: false,
        tournament: false,
        advises: false,
        lint: false,
        trace: false,
        is_raw: false,
        against: None,
        expectations: Vec::new(),
        command: String::new(),
        version: String::new(),
    }
}
