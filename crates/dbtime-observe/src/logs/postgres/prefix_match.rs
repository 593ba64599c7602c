//! Where a line's prefix and severity end, and what stands in its fields.

use super::message_line::{LineText, MessageLine};
use super::prefix::{PrefixField, PrefixPart, PrefixPattern};
use super::severity::MessageSeverity;
use super::syslog::syslog_head;

/// How far names and severities are looked for. Unit: bytes.
const MAX_NAME_BYTES: usize = 512;
const MAX_SEVERITY_BYTES: usize = 48;

/// How many ends of the last name are tried, as it may have the text behind it within.
const MAX_ENDS: usize = 16;

/// A line that begins a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineStart<'a> {
    /// Its fields, and its message as far as it stands in this line.
    pub(super) line: MessageLine<'a>,
    /// What stands for its severity; `None`: a word that is unknown.
    pub(super) severity: Option<MessageSeverity>,
}

impl<'a> LineStart<'a> {
    /// Reads a line without its end; `None`: it does not begin a message.
    pub(super) fn find(pattern: &PrefixPattern, text: LineText<'a>) -> Option<Self> {
        let mut line = MessageLine::default();
        let mut at = 0;
        if text.bytes.first().is_none_or(|byte| *byte == b'\t') {
            return None;
        }
        if pattern.is_syslog {
            let head = syslog_head(text.bytes)?;
            if head.is_continued {
                return None;
            }
            (line.time, line.pid, at) = (head.time, head.pid, head.length);
        }
        let full = Self::follow(&pattern.parts, text, at, line);
        let is_read = full.is_some_and(|start| start.severity.is_some());
        if is_read || pattern.always == pattern.parts.len() {
            return full;
        }
        let short = Self::follow(&pattern.parts[..pattern.always], text, at, line);
        let is_read = short.is_some_and(|start| start.severity.is_some());
        if is_read { short } else { full.or(short) }
    }

    fn follow(
        parts: &[PrefixPart],
        text: LineText<'a>,
        mut at: usize,
        mut line: MessageLine<'a>,
    ) -> Option<Self> {
        for (index, part) in parts.iter().enumerate() {
            let rest = text.behind(at);
            match part {
                PrefixPart::Literal(literal) => {
                    at += rest.bytes.starts_with(literal).then_some(literal.len())?;
                }
                PrefixPart::Field(field, width) => {
                    let ending = match parts.get(index + 1) {
                        Some(PrefixPart::Literal(literal)) => &literal[..],
                        _ => &[],
                    };
                    if field.is_text() && index + 2 == parts.len() {
                        return Self::behind_last(*field, *width, rest, ending, line);
                    }
                    let length = field_length(*field, *width, rest.bytes, ending)?;
                    put(&mut line, *field, rest.part(0..length).trimmed());
                    at += length;
                }
            }
        }
        Self::behind_prefix(text.behind(at), line)
    }

    /// Tries each end of the last name until a known severity is behind it.
    fn behind_last(
        field: PrefixField,
        width: usize,
        rest: LineText<'a>,
        ending: &[u8],
        line: MessageLine<'a>,
    ) -> Option<Self> {
        let mut from = width;
        let mut first = None;
        for _ in 0..MAX_ENDS {
            let Some(end) = text_length(from, rest.bytes, ending) else { break };
            let mut line = line;
            put(&mut line, field, rest.part(0..end).trimmed());
            let start = Self::behind_prefix(rest.behind(end + ending.len()), line);
            if start.is_some_and(|start| start.severity.is_some()) {
                return start;
            }
            first = first.or(start);
            from = end + 1;
        }
        first
    }

    /// Reads a severity and the message behind it.
    fn behind_prefix(rest: LineText<'a>, mut line: MessageLine<'a>) -> Option<Self> {
        let window = &rest.bytes[..rest.bytes.len().min(MAX_SEVERITY_BYTES)];
        let colon = memchr::memchr(b':', window)?;
        let word = rest.bytes[..colon].trim_ascii();
        let behind = &rest.bytes[colon + 1..];
        let severity = MessageSeverity::of(word);
        let blanks = behind.iter().take(2).take_while(|byte| **byte == b' ').count();
        // Only the words of other languages are unknown, and those have two blanks behind them.
        let least = if severity.is_some() { 1 } else { 2 };
        if word.is_empty() || blanks < least {
            return None;
        }
        line.message = rest.behind(colon + 1 + blanks);
        line.severity = severity.unwrap_or(MessageSeverity::Aside);
        if let Some(state) = state_of(line.message.bytes) {
            line.state = line.message.part(0..state);
            line.message = line.message.behind(state + 2);
        }
        Some(Self { line, severity })
    }
}

/// The length of the SQLSTATE that a message begins with where errors are logged verbosely.
fn state_of(message: &[u8]) -> Option<usize> {
    let (state, rest) = message.split_at_checked(5)?;
    let is_state = state.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        && state.iter().any(u8::is_ascii_digit)
        && rest.starts_with(b": ");
    is_state.then_some(5)
}

fn put<'a>(line: &mut MessageLine<'a>, field: PrefixField, value: LineText<'a>) {
    match field {
        PrefixField::Time => line.time = value.bytes,
        PrefixField::Epoch => line.epoch = value.bytes,
        PrefixField::Session => line.session = value.bytes,
        PrefixField::Pid => line.pid = value.bytes,
        PrefixField::User => line.user = value,
        PrefixField::Database => line.database = value,
        PrefixField::Host => {
            let end = memchr::memchr(b'(', value.bytes).unwrap_or(value.bytes.len());
            line.host = value.part(0..end);
        }
        PrefixField::State => line.state = value,
        PrefixField::QueryId => line.query_id = value,
        PrefixField::Start | PrefixField::Number | PrefixField::Transaction | PrefixField::Text => {
        }
    }
}

