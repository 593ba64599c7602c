//! `dbtime join`: a run and a recording of the server that it drove, in one budget.
//!
//! ```text
//!   driven.blocks ─┐  on two clocks, a first pass: instants by connection
//!                  ├─► TwoSides ─► ClockMapping ─┐
//!   recording ─────┘                             ├─► RunJoin ─► parts, tables ─► run.json, …
//!   both ────────────────────────────────────────┘
//! ```
//!
//! What follows from the match is the business of [`crate::join`] and the same as beside a run:
//! here both sides come from files, and the recording may be of another host, with another clock.

mod both_files;
mod clock_mapping;
mod clock_search;
mod connection_instants;
mod join_error;
mod joined_record;
mod read_ahead;
mod recorded_sides;
#[cfg(test)]
mod tests;

pub(crate) use clock_mapping::ClockMapping;
pub use join_error::JoinError;

use crate::error::LabError;
use crate::run_trace::has_parts;
use crate::store::RecordRevision;
use both_files::{BothFiles, JoinedFiles};
use clock_search::{NoOffset, TwoSides};
use dbtime_model::record::{JoinedRecording, Run, file, read_run};
use dbtime_model::traced_file::RecordingEnd;
use recorded_sides::RecordedSides;
use std::path::Path;

/// A run that was joined with a recording.
#[derive(Clone, Debug)]
pub struct JoinedRun {
    /// As it stands in its folder now.
    pub run: Run,
    /// How the file of the recording ends.
    pub recording_end: RecordingEnd,
    /// Where one that ends early does not cover the run.
    pub missing: Option<String>,
}

/// Joins the run in `folder` with a recording of its server, and writes what comes of it into the
/// run's record. Blocks: both files are read, twice where they have two clocks.
///
/// Errors: [`JoinError`], and what cannot be read or written; then the record is as it was.
pub fn join_recording(
    folder: &Path,
    recording: &Path,
    replaces: bool,
) -> Result<JoinedRun, LabError> {
    let mut run = read_run(folder).map_err(JoinError::Record)?;
    refuse(folder, &run, replaces)?;
    let files = BothFiles { driven: folder.join(file::DRIVEN), recording: recording.to_owned() };
    let sides = RecordedSides::read(&files)?;
    let clock = mapping(&sides, &files).map_err(|error| of_cut(error, &files))?;
    let revision = RecordRevision::begin(folder)?;
    let statements = revision.file(file::STATEMENTS);
    let joined = files.join(&sides, &clock, &statements, run.record.load.seed)?;
    let gap = joined.recorded.gap(&sides, &clock);
    if let Some(error) = nothing_joined(&sides, &joined, &files, gap.as_deref()) {
        return Err(of_cut(error, &files).into());
    }
    // It was read up to there.
    let recording_end = joined.recorded.file_end.unwrap_or(RecordingEnd::Unfinished);
    let missing = gap.clone().filter(|_| recording_end.is_early());
    joined_record::apply(&mut run, joined, &sides, gap, recording_of(&sides, &clock));
    revision.commit(&run)?;
    Ok(JoinedRun { run, recording_end, missing })
}

fn recording_of(sides: &RecordedSides, clock: &ClockMapping) -> JoinedRecording {
    let (offset, drift_ppm) = clock.summary();
    JoinedRecording {
        began: sides.begin.clock.clone(),
        servers: sides.begin.servers.clone(),
        is_same_clock: clock.is_same(),
        offset_us: offset as f64 / 1e3,
        uncertainty_us: clock.worst_uncertainty() as f64 / 1e3,
        drift_ppm,
    }
}

/// Whether there is something to join.
fn refuse(folder: &Path, run: &Run, replaces: bool) -> Result<(), JoinError> {
    let folder = folder.to_owned();
    match &run.record.trace {
        Some(trace) => match &trace.recording {
            None => Err(JoinError::WasTraced { folder }),
            Some(_) if replaces => Ok(()),
            Some(recording) => Err(JoinError::IsJoined { folder, began: recording.began.clone() }),
        },
        None if folder.join(file::DRIVEN).exists() => Ok(()),
        None => Err(JoinError::NoStatements { folder }),
    }
}

fn mapping(sides: &RecordedSides, files: &BothFiles) -> Result<ClockMapping, JoinError> {
    if sides.is_same_clock() {
        return Ok(ClockMapping::default());
    }
    let recording = || files.recording.clone();
    TwoSides::read(files, sides)?.mapping().map_err(|error| match error {
        NoOffset::Nowhere => JoinError::FitsNowhere { recording: recording() },
        NoOffset::Several => JoinError::FitsSeveral { recording: recording() },
    })
}

/// Why a join adds nothing, if so; `gap`: where the recording does not cover the run.
fn nothing_joined(
    sides: &RecordedSides,
    joined: &JoinedFiles,
    files: &BothFiles,
    gap: Option<&str>,
) -> Option<JoinError> {
    if joined.end.counts.matched == 0 {
        return Some(nothing_matched(sides, joined, files));
    }
    let has_some = joined.end.recorder.as_ref().is_some_and(has_parts);
    let gap = gap.unwrap_or("it covers the run").to_owned();
    (!has_some).then_some(JoinError::NothingInWindow { gap })
}

/// A recording that ends early is named as such where what is left of it does not do.
fn of_cut(error: JoinError, files: &BothFiles) -> JoinError {
    // Its end is looked for in all of the file.
    let end = error.is_of_requests().then(|| files.recording_end().ok()).flatten();
    let early = end.filter(|end| end.is_early());
    match early.and_then(|end| end.notice_of(&files.recording)) {
        Some(notice) => JoinError::OfCut { notice, source: Box::new(error) },
        None => error,
    }
}

/// Why no statement found a request.
fn nothing_matched(sides: &RecordedSides, joined: &JoinedFiles, files: &BothFiles) -> JoinError {
    let reason = TwoSides::read(files, sides).and_then(|_| joined.recorded.overlaps(sides));
    reason.err().unwrap_or(JoinError::NothingMatched)
}
