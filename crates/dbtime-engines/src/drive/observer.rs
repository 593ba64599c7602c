//! The view of a load from outside.

use dbtime_model::series::RunSecond;
use dbtime_model::{MonoNanos, RunPhase};

/// An observer of a load: what its threads recorded second by second, and how far it has come.
pub trait LoadObserver: Sync {
    /// The sink of a thread, numbered from 0. Each is taken once.
    fn sink(&self, thread: u32) -> Box<dyn SecondSink>;

    /// The load came to `phase` at `at`: one of [`RunPhase::Connected`], [`RunPhase::Started`],
    /// [`RunPhase::LoadEnded`] and [`RunPhase::Disconnected`]. The load goes on
    /// when this returns, except that it starts at its instant.
    fn reached(&self, phase: RunPhase, at: MonoNanos);
}

/// Takes a thread's full seconds and gives it empty ones, without a lock in the way of either.
pub trait SecondSink: Send {
    /// Takes `full` and gives an empty second for the same thread.
    fn swap(&mut self, full: Box<RunSecond>) -> Box<RunSecond>;
}

/// No observer: of a load that only its result is wanted of.
#[derive(Clone, Copy, Debug)]
pub struct NoObserver;

impl LoadObserver for NoObserver {
    fn sink(&self, _: u32) -> Box<dyn SecondSink> {
        Box::new(DiscardSink)
    }

    fn reached(&self, _: RunPhase, _: MonoNanos) {}
}

/// Seconds that nobody reads.
struct DiscardSink;

impl SecondSink for DiscardSink {
    fn swap(&mut self, mut full: Box<RunSecond>) -> Box<RunSecond> {
        full.reset(0);
        full
    }
}
