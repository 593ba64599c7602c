//! Files of blocks: a heading for people and programs, then blocks, each with its check sum.
//!
//! ```text
//!   {"begin":{…}}⏎                                  the heading, a line of JSON
//!   ┌────────────┬────────────┬──────┬───────────┐
//!   │ length u32 │ CRC-32 u32 │ kind │ payload … │   as often as there are some;
//!   └────────────┴────────────┴──────┴───────────┘   numbers are little-endian
//! ```
//!
//! The length is that of the payload; the check sum is of kind and payload. A file that was cut
//! short is read up to the last whole block.

use std::io::{self, BufRead, Read, Write};

/// What stands before a payload. Unit: bytes.
pub(crate) const HEAD_BYTES: usize = 9;

/// Longer blocks are none of ours. The longest by far is the end of a recording, of some megabytes.
const MAX_BLOCK_BYTES: u32 = 64 << 20;

/// Writes the blocks of a file, behind its heading.
#[derive(Debug)]
pub(crate) struct BlockWriter<W> {
    to: W,
    /// Bytes so far, the heading included.
    written: u64,
    /// Room for a block.
    block: Vec<u8>,
}

impl<W: Write> BlockWriter<W> {
    /// Begins a file with this heading, which is a line.
    ///
    /// # Errors
    /// As writing.
    pub(crate) fn begin(mut to: W, heading: &[u8]) -> io::Result<Self> {
        to.write_all(heading)?;
        Ok(Self { to, written: heading.len() as u64, block: Vec::new() })
    }

    /// How many bytes the file has so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Adds a block of this kind; `payload` appends what is in it.
    ///
    /// # Errors
    /// As writing, or the payload is too long or cannot be made.
    pub(crate) fn block(
        &mut self,
        kind: u8,
        payload: impl FnOnce(Vec<u8>) -> io::Result<Vec<u8>>,
    ) -> io::Result<()> {
        let mut block = std::mem::take(&mut self.block);
        block.clear();
        block.extend([0; HEAD_BYTES - 1]);
        block.push(kind);
        let mut block = payload(block)?;
        let length = u32::try_from(block.len() - HEAD_BYTES).ok();
        let length = length.filter(|length| *length <= MAX_BLOCK_BYTES).ok_or_else(too_long)?;
        let sum = crc32fast::hash(&block[HEAD_BYTES - 1..]);
        block[..4].copy_from_slice(&length.to_le_bytes());
        block[4..8].copy_from_slice(&sum.to_le_bytes());
        self.to.write_all(&block)?;
        self.written += block.len() as u64;
        self.block = block;
        Ok(())
    }

    /// Hands over what was written so far: of that a kill takes nothing.
    ///
    /// # Errors
    /// As writing.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// What it writes to.
    pub(crate) fn into_inner(self) -> W {
        self.to
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a block is longer than 64 MiB")
}

/// Why a block cannot be read.
#[derive(Debug)]
pub(crate) enum BlockError {
    /// The system's words.
    Io(io::Error),
    /// It was changed since it was written; its number, from 1.
    Damaged(u64),
}

impl From<io::Error> for BlockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the blocks of a file, behind its heading.
#[derive(Debug)]
pub(crate) struct BlockReader<R> {
    from: R,
    number: u64,
    is_cut: bool,
    /// Kind and payload of the present block.
    block: Vec<u8>,
}

impl<R: BufRead> BlockReader<R> {
    /// Reads what lies behind the heading.
    pub(crate) fn new(from: R) -> Self {
        Self { from, number: 0, is_cut: false, block: Vec::new() }
    }

    /// What it reads from.
    pub(crate) fn source(&self) -> &R {
        &self.from
    }

    /// The number of the present block, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the file ends within a block.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Kind and payload of the next block; `None` at the end of the file, also where that is within
    /// a block.
    ///
    /// # Errors
    /// The block cannot be read, or is not what was written.
    pub(crate) fn next(&mut self) -> Result<Option<(u8, &[u8])>, BlockError> {
        self.block.clear();
        self.from.by_ref().take(HEAD_SUM_END as u64).read_to_end(&mut self.block)?;
        match self.block.len() {
            0 => return Ok(None),
            HEAD_SUM_END => self.number += 1,
            _ => return Ok(self.cut()),
        }
        let [length, sum] = [&self.block[..4], &self.block[4..]].map(little_endian);
        if length > MAX_BLOCK_BYTES {
            return Err(BlockError::Damaged(self.number));
        }
        let size = u64::from(length) + 1;
        self.block.clear();
        self.from.by_ref().take(size).read_to_end(&mut self.block)?;
        if (self.block.len() as u64) < size {
            return Ok(self.cut());
        }
        if crc32fast::hash(&self.block) != sum {
            return Err(BlockError::Damaged(self.number));
        }
        Ok(self.block.split_first().map(|(kind, payload)| (*kind, payload)))
    }

    fn cut(&mut self) -> Option<(u8, &[u8])> {
        self.is_cut = true;
        None
    }
}

/// Length and check sum have so many bytes.
const HEAD_SUM_END: usize = HEAD_BYTES - 1;

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(blocks: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut writer = BlockWriter::begin(Vec::new(), b"").expect("memory");
        for (kind, payload) in blocks {
            let added = writer.block(*kind, |mut block| {
                block.extend(payload);
                Ok(block)
            });
            added.expect("memory");
        }
        assert_eq!(writer.written(), writer.to.len() as u64);
        writer.into_inner()
    }

    type Blocks = Vec<(u8, Vec<u8>)>;

    /// The blocks of a file, and whether it was cut short.
    fn read(bytes: &[u8]) -> Result<(Blocks, bool), BlockError> {
        let (mut reader, mut blocks) = (BlockReader::new(bytes), Vec::new());
        while let Some((kind, payload)) = reader.next()? {
            blocks.push((kind, payload.to_vec()));
        }
        Ok((blocks, reader.is_cut()))
    }

    proptest! {
        #[test]
        fn blocks_are_read_up_to_where_the_file_was_cut(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5),
            at: prop::sample::Index,
        ) {
            let blocks = (0..).zip(payloads).collect::<Blocks>();
            let bytes = file(&blocks);
            let (found, is_cut) = read(&bytes).expect("as it was written");
            prop_assert_eq!((&found, is_cut), (&blocks, false));
            let length = at.index(bytes.len() + 1);
            let (found, is_cut) = read(&bytes[..length]).expect("whole blocks");
            prop_assert!(blocks.starts_with(&found));
            prop_assert_eq!(is_cut, file(&found).len() != length);
        }

        #[test]
        fn a_changed_byte_is_never_taken_for_what_was_written(
            payload in prop::collection::vec(any::<u8>(), 0..40),
            at: prop::sample::Index,
            bit in 0..8,
        ) {
            let mut bytes = file(&[(1, payload.clone()), (2, payload)]);
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            // A length that was changed may reach beyond the end.
            let is_found_out = read(&bytes).map_or(true, |(_, is_cut)| is_cut);
            prop_assert!(is_found_out);
        }
    }
}
