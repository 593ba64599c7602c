//! How a study keeps to its time, and what of it may change once runs were seen: how many blocks
//! there are.

use super::schedule::StudyStep;
use super::time_limit::{LATEST, RunPace, StudyTime};
use super::{RunSet, now};
use crate::error::LabError;
use dbtime_model::study::{GateLimits, JournalEvent, RunOrder, StudyRun};
use dbtime_stats::ConfidenceInterval;
use jiff::{SignedDuration, Timestamp};

impl RunSet {
    /// Limits the time of the runs that are made from now on, of which one takes about so many
    /// seconds as far as is known before.
    pub fn limit(&mut self, time: StudyTime, run_s: f64) {
        let slices = self.slices();
        // Whole runs prepare themselves.
        let block_runs = if slices > 1 { self.block_runs() } else { 1 };
        self.pace = Some(RunPace::new(time, run_s / slices as f64, block_runs));
    }

    /// How long one of its runs takes, by the latest that were made, or by the pilot; zero: neither
    /// is there. Unit: seconds.
    pub fn known_run_s(&self) -> f64 {
        let kept = self.history.runs.iter().rev().filter(|run| run.is_kept());
        let latest = kept.filter_map(run_length).take(LATEST);
        let latest: Vec<f64> = latest.map(|length| length.as_secs_f64()).collect();
        match latest.len() {
            0 => self.plan.pilot.as_ref().map_or(0.0, |pilot| pilot.seconds_a_run),
            runs => self.slices() as f64 * latest.iter().sum::<f64>() / runs as f64,
        }
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

    /// The step, or the end where the rest of its block takes longer than there is time. That a
    /// configuration does not work is worth knowing however little is left.
    pub(super) fn in_time(&self, step: StudyStep) -> StudyStep {
        let Some(pace) = &self.pace else { return step };
        let runs = match step {
            StudyStep::Run(_) => self.block_runs().saturating_sub(self.open_runs()),
            StudyStep::Start { .. } => 0,
            _ => return step,
        };
        if pace.has_room(runs) {
            return step;
        }
        let complete = self.history.complete_blocks(self.plan.cells.len()).len();
        StudyStep::End(pace.end_text(complete as u64, runs))
    }

    /// How many runs the block has that is under way or to come, each slice one.
    fn block_runs(&self) -> usize {
        self.history.cells_of_block(self.plan.cells.len()) * self.rounds()
    }

    /// In how many rounds of slices that is made: all, or as many as there is still time for, where
    /// these are half of them; 1: as a whole.
    pub(super) fn rounds(&self) -> usize {
        let cells = self.plan.cells.len();
        if let Some(open) = self.history.open_block(cells) {
            return open.rounds() as usize;
        }
        let (all, of_round) = (self.slices(), self.history.cells_of_block(cells));
        let pace = self.pace.as_ref();
        let has_room = |rounds: &usize| pace.is_none_or(|pace| pace.has_room(rounds * of_round));
        (all.div_ceil(2)..=all).rev().find(has_room).unwrap_or(all)
    }

    /// In how many slices each is made; 1: as a whole.
    fn slices(&self) -> usize {
        self.plan.design.slices.max(1) as usize
    }

    /// How many runs of the present block are made that it is to have.
    fn open_runs(&self) -> usize {
        let open = self.history.open_block(self.plan.cells.len());
        let is_needed = |run: &&&StudyRun| !self.history.is_left_out(run.trial.cell);
        open.map_or(0, |open| open.runs.iter().filter(is_needed).count())
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

/// From the beginning of a run to its end; `None`: it has none.
pub(super) fn run_length(run: &StudyRun) -> Option<SignedDuration> {
    Some(instant(run.ended_at.as_deref()?)?.duration_since(instant(&run.trial.at)?))
}

/// An instant as the journal has it.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}
