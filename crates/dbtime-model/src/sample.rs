//! One finished transaction: four instants on one clock, and what became of it.
//!
//! ```text
//!   due ──queue──► ready ──lag──► sent ──────service──────► done
//!    └────────────────────── response ──────────────────────┘
//! ```
//!
//! An answer that lay in its socket because the driver had no CPU is lag too, and no service.

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
    /// The later of `due` and the moment a connection or worker was free, or would have been with a
    /// driver that is never late: what piled up behind its lateness is lag.
    pub ready: MonoNanos,
    /// When its first statement was handed to the database; earlier by as long as other
    /// transactions of the same process kept it from a CPU, where the database is in that.
    pub sent: MonoNanos,
    /// When its last answer had arrived.
    pub done: MonoNanos,
    /// How long answers waited between `sent` and `done` for a driver that had no CPU.
    pub late: Nanos,
    /// Attempts beyond the first; all of them lie between `sent` and `done`.
    pub retries: u32,
}

impl Sample {
    /// `done − due`: what the client waited.
    #[inline]
    pub fn response(&self) -> Nanos {
        self.done - self.due
    }

    /// `done − sent` less what answers waited for the driver: what the database and the way to it
    /// took.
    #[inline]
    pub(crate) fn service(&self) -> Nanos {
        (self.done - self.sent) - self.late
    }

    /// `ready − due`: waiting for a free connection or worker.
    #[inline]
    pub fn queue(&self) -> Nanos {
        self.ready - self.due
    }

    /// `sent − ready`, and what answers waited for the driver: its own lateness.
    #[inline]
    pub fn lag(&self) -> Nanos {
        (self.sent - self.ready) + self.late.min(self.done - self.sent)
    }

    /// When its connection or worker would have been free again with a driver that always has its
    /// CPU: what the next one's `ready` follows from. Its own code takes such a driver its time
    /// too, here `own_work` for each transaction.
    ///
    /// This is the recursion of Kiefer and Wolfowitz (1955) for the waiting time in a queue with
    /// several servers, over the measured service times, with each transaction on the server that
    /// it had.
    #[inline]
    pub fn freed(&self, own_work: Nanos) -> MonoNanos {
        self.ready + self.lag().min(own_work) + self.service()
    }
}
