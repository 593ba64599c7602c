//! A database of tests: executions take and return what was planned, on a clock of its own.

use super::place::QueryPlace;
use super::request::{FormSource, KeyDictionary, QueryRequest};
use super::session::QuerySession;
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{
    CellValue, ExecutionInstants, PreparedForm, RowVisitor, StatementAnswer, StatementBound,
    StatementConnection,
};
use dbtime_engines::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::{MonoNanos, Nanos, SqlDialect};
use std::sync::{Arc, Mutex, MutexGuard};

/// How long an execution of this text with these parameters takes, by how many were before it; or
/// why it fails, as `CODE: MESSAGE` or as a message alone.
pub(super) type FakeExecution = fn(&str, &[SqlValue], u64) -> Result<Nanos, &'static str>;

/// What a text with these parameters returns; of one that updates, what it changes.
pub(super) type FakeRows = fn(&str, &[SqlValue]) -> Result<Vec<Vec<SqlValue>>, &'static str>;

/// The row that a question of dbtime's own is answered with, by those that were asked before it.
pub(super) type FakeAnswers = fn(&str, &[String]) -> Result<Vec<&'static str>, &'static str>;

/// A failure behind which the connection is of no use.
pub(super) const GIVEN_UP: &str = "given up";

/// A write that PostgreSQL refuses in a transaction that only reads.
pub(super) const READ_ONLY: &str = "25006: read only";

/// The first value of a key with a row that is too long.
pub(super) const UNSEEN: i64 = -77;

/// A place with planned executions.
#[derive(Debug)]
pub(super) struct FakePlace {
    dialect: SqlDialect,
    behaviour: FakeBehaviour,
    state: Arc<Mutex<FakeState>>,
}

#[derive(Clone, Copy, Debug)]
struct FakeBehaviour {
    execution: FakeExecution,
    rows: FakeRows,
    answers: FakeAnswers,
}

#[derive(Debug, Default)]
struct FakeState {
    /// What is answered to questions to which [`FakeAnswers`] has no answer.
    tables: Vec<(String, QueryTable)>,
    /// What is not prepared.
    unprepared: Vec<String>,
    /// What was executed.
    executed: Vec<(String, Vec<SqlValue>)>,
    /// What was asked.
    questions: Vec<String>,
}

struct FakeConnection {
    behaviour: FakeBehaviour,
    state: Arc<Mutex<FakeState>>,
    prepared: Vec<String>,
    present: MonoNanos,
    is_given_up: bool,
}

impl Default for FakePlace {
    fn default() -> Self {
        Self::new(SqlDialect::Sqlite, |_, _, _| Ok(Nanos::ZERO))
    }
}

impl FakePlace {
    pub(super) fn new(dialect: SqlDialect, execution: FakeExecution) -> Self {
        let behaviour = FakeBehaviour {
            execution,
            rows: |_, _| Ok(vec![vec![SqlValue::Integer(1)]]),
            answers: |_, _| Err("no such table"),
        };
        let place = Self { dialect, behaviour, state: Arc::default() };
        match dialect {
            SqlDialect::Mysql => place.answer("SELECT VERSION()", &["v"], &["8.0.36"]),
            SqlDialect::Postgres => place.answer("SHOW server_version", &["v"], &["15.4"]),
            SqlDialect::Sqlite => place.answer("SELECT sqlite_version()", &["v"], &["3.45.0"]),
        }
        place
    }

    /// A place whose executions return rows and take no time, and that obeys whatever it is told.
    pub(super) fn with_rows(dialect: SqlDialect, rows: FakeRows) -> Self {
        let place = Self::with_answers(dialect, |_, _| Ok(vec!["8.4.1"]));
        Self { behaviour: FakeBehaviour { rows, ..place.behaviour }, ..place }
    }

    /// A place that answers questions by a function.
    pub(super) fn with_answers(dialect: SqlDialect, answers: FakeAnswers) -> Self {
        let place = Self::new(dialect, |_, _, _| Ok(Nanos::ZERO));
        Self { behaviour: FakeBehaviour { answers, ..place.behaviour }, ..place }
    }

    /// Has a question answered with rows, whose values are between spaces.
    pub(super) fn answer(&self, sql: &str, columns: &[&str], rows: &[&str]) {
        let row = |row: &&str| row.split(' ').map(|value| Some(value.to_owned())).collect();
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        let table = QueryTable { columns, rows: rows.iter().map(row).collect() };
        locked(&self.state).tables.push((sql.to_owned(), table));
    }

    /// Has a text refused that is to be prepared.
    pub(super) fn refuse_to_prepare(&self, sql: &str) {
        locked(&self.state).unprepared.push(sql.to_owned());
    }

