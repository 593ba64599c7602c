//! Reads a recording of any version.

use super::trace_lines::{LineEnd, TraceLineReader, read_line};
use super::{
    BLOCK_REQUESTS, END_KIND, FIRST_BLOCK_VERSION, OLDEST_VERSION, REQUESTS_KIND, RecordedPart,
    RecordingHeading, TraceBegin, TraceFileError, VERSION, possible,
};
use crate::block_file::{BlockError, BlockReader};
use crate::traced::TracedRequest;
use crate::traced_batch::RequestBatch;
use crate::units::IMPOSSIBLE;
use serde::Deserialize;
use std::borrow::Cow;
use std::io::BufRead;

/// Reads a recording.
#[derive(Debug)]
pub struct TraceReader<R> {
    body: RecordingBody<R>,
    /// Whether the end was read, behind which nothing belongs to the recording.
    is_over: bool,
}

/// What lies behind the heading.
#[derive(Debug)]
enum RecordingBody<R> {
    /// Of the versions 1 to 3.
    Lines(TraceLineReader<R>),
    /// And their version.
    Blocks(BlockReader<R>, u32),
}

impl<R: BufRead> TraceReader<R> {
    /// Reads its beginning.
    ///
    /// # Errors
    /// It is no recording, or one of another version.
    pub fn begin(mut from: R) -> Result<(TraceBegin, Self), TraceFileError> {
        let mut line = Vec::new();
        if read_line(&mut from, &mut line)? != LineEnd::Whole {
            return Err(TraceFileError::NoRecording);
        }
        let begin = heading(&line)?;
        let body = match begin.version {
            version @ FIRST_BLOCK_VERSION.. => {
                RecordingBody::Blocks(BlockReader::new(from), version)
            }
            _ => RecordingBody::Lines(TraceLineReader::new(from, &begin)),
        };
        Ok((begin, Self { body, is_over: false }))
    }

    /// What comes next behind the beginning; `None` behind the end of the recording, whatever
    /// follows, and at the end of the file, also where that cuts a block or a line in two.
    ///
    /// # Errors
    /// It is none, or cannot be read.
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on behind an error")]
    pub fn next(&mut self) -> Result<Option<RecordedPart>, TraceFileError> {
        if self.is_over {
            return Ok(None);
        }
        let part = match &mut self.body {
            RecordingBody::Lines(lines) => lines.next()?,
            RecordingBody::Blocks(blocks, version) => next_block(blocks, *version)?,
        };
        self.is_over = matches!(part, Some(RecordedPart::End(_)));
        Ok(part)
    }

    /// Whether the end of the recording was read.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// What it reads from.
    pub(super) fn source(&self) -> &R {
        match &self.body {
            RecordingBody::Lines(lines) => lines.source(),
            RecordingBody::Blocks(blocks, _) => blocks.source(),
        }
    }

    /// Whether the last block or line was cut in two.
    pub fn is_cut(&self) -> bool {
        match &self.body {
            RecordingBody::Lines(lines) => lines.is_cut(),
            RecordingBody::Blocks(blocks, _) => blocks.is_cut(),
        }
    }
}

fn heading(line: &[u8]) -> Result<TraceBegin, TraceFileError> {
    #[derive(Deserialize)]
    struct RecordingVersion {
        version: u32,
    }
    #[derive(Deserialize)]
    struct VersionHeading {
        begin: RecordingVersion,
    }
    let versioned: VersionHeading =
        serde_json::from_slice(line).map_err(|_| TraceFileError::NoRecording)?;
    if !(OLDEST_VERSION..=VERSION).contains(&versioned.begin.version) {
        return Err(TraceFileError::Version(versioned.begin.version));
    }
    let wrong = |error: String| TraceFileError::Line { number: 1, error };
    let heading: RecordingHeading =
        serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?;
    let TraceBegin { since, step, .. } = heading.begin;
    match since.is_possible() && step.is_possible() {
        true => Ok(heading.begin),
        false => Err(wrong(IMPOSSIBLE.to_owned())),
    }
}

fn next_block<R: BufRead>(
    blocks: &mut BlockReader<R>,
    version: u32,
) -> Result<Option<RecordedPart>, TraceFileError> {
    let block = blocks.next().map_err(|error| match error {
        BlockError::Io(error) => error.into(),
        BlockError::Damaged(number) => TraceFileError::Block { number, error: CHANGED.to_owned() },
    });
    let Some((kind, payload)) = block? else { return Ok(None) };
    let read = match kind {
        REQUESTS_KIND => requests(payload, version).map(RecordedPart::Requests),
        END_KIND => {
            serde_json::from_slice(payload).map(RecordedPart::End).map_err(|e| e.to_string())
        }
        _ => Err(format!("it is of kind {kind}, which there is none of")),
    };
    let number = blocks.number();
    let read = read.and_then(|part| possible(part).map_err(str::to_owned));
    read.map(Some).map_err(|error| TraceFileError::Block { number, error })
}

/// What is wrong with a block that has another check sum.
const CHANGED: &str = "its contents have changed";

fn requests(payload: &[u8], version: u32) -> Result<Vec<TracedRequest>, String> {
    let mut bytes = Cow::Borrowed(payload);
    // What was added to the end of a batch since is a list, and nothing was in it.
    if version < VERSION {
        bytes.to_mut().push(0);
    }
    let batch: Result<RequestBatch<Vec<TracedRequest>>, _> = postcard::from_bytes(&bytes);
    let requests = batch.map(RequestBatch::into_requests).map_err(|error| error.to_string())?;
    match requests.len() {
        0..=BLOCK_REQUESTS => Ok(requests),
        many => Err(format!("it has {many} requests, of at most {BLOCK_REQUESTS}")),
    }
}
