//! Writes the driver's side of a run.

use super::driven_rows::DrivenRows;
use super::{DrivenBegin, DrivenEnd, DrivenHeading, DrivenNames, END_KIND, ROWS_KIND, VERSION};
use crate::block_file::BlockWriter;
use crate::exchange::ExchangeBatch;
use crate::recorder::Window;
use std::io::{self, Write};

/// Rows wait until they are so many.
const BLOCK_ROWS: usize = 2_048;

/// Writes such a file.
#[derive(Debug)]
pub struct DrivenWriter<W: Write> {
    blocks: BlockWriter<W>,
    window: Window,
    /// Rows of no block yet.
    waiting: ExchangeBatch,
    end: DrivenEnd,
}

impl<W: Write> DrivenWriter<W> {
    /// Begins one, of the present version whatever `begin` says.
    ///
    /// # Errors
    /// As writing.
    pub fn begin(to: W, begin: &DrivenBegin) -> io::Result<Self> {
        let driven = DrivenBegin { version: VERSION, ..begin.clone() };
        let mut heading = serde_json::to_vec(&DrivenHeading { driven })?;
        heading.push(b'\n');
        let end = DrivenEnd {
            names: DrivenNames::default(),
            first_sent_ns: u64::MAX,
            last_read_ns: 0,
            window_transactions: 0,
        };
        let (blocks, window) = (BlockWriter::begin(to, &heading)?, begin.window());
        Ok(Self { blocks, window, waiting: ExchangeBatch::default(), end })
    }

    /// Adds statements that were answered, and transactions that are over.
    ///
    /// # Errors
    /// As writing.
    pub fn batch(&mut self, batch: &ExchangeBatch) -> io::Result<()> {
        for exchange in &batch.exchanges {
            self.end.first_sent_ns = self.end.first_sent_ns.min(exchange.sent.0);
            self.end.last_read_ns = self.end.last_read_ns.max(exchange.read.0);
        }
        let due = batch.transactions.iter().map(|driven| driven.sample.due);
        self.end.window_transactions += due.filter(|due| self.window.contains(*due)).count() as u64;
        self.waiting.exchanges.extend_from_slice(&batch.exchanges);
        self.waiting.transactions.extend_from_slice(&batch.transactions);
        match self.waiting.exchanges.len() + self.waiting.transactions.len() < BLOCK_ROWS {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Ends it, and returns what it was written to.
    ///
    /// # Errors
    /// As writing.
    pub fn end(mut self, names: DrivenNames) -> io::Result<W> {
        self.flush()?;
        let place = self.blocks.written();
        let end = DrivenEnd { names, ..self.end };
        self.blocks.block(END_KIND, |mut block| {
            serde_json::to_writer(&mut block, &end)?;
            Ok(block)
        })?;
        let mut to = self.blocks.into_inner();
        to.write_all(&place.to_le_bytes())?;
        Ok(to)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.exchanges.is_empty() && self.waiting.transactions.is_empty() {
            return Ok(());
        }
        let rows = DrivenRows::of(&self.waiting);
        self.waiting.exchanges.clear();
        self.waiting.transactions.clear();
        self.blocks
            .block(ROWS_KIND, |block| postcard::to_extend(&rows, block).map_err(io::Error::other))
    }
}
