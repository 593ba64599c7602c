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

crate::named_variants! {
    /// Failures grouped by what a client can do about them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ErrorClass {
        /// The database was locked for longer than the busy timeout (SQLITE_BUSY, SQLITE_LOCKED,
        /// 1205).
        Busy = "busy",
        /// A deadlock victim or a serialization failure (1213, 40001, 40P01): the retry starts
        /// afresh.
        Conflict = "conflict",
        /// A constraint refused the row.
        Constraint = "constraint",
        /// No room left: disk or table full.
        Full = "full",
        /// A read, write or sync failed in the operating system.
        Io = "io",
        /// The database file is damaged or is no database.
        Corrupt = "corrupt",
        /// The database, table or file may only be read.
        ReadOnly = "read_only",
        /// The connection was lost or could not be made.
        Connection = "connection",
        /// A statement took longer than its limit.
        Timeout = "timeout",
        /// The driver broke the statement off, at the end of a run.
        Interrupted = "interrupted",
        /// The statement itself is wrong: syntax, missing table, bad parameter.
        Statement = "statement",
        /// Everything else.
        Other = "other",
    }
}

impl ErrorClass {
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
