//! The logs of MySQL, MariaDB and Percona Server: slow and general.
//!
//! Both are opened with the same lines, which a server writes anew, in mid-file too, whenever it
//! opens its log again. Both may have the old form of a time, `071015 21:43:52`, which is the
//! server's local time and stands there only when the second has changed.

mod entry_head;
mod general;
mod general_joiner;
mod general_piece;
mod lines;
mod log_time;
mod slow;
mod slow_joiner;
mod slow_keys;
mod slow_record;
#[cfg(test)]
mod tests;

pub(crate) use general::GeneralLog;
pub(crate) use slow::SlowLog;

use super::{LogSpan, RecordBatch};
use dbtime_model::log_digest::UnreadReason;
use std::ops::Range;

/// A part of a text that begins at a place in the block.
fn span(at: usize, part: &Range<usize>) -> LogSpan {
    LogSpan::of_block(at + part.start..at + part.end)
}

/// The place of the database in a statement that does nothing but choose it: `use db;`.
fn used_database(text: &[u8]) -> Option<Range<usize>> {
    const USE: &[u8] = b"use ";
    let text = text.trim_ascii_end();
    let text = text.strip_suffix(b";").unwrap_or(text);
    if !text.get(..USE.len())?.eq_ignore_ascii_case(USE) {
        return None;
    }
    let name = lines::trimmed(text, USE.len()..text.len());
    let is_quoted = name.len() > 2 && text[name.start] == b'`' && text[name.end - 1] == b'`';
    let name = if is_quoted { name.start + 1..name.end - 1 } else { name };
    let is_of_name = |byte: &u8| !matches!(byte, b';' | b'\n');
    (!name.is_empty() && text[name.clone()].iter().all(is_of_name)).then_some(name)
}

/// Counts what stands before the first record, and is no line of an opened log, as unread.
fn count_strays(block: &[u8], range: Range<usize>, batch: &mut RecordBatch) {
    for (at, line) in lines::lines(&block[range.clone()]) {
        let line = line.trim_ascii_end();
        if !line.is_empty() && !lines::is_header(line) {
            batch.unread.push((UnreadReason::Form, (range.start + at) as u32));
        }
    }
}
