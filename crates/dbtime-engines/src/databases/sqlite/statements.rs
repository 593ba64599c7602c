//! A connection for one statement after the other, whose rows are looked at as they come.
//!
//! It executes on the calling thread, and measures nothing but when an execution begins and ends:
//! calls on files go to SQLite's own VFS. [`SqliteTarget::measured_statements`] measures where the
//! time goes, too, as connections of a load do.

use super::admin::OpenedFile;
use super::connection::{CACHE_COUNTERS, measured_parts};
use super::database::MeasureLevel;
use super::error::SqliteError;
use super::failure::DatabaseFailure;
use super::ffi::{ExecutionLimit, SeenRows, SqliteHandle, SqlitePrepared};
use super::target::SqliteTarget;
use crate::server::{
    CellValue, ExecutedStep, ExecutionInstants, PreparedForm, RowVisitor, StatementAnswer,
    StatementBound, StatementConnection,
};
use crate::socket::QueryTable;
use dbtime_load::program::SqlValue;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Parts};
use rusqlite::ffi;
use std::rc::Rc;

/// What SQLite counts of a statement.
const STATEMENT_COUNTERS: [(&str, i32); 6] = [
    ("FULLSCAN_STEP", ffi::SQLITE_STMTSTATUS_FULLSCAN_STEP),
    ("SORT", ffi::SQLITE_STMTSTATUS_SORT),
    ("AUTOINDEX", ffi::SQLITE_STMTSTATUS_AUTOINDEX),
    ("VM_STEP", ffi::SQLITE_STMTSTATUS_VM_STEP),
    ("REPREPARE", ffi::SQLITE_STMTSTATUS_REPREPARE),
    ("RUN", ffi::SQLITE_STMTSTATUS_RUN),
];

/// The names of [`CACHE_COUNTERS`].
const CACHE_NAMES: [&str; 4] = ["CACHE_HIT", "CACHE_MISS", "CACHE_WRITE", "CACHE_SPILL"];

/// Bytes of the answer to a question of dbtime's own.
const MAX_TABLE_BYTES: usize = 8 << 20;

/// One connection for statements. It stays on the thread that opened it.
pub struct SqliteStatements {
    // Dropped before the connection they belong to; by their handles.
    prepared: Vec<Option<SeenStatement>>,
    connection: LimitedConnection,
    counts_steps: bool,
    /// Of the last execution of a prepared statement.
    steps: Vec<ExecutedStep>,
    counters: Vec<(&'static str, u64)>,
    parts: Option<Parts>,
}

/// A statement that is prepared.
struct SeenStatement {
    prepared: SqlitePrepared,
    columns: Vec<String>,
}

/// A connection whose executions end in time.
struct LimitedConnection {
    db: SqliteHandle,
    limit: Rc<ExecutionLimit>,
    measure: MeasureLevel,
    /// Where the time of what ran last went, where that is measured.
    parts: Option<Parts>,
}

impl SqliteTarget {
    /// Opens a connection for statements to a database that is there, with the target's settings.
    ///
    /// # Errors
    /// There is no such file, it is no database, or it refuses a setting.
    pub fn statements(&self, bound: &StatementBound) -> Result<SqliteStatements, SqliteError> {
        self.statements_with(MeasureLevel::Nothing, bound)
    }

    /// The same with [`StatementConnection::last_parts`]: calls on files go through the timing VFS.
    ///
    /// # Errors
    /// As [`Self::statements`].
    pub fn measured_statements(
        &self,
        bound: &StatementBound,
    ) -> Result<SqliteStatements, SqliteError> {
        self.statements_with(MeasureLevel::Budget, bound)
    }

