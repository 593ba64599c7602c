//! Drives a plan over many shards, from their first connection to their last goodbye.

use super::{Lines, Reactor, Shard, go_through};
use crate::failure::Failure;
use crate::gate::{Gate, lock};
use crate::plan::{Driven, Plan, ScriptError, SecondSink, Stop, ThreadResult, Watcher};
use crate::socket::TlsError;
use dbtime_load::program::Phase;
use dbtime_load::session::Session;
use dbtime_machine::now;
use dbtime_machine::wait::{PreciseWaiter, precise_timers};
use dbtime_model::{MonoNanos, Nanos};
use std::sync::{Mutex, OnceLock};

/// Why nothing could be driven.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Connections cannot be encrypted as asked for.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Not one connection could be made.
    #[error("{}", .0.message)]
    Refused(Box<Failure>),
    /// The system gives no thread or no epoll instance.
    #[error("cannot start a shard: {0}; use fewer --shards, or raise the limits")]
    System(std::io::Error),
    /// A script failed before the load.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The run was ended before its connections were there.
    #[error("the run was ended while its connections were being made")]
    Stopped,
}

/// The connections of a shard, and what became of making them.
pub struct Made<R> {
    /// The connections.
    pub reactor: R,
    /// How many are there.
    pub up: usize,
    /// Why the first that is not there could not be made.
    pub failure: Option<Failure>,
}

/// Shards need a moment between the last connection and the first transaction.
const HEAD_START: Nanos = Nanos::from_millis(2);

/// How long the last phase of clients may take.
const GOODBYE: Nanos = Nanos::from_secs(5);

/// Drives the plan and blocks until all shards have ended. `make` makes a shard's connections, so
/// many, on its thread. The load starts when every connection has been made or refused, and every
/// script is ready.
///
/// # Errors
/// When not one connection could be made, no shard started, or a script failed; then nothing was
/// driven.
pub fn drive<R: Reactor>(
    plan: &Plan,
    make: impl Fn(usize) -> Result<Made<R>, DriveError> + Sync,
    watcher: Watcher<'_>,
    stop: &Stop,
) -> Result<Driven, DriveError> {
    let (gate, start, made) = (Gate::new(), OnceLock::new(), Mutex::new((0, None)));
    let run = Run { plan, make, stop, gate, start, made };
    let threads = std::thread::scope(|scope| {
        let spawn = |id| {
            let (sink, run) = ((watcher.sink)(id), &run);
            let named = std::thread::Builder::new().name(format!("shard {id}"));
            let spawned = named.spawn_scoped(scope, move || run.shard(id, sink));
            spawned.map_err(|error| run.fail(DriveError::System(error))).ok()
        };
        let shards: Vec<_> = (0..plan.shards).filter_map(spawn).collect();
        if run.gate.wait(|state| state.connected == plan.shards) {
            run.open(watcher);
            if run.gate.wait(|state| state.ended == plan.shards) {
                (watcher.ended)();
            }
            run.gate.change(|state| state.is_over = true);
        }
        let joined = shards
            .into_iter()
            .map(|shard| shard.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    if let Some(error) = run.gate.into_failure() {
        return Err(error);
    }
    let start = *run.start.get().expect("set, for nothing failed");
    Ok(Driven::gather(plan, start, threads))
}

/// What the shards of a load share until it starts.
struct Run<'a, F> {
    plan: &'a Plan,
    make: F,
    stop: &'a Stop,
    gate: Gate<DriveError>,
    start: OnceLock<MonoNanos>,
    /// How many connections are there, and why the first that is not could not be made.
    made: Mutex<(usize, Option<Failure>)>,
}

impl<R: Reactor, F: Fn(usize) -> Result<Made<R>, DriveError>> Run<'_, F> {
    /// One shard: connects, waits for the others, and drives its part.
    fn shard(&self, id: u32, sink: Box<dyn SecondSink>) -> Option<ThreadResult> {
        let _attendance = self.gate.attend();
        precise_timers();
        let ready = self.set_up(id).map_err(|error| self.fail(error)).ok()?;
        self.gate.change(|state| state.connected += 1);
        if !self.gate.wait(|state| state.is_open) {
            return None;
        }
        let start = *self.start.get()?;
        let shard = Shard::new(self.plan, (id, start), ready, sink, self.stop);
        let mut waiter = PreciseWaiter::new(self.plan.shards);
        waiter.wait_until(start, || true, || {}, |at| at >= self.stop.instant());
        let (result, mut reactor, mut sessions, mut lines) = shard.run();
        self.gate.change(|state| state.ended += 1);
        // Who watches the server looks once more before its connections are closed.
        self.gate.wait(|state| state.is_over);
        reactor.ends();
        let patience = now() + GOODBYE;
        go_through(&mut sessions, (&mut reactor, &mut lines), Phase::Close, || now() > patience);
        Some(result)
    }

    /// Makes a shard's connections, and lets its sessions do what they do before the load.
    fn set_up(&self, id: u32) -> Result<(R, Vec<Session>, Lines), DriveError> {
        let mut sessions = self.plan.sessions(id, self.plan.shards)?;
        let Made { mut reactor, up, failure } = (self.make)(sessions.len())?;
        {
            let mut made = lock(&self.made);
            made.0 += up;
            made.1 = made.1.take().or(failure);
        }
        let mut lines = Lines::new(sessions.len());
        let around = (&mut reactor, &mut lines);
        let is_ready = go_through(&mut sessions, around, Phase::Open, || self.stop.is_set());
        match self.plan.script_trouble() {
            Some(trouble) => Err(trouble.into()),
            None if !is_ready => Err(DriveError::Stopped),
            None => Ok((reactor, sessions, lines)),
        }
    }

    /// Lets the load start, or says why it cannot.
    fn open(&self, watcher: Watcher<'_>) {
        let (up, failure) = std::mem::take(&mut *lock(&self.made));
        match failure {
            _ if self.stop.is_set() => return self.fail(DriveError::Stopped),
            Some(failure) if up == 0 => {
                return self.fail(DriveError::Refused(Box::new(failure)));
            }
            _ => {}
        }
        (watcher.ready)();
        (watcher.started)(*self.start.get_or_init(|| now() + HEAD_START));
        self.gate.change(|state| state.is_open = true);
    }

    fn fail(&self, error: DriveError) {
        self.gate.change(|state| state.failed = Some(error));
    }
}
