//! The two files of a join: opened twice, because neither need fit into memory.

use super::clock_mapping::ClockMapping;
use super::join_error::JoinError;
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
                log.map_clock(clock.clone());
                join.write_to(log);
                None
            }
            Err(error) => Some(unwritten(&error)),
        };
        let (operations, count) = (sides.names.operations.len(), sides.names.statements.len());
        join.begin(Recorder::new(sides.driven.window(), operations, count, seed));
        let (_, mut driven) = self.driven()?;
        let (_, mut recording) = self.recording()?;
        let mut requests =
            MappedRequests { clock, sides, waiting: None, recording: &mut recording };
        let mut next_settling = MonoNanos(0);
        loop {
            let (batch, present) = self.batch(&mut driven)?;
            join.exchanges(&batch);
            // Nothing of the driver's comes behind its end.
            let is_over = batch.exchanges.is_empty() && batch.transactions.is_empty();
            let until = if is_over { MonoNanos(u64::MAX) } else { present };
            while let Some(request) =
                requests.until(until).map_err(|error| self.bad_recording(error))?
            {
                let end = request.end;
                join.requests(&[request], end);
            }
            if is_over {
                break;
            }
            if present >= next_settling {
                join.settle(MonoNanos(present.0.saturating_sub(SETTLED_AFTER.0)));
                next_settling = present + SETTLE_INTERVAL;
            }
        }
        Ok(JoinedFiles { end: join.finish(&sides.names.clone().into(), None), warning })
    }

    /// The next lines of the driver, and when the last of them was over.
    fn batch(
        &self,
        from: &mut DrivenReader<UnpackedFile>,
    ) -> Result<(ExchangeBatch, MonoNanos), JoinError> {
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
        Ok((batch, present))
    }
}

/// The requests of the time of the run, on the driver's clock.
struct MappedRequests<'a> {
    clock: &'a ClockMapping,
    sides: &'a RecordedSides,
    waiting: Option<TracedRequest>,
    recording: &'a mut TraceReader<BufReader<File>>,
}

impl MappedRequests<'_> {
    /// The next one, if it was over by an instant.
    fn until(&mut self, at: MonoNanos) -> Result<Option<TracedRequest>, TraceFileError> {
        while self.waiting.is_none() {
            let Some(line) = self.recording.next()? else { return Ok(None) };
            if let TraceLine::Request(mut request) = line {
                mapped(&mut request, self.clock);
                self.waiting = Some(*request).filter(|request| self.sides.contains(request));
            }
        }
        Ok(self.waiting.take_if(|request| request.end <= at))
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
