//! PostgreSQL's jsonlog: an object to a line, since version 15.

use super::columns::{LineColumn, LineColumns};
use super::joiner::PostgresJoiner;
use super::message_line::{MessageWriter, hex};
use crate::logs::{BorderState, ClassNamer, LogReader, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};
use serde_json::{Map, Value};

/// A jsonlog. A record begins at each line.
#[derive(Clone, Copy, Debug, Default)]
pub struct PostgresJson;

impl PostgresJson {
    /// Whether the first line of a log is an object with the keys of a jsonlog.
    pub fn looks_like(head: &[u8]) -> bool {
        first_line(head).is_some_and(|columns| columns.is_message(head))
    }

    /// Whether instants are of the server's local time: the first one names no known zone.
    pub fn is_local_time(head: &[u8]) -> bool {
        first_line(head).is_some_and(|columns| columns.is_local_time(head))
    }
}

impl LogReader for PostgresJson {
    fn last_start(&self, bytes: &[u8], _state: BorderState) -> Option<usize> {
        let end = memchr::memrchr(b'\n', bytes)?;
        memchr::memrchr(b'\n', &bytes[..end]).map(|before| before + 1)
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        let mut writer = MessageWriter::new(namer, batch);
        let mut columns = LineColumns::default();
        let mut at = 0;
        while at < block.len() {
            let end = memchr::memchr(b'\n', &block[at..]).map_or(block.len(), |end| at + end);
            if !block[at..end].trim_ascii().is_empty() {
                match read_object(&block[..end], at, &mut columns) {
                    Some(()) => columns.write(block, at, &mut writer),
                    None if end == block.len() => writer.unread(UnreadReason::Incomplete, at),
                    None => writer.unread(UnreadReason::Form, at),
                }
            }
            at = end + 1;
        }
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        Box::new(PostgresJoiner::default())
    }

    fn time_meaning(&self) -> TimeMeaning {
        TimeMeaning::End
    }
}

fn first_line(head: &[u8]) -> Option<LineColumns> {
    let end = memchr::memchr(b'\n', head)?;
    let mut columns = LineColumns::default();
    read_object(&head[..end], 0, &mut columns)?;
    Some(columns)
}

/// Reads the object from an offset to the end of the bytes; `None`: it is none.
fn read_object(bytes: &[u8], start: usize, columns: &mut LineColumns) -> Option<()> {
    columns.clear();
    if scan_object(bytes, start, columns).is_some() {
        return Some(());
    }
    columns.clear();
    let object: Map<String, Value> = serde_json::from_slice(bytes.get(start..)?).ok()?;
    for (key, value) in &object {
        let Some(column) = column_of(key.as_bytes()) else { continue };
        columns.make(column, |made| match value {
            Value::String(text) => made.extend_from_slice(text.as_bytes()),
            Value::Number(number) => made.extend_from_slice(number.to_string().as_bytes()),
            _ => {}
        });
    }
    Some(())
}

/// Reads a flat object as PostgreSQL writes it; `None`: it is another one, or none.
fn scan_object(bytes: &[u8], start: usize, columns: &mut LineColumns) -> Option<()> {
    let mut at = expect(bytes, start, b'{')?;
    loop {
        let key_start = expect(bytes, at, b'"')?;
        let key_end = key_start + memchr::memchr2(b'"', b'\\', &bytes[key_start..])?;
        let column = column_of(&bytes[key_start..key_end]);
        at = expect(bytes, key_end, b'"')?;
        at = expect(bytes, at, b':')?;
        at = scan_value(bytes, behind_blanks(bytes, at), column, columns)?;
        at = behind_blanks(bytes, at);
        match bytes.get(at)? {
            b',' => at += 1,
            b'}' => return bytes[at + 1..].trim_ascii().is_empty().then_some(()),
            _ => return None,
        }
    }
}

/// Reads the value at an offset; where it ends.
fn scan_value(
    bytes: &[u8],
    start: usize,
    column: Option<LineColumn>,
    columns: &mut LineColumns,
) -> Option<usize> {
    match bytes.get(start)? {
        b'"' => {}
        b'{' | b'[' => return None,
        _ => {
            let end = start + memchr::memchr2(b',', b'}', &bytes[start..])?;
            let length = bytes[start..end].trim_ascii_end().len();
            if let Some(column) = column.filter(|_| &bytes[start..start + length] != b"null") {
                columns.put(column, start..start + length);
            }
            return Some(end);
        }
    }
    let text = start + 1;
    let stop = text + memchr::memchr2(b'"', b'\\', &bytes[text..])?;
    if bytes[stop] == b'"' {
        if let Some(column) = column {
            columns.put(column, text..stop);
        }
        return Some(stop + 1);
    }
    let rest = &bytes[text..];
    let length = match column {
        Some(column) => columns.make(column, |made| unescape_json(rest, made))?,
        None => string_length(rest)?,
    };
    Some(text + length + 1)
}

/// The length of a string up to its closing quote.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Writes what a string of JSON stands for, from behind its first quote, and returns where its last
/// one is; `None`: it does not end, or has an escape that is none.
pub(super) fn unescape_json(text: &[u8], made: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let stop = memchr::memchr2(b'"', b'\\', rest)?;
        made.extend_from_slice(&rest[..stop]);
        at += stop;
        if text[at] == b'"' {
            return Some(at);
        }
        let (c, length) = escaped(&text[at..])?;
        made.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        at += length;
    }
}

/// The character of an escape, and the length of that.
fn escaped(text: &[u8]) -> Option<(char, usize)> {
    let c = match text.get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode(text),
        other @ (b'"' | b'\\' | b'/') => char::from(*other),
        _ => return None,
    };
    Some((c, 2))
}

/// `\u00e4`, or two of them for a character beyond the first 65,536; half of such a pair stands for
/// no character.
fn unicode(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| Some(hex(text.get(at..at + 4)?)? as u16);
    let first = unit(2)?;
    if let Some(c) = char::from_u32(first.into()) {
        return Some((c, 6));
    }
    let second = if text.get(6..8) == Some(&b"\\u"[..]) { unit(8) } else { None };
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |c| (c, 12)))
}

/// The offset behind a byte that has to be there, after blanks.
fn expect(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    let at = behind_blanks(bytes, at);
    (*bytes.get(at)? == byte).then_some(at + 1)
}

fn behind_blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn column_of(key: &[u8]) -> Option<LineColumn> {
    Some(match key {
        b"timestamp" => LineColumn::Time,
        b"user" => LineColumn::User,
        b"dbname" => LineColumn::Database,
        b"pid" => LineColumn::Pid,
        b"remote_host" => LineColumn::Host,
        b"session_id" => LineColumn::Session,
        b"error_severity" => LineColumn::Severity,
        b"state_code" => LineColumn::State,
        b"message" => LineColumn::Message,
        b"statement" => LineColumn::Statement,
        b"query_id" => LineColumn::QueryId,
        _ => return None,
    })
}
