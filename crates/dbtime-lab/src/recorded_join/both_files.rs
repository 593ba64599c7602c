//! The two files of a join, read from their beginnings as often as needed: neither need fit into
//! memory.

use super::clock_mapping::ClockMapping;
use super::join_error::JoinError;
use super::read_ahead::ReadAhead;
use super::recorded_sides::{RecordedSides, RecordedSpan};
use crate::observers::{RunJoin, RunJoinEnd};
use crate::statements::{StatementLog, StatementNames, unwritten};
use dbtime_model::bounded_file::recorded_file;
use dbtime_model::driven_file::{DrivenBegin, DrivenFileError, DrivenReader};
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::Warning;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{
    RecordedPart, RecordingEnd, RecordingFile, TraceBegin, TraceFileError,
};
use dbtime_model::{MonoNanos, Nanos, Recorder};
use dbtime_observe::trace::LiteralFilter;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::thread;

/// Unit: bytes; some blocks.
const READ_BYTES: usize = 256 << 10;

/// By then both sides have a statement that is over, however long it took.
const SETTLED_AFTER: Nanos = Nanos::from_secs(60);

/// Closed connections are looked for so often, in the run's own time.
const SETTLE_INTERVAL: Nanos = Nanos::from_secs(5);

/// Where both sides are.
pub(super) struct BothFiles {
    pub(super) driven: PathBuf,
    pub(super) recording: PathBuf,
}

/// All that has come of a join.
pub(super) struct JoinedFiles {
    pub(super) end: RunJoinEnd,
    /// How far the recording reaches.
    pub(super) recorded: RecordedSpan,
    /// What is wrong with the file of statements.
    pub(super) warning: Option<Warning>,
}

impl BothFiles {
    /// The driver's side from its beginning.
    pub(super) fn driven(&self) -> Result<(DrivenBegin, DrivenReader<BufReader<File>>), JoinError> {
        let opened = recorded_file(&self.driven).map_err(|error| self.bad_driven(error.into()))?;
        DrivenReader::begin(BufReader::with_capacity(READ_BYTES, opened))
            .map_err(|error| self.bad_driven(error))
    }

    /// The recording from its beginning.
    pub(super) fn recording(&self) -> Result<(TraceBegin, RecordingFile), JoinError> {
        let opened = recorded_file(&self.recording).map_err(|e| self.bad_recording(e.into()))?;
        RecordingFile::begin(opened).map_err(|error| self.bad_recording(error))
    }

    /// How the recording's file ends.
    pub(super) fn recording_end(&self) -> Result<RecordingEnd, JoinError> {
        let (_, mut from) = self.recording()?;
        while from.next().map_err(|error| self.bad_recording(error))?.is_some() {}
        from.end().map_err(|error| self.bad_recording(error.into()))
    }

    pub(super) fn bad_driven(&self, source: DrivenFileError) -> JoinError {
        JoinError::Driven { path: self.driven.clone(), source }
    }

    pub(super) fn bad_recording(&self, source: TraceFileError) -> JoinError {
        JoinError::Recording { path: self.recording.clone(), source }
    }

    /// Joins both sides; their statements go to the file `statements`.
    pub(super) fn join(
        &self,
        sides: &RecordedSides,
        clock: &ClockMapping,
        statements: &Path,
        seed: u64,
    ) -> Result<JoinedFiles, JoinError> {
        let mut join = RunJoin::recorded();
        let log =
            StatementLog::create_named(statements, StatementNames::recorded(&sides.end.names));
        let warning = match log {
            Ok(mut log) => {
                log.take_recording(clock.clone());
                join.write_to(log);
                None
            }
            Err(error) => Some(unwritten(&error)),
        };
        let (operations, count) =
            (sides.end.names.operations.len(), sides.end.names.statements.len());
        join.begin(Recorder::new(sides.driven.window(), operations, count, seed));
        let recorded = thread::scope(|scope| {
            let driven = ReadAhead::begin(scope, self.driven_batches()?);
            let parts = ReadAhead::begin(scope, self.recorded_parts(clock, sides)?);
            join_all(&mut join, driven, parts)
        })?;
        let end = join.finish(&sides.end.names.clone().into(), None);
        Ok(JoinedFiles { end, recorded, warning })
    }

