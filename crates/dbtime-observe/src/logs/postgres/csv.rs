//! PostgreSQL's csvlog: 23 columns up to version 12, 24 in 13, 26 since 14.

use super::columns::{LineColumn, LineColumns};
use super::joiner::PostgresJoiner;
use super::message_line::MessageWriter;
use crate::logs::numbers::iso_us;
use crate::logs::{BorderState, ClassNamer, LogReader, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};
use std::ops::Range;

/// The fewest columns of a record.
const LEAST_COLUMNS: usize = 23;

/// How long a time with its zone is at most. Unit: bytes.
const MAX_TIME_BYTES: usize = 40;

/// A csvlog. A record begins at a line that does not begin within quotes, or that cannot stand
/// within quotes: a record that a crash has torn hides no other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PostgresCsv;

impl PostgresCsv {
    /// Whether the first record of a log has the columns of a csvlog.
    pub(crate) fn looks_like(head: &[u8]) -> bool {
        first_record(head).is_some_and(|columns| columns.is_message(head))
    }

    /// Whether instants are of the server's local time: the first one names no known zone.
    pub(crate) fn is_local_time(head: &[u8]) -> bool {
        first_record(head).is_some_and(|columns| columns.is_local_time(head))
    }
}

impl LogReader for PostgresCsv {
    fn last_start(&self, bytes: &[u8], state: BorderState) -> Option<usize> {
        let bytes = &bytes[..=memchr::memrchr(b'\n', bytes)?];
        let mut is_quoted = self.state_behind(bytes, state).is_quoted;
        let mut is_ended = false;
        for at in memchr::memchr2_iter(b'"', b'\n', bytes).rev() {
            if bytes[at] == b'"' {
                is_quoted = !is_quoted;
            } else if is_ended && (!is_quoted || is_certain_start(&bytes[at + 1..])) {
                return Some(at + 1);
            } else {
                is_ended = true;
            }
        }
        None
    }

    fn state_behind(&self, bytes: &[u8], state: BorderState) -> BorderState {
        let certain = last_certain_start(bytes);
        let behind = &bytes[certain.unwrap_or(0)..];
        let is_odd = memchr::memchr_iter(b'"', behind).count() % 2 == 1;
        BorderState { is_quoted: (state.is_quoted && certain.is_none()) ^ is_odd }
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        let mut writer = MessageWriter::new(namer, batch);
        let mut columns = LineColumns::default();
        let mut at = 0;
        while at < block.len() {
            if matches!(block[at], b'\n' | b'\r') {
                at += 1;
                continue;
            }
            columns.clear();
            let (next, read) = read_record(block, at, &mut columns);
            at = match read {
                Ok(()) => {
                    columns.write(block, at, &mut writer);
                    next
                }
                Err(_) => {
                    let end = record_end(block, at);
                    writer.unread(why_unread(&block[at..end]), at);
                    end
                }
            };
        }
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        Box::new(PostgresJoiner::default())
    }

    fn time_meaning(&self) -> TimeMeaning {
        TimeMeaning::End
    }
}

/// Why a record cannot be read, which is between two certain borders: what is behind them does not
/// matter.
fn why_unread(record: &[u8]) -> UnreadReason {
    read_record(record, 0, &mut LineColumns::default()).1.err().unwrap_or(UnreadReason::Form)
}

fn first_record(head: &[u8]) -> Option<LineColumns> {
    let mut columns = LineColumns::default();
    let (next, read) = read_record(head, 0, &mut columns);
    // A record without its end may lack columns.
    let is_whole = read.is_ok() && head.get(next.checked_sub(1)?) == Some(&b'\n');
    is_whole.then_some(columns)
}

