//! How a study keeps to its time, and what of it may change once runs were seen: how many blocks
//! there are, and how long the last of them.

use super::block_pace::{BlockForm, BlockPace, BlockShape, LATEST, RunCost, SpareTime};
use super::planning::{MOST_BLOCKS, common_window};
use super::schedule::{StudyStep, TrialPlace};
use super::time_limit::StudyTime;
use super::{RunSet, StudyProgress, now};
use crate::error::LabError;
use dbtime_model::study::{GateLimits, JournalEvent, RunOrder, StopRule, StudyPlan, StudyRun};
use dbtime_stats::ConfidenceInterval;
use jiff::{SignedDuration, Timestamp};

impl RunSet {
    /// Limits the time of the runs that are made from now on, of which one takes about so many
    /// seconds as far as is known before.
    pub fn limit(&mut self, time: StudyTime, run_s: f64) {
        let cost = RunCost { start_s: 0.0, slice_s: run_s / self.slices() as f64 };
        let form = match BlockForm::of(&self.plan) {
            // The plan has the number of blocks, and so their windows.
            BlockForm::Window(_) => BlockForm::Fixed,
            form => form,
        };
        self.pace = Some(BlockPace::new(time, form, cost, self.plan.runs_a_block()));
    }

    /// Has the runs that are made from now on fill this time: there are as many blocks as end in
    /// it, whatever the plan had, and the last ones are longer or shorter. `cost` is what a run
    /// takes as far as is known before.
    pub fn fill(&mut self, time: StudyTime, cost: RunCost) {
        let form = BlockForm::of(&self.plan);
        let pace = BlockPace::new(time, form, cost, self.plan.runs_a_block());
        self.pace = Some(pace.filled());
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

    /// How much of its time is gone; zero where it has no limit. Unit: seconds.
    pub(super) fn spent_s(&self) -> f64 {
        self.pace.as_ref().map_or(0.0, |pace| pace.time.spent_s())
    }

    /// Renews how many blocks there are to be between two of them, where the time has to be filled
    /// and no number was fixed for looks at the results.
    ///
    /// Errors: the journal cannot be written.
    pub(super) fn renew(&mut self, progress: &dyn Fn(StudyProgress<'_>)) -> Result<(), LabError> {
        let Some((complete, to_come)) = self.renewed_blocks() else { return Ok(()) };
        let blocks = complete + to_come;
        self.record(JournalEvent::BlocksRenewed { blocks, at: now() })?;
        progress(StudyProgress::Renewed { blocks, to_come });
        Ok(())
    }

    /// How many blocks are complete, and for how many more there is time, where that is another
    /// number than was known; `None` too before the first is complete, and where none is to come.
    fn renewed_blocks(&self) -> Option<(u32, u32)> {
        let (history, cells) = (&self.history, self.plan.cells.len());
        let pace = self.pace.as_ref().filter(|pace| pace.spare == SpareTime::Filled)?;
        let is_fixed = self.plan.design.stop == StopRule::Fixed && history.extended.is_none();
        if !is_fixed || history.finished.is_some() || history.open_block(cells).is_some() {
            return None;
        }
        let complete = history.complete_blocks(cells).len() as u32;
        let most = MOST_BLOCKS.saturating_sub(complete);
        let to_come = pace.further_blocks(self.targets(), most);
        let is_another = complete + to_come != history.most_blocks(&self.plan);
        (complete > 0 && to_come > 0 && is_another).then_some((complete, to_come))
    }

    /// The step, or the end where its block does not end in time. Between two blocks it is known
    /// from here on how the next one is made. That a configuration does not work is worth knowing
    /// however little is left.
    pub(super) fn in_time(&mut self, step: StudyStep) -> StudyStep {
        let Some(pace) = &self.pace else { return step };
        let targets = self.targets();
        let (shape, next_s) = match step {
            StudyStep::Run(place) if self.is_of_open_block(place) => {
                let runs = self.block_runs().saturating_sub(self.open_runs());
                (pace.can_end(runs).then_some(self.shape), pace.rest_s(runs))
            }
            StudyStep::Run(_) => (pace.next_shape(targets), pace.block_s(targets)),
            StudyStep::Start { .. } => (pace.can_end(0).then_some(self.shape), 0.0),
            _ => return step,
        };
        match shape {
            Some(shape) => {
                self.shape = shape;
                step
            }
            None => {
                let cells = self.plan.cells.len();
                let complete = self.history.complete_blocks(cells).len() as u64;
                StudyStep::End(pace.end_text(complete, next_s))
            }
        }
    }

    /// Whether this run is of the block that is under way.
    fn is_of_open_block(&self, place: TrialPlace) -> bool {
        let open = self.history.open_block(self.plan.cells.len());
        open.is_some_and(|open| (open.block, open.attempt) == (place.block, place.attempt))
    }

    /// How many runs the block has that is under way, each slice one.
    fn block_runs(&self) -> usize {
        self.targets() * self.shape.rounds as usize
    }

    /// How many configurations a block has.
    pub(super) fn targets(&self) -> usize {
        self.history.cells_of_block(self.plan.cells.len())
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
        let gate = self.plan.gate;
        let Some(pace) = &self.pace else { return gate };
        let complete = self.history.complete_blocks(self.plan.cells.len()).len();
        let blocks = (self.history.most_blocks(&self.plan) as usize).saturating_sub(complete);
        let all_s = blocks as f64 * pace.block_s(self.targets());
        let left_s = all_s - pace.rest_s(self.open_runs());
        GateLimits { wait_s: pace.wait_s(gate.wait_s, left_s), ..gate }
    }

    /// What the blocks resolve where the last run has completed one.
    pub(super) fn resolution(&self) -> Option<ConfidenceInterval> {
        let is_complete = self.plan.order == RunOrder::Blocks && self.open_runs() == 0;
        is_complete.then(|| self.scatter.resolution(&self.plan, &self.history)).flatten()
    }
}

impl BlockForm {
    /// What of a block of this plan can be longer or shorter.
    fn of(plan: &StudyPlan) -> Self {
        match plan.design.slices {
            rounds @ 2.. => Self::Rounds(rounds),
            _ => common_window(&plan.cells).map_or(Self::Fixed, |one| Self::Window(one.as_secs())),
        }
    }
}

impl BlockShape {
    /// As the plan has it.
    pub(super) fn of(plan: &StudyPlan) -> Self {
        Self { rounds: plan.design.slices.max(1), window_ms: 0 }
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