    /// The texts that were executed, with their parameters.
    pub(super) fn executed(&self) -> Vec<(String, Vec<SqlValue>)> {
        locked(&self.state).executed.clone()
    }

    /// The questions that were asked, with what steers the session.
    pub(super) fn questions(&self) -> Vec<String> {
        locked(&self.state).questions.clone()
    }

    pub(super) fn session(&self) -> QuerySession<'_> {
        let bound = StatementBound { limit: Nanos::from_secs(1), stop: RunStop::default() };
        QuerySession::open(self, &bound, false).expect("a session")
    }
}

impl QueryPlace for FakePlace {
    fn connect(&self, _: &StatementBound) -> Result<Box<dyn StatementConnection>, LabError> {
        Ok(Box::new(FakeConnection {
            behaviour: self.behaviour,
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
        "fake".to_owned()
    }
}

impl StatementConnection for FakeConnection {
    fn prepare(&mut self, sql: &str) -> StatementAnswer<PreparedForm> {
        if locked(&self.state).unprepared.iter().any(|text| text == sql) {
            return Err(failure("1295: not supported in the prepared statement protocol yet"));
        }
        Ok(self.kept(sql))
    }

    fn execute(
        &mut self,
        form: &PreparedForm,
        parameters: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let sql = self.prepared[form.handle as usize].clone();
        let answer = self.result(&sql, parameters);
        self.is_given_up |= matches!(answer, Err(GIVEN_UP));
        let (time, returned) = answer.map_err(failure)?;
        if !sql.starts_with("UPDATE") {
            show(&returned, rows);
        }
        let sent = self.present;
        self.present = sent + time;
        Ok(ExecutionInstants {
            sent,
            done: self.present,
            rows: returned.len() as u64,
            bytes: 8,
            unlisted_rows: u64::from(parameters.first() == Some(&SqlValue::Integer(UNSEEN))),
        })
    }

    fn run_text(
        &mut self,
        sql: &str,
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let form = self.kept(sql);
        self.execute(&form, &[], rows)
    }

    fn table(&mut self, sql: &str) -> StatementAnswer<QueryTable> {
        let mut state = locked(&self.state);
        let answer = (self.behaviour.answers)(sql, &state.questions);
        state.questions.push(sql.to_owned());
        let known = state.tables.iter().find(|(text, _)| text == sql);
        match (answer, known) {
            (Ok(row), _) => {
                let row = row.into_iter().map(|value| Some(value.to_owned())).collect();
                Ok(QueryTable { columns: Vec::new(), rows: vec![row] })
            }
            (Err(_), Some((_, table))) => Ok(table.clone()),
            (Err(message), None) => Err(failure(message)),
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

impl FakeConnection {
    fn kept(&mut self, sql: &str) -> PreparedForm {
        let handle = u32::try_from(self.prepared.len()).expect("few statements");
        self.prepared.push(sql.to_owned());
        PreparedForm { handle, ..PreparedForm::default() }
    }

    /// How long an execution takes, and what it returns.
    fn result(
        &self,
        sql: &str,
        parameters: &[SqlValue],
    ) -> Result<(Nanos, Vec<Vec<SqlValue>>), &'static str> {
        let mut state = locked(&self.state);
        let time = (self.behaviour.execution)(sql, parameters, state.executed.len() as u64);
        state.executed.push((sql.to_owned(), parameters.to_vec()));
        Ok((time?, (self.behaviour.rows)(sql, parameters)?))
    }
}

fn locked(state: &Mutex<FakeState>) -> MutexGuard<'_, FakeState> {
    state.lock().expect("a lock")
}

/// Shows rows of the columns `id` and `name`, or of the first of them.
fn show(rows: &[Vec<SqlValue>], visitor: &mut dyn RowVisitor) {
    let columns = ["id", "name"].map(str::to_owned);
    visitor.begin(&columns[..rows.first().map_or(2, Vec::len)]);
    for row in rows {
        row.iter().for_each(|value| visitor.cell(cell(value)));
        visitor.end_row();
    }
}

fn cell(value: &SqlValue) -> CellValue<'_> {
    match value {
        SqlValue::Null => CellValue::Null,
        SqlValue::Integer(value) => CellValue::Integer(*value),
        SqlValue::Real(value) => CellValue::Real(*value),
        SqlValue::Text(text) => CellValue::Text(text.as_bytes()),
    }
}

/// Of `CODE: MESSAGE`, or of a message alone.
fn failure(text: &'static str) -> Box<DatabaseFailure> {
    let (code, message) = text.split_once(": ").unwrap_or(("1", text));
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
        plan_only: false,
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
