//! Reading logs of servers: which statements or requests took the time.
//!
//! ```text
//!   input ─► blocks, each cut where a record begins ─► workers: read() ─► batches, in order
//!                                                                            │
//!                        LogDigest ◄── digest: sums by class ◄── joiner ◄────┘
//! ```
//!
//! Where a record begins is a matter of the bytes alone, never of the block they are in, and what a
//! block's records mean for each other across blocks (the last time, the database in use, a
//! duration that belongs to a statement further up) is joined in the order of the file. So neither
//! the size of blocks nor the number of workers changes a digest.

mod batch;
mod class_texts;
mod digest;
mod engine;
mod json_cursor;
mod lines;
mod mysql;
mod numbers;
mod postgres;
mod reader;
mod record;
mod web;

pub(crate) use batch::{EntryKind, LogSpan, PieceTime, RecordBatch, RecordPiece};
pub(crate) use class_texts::{ClassNamer, ClassTexts};
pub use engine::{
    FormatChoice, LogError, LogPlan, LogProgress, TimeBound, UnsavedState, digest_logs,
    digest_unsaved,
};
pub(crate) use reader::{BorderState, LogReader, RecordJoiner};
pub(crate) use record::{JoinedRecord, RecordSink};
pub use web::{AccessFormat, LogFormatError, RouteNamer};

/// The longest record. Longer ones are counted as unread. Unit: bytes.
pub(crate) const MAX_RECORD_BYTES: usize = 16 << 20;
