//! When a log begins, by its first records, so that logs are read in the order of time.

use crate::logs::{BorderState, ClassNamer, JoinedRecord, LogReader, RecordBatch, RecordSink};
use dbtime_model::log_digest::UnreadReason;

/// When the first record is that has a time. Unit: microseconds since 1970-01-01; `None`: none of
/// the beginning has one.
pub(super) fn first_instant(reader: &dyn LogReader, head: &[u8]) -> Option<i64> {
    let end = reader.last_start(head, BorderState::default()).unwrap_or(head.len());
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
