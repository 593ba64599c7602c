//! The targets of a block that is made in slices: one life of each for all slices of the block.

use super::schedule::{self, StudyStep, TrialPlace};
use super::{HoldResult, RunSet, TrialMaker};

impl RunSet {
    /// Whether the target of this run is held already.
    pub(super) fn is_held(&self, place: TrialPlace) -> bool {
        place.slice > 0 && self.held == Some((place.block, place.attempt))
    }

    /// Has the targets of the block made ready, where this is its first slice. Where one cannot be,
    /// none is held.
    pub(super) fn hold(&mut self, place: TrialPlace, maker: &mut dyn TrialMaker) -> HoldResult {
        if place.slice == 0 || self.is_held(place) {
            return HoldResult::Held;
        }
        let TrialPlace { block, attempt, .. } = place;
        let mut cells = schedule::block_order(&self.plan, block, attempt);
        cells.retain(|cell| !self.history.is_left_out(*cell));
        let result = maker.hold(&cells, schedule::block_seed(&self.plan, block, attempt));
        match result {
            HoldResult::Held => self.held = Some((block, attempt)),
            HoldResult::Failed { .. } | HoldResult::Interrupted => maker.release(),
        }
        result
    }

    /// Ends the targets that the next step does not need. What is left out of a block that goes on
    /// ends none of the others.
    pub(super) fn release_others(&mut self, step: &StudyStep, maker: &mut dyn TrialMaker) {
        let is_needed = match step {
            StudyStep::Run(place) => self.is_held(*place),
            StudyStep::LeaveOut { .. } => true,
            _ => false,
        };
        if !is_needed {
            self.release_all(maker);
        }
    }

    /// Ends the targets that are held, all at once. However the runs come to an end, by a signal or
    /// by a disk that is full, none outlives them.
    pub(super) fn release_all(&mut self, maker: &mut dyn TrialMaker) {
        if self.held.take().is_some() {
            maker.release();
        }
    }
}
