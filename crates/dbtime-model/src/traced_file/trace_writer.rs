//! Writes a recording.

use super::{
    BLOCK_REQUESTS, END_KIND, REQUESTS_KIND, RecordingHeading, TraceBegin, TraceEnd, VERSION,
};
use crate::block_file::BlockWriter;
use crate::traced::TracedRequest;
use crate::traced_batch::RequestBatch;
use std::io::{self, Write};

/// Writes a recording.
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    blocks: BlockWriter<W>,
}

impl<W: Write> TraceWriter<W> {
    /// Begins one, of the present version whatever `begin` says.
    ///
    /// # Errors
    /// As writing.
    pub fn begin(to: W, begin: &TraceBegin) -> io::Result<Self> {
        let begin = TraceBegin { version: VERSION, ..begin.clone() };
        let mut heading = serde_json::to_vec(&RecordingHeading { begin })?;
        heading.push(b'\n');
        let mut blocks = BlockWriter::begin(to, &heading)?;
        blocks.flush()?;
        Ok(Self { blocks })
    }

    /// Adds requests, which lose their logins, texts, stacks and parts of their queues.
    ///
    /// # Errors
    /// As writing.
    pub fn requests(&mut self, requests: &mut [TracedRequest]) -> io::Result<()> {
        for some in requests.chunks_mut(BLOCK_REQUESTS) {
            some.iter_mut().for_each(|request| request.stacks.clear());
            let batch = RequestBatch::new(some);
            self.blocks.block(REQUESTS_KIND, |block| {
                postcard::to_extend(&batch, block).map_err(io::Error::other)
            })?;
        }
        // They come some at a time, and whoever is killed has lost none of those before.
        if requests.is_empty() { Ok(()) } else { self.blocks.flush() }
    }

    /// Ends it, and sees to it that it is written.
    ///
    /// # Errors
    /// As writing.
    pub fn end(mut self, end: &TraceEnd) -> io::Result<()> {
        self.blocks.block(END_KIND, |mut block| {
            serde_json::to_writer(&mut block, end)?;
            Ok(block)
        })?;
        self.blocks.into_inner().flush()
    }
}
