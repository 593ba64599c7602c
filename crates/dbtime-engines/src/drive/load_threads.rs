//! The life of a load: its threads connect, start at one instant, and disconnect when all of them
//! have ended, whether they are the shards of an event loop or the workers of a pool.

use crate::drive::gate::PhaseGate;
use crate::drive::observer::{LoadObserver, LoadSink};
use crate::drive::plan::{LoadPlan, LoadResult, RunStop, ThreadResult};
use crate::drive::standstill_watch::StandstillWatch;
use dbtime_machine::cpus::usable_cpus;
use dbtime_machine::now;
use dbtime_machine::wait::{PreciseWaiter, precise_timers};
use dbtime_model::spans::TimeSpan;
use dbtime_model::{MonoNanos, Nanos, RunPhase};
use std::io;
use std::sync::OnceLock;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

/// Threads need a moment between the last connection and the first transaction.
const HEAD_START: Nanos = Nanos::from_millis(2);

/// How often [`LoadThreads::supervise`] is called.
const SUPERVISION_INTERVAL: Duration = Duration::from_millis(20);

/// The threads of a load.
pub(crate) trait LoadThreads: Sync {
    /// What a thread has once it is connected. It stays on its thread.
    type Connected;
    /// Why a load cannot be driven.
    type Error: Send;

    /// How many threads there are.
    fn count(&self) -> u32;

    /// A thread's name, for tools that list threads.
    fn name(&self, thread: u32) -> String;

    /// The system refuses a thread.
    fn refused(&self, thread: u32, source: io::Error) -> Self::Error;

    /// Connects, on the thread itself.
    fn connect(&self, thread: u32) -> Result<Self::Connected, Self::Error>;

    /// All threads are connected. Fails where the load cannot start all the same.
    fn all_connected(&self) -> Result<(), Self::Error>;

    /// Makes what the threads share of a load that starts at `start`.
    fn share(&self, _start: MonoNanos) {}

    /// Drives a thread's part of the load, which starts at `start`: that instant has come.
    fn run(
        &self,
        thread: u32,
        connected: Self::Connected,
        start: MonoNanos,
        sink: Box<dyn LoadSink>,
    ) -> (ThreadResult, Self::Connected);

    /// Called again and again while the threads run.
    fn supervise(&self, _start: MonoNanos) {}

    /// How long a thread that has done its part keeps its connections while others go on; `None`:
    /// as long as these take.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Closes a thread's connections, on the thread itself.
    fn disconnect(&self, thread: u32, connected: Self::Connected);
}

/// Drives a load and blocks until all of its threads have ended.
///
/// Errors: the first of connecting or starting a thread; then nothing was driven.
pub(crate) fn drive<T: LoadThreads>(
    plan: &LoadPlan,
    threads: &T,
    observer: &dyn LoadObserver,
    stop: &RunStop,
) -> Result<LoadResult, T::Error> {
    let life = LoadLife { threads, stop, gate: PhaseGate::new(), start: OnceLock::new() };
    let (results, standstills) = std::thread::scope(|scope| {
        let spawn = |thread| life.spawn(scope, thread, observer.sink(thread));
        let spawned: Vec<_> = (0..threads.count()).map_while(spawn).collect();
        let standstills = life.lead(observer);
        let joined = spawned
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (joined.flatten().collect::<Vec<_>>(), standstills)
    });
    if let Some(failure) = life.gate.into_failure() {
        return Err(failure);
    }
    observer.reached(RunPhase::Disconnected, now());
    let start = *life.start.get().expect("set, for nothing failed");
    let mut result = LoadResult::gather(plan, start, results);
    result.recorder.standstills.extend(standstills);
    Ok(result)
}

/// What the threads of a load share with the one that leads them.
struct LoadLife<'a, T: LoadThreads> {
    threads: &'a T,
    stop: &'a RunStop,
    gate: PhaseGate<T::Error>,
    start: OnceLock<MonoNanos>,
}

impl<T: LoadThreads> LoadLife<'_, T> {
    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        thread: u32,
        sink: Box<dyn LoadSink>,
    ) -> Option<ScopedJoinHandle<'scope, Option<ThreadResult>>> {
        let builder = Builder::new().name(self.threads.name(thread));
        let spawned = builder.spawn_scoped(scope, move || self.follow(thread, sink));
        spawned.map_err(|error| self.gate.fail(self.threads.refused(thread, error))).ok()
    }

    /// One thread, from its connection to its end.
    fn follow(&self, thread: u32, sink: Box<dyn LoadSink>) -> Option<ThreadResult> {
        let _guard = self.gate.panic_guard();
        precise_timers();
        let connected = self.threads.connect(thread).map_err(|error| self.gate.fail(error)).ok()?;
        self.gate.arrive();
        if !self.gate.wait_for(RunPhase::Started) {
            return None;
        }
        let start = *self.start.get()?;
        self.wait_until(start);
        let (result, connected) = self.threads.run(thread, connected, start, sink);
        self.gate.arrive();
        // Observers of the server look at it once more while its sessions are there.
        match self.threads.patience() {
            Some(patience) => self.gate.wait_at_most(RunPhase::LoadEnded, patience),
            None => {
                self.gate.wait_for(RunPhase::LoadEnded);
            }
        }
        self.threads.disconnect(thread, connected);
        Some(result)
    }

    /// Waits until the load starts, or is ended.
    fn wait_until(&self, start: MonoNanos) {
        let threads = self.threads.count();
        let has_cpu = threads <= usable_cpus();
        let mut waiter = PreciseWaiter::new(threads);
        waiter.wait_until(start, || has_cpu, || {}, |at| at >= self.stop.instant());
    }

    /// Leads the threads from phase to phase. Returns when the process stood still under the load.
    fn lead(&self, observer: &dyn LoadObserver) -> Vec<TimeSpan> {
        let threads = self.threads.count();
        if !self.gate.gather(threads, SUPERVISION_INTERVAL, || {}) {
            return Vec::new();
        }
        if let Err(error) = self.threads.all_connected() {
            self.gate.fail(error);
            return Vec::new();
        }
        observer.reached(RunPhase::Connected, now());
        let start = *self.start.get_or_init(|| now() + HEAD_START);
        self.threads.share(start);
        self.gate.enter(RunPhase::Started);
        observer.reached(RunPhase::Started, start);
        let mut watch = StandstillWatch::new();
        let supervise = || {
            watch.look();
            self.threads.supervise(start);
        };
        if self.gate.gather(threads, SUPERVISION_INTERVAL, supervise) {
            watch.look();
            observer.reached(RunPhase::LoadEnded, now());
        }
        self.gate.enter(RunPhase::LoadEnded);
        watch.into_found()
    }
}
