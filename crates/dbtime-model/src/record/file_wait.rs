//! Waiting for files, by file and part.

use crate::Part;
use serde::{Deserialize, Serialize};

/// What was waited for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum WaitedFile {
    /// A file, on the embedded engine its kind.
    Named,
    /// Pages of mapped files.
    Mapped,
    /// The rest, beyond eight files of a request or a thousand rows.
    Others,
    /// The remainder of the part.
    #[default]
    NotNamed,
}

/// Waiting for a file in one part of the responses. On the embedded engine in the window, whichever
/// transaction it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetFileWait {
    /// Operation and statement: `tpcb: commit`.
    pub waiter: Option<String>,
    /// Kind of thing.
    pub kind: WaitedFile,
    /// Of `named`: without its folder; of PostgreSQL `DATABASE/TABLE` where known; on the embedded
    /// engine `database`, `wal`, `journal`, `temporary` or `other`.
    pub file: Option<String>,
    /// `io_read`, `io_write` or `sync`.
    pub part: Part,
    /// Calls that blocked, on a server waits; `None` for `not_named`.
    pub count: Option<u64>,
    /// Time waited; on a server all rows of a part come to the part.
    pub wait_s: f64,
    /// Of that part.
    pub share_pct: f64,
}
