//! What stands at the ends of both files, and what a recording has of a run.

use super::both_files::BothFiles;
use super::clock_mapping::ClockMapping;
use super::join_error::JoinError;
use crate::join::executes;
use dbtime_model::driven_file::{DrivenBegin, DrivenEnd};
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{RecordingEnd, TraceBegin, TraceEnd};
use dbtime_model::{MonoNanos, Nanos};

/// The beginnings of both files, and the end of the driver's.
pub(super) struct RecordedSides {
    pub(super) driven: DrivenBegin,
    pub(super) end: DrivenEnd,
    pub(super) begin: TraceBegin,
}

impl RecordedSides {
    /// Reads them.
    ///
    /// # Errors
    /// One cannot be read.
    pub(super) fn read(files: &BothFiles) -> Result<Self, JoinError> {
        let (driven, reader) = files.driven()?;
        let (begin, _) = files.recording()?;
        Ok(Self { driven, end: reader.end().clone(), begin })
    }

    /// Whether both sides read one clock.
    pub(super) fn is_same_clock(&self) -> bool {
        self.begin.clock_id.as_ref() == Some(&self.driven.clock_id)
    }

    /// A kernel's number of a socket is that of this kernel alone.
    pub(super) fn is_comparable(&self, key: &ConnectionKey) -> bool {
        matches!(key, ConnectionKey::Tcp(_)) || self.is_same_clock()
    }

    /// When the first statement was sent.
    fn from(&self) -> MonoNanos {
        MonoNanos(self.end.first_sent_ns)
    }

    /// When the last answer was read.
    fn until(&self) -> MonoNanos {
        MonoNanos(self.end.last_read_ns)
    }

    /// Whether a request on the driver's clock is of the time of the run.
    pub(super) fn contains(&self, request: &TracedRequest) -> bool {
        request.end >= self.from() && request.start <= self.until()
    }
}

/// How far a recording reaches.
#[derive(Default)]
pub(super) struct RecordedSpan {
    /// When the first statement was read, and the last was over, on the driver's clock.
    served: Option<(MonoNanos, MonoNanos)>,
    /// `None`: the recording was cut short.
    pub(super) end: Option<TraceEnd>,
    /// How its file ends; `None`: it was not read up to there.
    pub(super) file_end: Option<RecordingEnd>,
    /// Whether of no statement it is known where its response went.
    pub(super) lacks_parts: bool,
}

impl RecordedSpan {
    /// That of this end alone.
    pub(super) fn ending(end: Option<TraceEnd>, file_end: RecordingEnd) -> Self {
        Self { end, file_end: Some(file_end), ..Self::default() }
    }

    /// Takes a request, which is on the driver's clock.
    pub(super) fn add(&mut self, request: &TracedRequest) {
        if executes(request) {
            // As the kernel is that it was made on, so are all.
            self.lacks_parts = request.parts.are_unknown();
            let (first, last) = self.served.get_or_insert((request.start, request.end));
            (*first, *last) = ((*first).min(request.start), (*last).max(request.end));
        }
    }

    /// Takes what came behind.
    pub(super) fn merge(&mut self, later: Self) {
        self.served = match (self.served, later.served) {
            (Some((from, to)), Some((first, last))) => Some((from.min(first), to.max(last))),
            (one, other) => one.or(other),
        };
        self.end = later.end.or_else(|| self.end.take());
        self.file_end = later.file_end.or(self.file_end);
        self.lacks_parts |= later.lacks_parts;
    }

    /// On one clock both sides have to be of one time.
    pub(super) fn overlaps(&self, sides: &RecordedSides) -> Result<(), JoinError> {
        let Some((first, last)) = self.served else { return Ok(()) };
        if last < sides.from() {
            return Err(JoinError::NoOverlap { is_before: true, apart: sides.from() - last });
        }
        if first > sides.until() {
            return Err(JoinError::NoOverlap { is_before: false, apart: first - sides.until() });
        }
        Ok(())
    }

    /// Where the recording does not cover the run, on the driver's clock: what a reader is told.
    pub(super) fn gap(&self, sides: &RecordedSides, clock: &ClockMapping) -> Option<String> {
        let begun = sides.begin.since;
        let mapped = |at: MonoNanos| MonoNanos(at.0.saturating_add_signed(-clock.offset(at)));
        let late = mapped(begun).0.saturating_sub(sides.from().0);
        // One that was cut short ends with its last request.
        let last = self.served.map(|(_, last)| last);
        let end = self.end.as_ref().map(|end| mapped(begun + end.length)).or(last);
        let early = end.map_or(0, |end| sides.until().0.saturating_sub(end.0));
        match (Nanos(late), Nanos(early)) {
            (Nanos(0), Nanos(0)) => None,
            (late, Nanos(0)) => Some(format!("it began {late} after the first statement")),
            (Nanos(0), early) => Some(format!("it ended {early} before the last answer")),
            (late, early) => Some(format!(
                "it began {late} after the first statement and ended {early} before the last answer"
            )),
        }
    }
}
