//! What a log's beginning shows beside its format: when it begins, and whether it names a zone.

use crate::logs::numbers::iso_us;
use crate::logs::{ClassNamer, JoinedRecord, LogReader, RecordBatch, RecordSink};
use dbtime_model::log_digest::UnreadReason;
use memchr::memchr_iter;

/// When the first record is that has a time. Unit: microseconds since 1970-01-01; `None`: none of
/// the beginning has one.
pub(super) fn first_instant(reader: &dyn LogReader, head: &[u8]) -> Option<i64> {
    let end = reader.last_start(head, Default::default()).unwrap_or(head.len());
    let (records, mut batch) = (&head[..end], RecordBatch::default());
    reader.read(records, &mut UnnamedClasses, &mut batch);
    let mut first = FirstInstant(None);
    let mut joiner = reader.joiner();
    joiner.join(records, 0, &batch, &mut first);
    joiner.end(&mut first);
    first.0
}

/// Names nothing.
struct UnnamedClasses;

impl ClassNamer for UnnamedClasses {
    fn name(&mut self, _: &[u8], out: &mut String) {
        out.clear();
    }
}

/// Keeps the first instant that it gets.
struct FirstInstant(Option<i64>);

impl RecordSink for FirstInstant {
    fn take(&mut self, record: &JoinedRecord<'_>) {
        self.0 = self.0.or(record.end_us).or(record.start_us);
    }

    fn count_event(&mut self, _: &str) {}

    fn count_unread(&mut self, _: UnreadReason, _: u64) {}
}

/// Whether the first instant in ISO 8601 has a zone that is known; `None`: there is no such instant.
pub(super) fn has_zone(head: &[u8]) -> Option<bool> {
    memchr_iter(b'-', head).find_map(|at| {
        let text = head.get(at.checked_sub(4)?..)?;
        let (_, has_zone) = iso_us(&text[..instant_length(text)?])?;
        Some(has_zone)
    })
}

/// How long an instant is with its zone, where one begins the text: `2021-10-12 01:13:38.132 UTC`.
fn instant_length(text: &[u8]) -> Option<usize> {
    let clock_end = 11 + text.get(11..)?.iter().position(|byte| !is_clock(*byte))?;
    // A blank is before the zone's name, and before what has nothing to do with it.
    let zone = clock_end + usize::from(text[clock_end] == b' ');
    let rest = text[zone..].iter().position(|byte| !is_zone(*byte));
    Some(rest.map_or(text.len(), |length| zone + length))
}

fn is_clock(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b':' | b'.')
}

fn is_zone(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_where_a_log_names_one() {
        for (head, expected) in [
            ("# Time: 2021-10-12T01:13:38.132884Z\n", Some(true)),
            ("# a-b\n# Time: 2021-10-12T01:13:38.132884+02:00\n", Some(true)),
            ("2021-10-12 01:13:38.132 UTC [12] LOG:  x\n", Some(true)),
            ("2021-10-12 01:13:38.132 CET [12] LOG:  x\n", Some(false)),
            ("2021-10-12 01:13:38.132 [12] LOG:  x\n", Some(false)),
            ("2021-10-12 01:13:38.132 UTC,\"a\",\"b\"\n", Some(true)),
            ("# Time: 071015 21:43:52\n", None),
            ("-2021-10", None),
            ("2021-10-12 01:13:38", None),
            ("", None),
        ] {
            assert_eq!(has_zone(head.as_bytes()), expected, "{head}");
        }
    }
}
