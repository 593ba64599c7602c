//! One finished transaction: four instants on one clock, and what became of it.
//!
//! ```text
//!   due ──queue──► ready ──lag──► sent ──────service──────► done
//!    └────────────────────── response ──────────────────────┘
//! ```

use crate::outcome::Outcome;
use crate::units::{MonoNanos, Nanos};

/// Which operation of the workload, by position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u16);

/// Which statement of the workload, by position over all operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u16);

/// One transaction as its client saw it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Which operation it was.
    pub operation: OperationId,
    /// What became of it.
    pub outcome: Outcome,
    /// When the schedule wanted it; equal to `ready` in a closed loop.
    pub due: MonoNanos,
    /// The later of `due` and the moment a connection or worker was free.
    pub ready: MonoNanos,
    /// When its first statement was handed to the database.
    pub sent: MonoNanos,
    /// When its last answer had arrived.
    pub done: MonoNanos,
    /// Attempts beyond the first; all of them lie between `sent` and `done`.
    pub retries: u32,
}

impl Sample {
    /// `done − due`: what the client waited.
    #[inline]
    pub fn response(&self) -> Nanos {
        self.done - self.due
    }

    /// `done − sent`: what the database and the way to it took.
    #[inline]
    pub fn service(&self) -> Nanos {
        self.done - self.sent
    }

    /// `ready − due`: waiting for a free connection or worker.
    #[inline]
    pub fn queue(&self) -> Nanos {
        self.ready - self.due
    }

    /// `sent − ready`: the driver's own lateness.
    #[inline]
    pub fn lag(&self) -> Nanos {
        self.sent - self.ready
    }
}