/// How long a field is with the blanks that fill it up; `None`: none is there.
fn field_length(field: PrefixField, width: usize, bytes: &[u8], ending: &[u8]) -> Option<usize> {
    if field.is_text() {
        return text_length(width, bytes, ending);
    }
    let is_blank = |byte: &&u8| **byte == b' ';
    let lead = if width > 0 { bytes.iter().take_while(is_blank).count() } else { 0 };
    let length = lead + value_length(field, &bytes[lead..])?;
    let filled = bytes.get(length..width).unwrap_or_default();
    Some(length + filled.iter().take_while(is_blank).count())
}

/// Where the ending stands at or behind an offset.
fn text_length(from: usize, bytes: &[u8], ending: &[u8]) -> Option<usize> {
    let window = bytes.get(from..bytes.len().min(from.saturating_add(MAX_NAME_BYTES)))?;
    let found = match ending {
        [byte] => memchr::memchr(*byte, window),
        _ => memchr::memmem::find(window, ending),
    };
    found.map(|at| from + at)
}

fn value_length(field: PrefixField, bytes: &[u8]) -> Option<usize> {
    let run = |is_in: fn(&u8) -> bool| bytes.iter().take_while(|byte| is_in(byte)).count();
    let length = match field {
        PrefixField::Time | PrefixField::Start => return time_length(bytes),
        PrefixField::Epoch => run(|byte| byte.is_ascii_digit() || *byte == b'.'),
        PrefixField::Session => run(|byte| byte.is_ascii_hexdigit() || *byte == b'.'),
        PrefixField::QueryId => run(|byte| byte.is_ascii_digit() || *byte == b'-'),
        PrefixField::State => run(u8::is_ascii_alphanumeric).min(5),
        PrefixField::Transaction => {
            return Some(run(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'-')));
        }
        _ => run(u8::is_ascii_digit),
    };
    (length > 0).then_some(length)
}

/// `2024-01-02 03:04:05.678 UTC`, without the fraction as well.
fn time_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.get(..19)?;
    let is_time = head[4] == b'-' && head[7] == b'-' && head[13] == b':' && head[16] == b':';
    if !is_time || !matches!(head[10], b' ' | b'T') {
        return None;
    }
    let is_fraction = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let end = 19 + bytes[19..].iter().take_while(is_fraction).count();
    let zone = bytes[end..].strip_prefix(b" ").unwrap_or_default();
    let is_zone = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'-');
    let length = zone.iter().take_while(is_zone).count();
    Some(if length > 0 { end + 1 + length } else { end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(prefix: &str, line: &'a str) -> Option<LineStart<'a>> {
        let pattern = PrefixPattern::parse(prefix).expect("a prefix");
        LineStart::find(&pattern, LineText::made(line.as_bytes()))
    }

    #[test]
    fn fields_are_found_with_and_without_a_client() {
        let prefix = "%m [%p] %q%-8u@%d/%a ";
        let line = "2024-01-02 03:04:05.678 UTC [7] ann     @shop/PostgreSQL JDBC LOG:  x: y";
        let start = find(prefix, line).expect("a message");
        assert_eq!(start.severity, Some(MessageSeverity::Log));
        assert_eq!(start.line.time, b"2024-01-02 03:04:05.678 UTC");
        let (user, database) = (start.line.user.bytes, start.line.database.bytes);
        assert_eq!((start.line.pid, user, database), (&b"7"[..], &b"ann"[..], &b"shop"[..]));
        assert_eq!(start.line.message.bytes, b"x: y");
        let start = find(prefix, "2024-01-02 03:04:05.678 +03 [7] LOG:  x").expect("a message");
        assert_eq!((start.line.user.bytes, start.line.message.bytes), (&b""[..], &b"x"[..]));
    }

    #[test]
    fn every_escape_is_read() {
        let prefix = "%n,%t,%p,%P,%c,%l,%s,%v,%x,%i,%e,%Q,%r,%b,%%|";
        let line = "1704164645.678,2024-01-02 03:04:05 CET,7,6,6593e0c5.7,3,\
                    2024-01-02 03:04:00 CET,3/12,0,SELECT,42P01,-77,10.0.0.1(5432),\
                    client backend,%|ERROR:  no";
        let start = find(prefix, line).expect("a message");
        let line = start.line;
        assert_eq!((line.epoch, line.session), (&b"1704164645.678"[..], &b"6593e0c5.7"[..]));
        assert_eq!((line.state.bytes, line.query_id.bytes), (&b"42P01"[..], &b"-77"[..]));
        assert_eq!(line.host.bytes, b"10.0.0.1");
    }

    #[test]
    fn other_lines_and_words_are_not_taken_for_messages() {
        let start = find("%m ", "2024-01-02 03:04:05.678 UTC LOGI:  x").expect("a message");
        assert_eq!(start.severity, None);
        for other in ["", "\tLOG:  x", "2024-01-02 LOG:  x", "2024-01-02 03:04:05.678 UTC x: y"] {
            assert!(find("%m ", other).is_none(), "{other}");
        }
        let verbose = find("", "ERROR:  22012: division by zero").expect("a message");
        assert_eq!(verbose.line.state.bytes, b"22012");
        assert_eq!(verbose.line.message.bytes, b"division by zero");
    }
}
