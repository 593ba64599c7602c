//! Dividing a log into blocks that end where a record begins.
//!
//! ```text
//!   read:    …─────────┬─────────┬───────┬────     a window over what was read
//!                      │         │       └ the last record that begins in it: the block ends here
//!   next:                                ├──── …   and the rest is the beginning of the next one
//! ```
//!
//! A record that is too long is left out up to the next one, and counted once. Whether it is too
//! long depends on where it and the next one begin, never on the size of blocks.

use crate::logs::{BorderState, LogReader, MAX_RECORD_BYTES};
use memchr::{memchr_iter, memrchr};
use std::io::{self, Read};
use std::mem;

/// Of a record that is too long, the share of the longest that is kept to go on from: the line
/// before the next record matters, and it may be as long.
const KEPT_SHARE: usize = 16;

/// The memory of a block is given back where it has room for more blocks than this.
const MOST_CAPACITY: usize = 4;

/// So many lines make a block, however short they are, unless they are of one record: what is read
/// of a line takes more memory than a short line itself.
const MOST_LINES: usize = 1 << 16;

/// Ends reading early.
#[derive(Debug, thiserror::Error)]
#[error("reading was ended early")]
struct ReadingStop;

/// What a source gives to end reading early: what it gave before is read, up to the last record
/// that begins in it.
pub(super) fn stop_error() -> io::Error {
    io::Error::other(ReadingStop)
}

fn is_stop(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<ReadingStop>())
}

/// How large blocks and records are. Unit: bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockSizes {
    /// A block, unless a record of it is larger.
    pub(super) block: usize,
    /// The longest record.
    pub(super) longest: usize,
}

impl BlockSizes {
    /// Blocks of this size, and records as long as they may be.
    pub(super) fn of_block(block: usize) -> Self {
        Self { block: block.clamp(1, MAX_RECORD_BYTES), longest: MAX_RECORD_BYTES }
    }
}

/// Whole records in a row.
#[derive(Debug, Default)]
pub(super) struct LogBlock {
    /// Where it begins in the log. Unit: bytes.
    pub(super) offset: u64,
    /// Its records.
    pub(super) bytes: Vec<u8>,
    /// The last line before it that gives lines another form; empty: there is none.
    pub(super) header: Vec<u8>,
    /// Where records before it begin that are too long.
    pub(super) too_long: Vec<u64>,
    /// Whether the log ends with it.
    pub(super) is_last: bool,
    /// Whether the log ends in the middle of a line, which is in this block.
    pub(super) is_cut: bool,
}

/// Divides a log into blocks.
pub(super) struct BlockDivider<'a, R> {
    source: R,
    reader: &'a dyn LogReader,
    sizes: BlockSizes,
    /// What was read and is in no block yet. It begins where a record does, or within one that is
    /// too long.
    rest: Vec<u8>,
    /// Where that begins in the log.
    offset: u64,
    /// The last line before that which gives lines another form.
    header: Vec<u8>,
    is_within_long: bool,
    too_long: Vec<u64>,
    is_at_end: bool,
    /// Whether the rest ends with a line end that the log lacks.
    has_made_end: bool,
    is_over: bool,
    is_stopped: bool,
}

/// What a window over the rest shows.
enum WindowBorder {
    /// Whole records up to here.
    Records(usize),
    /// A record that is too long, up to here, where the next one begins.
    LongRecord(usize),
    /// A record that is too long, whose end is not in sight; what is behind this is kept.
    WithinLong(usize),
    /// The log ends with the window, and no record begins in it.
    End,
    /// None begins in it: a larger one is needed.
    Nothing,
}

impl<'a, R: Read> BlockDivider<'a, R> {
    /// Divides what is read from here, where a record begins at this offset of the log.
    pub(super) fn new(
        source: R,
        offset: u64,
        reader: &'a dyn LogReader,
        sizes: BlockSizes,
    ) -> Self {
        Self {
            source,
            reader,
            sizes,
            rest: Vec::new(),
            offset,
            header: Vec::new(),
            is_within_long: false,
            too_long: Vec::new(),
            is_at_end: false,
            has_made_end: false,
            is_over: false,
            is_stopped: false,
        }
    }