    fn statements_with(
        &self,
        measure: MeasureLevel,
        bound: &StatementBound,
    ) -> Result<SqliteStatements, SqliteError> {
        let OpenedFile { db, .. } = OpenedFile::open_measured(self, measure)?;
        let limit = Rc::new(ExecutionLimit::new(bound));
        db.end_by(Rc::clone(&limit));
        Ok(SqliteStatements {
            prepared: Vec::new(),
            connection: LimitedConnection { db, limit, measure, parts: None },
            counts_steps: false,
            steps: Vec::new(),
            counters: Vec::new(),
            parts: None,
        })
    }
}

impl LimitedConnection {
    /// Prepares the first statement of a text, and says how long its text is.
    fn prepare_first(&self, sql: &str) -> StatementAnswer<(Option<SeenStatement>, usize)> {
        self.limit.begin();
        let (prepared, used) =
            self.db.prepare_first(sql).map_err(|failure| self.failed(failure))?;
        let ready = |prepared: SqlitePrepared| {
            let columns = prepared.column_names();
            SeenStatement { prepared, columns }
        };
        Ok((prepared.map(ready), used))
    }

    fn run(
        &mut self,
        statement: &mut SeenStatement,
        parameters: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let SeenStatement { prepared, columns } = statement;
        let (counted, given) = (prepared.parameters(), parameters.len());
        if counted != given {
            let failure = DatabaseFailure::parameters("SQLITE_RANGE", "", counted, given);
            return Err(Box::new(failure));
        }
        if !columns.is_empty() {
            rows.begin(columns);
        }
        self.limit.begin();
        let (ran, sent, done) = self.timed(|| prepared.run_seen(parameters, rows));
        let SeenRows { rows, bytes } =
            ran.map_err(|code| self.failed(self.db.failure_of_run(code)))?;
        Ok(ExecutionInstants { sent, done, rows, bytes, unlisted_rows: 0 })
    }

    /// Does something, says when, and measures where that time went, if it is to be.
    fn timed<T>(&mut self, work: impl FnOnce() -> T) -> (T, MonoNanos, MonoNanos) {
        if self.measure == MeasureLevel::Nothing {
            let sent = now();
            let result = work();
            return (result, sent, now());
        }
        let context = self.db.context();
        // Files that are opened meanwhile are this connection's.
        context.enter();
        let mut parts = Parts::default();
        parts.measure(measured_parts(context));
        let sent = context.begin_measuring();
        let result = work();
        let done = context.end_measuring(&mut parts);
        parts.close(done - sent);
        self.parts = Some(parts);
        (result, sent, done)
    }

    #[cold]
    fn failed(&self, failure: DatabaseFailure) -> Box<DatabaseFailure> {
        Box::new(self.limit.explained(failure))
    }

    fn cache_counters(&self) -> [u64; 4] {
        CACHE_COUNTERS.map(|counter| self.db.status(counter))
    }
}

impl SeenStatement {
    /// What SQLite has counted since this was called last.
    fn take_counters(&mut self) -> Vec<(&'static str, u64)> {
        let take = |(name, counter)| (name, self.prepared.take_count(counter));
        STATEMENT_COUNTERS.into_iter().map(take).collect()
    }
}

impl SqliteStatements {
    /// Executes a prepared statement and keeps what was counted meanwhile.
    fn run_counted(
        &mut self,
        handle: u32,
        parameters: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let Some(Some(statement)) = self.prepared.get_mut(handle as usize) else {
            return Err(misuse("the statement is not prepared"));
        };
        statement.prepared.forget_steps();
        statement.take_counters();
        let mark = self.connection.cache_counters();
        let answer = self.connection.run(statement, parameters, rows);
        self.parts = self.connection.parts.take();
        let cache = self.connection.cache_counters();
        self.counters = statement.take_counters();
        // SQLite counts in 32 bits.
        let since = |i: usize| u64::from((cache[i] as u32).wrapping_sub(mark[i] as u32));
        self.counters.extend((0..).zip(CACHE_NAMES).map(|(i, name)| (name, since(i))));
        self.steps = if self.counts_steps { statement.prepared.steps() } else { Vec::new() };
        answer
    }

