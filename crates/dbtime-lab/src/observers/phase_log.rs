//! When a run came to each of its phases.

use super::RunObserver;
use crate::progress::RunProgress;
use dbtime_model::{MonoNanos, PhaseInstant, RunPhase};

/// Keeps the instants, and passes them on as progress.
pub(crate) struct PhaseLog<'a> {
    instants: Vec<PhaseInstant>,
    progress: &'a (dyn Fn(RunProgress) + Sync),
}

impl<'a> PhaseLog<'a> {
    /// A log of nothing yet.
    pub(crate) fn new(progress: &'a (dyn Fn(RunProgress) + Sync)) -> Self {
        Self { instants: Vec::new(), progress }
    }

    /// The instants in their order.
    pub(crate) fn into_instants(self) -> Vec<PhaseInstant> {
        self.instants
    }
}

impl RunObserver for PhaseLog<'_> {
    fn reached(&mut self, phase: RunPhase, at: MonoNanos) {
        let instant = PhaseInstant { phase, at };
        self.instants.push(instant);
        (self.progress)(RunProgress::Phase(instant));
    }
}
