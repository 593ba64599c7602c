//! Formats with one record to a line.

use memchr::{memchr, memrchr};
use std::ops::Range;

/// A line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogLine {
    /// Where it stands in its block.
    pub(super) range: Range<usize>,
    /// Whether its end is there: else the file was cut, or is being written.
    pub(super) has_end: bool,
}

/// The lines of a block that are not empty.
pub(super) fn lines_of(block: &[u8]) -> impl Iterator<Item = LogLine> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = block.get(at..).filter(|rest| !rest.is_empty())?;
        let length = memchr(b'\n', rest);
        let text = &rest[..length.unwrap_or(rest.len())];
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let line = LogLine { range: at..at + text.len(), has_end: length.is_some() };
        at += length.map_or(rest.len(), |length| length + 1);
        Some(line)
    })
    .filter(|line| !line.range.is_empty())
}

/// Where the last line begins that has its end, unless it is the first one.
pub(super) fn last_line(bytes: &[u8]) -> Option<usize> {
    let end = memrchr(b'\n', bytes)?;
    memrchr(b'\n', &bytes[..end]).map(|before| before + 1)
}

/// The first lines of a file, at most so many, each with its end.
pub(super) fn first_lines(head: &[u8], count: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    lines_of(head).filter(|line| line.has_end).map(|line| line.range).take(count)
}

/// Whether at least nine of ten are right, and there is one.
pub(super) fn mostly_right(right: usize, all: usize) -> bool {
    all > 0 && right * 10 >= all * 9
}
