//! Waiting for files, by file and part.

use crate::Part;
use serde::{Deserialize, Serialize};

/// What was waited for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum WaitedFile {
    /// A file, by its name; on the embedded engine the kind of file.
    Named,
    /// Pages of mapped files.
    Mapped,
    /// All for which there was no room: beyond eight files of a request, or a thousand rows.
    Others,
    /// What is left of the part.
    #[default]
    NotNamed,
}

/// Waiting for a file in one part of the responses. On the embedded engine the waits inside the
/// window count, whichever transaction they belong to: one that was under way at an end of it can
/// make the rows differ from the part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetFileWait {
    /// The operation and statement that waited: `tpcb: commit`; `null` where that is not one.
    pub waiter: Option<String>,
    /// What kind of thing it is.
    pub kind: WaitedFile,
    /// The file's name: without its folder; of PostgreSQL what is in it, `DATABASE/TABLE`, where
    /// that is known; on the embedded engine `database`, `wal`, `journal`, `temporary` or `other`.
    /// `null` for all kinds but `named`.
    pub file: Option<String>,
    /// Which part of the responses: `io_read`, `io_write` or `sync`.
    pub part: Part,
    /// How often it was waited for: on the embedded engine calls that blocked, on a server waits,
    /// of which one call may have several. `null` for `not_named`.
    pub count: Option<u64>,
    /// How long in all, in seconds. On a server all rows of a part together are the part.
    pub wait_s: f64,
    /// The same in percent of that part.
    pub share_pct: f64,
}