    /// A handle that is free.
    fn free_handle(&mut self) -> usize {
        let free = self.prepared.iter().position(Option::is_none);
        free.unwrap_or_else(|| {
            self.prepared.push(None);
            self.prepared.len() - 1
        })
    }
}

impl StatementConnection for SqliteStatements {
    fn prepare(&mut self, sql: &str) -> StatementAnswer<PreparedForm> {
        let (statement, used) = self.connection.prepare_first(sql)?;
        let Some(statement) = statement else {
            return Err(misuse("the statement is empty"));
        };
        if self.connection.prepare_first(&sql[used..])?.0.is_some() {
            return Err(misuse("these are several statements: give one"));
        }
        let parameters = Some(statement.prepared.parameters());
        let columns = statement.columns.clone();
        let index = self.free_handle();
        self.prepared[index] = Some(statement);
        Ok(PreparedForm { handle: index as u32, parameters, columns })
    }

    fn execute(
        &mut self,
        form: &PreparedForm,
        parameters: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        self.run_counted(form.handle, parameters, rows)
    }

    fn run_text(
        &mut self,
        mut sql: &str,
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let mut all: Option<ExecutionInstants> = None;
        loop {
            let (statement, used) = self.connection.prepare_first(sql)?;
            let Some(mut statement) = statement else {
                return all.ok_or_else(|| misuse("the statement is empty"));
            };
            let last = self.connection.run(&mut statement, &[], rows)?;
            let sent = all.map_or(last.sent, |all| all.sent);
            let bytes = all.map_or(0, |all| all.bytes) + last.bytes;
            all = Some(ExecutionInstants { sent, bytes, ..last });
            sql = &sql[used..];
        }
    }

    fn table(&mut self, sql: &str) -> StatementAnswer<QueryTable> {
        let mut rows = TableAnswer::default();
        self.run_text(sql, &mut rows)?;
        if rows.bytes > MAX_TABLE_BYTES {
            let text = format!("the answer has more than {} MB", MAX_TABLE_BYTES >> 20);
            return Err(Box::new(DatabaseFailure::statement("SQLITE_TOOBIG", "", text)));
        }
        Ok(rows.table)
    }

    fn forget(&mut self, form: PreparedForm) {
        if let Some(place) = self.prepared.get_mut(form.handle as usize) {
            *place = None;
        }
    }

    fn number(&self) -> Option<u32> {
        None
    }

    /// SQLite ends an execution itself, and is as it was before.
    fn is_given_up(&self) -> bool {
        false
    }

    fn count_steps(&mut self, is_on: bool) {
        self.connection.db.count_steps(is_on);
        self.counts_steps = is_on;
    }

    fn last_steps(&self) -> Vec<ExecutedStep> {
        self.steps.clone()
    }

    fn last_counters(&self) -> Vec<(&'static str, u64)> {
        self.counters.clone()
    }

    fn last_parts(&self) -> Option<Parts> {
        self.parts
    }
}

/// Rows as text, as many as there is room for.
#[derive(Default)]
struct TableAnswer {
    table: QueryTable,
    row: Vec<Option<String>>,
    bytes: usize,
}

impl RowVisitor for TableAnswer {
    fn begin(&mut self, columns: &[String]) {
        self.table = QueryTable { columns: columns.to_vec(), rows: Vec::new() };
    }

    fn cell(&mut self, value: CellValue<'_>) {
        let value = match value {
            // What is too long is refused in the end: nothing of it is kept.
            _ if self.bytes > MAX_TABLE_BYTES => return,
            CellValue::Null => None,
            CellValue::Integer(number) => Some(number.to_string()),
            CellValue::Unsigned(number) => Some(number.to_string()),
            CellValue::Real(number) => Some(format!("{number:?}")),
            CellValue::Decimal(bytes) | CellValue::Text(bytes) | CellValue::Bytes(bytes) => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        };
        let length = value.as_ref().map_or(0, String::len);
        self.bytes += size_of::<Option<String>>() + length;
        self.row.push(value);
    }

    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if self.bytes <= MAX_TABLE_BYTES {
            self.table.rows.push(row);
        }
    }
}

#[cold]
fn misuse(text: &str) -> Box<DatabaseFailure> {
    Box::new(DatabaseFailure::statement("SQLITE_MISUSE", "", text))
}
