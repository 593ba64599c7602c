//! Messages between a session and its reader: commands, their replies, and the frames that carry
//! them.
//!
//! ```text
//!   session                                     reader (a process of its own, without rights)
//!      │ ── ReaderStart + files ─────────────────► │   once, over the channel it starts with
//!      │ ◄──────────────── Result<ReaderBegin, …> ─│
//!      │ ── ReaderCommand ───────────────────────► │   over the stream beside it: a length of four
//!      │ ◄──── RequestBatch …, then the reply ─────│   bytes, and so many bytes of a message
//! ```
//!
//! Both sides are the same program, so that messages need neither names nor versions (postcard).

use super::trace_options::TraceOptions;
use crate::error::LabError;
use dbtime_model::lock_picture::ServerSession;
use dbtime_model::traced_file::{TraceBegin, TraceEnd};
use dbtime_model::traced_ledger::{TraceCost, TraceLedger};
use dbtime_model::traced_totals::{RowNumber, TracedTotals};
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::{TraceError, TracedServer};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader, ErrorKind, Read, Write};

/// The longest message. Unit: bytes. Sums of 4,096 statements take some megabytes.
const MAX_FRAME_BYTES: usize = 64 << 20;

/// What is read at once where so much is there. Unit: bytes; more than a socket holds.
const READ_BYTES: usize = 256 << 10;

/// Messages wait until they are so many. Unit: bytes.
const MAX_UNSENT_BYTES: usize = 1 << 20;

/// Requests in one message.
pub(super) const BATCH_REQUESTS: usize = 1024;

/// What a reader is started with.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReaderStart {
    /// What is watched.
    pub(super) options: TraceOptions,
    /// A process whose CPU time is part of what watching costs.
    pub(super) charged: Option<u32>,
}

/// What a reader that watches says of it first.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReaderBegin {
    /// As in recordings.
    pub(super) heading: TraceBegin,
    /// The servers that are watched.
    pub(super) servers: Vec<TracedServer>,
    /// What is not measured, a sentence each.
    pub(super) unavailable: Vec<String>,
    /// Whether the kernel does not tell where responses went.
    pub(super) lacks_parts: bool,
    /// Whether it does not show what connections are at.
    pub(super) lacks_activities: bool,
}

/// A command. Each has one reply, `Result<T, ReaderError>` with the `T` that is named; those that
/// hand requests on send a `RequestBatch` for some of them before it, the last of which is empty.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ReaderCommand {
    /// Takes what has come, and looks after the servers. Requests, then a [`ReaderProgress`].
    Poll,
    /// Ends the watching for now, or goes on with it. Reply: `()`.
    Watch {
        /// Whether it goes on.
        is_on: bool,
    },
    /// How many statements have ended so far: `Option<u64>`, `None` where requests are only
    /// counted.
    Statements,
    /// The sums so far: [`TotalsMessage`].
    Totals,
    /// What each connection is at: `Vec<LiveConnection>`.
    Connections,
    /// What sessions were at before the watching began, as far as it goes on: `PriorWork`. Behind
    /// [`Connections`](Self::Connections), which have left that behind.
    Prior,
    /// All stacks so far: `StackTable`.
    Stacks,
    /// The counts so far: `TraceLedger`.
    Ledger,
    /// Names connections from before the watching as a server does. Reply: `()`.
    ListSessions {
        /// The server's process.
        process: u32,
        /// When the list was requested from the server.
        at: MonoNanos,
        /// The list.
        sessions: Vec<ServerSession>,
    },
    /// Ends the watching. Requests, then a [`ReaderOutcome`]; the reader ends behind it.
    Finish,
}

/// What a poll came to, beside requests.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReaderProgress {
    /// What there is to know.
    pub(super) notes: Vec<String>,
    /// The servers that are watched, where these are others than before.
    pub(super) servers: Option<Vec<TracedServer>>,
    /// Whether every server has ended, and none is to come.
    pub(super) is_over: bool,
}

/// Sums with the numbers of their rows, which are no part of the recorded form.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TotalsMessage {
    totals: TracedTotals,
    rows: Vec<RowNumber>,
}

impl From<TracedTotals> for TotalsMessage {
    fn from(totals: TracedTotals) -> Self {
        let rows = totals.statements.iter().map(|statement| statement.row).collect();
        Self { totals, rows }
    }
}

