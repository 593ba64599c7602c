//! PostgreSQL's jsonlog: an object to a line, since version 15.

use super::columns::{LineColumn, LineColumns};
use super::joiner::PostgresJoiner;
use super::message_line::MessageWriter;
use crate::logs::json_cursor::{JsonCursor, JsonValue, unescape};
use crate::logs::lines::{LogLine, last_line, lines_of};
use crate::logs::{BorderState, ClassNamer, LogReader, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};
use std::ops::Range;

/// A jsonlog. A record begins at each line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PostgresJson;

impl PostgresJson {
    /// Whether the first line of a log is an object with the keys of a jsonlog.
    pub(crate) fn looks_like(head: &[u8]) -> bool {
        first_line(head).is_some_and(|columns| columns.is_message(head))
    }

    /// Whether instants are of the server's local time: the first one names no known zone.
    pub(crate) fn is_local_time(head: &[u8]) -> bool {
        first_line(head).is_some_and(|columns| columns.is_local_time(head))
    }
}

impl LogReader for PostgresJson {
    fn last_start(&self, bytes: &[u8], _state: BorderState) -> Option<usize> {
        last_line(bytes)
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        let mut writer = MessageWriter::new(namer, batch);
        let mut columns = LineColumns::default();
        for LogLine { range, has_end } in lines_of(block) {
            let at = range.start;
            if block[range.clone()].trim_ascii().is_empty() {
                continue;
            }
            match read_object(block, range, &mut columns) {
                Ok(()) => columns.write(block, at, &mut writer),
                Err(_) if !has_end => writer.unread(UnreadReason::Incomplete, at),
                Err(why) => writer.unread(why, at),
            }
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
    read_object(head, 0..end, &mut columns).ok()?;
    Some(columns)
}

/// Reads the object in this range of a block. Errors: it is none, or is cut.
fn read_object(
    block: &[u8],
    line: Range<usize>,
    columns: &mut LineColumns,
) -> Result<(), UnreadReason> {
    columns.clear();
    let mut cursor = JsonCursor::new(block, line);
    cursor.open(b'{')?;
    while let Some(key) = cursor.key()? {
        let key = &block[key];
        let column = column_of(key).or_else(|| escaped_column(key));
        match (cursor.value()?, column) {
            (JsonValue::Object | JsonValue::Array, _) => cursor.skip()?,
            (JsonValue::Text(text, true), Some(column)) => {
                columns.make(column, |made| unescape(&block[text], made));
            }
            (JsonValue::Text(text, false) | JsonValue::Plain(text), Some(column)) => {
                columns.put(column, text);
            }
            (JsonValue::Text(..) | JsonValue::Plain(_) | JsonValue::Null, _) => {}
        }
    }
    if cursor.is_at_end() { Ok(()) } else { Err(UnreadReason::Form) }
}

/// The column of a key that has escapes, which the server does not write but other programs may.
fn escaped_column(key: &[u8]) -> Option<LineColumn> {
    if !key.contains(&b'\\') {
        return None;
    }
    let mut name = Vec::new();
    unescape(key, &mut name);
    column_of(&name)
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
