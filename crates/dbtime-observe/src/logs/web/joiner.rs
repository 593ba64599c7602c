//! Records of web servers: each piece is one.

use crate::logs::{JoinedRecord, RecordBatch, RecordJoiner, RecordPiece, RecordSink};
use dbtime_model::log_digest::TimeMeaning;

/// Hands each piece on as a record.
#[derive(Debug)]
pub(super) struct RequestJoiner {
    /// What the instants of the log are.
    pub(super) meaning: TimeMeaning,
}

impl RecordJoiner for RequestJoiner {
    fn join(&mut self, block: &[u8], offset: u64, batch: &RecordBatch, sink: &mut dyn RecordSink) {
        for piece in &batch.pieces {
            sink.take(&self.record(piece, block, offset, batch));
        }
    }

    fn end(&mut self, _sink: &mut dyn RecordSink) {}
}

impl RequestJoiner {
    fn record<'a>(
        &self,
        piece: &RecordPiece,
        block: &'a [u8],
        offset: u64,
        batch: &'a RecordBatch,
    ) -> JoinedRecord<'a> {
        let (start_us, end_us) = self.times(piece);
        JoinedRecord { start_us, end_us, ..batch.record(block, offset, piece) }
    }

    /// When a record began and ended. Without a duration, both are when it was logged.
    fn times(&self, piece: &RecordPiece) -> (Option<i64>, Option<i64>) {
        let Some(logged) = piece.time.logged_us else {
            return (None, None);
        };
        // A quotient of 64 bits by a thousand has a sign bit to spare.
        let length = piece.duration.map_or(0, |duration| (duration.0 / 1000).cast_signed());
        match self.meaning {
            TimeMeaning::Start => (Some(logged), Some(logged.saturating_add(length))),
            TimeMeaning::End => (Some(logged.saturating_sub(length)), Some(logged)),
        }
    }
}
