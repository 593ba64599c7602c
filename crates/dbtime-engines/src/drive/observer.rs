//! The view of a load from outside.

use dbtime_model::exchange::ExchangeBatch;
use dbtime_model::series::RunSecond;
use dbtime_model::{LoginCount, MonoNanos, RunPhase};

/// An observer of a load: what its threads recorded second by second, and how far it has come.
pub trait LoadObserver: Sync {
    /// The sink of a thread, numbered from 0. Each is taken once.
    fn sink(&self, thread: u32) -> Box<dyn LoadSink>;

    /// The load came to `phase` at `at`: one of [`RunPhase::Connected`], [`RunPhase::Started`],
    /// [`RunPhase::LoadEnded`] and [`RunPhase::Disconnected`]. The load goes on
    /// when this returns, except that it starts at its instant.
    fn reached(&self, phase: RunPhase, at: MonoNanos);

    /// How far the connections are that are being made before the load. Called by any of its
    /// threads, several times a second.
    fn connecting(&self, _count: LoginCount) {}
}

/// Takes what a thread of the load hands over while it goes on, without a lock in its way.
pub trait LoadSink: Send {
    /// Takes a `full` second, which nobody reads by default, and gives an empty one for the same
    /// thread.
    fn swap(&mut self, mut full: Box<RunSecond>) -> Box<RunSecond> {
        full.reset(0);
        full
    }

    /// Whether [`Self::take_exchanges`] is of use; constant over the load.
    fn takes_exchanges(&self) -> bool {
        false
    }

    /// Takes statements and transactions of the window, in their order.
    fn take_exchanges(&mut self, _batch: ExchangeBatch) {}
}

/// No observer: of a load that only its result is wanted of.
#[derive(Clone, Copy, Debug)]
pub struct NoObserver;

impl LoadObserver for NoObserver {
    fn sink(&self, _: u32) -> Box<dyn LoadSink> {
        Box::new(DiscardSink)
    }

    fn reached(&self, _: RunPhase, _: MonoNanos) {}
}

/// Seconds that nobody reads.
struct DiscardSink;

impl LoadSink for DiscardSink {}