/// Reads the record at an offset; where the next one begins, unless it cannot be read.
fn read_record(
    block: &[u8],
    start: usize,
    columns: &mut LineColumns,
) -> (usize, Result<(), UnreadReason>) {
    let mut at = start;
    for count in 1usize.. {
        let Some((field, is_escaped, end)) = field_at(block, at) else {
            return (block.len(), Err(UnreadReason::Incomplete));
        };
        if let Some(column) = column_of(count - 1) {
            put(block, column, field, is_escaped, columns);
        }
        let is_full = count >= LEAST_COLUMNS;
        match &block[end..] {
            [b',', ..] => at = end + 1,
            [b'\n', ..] | [b'\r', b'\n', ..] | [b'\r'] if is_full => {
                let length = if block[end] == b'\r' { 2 } else { 1 };
                return ((end + length).min(block.len()), Ok(()));
            }
            [] if is_full => return (end, Ok(())),
            [] => return (end, Err(UnreadReason::Incomplete)),
            _ => return (block.len(), Err(UnreadReason::Form)),
        }
    }
    (block.len(), Err(UnreadReason::Form))
}

/// The field at an offset without its quotes, whether quotes are doubled in it, and where it ends;
/// `None`: its quotes do not end.
fn field_at(block: &[u8], at: usize) -> Option<(Range<usize>, bool, usize)> {
    if block.get(at) != Some(&b'"') {
        let rest = block.get(at..)?;
        let length = memchr::memchr3(b',', b'\n', b'"', rest).unwrap_or(rest.len());
        return Some((at..at + length, false, at + length));
    }
    let (mut from, mut is_escaped) = (at + 1, false);
    loop {
        let quote = from + memchr::memchr(b'"', block.get(from..)?)?;
        if block.get(quote + 1) != Some(&b'"') {
            return Some((at + 1..quote, is_escaped, quote + 1));
        }
        is_escaped = true;
        from = quote + 2;
    }
}

/// Where a record ends that cannot be read: where the next one begins.
fn record_end(block: &[u8], start: usize) -> usize {
    let mut is_quoted = false;
    for at in memchr::memchr2_iter(b'"', b'\n', &block[start..]) {
        if block[start + at] == b'"' {
            is_quoted = !is_quoted;
        } else if !is_quoted || is_certain_start(&block[start + at + 1..]) {
            return start + at + 1;
        }
    }
    block.len()
}

/// Whether a line begins a record, be it within quotes or not: a time, and a name whose quote would
/// be doubled within quotes.
fn is_certain_start(line: &[u8]) -> bool {
    if line.get(4) != Some(&b'-') || line.get(10) != Some(&b' ') {
        return false;
    }
    let head = &line[..line.len().min(MAX_TIME_BYTES)];
    let Some(comma) = memchr::memchr(b',', head) else { return false };
    let is_name = match line[comma + 1..] {
        [b'"', first, ..] => !matches!(first, b'"' | b',' | b'\n' | b'\r'),
        _ => false,
    };
    is_name && iso_us(&line[..comma]).is_some()
}

/// The last such line.
fn last_certain_start(bytes: &[u8]) -> Option<usize> {
    let starts = memchr::memchr_iter(b'\n', bytes).rev().map(|end| end + 1);
    starts.chain([0]).find(|start| is_certain_start(&bytes[*start..]))
}

fn column_of(index: usize) -> Option<LineColumn> {
    Some(match index {
        0 => LineColumn::Time,
        1 => LineColumn::User,
        2 => LineColumn::Database,
        3 => LineColumn::Pid,
        4 => LineColumn::Host,
        5 => LineColumn::Session,
        11 => LineColumn::Severity,
        12 => LineColumn::State,
        13 => LineColumn::Message,
        19 => LineColumn::Statement,
        25 => LineColumn::QueryId,
        _ => return None,
    })
}

fn put(
    block: &[u8],
    column: LineColumn,
    field: Range<usize>,
    is_escaped: bool,
    columns: &mut LineColumns,
) {
    let text = block.get(field.clone()).unwrap_or_default();
    if is_escaped {
        columns.make(column, |made| unescape(text, made));
    } else if column == LineColumn::Host {
        let port = memchr::memrchr(b':', text).unwrap_or(text.len());
        columns.put(column, field.start..field.start + port);
    } else {
        columns.put(column, field);
    }
}

fn unescape(text: &[u8], made: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        made.extend_from_slice(&rest[..=quote]);
        rest = rest.get(quote + 2..).unwrap_or_default();
    }
    made.extend_from_slice(rest);
}
