//! What became of a transaction. A failed database operation is an outcome, never an `Err`.

use serde::{Deserialize, Serialize};

/// How one offered transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Its last statement answered.
    Completed,
    /// It failed, and no retry was allowed or left.
    Failed(ErrorClass),
    /// The backlog policy gave it up before it was sent.
    Dropped,
    /// The run ended before it did; its age enters the response histogram.
    Unfinished,
}

/// Failures grouped by what a client can do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The database was locked for longer than the busy timeout (SQLITE_BUSY, SQLITE_LOCKED, 1205).
    Busy,
    /// A deadlock victim or a serialization failure (1213, 40001, 40P01): the retry starts afresh.
    Conflict,
    /// A constraint refused the row.
    Constraint,
    /// No room left: disk or table full.
    Full,
    /// A read, write or sync failed in the operating system.
    Io,
    /// The database file is damaged or is no database.
    Corrupt,
    /// The database, table or file may only be read.
    ReadOnly,
    /// The connection was lost or could not be made.
    Connection,
    /// A statement took longer than its limit.
    Timeout,
    /// The driver broke the statement off, at the end of a run.
    Interrupted,
    /// The statement itself is wrong: syntax, missing table, bad parameter.
    Statement,
    /// Everything else.
    Other,
}

impl ErrorClass {
    /// Every class, in the order of the enum.
    pub const ALL: [Self; 12] = [
        Self::Busy,
        Self::Conflict,
        Self::Constraint,
        Self::Full,
        Self::Io,
        Self::Corrupt,
        Self::ReadOnly,
        Self::Connection,
        Self::Timeout,
        Self::Interrupted,
        Self::Statement,
        Self::Other,
    ];

    /// The name used in workload files and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Conflict => "conflict",
            Self::Constraint => "constraint",
            Self::Full => "full",
            Self::Io => "io",
            Self::Corrupt => "corrupt",
            Self::ReadOnly => "read_only",
            Self::Connection => "connection",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
            Self::Statement => "statement",
            Self::Other => "other",
        }
    }

    /// Whether a wait can have been the reason, so that less waiting could have spared the error.
    pub fn may_follow_from_waits(self) -> bool {
        match self {
            Self::Busy
            | Self::Conflict
            | Self::Connection
            | Self::Timeout
            | Self::Interrupted
            | Self::Other => true,
            Self::Constraint
            | Self::Full
            | Self::Io
            | Self::Corrupt
            | Self::ReadOnly
            | Self::Statement => false,
        }
    }
}