    /// The driver's side, some rows at once.
    fn driven_batches(
        &self,
    ) -> Result<impl FnMut() -> Result<Option<ExchangeBatch>, JoinError>, JoinError> {
        let (_, mut from) = self.driven()?;
        Ok(move || from.next().map_err(|error| self.bad_driven(error)))
    }

    /// The recording on the driver's clock, without requests of another time.
    fn recorded_parts(
        &self,
        clock: &ClockMapping,
        sides: &RecordedSides,
    ) -> Result<impl FnMut() -> Result<Option<ServedPart>, JoinError>, JoinError> {
        let (begin, mut from) = self.recording()?;
        let mut literals = begin.raw_sql.then(LiteralFilter::default);
        let mut is_over = false;
        Ok(move || {
            if is_over {
                return Ok(None);
            }
            let part = from.next().map_err(|error| self.bad_recording(error))?;
            let end = match part {
                Some(RecordedPart::Requests(mut requests)) => {
                    for request in &mut requests {
                        literals.iter_mut().for_each(|filter| filter.request(request));
                    }
                    return Ok(Some(ServedPart::of(requests, clock, sides)));
                }
                Some(RecordedPart::End(end)) => Some(*end),
                None => None,
            };
            is_over = true;
            let file_end = from.end().map_err(|error| self.bad_recording(error.into()))?;
            let span = RecordedSpan::ending(end, file_end);
            Ok(Some(ServedPart { requests: Vec::new(), span }))
        })
    }
}

/// Some requests of a recording.
struct ServedPart {
    requests: Vec<TracedRequest>,
    /// What these add to how far it reaches.
    span: RecordedSpan,
}

impl ServedPart {
    fn of(mut requests: Vec<TracedRequest>, clock: &ClockMapping, sides: &RecordedSides) -> Self {
        let mut span = RecordedSpan::default();
        for request in &mut requests {
            put_on_clock(request, clock);
            span.add(request);
        }
        requests.retain(|request| sides.contains(request));
        Self { requests, span }
    }
}

/// Joins what comes of both sides. Returns how far the recording reaches.
fn join_all(
    join: &mut RunJoin,
    mut driven: ReadAhead<ExchangeBatch>,
    mut parts: ReadAhead<ServedPart>,
) -> Result<RecordedSpan, JoinError> {
    let mut waiting = Vec::new().into_iter().peekable();
    let mut recorded = RecordedSpan::default();
    let mut next_settling = MonoNanos(0);
    loop {
        let batch = driven.next()?;
        let read = batch.iter().flat_map(|batch| &batch.exchanges).map(|exchange| exchange.read);
        let until = read.max().unwrap_or(MonoNanos(0));
        let until = if batch.is_some() { until } else { MonoNanos(u64::MAX) };
        batch.iter().for_each(|batch| join.exchanges(batch));
        loop {
            if waiting.peek().is_none() {
                let Some(part) = parts.next()? else { break };
                recorded.merge(part.span);
                waiting = part.requests.into_iter().peekable();
                continue;
            }
            let Some(request) = waiting.next_if(|request| request.end <= until) else { break };
            let end = request.end;
            join.requests(&[request], end);
        }
        if batch.is_none() {
            return Ok(recorded);
        }
        if until >= next_settling {
            join.settle(MonoNanos(until.0.saturating_sub(SETTLED_AFTER.0)));
            next_settling = until + SETTLE_INTERVAL;
        }
    }
}

/// Puts a request on the driver's clock. Its durations stay what they are.
fn put_on_clock(request: &mut TracedRequest, clock: &ClockMapping) {
    let offset = clock.offset(request.start);
    let at = |at: MonoNanos| MonoNanos(at.0.saturating_add_signed(-offset));
    request.start = at(request.start);
    request.first_sent = request.first_sent.map(at);
    request.end = at(request.end);
}
