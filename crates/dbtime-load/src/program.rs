//! A transaction of a workload's statements: a program that is resumed with what happened and says
//! what to do next.
//!
//! A program does no input or output and reads no clock; an engine runs it on a real database, a
//! test on a simulated one. Transactions of a script in a foreign language are a
//! [`ScriptProgram`](crate::script::ScriptProgram).
//!
//! ```text
//!   engine ── start(ticket) ──► program
//!          ◄─ Execute ─────────
//!          ── Answered ───────►
//!          ◄─ Execute ─────────
//!          ── Answered ───────►
//!          ◄─ Done ────────────
//! ```

use dbtime_model::{MonoNanos, Nanos, OperationId, StatementId};

/// A value handed to a statement, or read from a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SqlValue {
    /// SQL NULL.
    #[default]
    Null,
    /// A 64-bit integer.
    Integer(i64),
    /// A double.
    Real(f64),
    /// Text.
    Text(String),
}

/// One transaction that is due: everything random about it follows from the seed and `index`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket {
    /// Its number in the run, over all clients and shards.
    pub index: u64,
    /// Which operation it is.
    pub operation: OperationId,
    /// When it is due. In a closed loop: when its client was ready.
    pub due: MonoNanos,
    /// Which client asks, in a closed loop; zero otherwise.
    pub client: u32,
}

/// What happened since the program's last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProgramEvent<'a> {
    /// The transaction starts, at first or again after a retry.
    Started,
    /// The statement answered.
    Answered {
        /// Rows returned, or changed where none are returned.
        rows: u64,
        /// The first row, when the step wanted rows; empty otherwise.
        first: &'a [SqlValue],
    },
    /// A pause is over.
    Resumed,
}

/// What the program wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProgramStep<'a> {
    /// Execute a statement of the workload.
    Execute {
        /// By its position in the workload.
        statement: StatementId,
        /// Its parameters in the order of their placeholders.
        parameters: &'a [SqlValue],
        /// Whether the program wants to see the first row. Rows are always read to the end and
        /// counted. A program that wants none goes by no rows at all: with pipelining it is told of
        /// an answer before there is one.
        needs_row: bool,
    },
    /// Pause inside the transaction; counted as think time.
    Sleep(Nanos),
    /// The transaction is complete.
    Done,
}

/// A transaction's statements. It stays on the thread that made it.
pub trait Program {
    /// Sets the program to the beginning of a transaction. The same ticket gives the same
    /// statements and parameters, so a retry is a second start.
    fn start(&mut self, ticket: &Ticket);

    /// Tells what happened and asks what to do next.
    fn resume(&mut self, event: ProgramEvent<'_>) -> ProgramStep<'_>;
}
