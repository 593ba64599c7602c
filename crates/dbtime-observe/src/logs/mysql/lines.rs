//! Records of several lines, and the lines that a server writes when it opens a log.

use memchr::{memchr, memrchr};
use std::ops::Range;

/// The lines of a text with the place of each, without their ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let line = first_line(rest);
        let place = at;
        at += line.len() + 1;
        Some((place, line))
    })
}

/// A text up to the end of its first line.
pub(super) fn first_line(text: &[u8]) -> &[u8] {
    &text[..memchr(b'\n', text).unwrap_or(text.len())]
}

/// The lines whose ends are there.
pub(super) fn whole_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memrchr(b'\n', text).map_or(0, |at| at + 1);
    lines(&text[..end]).map(|(_, line)| line)
}

/// Divides a text before each line that begins a record. What is before the first of them comes
/// first.
pub(super) fn records(
    text: &[u8],
    begins: impl Fn(&[u8], &[u8]) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut lines = lines(text);
    let mut before: &[u8] = b"";
    let mut start = 0;
    std::iter::from_fn(move || {
        for (at, line) in lines.by_ref() {
            let is_border = at > start && begins(before, line);
            before = line;
            if is_border {
                return Some(std::mem::replace(&mut start, at)..at);
            }
        }
        let last = std::mem::replace(&mut start, text.len())..text.len();
        (!last.is_empty()).then_some(last)
    })
}

/// Whether a server writes this line when it opens its log.
pub(super) fn is_header(line: &[u8]) -> bool {
    let is_columns = |rest: &[u8]| rest.trim_ascii_start().starts_with(b"Id Command");
    line.ends_with(b"started with:")
        || line.ends_with(b"embedded library")
        || line.starts_with(b"Tcp port:")
        || line.starts_with(b"TCP Port:")
        || line.strip_prefix(b"Time").is_some_and(is_columns)
}

/// A text without the blanks at its end and the lines there that a server writes when it opens its
/// log.
pub(super) fn without_header(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii_end();
    loop {
        let line = memrchr(b'\n', text).map_or(0, |at| at + 1);
        if !is_header(&text[line..]) {
            return text;
        }
        text = text[..line].trim_ascii_end();
    }
}

/// A part of a text without the blanks around it. The part is within the text.
pub(super) fn trimmed(text: &[u8], part: Range<usize>) -> Range<usize> {
    let bytes = &text[part.clone()];
    let start = part.start + bytes.len() - bytes.trim_ascii_start().len();
    start..start + bytes.trim_ascii().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_places() {
        let found: Vec<_> = lines(b"a\n\nbc").collect();
        assert_eq!(found, [(0, &b"a"[..]), (2, &b""[..]), (3, &b"bc"[..])]);
        assert_eq!(whole_lines(b"a\nbc").collect::<Vec<_>>(), [b"a"]);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn records_begin_where_their_lines_do() {
        let begins = |before: &[u8], line: &[u8]| line == b"#" && before != b"no";
        let found: Vec<_> = records(b"x\n#\na\n#\n", begins).collect();
        assert_eq!(found, [0..2, 2..6, 6..8]);
    }

    #[test]
    fn lines_of_an_opened_log_are_no_text() {
        let text = b"select 1;\n/usr/sbin/mysqld, Version: 5.0.45-log (x). started with:\n\
            Tcp port: 3306  Unix socket: /tmp/mysql.sock\nTime\t\t    Id Command\tArgument\n";
        assert_eq!(without_header(text), b"select 1;");
        assert_eq!(without_header(&text[10..]), b"");
        assert_eq!(trimmed(b"[ a b ]", 1..6), 2..5);
        assert_eq!(trimmed(b"[   ]", 1..4), 4..4);
    }
}
