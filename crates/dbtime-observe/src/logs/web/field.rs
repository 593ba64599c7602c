//! What stands between two borders of a line, and where it ends.

use super::time::TimePart;
use crate::logs::json_cursor::quote_at;
use std::ops::Range;

/// What a field of an access log means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessField {
    /// Nothing that a digest has.
    Skipped,
    /// The name of the server, which a digest does not have either.
    ServerName,
    /// The request line: `GET / HTTP/1.1`.
    Request,
    /// The method alone.
    Method,
    /// The path, with or without a query.
    Path,
    /// The query, with or without its question mark.
    Query,
    /// The status of the answer.
    Status,
    /// Bytes to the client.
    Sent,
    /// Bytes from the client.
    Received,
    /// How long it took, in units of so many nanoseconds.
    Duration(u64),
    /// How long it took in seconds, which always have a point.
    PointedTime,
    /// How long it took: seconds with a point, or else milliseconds.
    TakenTime,
    /// A share of the duration in seconds; `-1`: it did not come to that.
    AddedTime,
    /// Likewise, what the server behind took.
    AddedUpstream,
    /// What the servers behind took, one after the other. Unit: seconds.
    Upstream,
    /// From where.
    Host,
    /// From where, with the port.
    HostPort,
    /// From where, as proxies forwarded it: the first of a list.
    Forwarded,
    /// Who.
    User,
    /// The server's process.
    Process,
    /// Its thread.
    Thread,
    /// The connection.
    Connection,
    /// Whether the connection was kept, closed or aborted: `+`, `-` or `X`.
    KeepAlive,
    /// A part of the instant.
    Time(TimePart),
}

/// Where a field ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldShape {
    /// Behind so many bytes.
    Fixed(usize),
    /// Before the text that follows it.
    Plain,
    /// Likewise, as a list with `, ` and ` : ` between its members.
    List,
    /// Before a quote that has no backslash before it.
    Quoted,
    /// Before the first byte that no name of a host has: a path may follow it at once.
    HostName,
    /// With the line.
    Rest,
}

impl AccessField {
    /// Where it ends unless quotes are around it.
    pub(super) const fn shape(self) -> FieldShape {
        match self {
            Self::Time(part) => match part.width() {
                Some(width) => FieldShape::Fixed(width),
                None => FieldShape::Plain,
            },
            Self::Upstream | Self::Forwarded => FieldShape::List,
            _ => FieldShape::Plain,
        }
    }
}

/// A field and the text that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormatStep {
    pub(super) field: AccessField,
    pub(super) shape: FieldShape,
    pub(super) end: Vec<u8>,
}

impl FormatStep {
    /// Whether nothing shows yet where it ends.
    pub(super) fn is_open(&self) -> bool {
        self.end.is_empty() && !matches!(self.shape, FieldShape::Fixed(_))
    }

    /// The field that begins at the start of this range of a block, and where the next one begins;
    /// `None`: what has to follow it does not.
    pub(super) fn value(&self, block: &[u8], rest: Range<usize>) -> Option<(Range<usize>, usize)> {
        let text = block.get(rest.clone())?;
        let length = match self.shape {
            FieldShape::Fixed(width) => width,
            FieldShape::Rest => text.len(),
            FieldShape::HostName => text.iter().take_while(|byte| is_of_host(**byte)).count(),
            _ if self.end.is_empty() => text.len(),
            FieldShape::Plain => find(text, &self.end)?,
            FieldShape::List => list_length(text, &self.end)?,
            FieldShape::Quoted => quote_at(text)?,
        };
        let behind = text.get(length..)?;
        let end = rest.start + length;
        behind.starts_with(&self.end).then(|| (rest.start..end, end + self.end.len()))
    }
}

/// Whether a name of a host, or an address with its port, may have a byte.
const fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']')
}

/// Where the text with this end, which is not empty, has it first.
fn find(text: &[u8], end: &[u8]) -> Option<usize> {
    let (first, others) = end.split_first()?;
    memchr::memchr_iter(*first, text).find(|at| text[at + 1..].starts_with(others))
}

/// How long a list is whose members may be followed by the same text as the list itself.
fn list_length(text: &[u8], end: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + find(text.get(at..)?, end)?;
        at = if text[..found].ends_with(b",") {
            found + 1
        } else if text[found..].starts_with(b" : ") {
            found + 3
        } else {
            return Some(found);
        };
    }
}
