//! Observers of a run: each sees every phase, on a thread that the load waits for between its
//! phases and never within one.

mod driven_log;
mod interval_log;
mod login_watch;
mod monitor;
mod observer_thread;
mod phase_log;
mod server_observer;
mod traced;

pub(crate) use driven_log::{DrivenLog, unwritten as driven_unwritten};
pub(crate) use interval_log::IntervalLog;
pub(crate) use login_watch::LoginWatch;
pub(crate) use monitor::RunMonitor;
pub(crate) use observer_thread::observer_thread;
pub(crate) use phase_log::PhaseLog;
pub(crate) use server_observer::ServerObserver;
pub(crate) use traced::{RunJoin, RunJoinEnd, RunTracer};

use dbtime_machine::usage::MachineSample;
use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::record::{ResponseSecond, SeriesRow};
use dbtime_model::series::RunSecond;
use dbtime_model::{MonoNanos, PhaseInstant, RunPhase};
use std::io;

/// An observer of a run.
pub(crate) trait RunObserver {
    /// The run came to `phase` at `at`. It goes on to the next phase when this returns, but for the
    /// window, which the load keeps by itself.
    fn reached(&mut self, phase: RunPhase, at: MonoNanos);

    /// When [`RunObserver::tick`] is due next.
    fn next_tick(&self) -> Option<MonoNanos> {
        None
    }

    /// The instant has come.
    fn tick(&mut self, _present: MonoNanos) {}

    /// A thread of the load has handed over a second of its own.
    fn second(&mut self, _second: &RunSecond) {}

    /// Whether [`RunObserver::exchanges`] is of use; constant over the load.
    fn takes_exchanges(&self) -> bool {
        false
    }

    /// A thread of the load has handed over statements and transactions, in their order.
    fn exchanges(&mut self, _batch: &ExchangeBatch) {}
}

/// Samples at both ends of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowEdges<T> {
    /// Where the window began.
    pub(crate) began: Option<T>,
    /// Where it ended.
    pub(crate) ended: Option<T>,
}

impl<T> Default for WindowEdges<T> {
    fn default() -> Self {
        Self { began: None, ended: None }
    }
}

impl<T> WindowEdges<T> {
    /// Both, where both were taken.
    pub(crate) fn both(&self) -> Option<(&T, &T)> {
        self.began.as_ref().zip(self.ended.as_ref())
    }
}

/// What the observers of a run have seen.
pub(crate) struct RunObservation {
    /// When the run came to each of its phases.
    pub(crate) phases: Vec<PhaseInstant>,
    /// A row per second.
    pub(crate) series: Vec<SeriesRow>,
    /// How the responses of each second are distributed.
    pub(crate) responses: Vec<ResponseSecond>,
    /// The machine at both ends of the window. Of a load that ended before, at its own.
    pub(crate) machine: (MachineSample, MachineSample),
    /// The server, where it can be seen.
    pub(crate) server: server_observer::ServerObservation,
    /// Why the interval log could not be written, if it could not.
    pub(crate) log_error: Option<io::Error>,
}

#[cfg(test)]
mod tests;
