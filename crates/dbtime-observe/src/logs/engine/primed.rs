//! What the records before the place where reading begins have set for later ones: servers write
//! the time, or the database in use, only where it is another one than before.

use super::blocks::{BlockDivider, BlockSizes};
use super::input::LogInput;
use crate::logs::{ClassNamer, JoinedRecord, LogReader, RecordBatch, RecordJoiner, RecordSink};
use dbtime_model::log_digest::UnreadReason;
use std::io::{self, Read};

/// How far back is read. Unit: bytes.
const PRIMED_BYTES: u64 = 4 << 20;

/// From where on the records before an offset are known to its joiner. Unit: bytes.
pub(super) fn primed_begin(offset: u64) -> u64 {
    offset.saturating_sub(PRIMED_BYTES)
}

/// A joiner that knows what the records before an offset have set, and has open what was not whole
/// there. The input is at that offset then.
///
/// Shape: for formats whose joiners keep no record open, and logs whose open records were not
/// counted, or they would be counted again.
/// Errors: as reading.
pub(super) fn primed_joiner(
    input: &mut LogInput,
    offset: u64,
    reader: &dyn LogReader,
    namer: &mut dyn ClassNamer,
) -> io::Result<Box<dyn RecordJoiner>> {
    let begin = primed_begin(offset);
    input.skip_to(begin)?;
    let before = Read::by_ref(input).take(offset - begin);
    let sizes = BlockSizes::of_block(PRIMED_BYTES as usize);
    let mut divider = BlockDivider::new(before, begin, reader, sizes);
    if begin > 0 {
        divider.begin_within_record();
    }
    let (mut joiner, mut batch, mut memory) = (reader.joiner(), RecordBatch::default(), Vec::new());
    while let Some(block) = divider.next(memory)? {
        batch.clear();
        reader.read(&block.bytes, namer, &mut batch);
        joiner.join(&block.bytes, block.offset, &batch, &mut UncountedRecords);
        memory = block.bytes;
    }
    Ok(joiner)
}

/// The last line before an offset that gives lines another form, with the input at that offset
/// then; empty: there is none, or it is too far back.
///
/// Errors: as reading.
pub(super) fn header_before(
    input: &mut LogInput,
    offset: u64,
    reader: &dyn LogReader,
) -> io::Result<Vec<u8>> {
    let begin = primed_begin(offset);
    input.skip_to(begin)?;
    let mut before = Vec::new();
    Read::by_ref(input).take(offset - begin).read_to_end(&mut before)?;
    Ok(reader.header_in(&before).to_vec())
}

/// Takes records that an earlier digest has counted.
struct UncountedRecords;

impl RecordSink for UncountedRecords {
    fn take(&mut self, _: &JoinedRecord<'_>) {}

    fn count_event(&mut self, _: &str, _: Option<i64>) {}

    fn count_unread(&mut self, _: UnreadReason, _: u64) {}
}
