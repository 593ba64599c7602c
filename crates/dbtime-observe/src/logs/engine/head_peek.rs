//! What the first records of a log show: when it begins, so that logs are read in the order of
//! time, and whether it has records yet.

use crate::logs::{BorderState, ClassNamer, JoinedRecord, LogReader, RecordBatch, RecordSink};
use dbtime_model::log_digest::UnreadReason;

/// When the first record is that has a time. Unit: microseconds since 1970-01-01; `None`: none of
/// the beginning has one.
pub(super) fn first_instant(reader: &dyn LogReader, head: &[u8]) -> Option<i64> {
    let (records, batch) = first_records(reader, head);
    let mut first = FirstInstant(None);
    let mut joiner = reader.joiner();
    joiner.join(records, 0, &batch, &mut first);
    joiner.end(&mut first);
    first.0
}

/// Whether a log begins as the format does, and has nothing else yet: a server has just opened it.
pub(super) fn is_just_opened(reader: &dyn LogReader, head: &[u8]) -> bool {
    let (_, batch) = first_records(reader, head);
    batch.pieces.is_empty() && batch.unread.is_empty()
}

/// The records of the beginning that are whole, or the only one, and what is read of them.
fn first_records<'a>(reader: &dyn LogReader, head: &'a [u8]) -> (&'a [u8], RecordBatch) {
    let end = reader.last_start(head, BorderState::default()).unwrap_or(head.len());
    let (records, mut batch) = (&head[..end], RecordBatch::default());
    reader.read(records, &mut UnnamedClasses, &mut batch);
    (records, batch)
}

/// Names nothing.
pub(super) struct UnnamedClasses;

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

    fn count_event(&mut self, _: &str, _: Option<i64>) {}

    fn count_unread(&mut self, _: UnreadReason, _: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::engine::test_lines::TestLines;

    #[test]
    fn the_first_record_with_a_time_counts() {
        assert_eq!(first_instant(&TestLines, b"R a\nR @17 b\nR @19 c\nR @20"), Some(17));
        assert_eq!(first_instant(&TestLines, b"R @5 alone"), Some(5));
        assert_eq!(first_instant(&TestLines, b"R a\n"), None);
    }
}
