//! The two files of a join: opened twice, because neither need fit into memory.

use super::clock_mapping::ClockMapping;
use super::join_error::JoinError;
use super::read_ahead::ReadAhead;
use super::recorded_sides::RecordedSides;
use crate::observers::{RunJoin, RunJoinEnd};
use crate::statements::{StatementLog, StatementNames, unwritten};
use dbtime_model::driven_file::{DrivenBegin, DrivenFileError, DrivenLine, DrivenReader};
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::Warning;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceFileError, TraceLine, TraceReader};
use dbtime_model::{MonoNanos, Nanos, Recorder};
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::thread;

/// So many of the driver's lines are taken at once.
const BATCH_LINES: usize = 1_024;

/// By then both sides have a statement that is over, however long it took.
const SETTLED_AFTER: Nanos = Nanos::from_secs(60);

/// Closed connections are looked for so often, in the run's own time.
const SETTLE_INTERVAL: Nanos = Nanos::from_secs(5);

type UnpackedFile = BufReader<GzDecoder<BufReader<File>>>;

/// Where both sides are.
pub(super) struct BothFiles {
    pub(super) driven: PathBuf,
    pub(super) recording: PathBuf,
}

/// All that has come of a join.
pub(super) struct JoinedFiles {
    pub(super) end: RunJoinEnd,
    /// What is wrong with the file of statements.
    pub(super) warning: Option<Warning>,
}

impl BothFiles {
    /// The driver's side from its beginning.
    pub(super) fn driven(&self) -> Result<(DrivenBegin, DrivenReader<UnpackedFile>), JoinError> {
        let opened = File::open(&self.driven).map_err(|error| self.bad_driven(error.into()))?;
        let unpacked = BufReader::new(GzDecoder::new(BufReader::new(opened)));
        DrivenReader::begin(unpacked).map_err(|error| self.bad_driven(error))
    }

    /// The recording from its beginning.
    pub(super) fn recording(
        &self,
    ) -> Result<(TraceBegin, TraceReader<BufReader<File>>), JoinError> {
        let opened = File::open(&self.recording).map_err(|e| self.bad_recording(e.into()))?;
        TraceReader::begin(BufReader::new(opened)).map_err(|error| self.bad_recording(error))
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
        let log = StatementLog::create_named(statements, StatementNames::recorded(&sides.names));
        let warning = match log {
            Ok(mut log) => {
                log.take_recording(clock.clone());
                join.write_to(log);
                None
            }
            Err(error) => Some(unwritten(&error)),
        };
        let (operations, count) = (sides.names.operations.len(), sides.names.statements.len());
        join.begin(Recorder::new(sides.driven.window(), operations, count, seed));
        thread::scope(|scope| {
            let driven = ReadAhead::begin(scope, self.driven_batches()?);
            let requests = ReadAhead::begin(scope, self.request_batches(clock, sides)?);
            join_all(&mut join, driven, requests)
        })?;
        Ok(JoinedFiles { end: join.finish(&sides.names.clone().into(), None), warning })
    }

    /// The driver's side, some lines at once, and when the last of them was over.
    fn driven_batches(
        &self,
    ) -> Result<impl FnMut() -> Result<Option<DrivenBatch>, JoinError>, JoinError> {
        let (_, mut from) = self.driven()?;
        Ok(move || {
            let (mut batch, mut present) = (ExchangeBatch::default(), MonoNanos(0));
            for _ in 0..BATCH_LINES {
                match from.next().map_err(|error| self.bad_driven(error))? {
                    Some(DrivenLine::Statement(exchange)) => {
                        present = present.max(exchange.read);
                        batch.exchanges.push(exchange);
                    }
                    Some(DrivenLine::Transaction(driven)) => batch.transactions.push(*driven),
                    Some(_) => {}
                    None => break,
                }
            }
            // Nothing of the driver's comes behind its end.
            let is_over = batch.exchanges.is_empty() && batch.transactions.is_empty();
            Ok((!is_over).then_some((batch, present)))
        })
    }

    /// The requests of the time of the run, on the driver's clock, some at once.
    fn request_batches(
        &self,
        clock: &ClockMapping,
        sides: &RecordedSides,
    ) -> Result<impl FnMut() -> Result<Option<Vec<TracedRequest>>, JoinError>, JoinError> {
        let (_, mut from) = self.recording()?;
        Ok(move || {
            let mut batch = Vec::with_capacity(BATCH_LINES);
            while batch.len() < BATCH_LINES {
                match from.next().map_err(|error| self.bad_recording(error))? {
                    Some(TraceLine::Request(mut request)) => {
                        mapped(&mut request, clock);
                        batch.extend(Some(*request).filter(|request| sides.contains(request)));
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            Ok((!batch.is_empty()).then_some(batch))
        })
    }
}

/// Lines of the driver, and when the last of them was over.
type DrivenBatch = (ExchangeBatch, MonoNanos);

/// Joins what comes of both sides.
fn join_all(
    join: &mut RunJoin,
    mut driven: ReadAhead<DrivenBatch>,
    mut requests: ReadAhead<Vec<TracedRequest>>,
) -> Result<(), JoinError> {
    let mut waiting = Vec::new().into_iter().peekable();
    let mut next_settling = MonoNanos(0);
    loop {
        let batch = driven.next()?;
        let until = batch.as_ref().map_or(MonoNanos(u64::MAX), |(_, present)| *present);
        batch.iter().for_each(|(batch, _)| join.exchanges(batch));
        loop {
            if waiting.peek().is_none() {
                let Some(more) = requests.next()? else { break };
                waiting = more.into_iter().peekable();
            }
            let Some(request) = waiting.next_if(|request| request.end <= until) else { break };
            let end = request.end;
            join.requests(&[request], end);
        }
        if batch.is_none() {
            return Ok(());
        }
        if until >= next_settling {
            join.settle(MonoNanos(until.0.saturating_sub(SETTLED_AFTER.0)));
            next_settling = until + SETTLE_INTERVAL;
        }
    }
}

/// Puts a request on the driver's clock. Its durations stay what they are.
fn mapped(request: &mut TracedRequest, clock: &ClockMapping) {
    let offset = clock.offset(request.start);
    let at = |at: MonoNanos| MonoNanos(at.0.saturating_add_signed(-offset));
    request.start = at(request.start);
    request.first_sent = request.first_sent.map(at);
    request.end = at(request.end);
}
