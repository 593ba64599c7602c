//! The driver's side of a run, statement by statement, for a join with a recording of the server's:
//! `driven.blocks` of a record.
//!
//! ```text
//!   {"driven":{"version":2,…}}⏎
//!   block of kind 1: statements and transactions (postcard)   as often as there are some
//!   block of kind 2: the names, and what it came to (JSON)
//!   where the last block begins: u64, little-endian
//! ```
//!
//! Blocks are those of `block_file`. Instants are nanoseconds of the driver's `CLOCK_MONOTONIC`,
//! durations nanoseconds. The end is read first: a file without one is not whole.

mod driven_reader;
mod driven_rows;
mod driven_writer;
#[cfg(test)]
mod tests;

pub use driven_reader::DrivenReader;
pub use driven_writer::DrivenWriter;

use crate::MonoNanos;
use crate::recorder::Window;
use serde::{Deserialize, Serialize};
use std::io;

/// The version that is written, and the only one that is read: the rows of a block have no names.
pub const VERSION: u32 = 2;

/// The kind of a block of rows.
const ROWS_KIND: u8 = 1;

/// The kind of the last block.
const END_KIND: u8 = 2;

/// What stands at the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenBegin {
    /// Of the format.
    pub version: u32,
    /// The driver's clock: recordings with the same one have the same clock. The boot of its
    /// machine, and what its time namespace adds, where it has one.
    pub clock_id: String,
    /// When the load began.
    pub start_ns: u64,
    /// When the window began.
    pub window_start_ns: u64,
    /// When it was to end; the largest number: by a count of transactions.
    pub window_end_ns: u64,
}

impl DrivenBegin {
    /// The window of the run.
    pub fn window(&self) -> Window {
        Window { start: MonoNanos(self.window_start_ns), end: MonoNanos(self.window_end_ns) }
    }
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct DrivenHeading {
    driven: DrivenBegin,
}

/// What stands at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenEnd {
    /// The names of everything.
    pub names: DrivenNames,
    /// When the first statement was sent; the largest number: there is none.
    pub first_sent_ns: u64,
    /// When the last answer was read.
    pub last_read_ns: u64,
    /// How many transactions were due in the window.
    pub window_transactions: u64,
}

/// The names behind the numbers of operations and statements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenNames {
    /// By [`OperationId`](crate::OperationId).
    pub operations: Vec<String>,
    /// By [`StatementId`](crate::StatementId).
    pub statements: Vec<DrivenStatementName>,
}

/// What a statement is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrivenStatementName {
    /// The number of its operation.
    pub operation: u16,
    /// Its name in the workload.
    pub name: String,
    /// Its text without literals and parameters.
    pub fingerprint: String,
}

/// What is to be done about one that was not kept as it was written.
const DAMAGED: &str =
    "the file is damaged or incomplete; restore it from a copy, or repeat the run";

/// Why such a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DrivenFileError {
    /// The system's words.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It begins otherwise, or is of another version.
    #[error("it is none of this dbtime's files of a driver's statements (format {VERSION})")]
    NoDrivenFile,
    /// A block that is none.
    #[error("block {number}: {error}: {DAMAGED}")]
    Block {
        /// From 1.
        number: u64,
        /// What is wrong with it.
        error: String,
    },
    /// Its end, which names everything, is not there.
    #[error("it has no end: {DAMAGED}")]
    NoEnd,
    /// Its end does not name what a row refers to.
    #[error("its end does not name {what} {number}: {DAMAGED}")]
    Unnamed {
        /// An operation or a statement.
        what: &'static str,
        /// From 0.
        number: u16,
    },
}
