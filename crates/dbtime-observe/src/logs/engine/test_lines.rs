//! A format for tests of the engine: a record begins with `R`, unless the line before ends in a
//! backslash, and has a time where `@` and a number are in it. One with `?` cannot be read.

use crate::logs::{
    BorderState, ClassNamer, JoinedRecord, LogReader, LogSpan, PieceTime, RecordBatch,
    RecordJoiner, RecordPiece, RecordSink,
};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};
use std::ops::Range;

/// The format.
pub(super) struct TestLines;

impl LogReader for TestLines {
    fn last_start(&self, bytes: &[u8], _: BorderState) -> Option<usize> {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n')?;
        starts(&bytes[..=whole]).into_iter().rfind(|start| *start > 0)
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        let mut class = String::new();
        for record in records(block) {
            let text = &block[record.clone()];
            assert!(!text.starts_with(b"R panic"), "a reader that panics");
            if !text.starts_with(b"R") || text.contains(&b'?') {
                batch.unread.push((UnreadReason::Form, record.start as u32));
                continue;
            }
            namer.name(text, &mut class);
            let class = Some(batch.classes.intern(&class));
            let time = PieceTime { logged_us: time_of(text), given_s: None };
            let (at, text) = (record.start as u32, LogSpan::of_block(record));
            batch.pieces.push(RecordPiece { at, class, text, time, ..RecordPiece::default() });
        }
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        Box::new(TestJoiner)
    }

    fn time_meaning(&self) -> TimeMeaning {
        TimeMeaning::End
    }
}

/// Where records begin in these bytes, whose lines are whole.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let (mut found, mut at, mut before) = (Vec::new(), 0, &b""[..]);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"R") && !before.ends_with(b"\\\n") {
            found.push(at);
        }
        at += line.len();
        before = line;
    }
    found
}

/// The records of a block, and what stands before the first one.
fn records(block: &[u8]) -> Vec<Range<usize>> {
    let mut borders = starts(block);
    if borders.first() != Some(&0) {
        borders.insert(0, 0);
    }
    borders.push(block.len());
    borders.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The number behind `@`.
fn time_of(text: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(text).into_owned();
    let (_, behind) = text.split_once('@')?;
    behind.split_whitespace().next()?.parse().ok()
}

struct TestJoiner;

impl RecordJoiner for TestJoiner {
    fn join(&mut self, block: &[u8], offset: u64, batch: &RecordBatch, sink: &mut dyn RecordSink) {
        for piece in &batch.pieces {
            let record = batch.record(block, offset, piece);
            sink.take(&JoinedRecord { end_us: piece.time.logged_us, ..record });
        }
    }

    fn end(&mut self, sink: &mut dyn RecordSink) {
        sink.count_event("end", None);
    }
}