impl From<TotalsMessage> for TracedTotals {
    fn from(TotalsMessage { mut totals, rows }: TotalsMessage) -> Self {
        for (statement, row) in totals.statements.iter_mut().zip(rows) {
            statement.row = row;
        }
        totals
    }
}

/// What the watching came to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReaderOutcome {
    length: Nanos,
    added_up: Option<Nanos>,
    clock: String,
    ledger: TraceLedger,
    cost: Option<TraceCost>,
    totals: TotalsMessage,
    /// Why the recording is not whole; `None`: it is, or there is none.
    pub(super) unrecorded: Option<ReaderError>,
    /// What there is to know.
    pub(super) notes: Vec<String>,
}

impl ReaderOutcome {
    pub(super) fn new(end: TraceEnd, unrecorded: Option<LabError>, notes: Vec<String>) -> Self {
        let TraceEnd { length, added_up, clock, ledger, cost, totals } = end;
        let (totals, unrecorded) = (totals.into(), unrecorded.map(ReaderError::from));
        Self { length, added_up, clock, ledger, cost, totals, unrecorded, notes }
    }

    /// The end as recordings have it.
    pub(super) fn into_end(self) -> TraceEnd {
        let Self { length, added_up, clock, ledger, cost, totals, .. } = self;
        TraceEnd { length, added_up, clock, ledger, cost, totals: totals.into() }
    }
}

/// Why a reader cannot do what it is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ReaderError {
    /// Watching fails.
    Trace(TraceError),
    /// Recording does, or something else of the environment; for people.
    Target(String),
}

impl From<LabError> for ReaderError {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Trace(error) => Self::Trace(error),
            error => Self::Target(error.to_string()),
        }
    }
}

impl From<ReaderError> for LabError {
    fn from(error: ReaderError) -> Self {
        match error {
            ReaderError::Trace(error) => Self::Trace(error),
            ReaderError::Target(text) => Self::Target(text),
        }
    }
}

/// Messages over a stream of bytes.
///
/// What is sent waits for [`FrameStream::flush`], and as much is read as is there: each call that
/// wakes the other process may take longer than all that is in a message.
#[derive(Debug)]
pub(super) struct FrameStream<S: Read> {
    stream: BufReader<S>,
    /// Messages that wait.
    unsent: Vec<u8>,
    received: Vec<u8>,
}

impl<S: Read + Write> FrameStream<S> {
    pub(super) fn new(stream: S) -> Self {
        let stream = BufReader::with_capacity(READ_BYTES, stream);
        Self { stream, unsent: Vec::new(), received: Vec::new() }
    }

    /// What carries the messages.
    pub(super) fn get_mut(&mut self) -> &mut S {
        self.stream.get_mut()
    }

    /// Sends a message, with the next [`FrameStream::flush`] at the latest.
    ///
    /// # Errors
    /// Nobody is at the other end, or the message is too long.
    pub(super) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        if self.unsent.len() >= MAX_UNSENT_BYTES {
            self.flush()?;
        }
        let head = self.unsent.len();
        let mut unsent = std::mem::take(&mut self.unsent);
        unsent.extend([0; 4]);
        self.unsent = postcard::to_extend(message, unsent).map_err(malformed)?;
        let length = self.unsent.len() - head - 4;
        let is_short = u32::try_from(length).ok().filter(|_| length <= MAX_FRAME_BYTES);
        let bytes = is_short.ok_or_else(|| malformed(format!("a message of {length} bytes")))?;
        self.unsent[head..head + 4].copy_from_slice(&bytes.to_le_bytes());
        Ok(())
    }

    /// Sends what waits.
    ///
    /// # Errors
    /// Nobody is at the other end.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let sent = self.stream.get_mut().write_all(&self.unsent);
        self.unsent.clear();
        sent
    }

    /// Waits for a message; `None` where the other end is closed.
    ///
    /// # Errors
    /// The bytes are no such message, or end within one.
    pub(super) fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut head = [0; 4];
        match self.stream.read_exact(&mut head) {
            Err(error) if is_closed(&error) => return Ok(None),
            read => read?,
        }
        let length = u32::from_le_bytes(head) as usize;
        if length > MAX_FRAME_BYTES {
            return Err(malformed(format!("a message of {length} bytes")));
        }
        self.received.resize(length, 0);
        self.stream.read_exact(&mut self.received)?;
        postcard::from_bytes(&self.received).map(Some).map_err(malformed)
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset)
}

fn malformed(why: impl ToString) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why.to_string())
}

#[cfg(test)]
pub(super) mod tests;
