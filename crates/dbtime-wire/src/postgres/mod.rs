//! The PostgreSQL frontend/backend protocol 3.0, as PostgreSQL 9.6 to 18 speak it.
//!
//! Source: PostgreSQL manual, chapter "Frontend/Backend Protocol".

mod answer;
mod error;
mod row;
mod start;

pub use answer::{ExpectedResponse, PostgresResponse, PostgresResponseReader, TransactionStatus};
pub use error::PostgresError;
pub use row::{PostgresColumn, cells, columns};
pub use start::{Authentication, parameter_status};

use crate::MalformedMessage;

/// First bytes of messages that clients send.
pub mod frontend {
    /// Binds values to a prepared statement.
    pub const BIND: u8 = b'B';
    /// Forgets a prepared statement or portal.
    pub const CLOSE: u8 = b'C';
    /// A piece of a COPY.
    pub const COPY_DATA: u8 = b'd';
    /// The end of a COPY.
    pub const COPY_DONE: u8 = b'c';
    /// A COPY is given up.
    pub const COPY_FAIL: u8 = b'f';
    /// Asks for the types of a statement's parameters and columns.
    pub const DESCRIBE: u8 = b'D';
    /// Executes what was bound.
    pub const EXECUTE: u8 = b'E';
    /// Wants what was answered so far to be sent.
    pub(crate) const FLUSH: u8 = b'H';
    /// Prepares a statement.
    pub const PARSE: u8 = b'P';
    /// A password, or what stands for one.
    pub const PASSWORD: u8 = b'p';
    /// Statement as text.
    pub const QUERY: u8 = b'Q';
    /// Ends a series of messages; the server answers by ReadyForQuery.
    pub const SYNC: u8 = b'S';
    /// Says goodbye; there is no answer.
    pub const TERMINATE: u8 = b'X';
    /// FunctionCall.
    pub const FUNCTION_CALL: u8 = b'F';

    /// What a request is called that is known by this message of it.
    pub fn request_name(tag: u8) -> Option<&'static str> {
        Some(match tag {
            QUERY => "QUERY",
            PARSE => "PREPARE",
            EXECUTE => "EXECUTE",
            BIND => "BIND",
            CLOSE => "CLOSE",
            DESCRIBE => "DESCRIBE",
            FUNCTION_CALL => "FUNCTION",
            FLUSH => "FLUSH",
            SYNC => "SYNC",
            TERMINATE => "TERMINATE",
            _ => return None,
        })
    }
}

/// First bytes of messages that servers send.
pub mod backend {
    /// What the server wants to know before it lets anybody in, or that it does.
    pub const AUTHENTICATION: u8 = b'R';
    /// Number and secret of the process that serves this connection.
    pub const KEY_DATA: u8 = b'K';
    /// Values have been bound.
    pub const BIND_COMPLETE: u8 = b'2';
    /// A prepared statement or portal has been forgotten.
    pub const CLOSE_COMPLETE: u8 = b'3';
    /// A statement has ended; how many rows.
    pub const COMMAND_COMPLETE: u8 = b'C';
    /// A piece of a COPY.
    pub(crate) const COPY_DATA: u8 = b'd';
    /// The end of a COPY.
    pub(crate) const COPY_DONE: u8 = b'c';
    /// The server waits for the data of a COPY.
    pub(crate) const COPY_IN: u8 = b'G';
    /// The data of a COPY follows.
    pub(crate) const COPY_OUT: u8 = b'H';
    /// A row.
    pub const DATA_ROW: u8 = b'D';
    /// The statement was empty.
    pub(crate) const EMPTY_QUERY: u8 = b'I';
    /// It failed.
    pub const ERROR: u8 = b'E';
    /// The server does not know a newer protocol that was asked for.
    pub const NEGOTIATE: u8 = b'v';
    /// There are no columns.
    pub const NO_DATA: u8 = b'n';
    /// A warning or remark.
    pub const NOTICE: u8 = b'N';
    /// What somebody sent to a channel.
    pub(crate) const NOTIFICATION: u8 = b'A';
    /// Types of a statement's parameters.
    pub const PARAMETER_DESCRIPTION: u8 = b't';
    /// A setting that clients should know.
    pub const PARAMETER_STATUS: u8 = b'S';
    /// A statement has been prepared.
    pub const PARSE_COMPLETE: u8 = b'1';
    /// There are more rows than were asked for.
    pub(crate) const PORTAL_SUSPENDED: u8 = b's';
    /// The server waits for the next statement.
    pub const READY: u8 = b'Z';
    /// Names and types of columns.
    pub const ROW_DESCRIPTION: u8 = b'T';
}

/// Bytes before each message's own: one that names it, four of length.
pub const HEADER: usize = 5;

/// No server makes a longer message: it could not allocate it (`MaxAllocSize`).
pub(crate) const MAX_MESSAGE: usize = (1 << 30) - 1;

/// What a message is, and how many bytes follow its header. `None`: the header is not whole.
///
/// # Errors
/// When the length is none.
#[inline]
pub fn header(bytes: &[u8]) -> Result<Option<(u8, usize)>, MalformedMessage> {
    let Some([tag, a, b, c, d]) = bytes.first_chunk::<HEADER>().copied() else { return Ok(None) };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    // The length counts itself.
    match length.checked_sub(4) {
        Some(length) if length <= MAX_MESSAGE => Ok(Some((tag, length))),
        _ => Err(MalformedMessage("a message of impossible length")),
    }
}

/// Begins a message: what is written to `out` next belongs to it, until [`end_message`] gets what
/// is returned here.
#[inline]
#[must_use]
pub fn begin_message(tag: u8, out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    out.len() - 4
}

/// Ends a message that was begun.
#[inline]
pub fn end_message(begun: usize, out: &mut [u8]) {
    let length = (out.len() - begun) as u32;
    out[begun..begun + 4].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_headers() {
        let mut out = b"before".to_vec();
        let begun = begin_message(frontend::QUERY, &mut out);
        out.extend_from_slice(b"SELECT 1\0");
        end_message(begun, &mut out);
        assert_eq!(&out[6..], b"Q\0\0\0\x0dSELECT 1\0");
        assert_eq!(header(&out[6..]), Ok(Some((b'Q', 9))));
        assert_eq!(header(b"Q\0\0\0"), Ok(None));
        assert!(header(b"Q\0\0\0\x03").is_err());
        assert!(header(b"HTTP/1.1 400").is_err(), "another protocol");
    }
}
