//! The one abstraction every transaction speaks: a program that is resumed with what happened and
//! says what to do next.
//!
//! A program does no input or output and reads no clock; an engine runs it on a real database, a
//! test on a simulated one.
//!
//! ```text
//!   engine ── start(ticket) ──► program
//!          ◄─ Execute ─────────
//!          ── Answered ───────►
//!          ◄─ Execute ─────────
//!          ── Answered ───────►
//!          ◄─ Done ────────────
//! ```

use crate::connection_op::ConnectionOp;
use crate::failure::DatabaseFailure;
use crate::results::ResultSets;
use dbtime_model::{ErrorClass, MonoNanos, Nanos, OperationId, Sample, StatementId};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Ask something of the connection, and be told by [`Program::replied`]. What fails is the
    /// program's affair: nothing is undone or tried again for it.
    Perform {
        /// What the script wants done.
        op: ConnectionOp<'a>,
        /// The statement that it is booked under; `None`: it is no statement.
        statement: Option<StatementId>,
        /// Which of the client's connections it is for; it has one, 0, and others as it asks.
        connection: u16,
    },
    /// Pause inside the transaction; counted as think time.
    Sleep(Nanos),
    /// The transaction is complete.
    Done,
    /// The transaction has failed.
    Failed(ErrorClass),
    /// The transaction has failed, and so has its client, who asks for no other.
    Quit {
        /// Why the transaction failed; `None`: it is complete.
        failed: Option<ErrorClass>,
        /// Whether the run ends with it.
        all: bool,
    },
}

/// A part of a client's life outside of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPhase {
    /// Before the load.
    Open,
    /// After it.
    Close,
}

/// A transaction's script. It stays on the thread that made it.
pub trait Program {
    /// Sets the program to the beginning of a transaction. The same ticket gives the same
    /// statements and parameters, so a retry is a second start.
    fn start(&mut self, ticket: &Ticket);

    /// Tells what happened and asks what to do next.
    fn resume(&mut self, event: ProgramEvent<'_>) -> ProgramStep<'_>;

    /// What became of a [`ProgramStep::Ask`]; asks what to do next. The results may be taken.
    fn replied(&mut self, _reply: Result<&mut ResultSets, &DatabaseFailure>) -> ProgramStep<'_> {
        ProgramStep::Done
    }

    /// Sets the program to the beginning of a phase; it is over when a step says `Done`. One that
    /// asks for nothing there has none.
    fn begin(&mut self, _phase: ProgramPhase) -> Option<ProgramStep<'_>> {
        None
    }

    /// Which operation the transaction of a ticket is, where the program decides that and not the
    /// mix. Asked once, before [`Self::start`].
    fn operation(&mut self, ticket: &Ticket) -> OperationId {
        ticket.operation
    }

    /// Attempts beyond the first that the program made by itself in this transaction.
    fn retries(&self) -> u32 {
        0
    }

    /// The transaction has ended, or was dropped before this program could begin it.
    fn ended(&mut self, _sample: &Sample) {}
}
