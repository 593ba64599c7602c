//! What both the driver and the tracer know of the MySQL and PostgreSQL protocols: framing, the
//! names of commands and messages, and where an answer ends.
//!
//! Nothing here reads a socket or trusts a byte: every reader takes what has arrived so far, and
//! neither panics nor grows without bound whatever it is given.

#![forbid(unsafe_code)]

mod bytes;
pub mod mysql;
pub mod postgres;

/// How a reader of answers came out of the bytes it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadProgress {
    /// The answer goes on; what was not used must be given again together with what follows.
    More,
    /// The answer has ended.
    Done,
}

/// What a reader hands over of a result, where its rows are wanted.
pub trait ResultRows {
    /// The description of the next column.
    fn column(&mut self, _payload: &[u8]) {}

    /// The descriptions of all columns, where the protocol sends them in one message.
    fn columns(&mut self, _payload: &[u8]) {}

    /// A row.
    fn row(&mut self, payload: &[u8]);

    /// A statement's result has ended, with or without rows; it changed or returned so many.
    fn ended(&mut self, _affected: u64) {}
}

/// Nobody wants the rows: they are counted and skipped.
impl ResultRows for () {
    fn row(&mut self, _: &[u8]) {}
}

/// Bytes that cannot be part of the protocol: the other side speaks another one, or a connection
/// got out of step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedMessage(pub &'static str);

impl std::fmt::Display for MalformedMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the server sent {}", self.0)
    }
}

impl std::error::Error for MalformedMessage {}
