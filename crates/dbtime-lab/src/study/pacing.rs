//! How a study keeps to its time, and what of it may change once runs were seen: how many blocks
//! there are.

use super::schedule::StudyStep;
use super::time_limit::{RunPace, StudyTime};
use super::{RunSet, now};
use crate::error::LabError;
use dbtime_model::study::{GateLimits, JournalEvent, RunOrder};
use dbtime_stats::ConfidenceInterval;

impl RunSet {
    /// Limits the time of the runs that are made from now on, of which one takes about so many
    /// seconds as far as is known before.
    pub fn limit(&mut self, time: StudyTime, run_s: f64) {
        let slices = self.plan.design.slices.max(1);
        // Whole runs prepare themselves.
        let block_runs = if slices > 1 { self.block_runs() } else { 1 };
        self.pace = Some(RunPace::new(time, run_s / f64::from(slices), block_runs));
    }

    /// Has a study make so many blocks more than are complete, whatever its plan says.
    ///
    /// Errors: it is a sweep or a search, or the journal cannot be written.
    pub fn extend(&mut self, more: u32) -> Result<(), LabError> {
        if self.plan.order != RunOrder::Blocks {
            return Err(LabError::Usage(
                "a sweep or a search has no blocks to add: run it again with more repetitions"
                    .to_owned(),
            ));
        }
        let complete = self.history.complete_blocks(self.plan.cells.len()).len() as u32;
        let (blocks, at) = (complete.saturating_add(more), now());
        self.record(JournalEvent::Extended { blocks, at })?;
        match self.unbegun.take() {
            Some(session) => self.record(JournalEvent::SessionBegun(session)),
            None => Ok(()),
        }
    }

    /// Whether what goes on is ended because the time is up.
    pub(super) fn is_overdue(&self) -> bool {
        self.pace.as_ref().is_some_and(|pace| pace.time.is_over())
    }

    /// The step, or the end where the rest of its block takes longer than there is time.
    pub(super) fn in_time(&self, step: StudyStep) -> StudyStep {
        let takes_time = matches!(step, StudyStep::Run(_) | StudyStep::Start { .. });
        let Some(pace) = self.pace.as_ref().filter(|_| takes_time) else { return step };
        if pace.has_room(self.block_runs().saturating_sub(self.open_runs())) {
            return step;
        }
        let complete = self.history.complete_blocks(self.plan.cells.len()).len();
        StudyStep::End(pace.end_text(complete as u64))
    }

    /// How many runs a block has, each slice one.
    fn block_runs(&self) -> usize {
        self.plan.runs_a_block()
    }

    /// How many runs of the present block are made.
    fn open_runs(&self) -> usize {
        self.history.open_block(self.plan.cells.len()).map_or(0, |open| open.runs.len())
    }

    /// The limits of the gate, which waits no longer than the runs that are left leave time for.
    pub(super) fn gate(&self) -> GateLimits {
        let (gate, cells) = (self.plan.gate, self.plan.cells.len());
        let Some(pace) = &self.pace else { return gate };
        let complete = self.history.complete_blocks(cells).len();
        let blocks = (self.history.most_blocks(&self.plan) as usize).saturating_sub(complete);
        let left = (blocks * self.block_runs()).saturating_sub(self.open_runs());
        GateLimits { wait_s: pace.wait_s(gate.wait_s, left), ..gate }
    }

    /// What the blocks resolve where the last run has completed one.
    pub(super) fn resolution(&self) -> Option<ConfidenceInterval> {
        let is_complete = self.plan.order == RunOrder::Blocks && self.open_runs() == 0;
        is_complete.then(|| self.scatter.resolution(&self.plan, &self.history)).flatten()
    }
}
