//! A recording of a trace: what was seen, some requests at once, and at the end what it came to in
//! all.
//!
//! ```text
//!   {"begin":{"version":5,…}}⏎
//!   block of kind 1: requests (postcard)        as often as there are some
//!   block of kind 2: {"ledger":…,"totals":…}    the end (JSON)
//! ```
//!
//! Blocks are those of `block_file`. Recordings of the versions 1 to 3 are lines of JSON, which
//! `dbtime trace --json` still prints: [`TraceLineWriter`].

mod recording_file;
#[cfg(test)]
mod tests;
mod trace_lines;
mod trace_reader;
mod trace_writer;

pub use recording_file::{RecordingEnd, RecordingFile};
pub use trace_lines::TraceLineWriter;
pub use trace_reader::TraceReader;
pub use trace_writer::TraceWriter;

use crate::traced::TracedRequest;
use crate::traced_json::LedgerJson;
use crate::traced_ledger::{TraceCost, TraceLedger};
use crate::traced_totals::TracedTotals;
use crate::units::IMPOSSIBLE;
use crate::{MonoNanos, Nanos};
use serde::{Deserialize, Serialize, Serializer};
use std::io;

/// The version that is written. Since 2 a blocker may have no thread; since 3 a request has the
/// form of `dbtime trace --json`; since 4 there are blocks; since 5 these have what requests waited
/// for in the server's socket.
pub const VERSION: u32 = 5;

/// The first version of blocks.
const FIRST_BLOCK_VERSION: u32 = 4;

/// The version of lines.
const LINE_VERSION: u32 = 3;

/// The oldest that is read.
const OLDEST_VERSION: u32 = 1;

/// The kind of a block of requests.
const REQUESTS_KIND: u8 = 1;

/// Requests in one block, at most: each may have the same text, of which the block has one.
const BLOCK_REQUESTS: usize = 1_024;

/// The kind of the last block.
const END_KIND: u8 = 2;

/// The first line.
#[derive(Serialize, Deserialize)]
struct RecordingHeading {
    begin: TraceBegin,
}

/// What stands at the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceBegin {
    /// Of the format.
    pub version: u32,
    /// When it began, on the clock of the requests.
    #[serde(rename = "since_us")]
    pub since: MonoNanos,
    /// The same by the clock on the wall, for people.
    pub clock: String,
    /// The clock of the kernel, by the boot of its machine: what else has it has the same clock.
    /// `None` in recordings of before.
    #[serde(default)]
    pub clock_id: Option<String>,
    /// What was watched, for people.
    pub servers: Vec<String>,
    /// Whether texts hold their literals.
    pub raw_sql: bool,
    /// The step of the distributions; zero: powers of two.
    #[serde(rename = "step_us")]
    pub step: Nanos,
}

/// What stands at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEnd {
    /// How long it was traced.
    #[serde(rename = "length_us")]
    pub length: Nanos,
    /// How long statements were added up, where that ended before the watching did.
    #[serde(default, rename = "added_up_us")]
    pub added_up: Option<Nanos>,
    /// By the clock on the wall, for people.
    pub clock: String,
    /// What became of every request, those included that are not in the file.
    #[serde(serialize_with = "with_vanished")]
    pub ledger: TraceLedger,
    /// What watching took; `None` in files from before that was told.
    #[serde(default)]
    pub cost: Option<TraceCost>,
    /// What statements came to, those included that are not in the file.
    pub totals: TracedTotals,
}

/// A ledger with what follows from it.
fn with_vanished<S: Serializer>(ledger: &TraceLedger, to: S) -> Result<S::Ok, S::Error> {
    LedgerJson::of(ledger).serialize(to)
}

/// What lies behind the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedPart {
    /// Some requests, roughly in the order of their ends.
    Requests(Vec<TracedRequest>),
    /// The last.
    End(Box<TraceEnd>),
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// The system's words.
    #[error(transparent)]
    Io(io::Error),
    /// It begins otherwise.
    #[error("it is no recording of `dbtime trace --record`")]
    NoRecording,
    /// Another program's, or another time's.
    #[error("it has the format {0}; this dbtime reads formats {OLDEST_VERSION} to {VERSION}")]
    Version(u32),
    /// A line that is none.
    #[error("line {number}: {error}: {DAMAGED}")]
    Line {
        /// From 1.
        number: u64,
        /// What is wrong with it.
        error: String,
    },
    /// A block that is none.
    #[error("block {number}: {error}: {DAMAGED}")]
    Block {
        /// From 1.
        number: u64,
        /// What is wrong with it.
        error: String,
    },
}

const DAMAGED: &str = "the recording is damaged; restore it from a copy, or record again";

/// More waits for files are in no sums: the kernel's side has 8192 rows of them. Views compare each
/// with each.
const MAX_FILE_WAITS: usize = 1 << 14;

/// What was read, unless no clock can have shown its times, by which views count and subtract, or
/// it has more rows than are ever compared with each other.
fn possible(part: RecordedPart) -> Result<RecordedPart, &'static str> {
    let (is_possible, file_waits) = match &part {
        RecordedPart::Requests(requests) => (requests.iter().all(TracedRequest::is_possible), 0),
        RecordedPart::End(end) => {
            let lengths = [Some(end.length), end.added_up, Some(end.ledger.unwatched)];
            let is_possible = lengths.into_iter().flatten().all(Nanos::is_possible);
            let rows = end.totals.statements.iter();
            (is_possible, rows.map(|row| row.totals.files.len()).sum::<usize>())
        }
    };
    match is_possible {
        false => Err(IMPOSSIBLE),
        true if file_waits > MAX_FILE_WAITS => Err("it has more waits for files than are counted"),
        true => Ok(part),
    }
}

impl From<io::Error> for TraceFileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::IsADirectory => Self::NoRecording,
            _ => Self::Io(error),
        }
    }
}