    /// Whether the source has ended it early, with [`stop_error`].
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Leaves out what is before the first record that begins.
    pub(super) fn begin_within_record(&mut self) {
        self.is_within_long = true;
    }

    /// Begins behind a line that gives lines another form.
    pub(super) fn begin_below(&mut self, header: Vec<u8>) {
        self.header = header;
    }

    /// The next block, for which this memory is used; `None`: there is none.
    ///
    /// Errors: as reading.
    pub(super) fn next(&mut self, memory: Vec<u8>) -> io::Result<Option<LogBlock>> {
        let mut window = self.sizes.block;
        while !self.is_over {
            self.fill(window)?;
            if self.is_stopped {
                return Ok(self.stop(memory));
            }
            match self.border(window.min(self.rest.len())) {
                WindowBorder::Records(end) => {
                    return Ok(Some(self.cut(self.with_few_lines(end), memory)));
                }
                WindowBorder::End => return Ok(self.finish(memory)),
                WindowBorder::Nothing => window = (window * 2).min(self.farthest()),
                WindowBorder::LongRecord(end) => {
                    self.leave_out(end);
                    self.is_within_long = false;
                    window = self.sizes.block;
                }
                WindowBorder::WithinLong(end) => {
                    self.leave_out(end);
                    self.is_within_long = true;
                    window = self.sizes.block;
                }
            }
        }
        Ok(None)
    }

    /// How far is looked for the end of a record: one that begins where the longest ends may be as
    /// long.
    fn farthest(&self) -> usize {
        self.sizes.longest * 2
    }

    /// Reads until the rest is so long or the log ends.
    fn fill(&mut self, size: usize) -> io::Result<()> {
        let missing = size.saturating_sub(self.rest.len());
        if self.is_at_end || missing == 0 {
            return Ok(());
        }
        self.rest.reserve(missing);
        let source = Read::by_ref(&mut self.source);
        let outcome = source.take(missing as u64).read_to_end(&mut self.rest);
        let read = match outcome {
            Err(error) if is_stop(&error) => {
                self.is_stopped = true;
                return Ok(());
            }
            read => read?,
        };
        self.is_at_end = read < missing;
        // A line counts when its end is there, and the last one is at its end.
        if self.is_at_end && self.rest.last().is_some_and(|byte| *byte != b'\n') {
            self.rest.push(b'\n');
            self.has_made_end = true;
        }
        Ok(())
    }

    /// The last block where reading is ended early: the records of the rest up to the last one,
    /// which may not be whole.
    fn stop(&mut self, memory: Vec<u8>) -> Option<LogBlock> {
        self.is_over = true;
        if self.is_within_long || self.rest.len() > self.sizes.longest {
            return None;
        }
        let end = self.last_start(&self.rest)?;
        Some(self.cut(end, memory))
    }

    /// What so many bytes of the rest show.
    fn border(&self, window: usize) -> WindowBorder {
        let bytes = &self.rest[..window];
        match self.last_start(bytes) {
            Some(last) if !self.is_within_long && window <= self.sizes.longest => {
                debug_assert!(last > 0, "a border has records before it");
                WindowBorder::Records(last)
            }
            Some(_) => self.behind_first(self.first_start(bytes)),
            None if self.is_at_end && window == self.rest.len() => WindowBorder::End,
            None if window >= self.farthest() => self.within_long(bytes),
            None => WindowBorder::Nothing,
        }
    }

    /// Where the last record begins. Within a record that is too long, where quotes are open that
    /// may never close, the rest is taken to be outside of them: one odd quote shall not cost all
    /// that follows.
    fn last_start(&self, bytes: &[u8]) -> Option<usize> {
        self.reader.last_start(bytes, BorderState::default())
    }

