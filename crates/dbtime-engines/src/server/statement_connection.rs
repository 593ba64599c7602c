//! A connection for one statement after the other, whose rows are looked at as they come.
//!
//! It is no part of a load: whoever compares forms of a statement, or counts what one reads,
//! executes it here, and keeps of its rows what there is room for.

use crate::drive::plan::RunStop;
use crate::socket::QueryTable;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::{MonoNanos, Nanos, Parts};

/// What comes of an exchange.
pub type StatementAnswer<T> = Result<T, Box<DatabaseFailure>>;

/// One connection. Every exchange over it ends by its [`StatementBound`]; behind one that was given
/// up all others fail at once.
pub trait StatementConnection {
    /// Prepares a statement with the database's own placeholders: `?`, of PostgreSQL `$1`. It stays
    /// prepared until [`Self::forget`].
    ///
    /// # Errors
    /// What the database says, when the connection is lost, and when the bound ends it.
    fn prepare(&mut self, sql: &str) -> StatementAnswer<PreparedForm>;

    /// Executes a prepared statement to its end; `rows` sees every row as it comes, none of which
    /// is kept.
    ///
    /// # Errors
    /// As [`Self::prepare`]; another number of parameters than it has.
    fn execute(
        &mut self,
        form: &PreparedForm,
        parameters: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants>;

    /// Executes a text that is not prepared and has no parameters; of several results `rows` sees
    /// the last one that has columns.
    ///
    /// # Errors
    /// As [`Self::prepare`].
    fn run_text(
        &mut self,
        sql: &str,
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants>;

    /// The rows of a question of dbtime's own, as text; at most a few megabytes.
    ///
    /// # Errors
    /// As [`Self::prepare`]; a longer answer.
    fn table(&mut self, sql: &str) -> StatementAnswer<QueryTable>;

    /// Forgets a prepared statement.
    fn forget(&mut self, form: PreparedForm);

    /// The number that a server gave the connection, by which its statement can be ended there;
    /// `None`: there is none.
    fn number(&self) -> Option<u32>;

    /// What names the connection at both of its ends; `None`: it has no other end, or none that
    /// could be named.
    fn key(&self) -> Option<ConnectionKey> {
        None
    }

    /// Whether the last exchange was given up: the database may still be at it.
    fn is_given_up(&self) -> bool;

    /// Whether the library that executes statements counts what each of their steps does, from the
    /// next [`Self::prepare`] on; without effect on a server, which is asked in SQL.
    fn count_steps(&mut self, _is_on: bool) {}

    /// What the steps of the last [`Self::execute`] did; empty: they were not counted.
    fn last_steps(&self) -> Vec<ExecutedStep> {
        Vec::new()
    }

    /// What the library counted for the last [`Self::execute`], by its own names; empty of a
    /// server.
    fn last_counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Where the time of the last [`Self::execute`] went, closed against its instants; `None`: the
    /// connection does not measure that.
    fn last_parts(&self) -> Option<Parts> {
        None
    }
}

/// A step of an execution, as the library that did it counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutedStep {
    /// Its number.
    pub id: i64,
    /// The number of the step that it belongs to; 0: none.
    pub parent: i64,
    /// What the planner says of it: `SEARCH t USING INDEX i (a=?)`.
    pub detail: String,
    /// The table or index.
    pub name: Option<String>,
    /// How often it was begun.
    pub loops: u64,
    /// Rows that it returned, over all loops.
    pub rows: u64,
    /// Rows that the planner expected of a loop; `None`: it expected nothing.
    pub estimated_rows: Option<f64>,
    /// Cycles of the time stamp counter that it took; `None`: they were not counted.
    pub cycles: Option<u64>,
}

/// How long an execution may take, and what ends it before. A result may have any length.
#[derive(Clone, Debug)]
pub struct StatementBound {
    /// From the request to the last byte.
    pub limit: Nanos,
    /// What ends all.
    pub stop: RunStop,
}

/// A statement that is prepared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreparedForm {
    /// What the connection knows it by.
    pub handle: u32,
    /// How many parameters it takes; `None`: the database does not say before it is executed.
    pub parameters: Option<usize>,
    /// The names of its columns; empty where it returns no rows.
    pub columns: Vec<String>,
}

/// When an execution was under way, and what it brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionInstants {
    /// When it was sent.
    pub sent: MonoNanos,
    /// When the last byte of its answer was there.
    pub done: MonoNanos,
    /// Rows returned, or changed where none are returned.
    pub rows: u64,
    /// Bytes of the answer.
    pub bytes: u64,
    /// Rows among them that were too long to be looked at: the visitor has not seen them.
    pub unlisted_rows: u64,
}

/// Who looks at rows. What it is given is gone when it returns.
pub trait RowVisitor {
    /// A result begins, with these columns; what was seen before belongs to another one.
    fn begin(&mut self, columns: &[String]);

    /// The next value of a row.
    fn cell(&mut self, value: CellValue<'_>);

    /// The row is complete.
    fn end_row(&mut self);
}

/// Nobody looks: rows are counted.
impl RowVisitor for () {
    fn begin(&mut self, _: &[String]) {}
    fn cell(&mut self, _: CellValue<'_>) {}
    fn end_row(&mut self) {}
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellValue<'a> {
    /// SQL NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A whole number beyond that.
    Unsigned(u64),
    /// A floating-point number.
    Real(f64),
    /// A decimal number as the database writes it.
    Decimal(&'a [u8]),
    /// A text, and whatever else the database writes as text, such as a date. It need not be UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
}
