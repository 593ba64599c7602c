//! How a study is taken up: the choices of `study resume`, and whether each configuration works at
//! all. What comes after that is `schedule`'s to say.

use super::planned_run::loads_data;
use super::{PilotFolder, RunSet, StudyProgress, TrialMaker, now, schedule};
use crate::error::LabError;
use dbtime_model::study::{JournalEvent, NoiseStop, RunOrder, StudyData, StudyPlan, study_file};

/// The block that no run is of: what configurations are started with before the first.
const BLOCK_OF_STARTS: u32 = 0;

/// What became of a configuration that was started for a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartResult {
    /// It can be run.
    Works,
    /// It cannot, for this reason.
    Failed(String),
    /// The study is to end.
    Interrupted,
}

/// What a study is taken up with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumeChoices {
    /// Something of the machine may have changed.
    pub is_new_session: bool,
    /// Configurations that were left out are tried again.
    pub retries_left_out: bool,
    /// How many blocks may be repeated in all; `None`: as many as before.
    pub repeats: Option<u32>,
}

impl ResumeChoices {
    /// Refuses what is of blocks where there are none.
    ///
    /// Errors: the plan is that of a sweep or a search.
    pub(super) fn check(self, plan: &StudyPlan) -> Result<(), LabError> {
        let given =
            [(self.retries_left_out, "--retry-left-out"), (self.repeats.is_some(), "--repeats")];
        let is_of_blocks = plan.order == RunOrder::Blocks;
        match given.into_iter().find(|(is_given, _)| *is_given && !is_of_blocks) {
            None => Ok(()),
            Some((_, flag)) => Err(LabError::Usage(format!(
                "{flag} is for studies of blocks: a sweep and a search make each run once; leave \
                 it out"
            ))),
        }
    }

    /// What the journal has of it.
    pub(super) fn events(self) -> impl Iterator<Item = JournalEvent> {
        let retried = self.retries_left_out.then(|| JournalEvent::LeftOutRetried { at: now() });
        let repeats = self.repeats.map(|repeats| JournalEvent::RepeatsSet { repeats, at: now() });
        retried.into_iter().chain(repeats)
    }
}

impl RunSet {
    /// Takes over what was done before the study was begun: all of its configurations were started
    /// and work, and the data that these have loaded are in this folder. It becomes one of the
    /// study's, where it is on the same file system: a study that is interrupted finds it again.
    ///
    /// Errors: the journal cannot be written.
    pub fn take_over(&mut self, snapshots: &PilotFolder) -> Result<(), LabError> {
        let candidates: Vec<u32> = self.plan.candidates().map(|(at, _)| at as u32).collect();
        for cell in candidates {
            self.record(JournalEvent::CellStarted { cell, at: now() })?;
        }
        // Where that would take a copy, the data stay where they are.
        let own = self.folder.join(study_file::SNAPSHOTS);
        let is_own = self.journal.is_some() && snapshots.becomes(&own);
        self.snapshots = (!is_own).then(|| snapshots.path().to_owned());
        Ok(())
    }

    /// Whether its next runs load data that those before them have restored, for their snapshot is
    /// gone: it ends with the study, or with the command that had it elsewhere.
    pub fn loads_again(&self) -> bool {
        let is_over = self.history.finished.is_some() || self.history.noise.is_some();
        let mut specs = self.plan.cells.iter().filter_map(|cell| cell.spec.as_ref());
        let is_restored = self.plan.data == StudyData::Snapshot && specs.any(loads_data);
        let has_run = self.history.runs.iter().any(|run| run.is_made());
        is_restored && has_run && !is_over && !self.snapshots().exists()
    }

    /// Starts a configuration for a moment, and leaves it out where it cannot run; whether that has
    /// ended by itself.
    pub(super) fn start(
        &mut self,
        cell: u32,
        maker: &mut dyn TrialMaker,
        progress: &dyn Fn(StudyProgress<'_>),
    ) -> Result<bool, LabError> {
        progress(StudyProgress::Starts(&self.plan.cells[cell as usize]));
        let seed = schedule::block_seed(&self.plan, BLOCK_OF_STARTS, 1);
        match maker.start(cell, seed) {
            StartResult::Interrupted => return Ok(false),
            StartResult::Works => self.record(JournalEvent::CellStarted { cell, at: now() })?,
            StartResult::Failed(reason) => self.leave_out(cell, reason, progress)?,
        }
        Ok(true)
    }

    /// Leaves a configuration out of all further blocks.
    pub(super) fn leave_out(
        &mut self,
        cell: u32,
        reason: String,
        progress: &dyn Fn(StudyProgress<'_>),
    ) -> Result<(), LabError> {
        let of = &self.plan.cells[cell as usize];
        progress(StudyProgress::LeftOut { cell: of, reason: &reason });
        self.record(JournalEvent::CellLeftOut { cell, reason, at: now() })
    }

    /// Stops until more blocks may be repeated; said once, however often it is taken up.
    pub(super) fn stop_by_noise(&mut self, reason: &str, repeats: u32) -> Result<(), LabError> {
        if self.history.noise.is_some() {
            return Ok(());
        }
        let stop = NoiseStop { reason: reason.to_owned(), repeats, at: now() };
        self.record(JournalEvent::NoiseStopped(stop))
    }
}
