//! One run of a study in its place: from the gate before it to its lines in the journal.

use super::block_pace::RunReadiness;
use super::gate;
use super::journal_file::sync_folder;
use super::run_digests::run_digests;
use super::schedule::{self, TrialPlace};
use super::{HoldResult, RunSet, StudyProgress, TrialMaker, TrialResult, now};
use crate::error::LabError;
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::study::{JournalEvent, RunOrder, StudyTrial, TrialOutcome, study_file};
use std::collections::BTreeMap;

impl RunSet {
    /// Makes one run; whether it has ended by itself.
    pub(super) fn make(
        &mut self,
        place: TrialPlace,
        maker: &mut dyn TrialMaker,
        progress: &dyn Fn(StudyProgress<'_>),
        stop: &RunStop,
    ) -> Result<bool, LabError> {
        let (begun_s, is_held) = (self.spent_s(), self.is_held(place));
        // Slices take turns, so that what is loud now is in all of them.
        let loud = match is_held {
            true => None,
            false => {
                let waits = |found: &str| progress(StudyProgress::Waits(found));
                gate::wait_until_quiet(&self.gate(), stop, &waits)
            }
        };
        if stop.is_set() {
            return Ok(false);
        }
        let waited_s = self.spent_s() - begun_s;
        let (place, unheld) = match self.hold(place, maker) {
            HoldResult::Held => (place, None),
            HoldResult::Failed { cell, reason } => (TrialPlace { cell, ..place }, Some(reason)),
            HoldResult::Interrupted => return Ok(false),
        };
        let is_first = self.is_held(place) && !is_held;
        let started = if is_first { self.targets() } else { 0 };
        let ready = RunReadiness { waited_s, ready_s: self.spent_s(), started };
        let trial = StudyTrial { factors: maker.factors(), ..self.trial(place) };
        self.record(JournalEvent::RunBegun(trial.clone()))?;
        let cell = &self.plan.cells[place.cell as usize];
        progress(StudyProgress::RunBegins { trial: &trial, cell, loud: loud.as_deref() });
        let seed = schedule::block_seed(&self.plan, place.block, place.attempt);
        let made = match unheld {
            Some(reason) => TrialResult::Failed(reason),
            None => {
                let out = self.folder.join(&trial.folder);
                maker.make(&trial, seed + u64::from(place.slice), &out)
            }
        };
        // What failed says little of how long a run takes.
        if let (TrialResult::Recorded(_), Some(pace)) = (&made, &mut self.pace) {
            pace.took(ready, self.shape);
        }
        match self.judged(&trial, made) {
            Some((outcome, reason)) => self.end(&trial, outcome, reason, progress).map(|()| true),
            None => Ok(false),
        }
    }

    /// Whether a run counts, and why not; `None`: it was interrupted.
    fn judged(
        &mut self,
        trial: &StudyTrial,
        made: TrialResult,
    ) -> Option<(TrialOutcome, Option<String>)> {
        let record = match made {
            TrialResult::Interrupted => return None,
            TrialResult::Failed(reason) => return Some((TrialOutcome::Failed, Some(reason))),
            TrialResult::Recorded(record) => record,
        };
        if let Some(reason) = gate::invalid(&record, &self.plan) {
            return Some((TrialOutcome::Invalid, Some(reason)));
        }
        let value = record.value(&self.plan.primary);
        value.into_iter().for_each(|value| self.scatter.take(trial.run, value));
        Some((TrialOutcome::Valid, None))
    }

    /// Has the end of a run in the journal, once what it left is on the disk.
    ///
    /// Errors: one of them cannot be written.
    fn end(
        &mut self,
        trial: &StudyTrial,
        outcome: TrialOutcome,
        reason: Option<String>,
        progress: &dyn Fn(StudyProgress<'_>),
    ) -> Result<(), LabError> {
        let mut files = BTreeMap::new();
        if outcome != TrialOutcome::Failed && self.journal.is_some() {
            let out = self.folder.join(&trial.folder);
            let left = sync_folder(&out).and_then(|()| run_digests(&out));
            files = left.map_err(|source| LabError::Record { path: out, source })?;
        }
        progress(StudyProgress::RunEnded { trial, outcome, reason: reason.as_deref() });
        let (run, at) = (trial.run, now());
        self.record(JournalEvent::RunEnded { run, outcome, reason, files, at })?;
        if let Some(found) = self.resolution().filter(|_| outcome == TrialOutcome::Valid) {
            progress(StudyProgress::Resolves(found));
        }
        Ok(())
    }

    /// A run with the next number that is free in the journal and among the folders.
    fn trial(&self, place: TrialPlace) -> StudyTrial {
        let TrialPlace { block, attempt, cell, slice } = place;
        let name = folder_name(&self.plan.cells[cell as usize].name);
        let again = if attempt > 1 { format!("-{attempt}") } else { String::new() };
        let part = if slice > 0 { format!("-s{slice}") } else { String::new() };
        let folder = |run: u64| match self.plan.order {
            RunOrder::Blocks => {
                format!("{}/{run:04}-b{block:02}{again}-{name}{part}", study_file::RUNS)
            }
            RunOrder::Rounds | RunOrder::Search => format!("{run:03}"),
        };
        let next = self.history.runs.iter().map(|run| run.trial.run).max().unwrap_or(0) + 1;
        let is_recorded = self.journal.is_some();
        let is_free =
            |run: &u64| !is_recorded || self.folder.join(folder(*run)).symlink_metadata().is_err();
        let run = (next..).find(is_free).unwrap_or(next);
        StudyTrial {
            run,
            block,
            attempt,
            cell,
            slice,
            slices: if slice > 0 { self.shape.rounds } else { 0 },
            window_ms: self.shape.window_ms,
            factors: Vec::new(),
            folder: folder(run),
            session: self.session,
            at: now(),
        }
    }
}

/// A configuration's name as part of a folder's.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_=.".contains(c) { c } else { '-' };
    name.chars().map(plain).take(40).collect()
}
