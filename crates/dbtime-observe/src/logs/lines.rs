//! Lines of logs, and where records begin among them.

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

/// Where the last line begins that has its end and begins a record, given the line before it and
/// itself; the first line is not looked at.
pub(super) fn last_start(text: &[u8], begins: impl Fn(&[u8], &[u8]) -> bool) -> Option<usize> {
    let mut end = memrchr(b'\n', text)?;
    while let Some(newline) = memrchr(b'\n', &text[..end]) {
        let before = memrchr(b'\n', &text[..newline]).map_or(0, |at| at + 1);
        if begins(&text[before..newline], &text[newline + 1..end]) {
            return Some(newline + 1);
        }
        end = newline;
    }
    None
}

/// The first lines of a file, at most so many, each with its end.
pub(super) fn first_lines(head: &[u8], count: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    lines_of(head).filter(|line| line.has_end).map(|line| line.range).take(count)
}

/// Whether at least nine of ten are right, and there is one.
pub(super) fn mostly_right(right: usize, all: usize) -> bool {
    all > 0 && right * 10 >= all * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_places_and_their_ends() {
        let line = |range, has_end| LogLine { range, has_end };
        let found: Vec<LogLine> = lines_of(b"a\r\n\n\r\nbc").collect();
        assert_eq!(found, [line(0..1, true), line(6..8, false)]);
        assert_eq!(first_lines(b"a\nb\nc", 9).collect::<Vec<_>>(), [0..1, 2..3]);
        let last = [&b"a\nb\nc\n"[..], b"a\nb\nc", b"a\nb", b""].map(last_line);
        assert_eq!(last, [Some(4), Some(2), None, None]);
    }

    #[test]
    fn the_last_start_is_a_whole_line_but_not_the_first() {
        let begins = |before: &[u8], line: &[u8]| line == b"#" && before != b"no";
        assert_eq!(last_start(b"#\na\n#\nb", begins), Some(4));
        assert_eq!(last_start(b"#\nno\n#\nb\n", begins), None);
        assert_eq!(last_start(b"#\na\n#", begins), None);
        assert_eq!(last_start(b"#", begins), None);
    }
}