    /// What is before the first record that begins in the rest.
    fn behind_first(&self, first: usize) -> WindowBorder {
        if self.is_within_long || first > self.sizes.longest {
            WindowBorder::LongRecord(first)
        } else {
            WindowBorder::Records(first)
        }
    }

    /// Where the first record begins of those that begin in these bytes, of which there is one.
    fn first_start(&self, bytes: &[u8]) -> usize {
        let start = |length: usize| self.last_start(&bytes[..length]);
        // In more bytes as many records begin or more.
        let (mut without, mut with) = (0, bytes.len());
        while with - without > 1 {
            let middle = without + (with - without) / 2;
            if start(middle).is_some() { with = middle } else { without = middle }
        }
        start(with).unwrap_or(bytes.len())
    }

    /// What bytes are in which no record begins, though the longest one would fit twice.
    fn within_long(&self, bytes: &[u8]) -> WindowBorder {
        let kept = self.sizes.longest / KEPT_SHARE;
        let line = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        // The last line has no end in sight. Its beginning shows whether a record begins with it;
        // where it is shorter than what is kept, the next look does.
        if line > 0 && bytes.len() - line >= kept {
            let mut shown = bytes[..line + kept].to_vec();
            shown.push(b'\n');
            if self.last_start(&shown) == Some(line) {
                return self.behind_first(line);
            }
        }
        let before = memrchr(b'\n', &bytes[..line.saturating_sub(1)]).map_or(0, |at| at + 1);
        let is_short = before > 0 && bytes.len() - before <= self.sizes.longest;
        WindowBorder::WithinLong(if is_short { before } else { bytes.len() - kept })
    }

    /// Where to cut instead of there, so that the block has not too many lines: as many as there
    /// may be, in whole records.
    fn with_few_lines(&self, end: usize) -> usize {
        let bytes = &self.rest[..end];
        let lines = || memchr_iter(b'\n', bytes);
        // Counting is many times as fast as looking each of them up.
        if lines().count() <= MOST_LINES {
            return end;
        }
        let fewer = lines().nth(MOST_LINES);
        fewer.and_then(|at| self.last_start(&bytes[..=at])).unwrap_or(end)
    }

    /// Takes so many bytes of the rest as a block.
    fn cut(&mut self, end: usize, mut memory: Vec<u8>) -> LogBlock {
        // What was large for the sake of one record does not stay so.
        if memory.capacity() > self.sizes.block * MOST_CAPACITY {
            memory = Vec::new();
        }
        memory.clear();
        memory.extend_from_slice(&self.rest[end..]);
        self.rest.truncate(end);
        let bytes = mem::replace(&mut self.rest, memory);
        let (offset, header) = (self.offset, self.header.clone());
        self.pass(&bytes);
        let too_long = mem::take(&mut self.too_long);
        LogBlock { offset, bytes, header, too_long, is_last: false, is_cut: false }
    }

    /// Goes on behind these bytes.
    fn pass(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        let header = self.reader.header_in(bytes);
        if !header.is_empty() {
            self.header = header.to_vec();
        }
    }

    /// Leaves so many bytes of the rest out, which are of a record that is too long.
    fn leave_out(&mut self, end: usize) {
        if !self.is_within_long {
            self.too_long.push(self.offset);
        }
        let behind = self.rest.split_off(end);
        let left_out = mem::replace(&mut self.rest, behind);
        self.pass(&left_out);
    }

    /// The last block: the rest, unless it is too long.
    fn finish(&mut self, memory: Vec<u8>) -> Option<LogBlock> {
        self.is_over = true;
        let has_made_end = mem::take(&mut self.has_made_end);
        if has_made_end {
            self.rest.pop();
        }
        let is_long = self.is_within_long || self.rest.len() > self.sizes.longest;
        if is_long {
            self.leave_out(self.rest.len());
        }
        let is_empty = self.rest.is_empty() && self.too_long.is_empty();
        let is_cut = has_made_end && !is_long;
        (!is_empty).then(|| {
            let block = self.cut(self.rest.len(), memory);
            LogBlock { is_last: true, is_cut, ..block }
        })
    }
}
