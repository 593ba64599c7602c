//! Reads the driver's side of a run.

use super::driven_rows::DrivenRows;
use super::{
    DrivenBegin, DrivenEnd, DrivenFileError, DrivenHeading, DrivenNames, END_KIND, ROWS_KIND,
    VERSION,
};
use crate::block_file::{BlockError, BlockReader, HEAD_BYTES};
use crate::exchange::ExchangeBatch;
use crate::units::IMPOSSIBLE;
use std::io::{BufRead, Read, Seek, SeekFrom};

/// Longer headings are none of ours.
const MAX_HEADING_BYTES: u64 = 1 << 16;

/// What stands behind the last block. Unit: bytes.
const PLACE_BYTES: u64 = 8;

/// Reads such a file.
#[derive(Debug)]
pub struct DrivenReader<R> {
    blocks: BlockReader<R>,
    end: DrivenEnd,
}

impl<R: BufRead + Seek> DrivenReader<R> {
    /// Reads its beginning and its end.
    ///
    /// # Errors
    /// It is no such file, or has no end.
    pub fn begin(mut from: R) -> Result<(DrivenBegin, Self), DrivenFileError> {
        let mut line = Vec::new();
        (&mut from).take(MAX_HEADING_BYTES).read_until(b'\n', &mut line)?;
        let heading: Result<DrivenHeading, _> = serde_json::from_slice(&line);
        let begin = heading.map_err(|_| DrivenFileError::NoDrivenFile)?.driven;
        if begin.version != VERSION || !line.ends_with(b"\n") {
            return Err(DrivenFileError::NoDrivenFile);
        }
        let end = read_end(&mut from)?;
        from.seek(SeekFrom::Start(line.len() as u64))?;
        Ok((begin, Self { blocks: BlockReader::new(from), end }))
    }

    /// What stands at its end.
    pub fn end(&self) -> &DrivenEnd {
        &self.end
    }

    /// What the next block has; `None` at the end.
    ///
    /// # Errors
    /// The block is none, cannot be read, or has what the end does not name.
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on behind an error")]
    pub fn next(&mut self) -> Result<Option<ExchangeBatch>, DrivenFileError> {
        let batch = match self.blocks.next().map_err(damaged)? {
            // The end was found before; whatever hides it was put there.
            None => return Err(DrivenFileError::NoEnd),
            Some((END_KIND, _)) => return Ok(None),
            Some((ROWS_KIND, payload)) => {
                let rows = postcard::from_bytes::<DrivenRows>(payload);
                let rows = rows.map_err(|error| error.to_string());
                rows.and_then(|rows| rows.into_batch().ok_or_else(|| NO_CONNECTION.to_owned()))
            }
            Some((kind, _)) => Err(format!("it is of kind {kind}, which there is none of")),
        };
        let number = self.blocks.number();
        let batch = match batch {
            Ok(batch) if !batch.is_possible() => Err(IMPOSSIBLE.to_owned()),
            batch => batch,
        };
        let batch = batch.map_err(|error| DrivenFileError::Block { number, error })?;
        refuse_unnamed(&batch, &self.end.names)?;
        Ok(Some(batch))
    }
}

const NO_CONNECTION: &str = "a statement has no connection";

/// The end, by its place, which stands behind it.
fn read_end(from: &mut (impl BufRead + Seek)) -> Result<DrivenEnd, DrivenFileError> {
    let length = from.seek(SeekFrom::End(0))?;
    let tail = length.checked_sub(PLACE_BYTES).ok_or(DrivenFileError::NoEnd)?;
    from.seek(SeekFrom::Start(tail))?;
    let mut place = [0; PLACE_BYTES as usize];
    from.read_exact(&mut place)?;
    let place = u64::from_le_bytes(place);
    let size = tail.checked_sub(place).filter(|size| *size >= HEAD_BYTES as u64);
    let size = size.ok_or(DrivenFileError::NoEnd)?;
    from.seek(SeekFrom::Start(place))?;
    let mut blocks = BlockReader::new(from.take(size));
    let end = match blocks.next() {
        Ok(Some((END_KIND, payload))) => serde_json::from_slice(payload).ok(),
        Err(BlockError::Io(error)) => return Err(error.into()),
        _ => None,
    };
    end.ok_or(DrivenFileError::NoEnd)
}

fn damaged(error: BlockError) -> DrivenFileError {
    match error {
        BlockError::Io(error) => error.into(),
        BlockError::Damaged(number) => {
            DrivenFileError::Block { number, error: "its contents have changed".to_owned() }
        }
    }
}

/// Numbers without a name are not of this run.
fn refuse_unnamed(batch: &ExchangeBatch, names: &DrivenNames) -> Result<(), DrivenFileError> {
    let operations = batch.transactions.iter().map(|driven| driven.sample.operation.0);
    let statements = batch.exchanges.iter().filter_map(|exchange| exchange.statement);
    let kinds = [
        ("operation", operations.max(), names.operations.len()),
        ("statement", statements.map(|id| id.0).max(), names.statements.len()),
    ];
    for (what, largest, count) in kinds {
        if let Some(number) = largest.filter(|number| usize::from(*number) >= count) {
            return Err(DrivenFileError::Unnamed { what, number });
        }
    }
    Ok(())
}
