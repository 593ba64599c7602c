//! Drives a plan over the connections of many shards.

use super::protocol::Protocol;
use super::reactor::SocketReactor;
use super::settings::SocketSettings;
use super::tls::TlsError;
use crate::failure::Failure;
use crate::gate::{Gate, lock};
use crate::plan::{Driven, Plan, SecondSink, Stop, ThreadResult, Watcher};
use crate::shard::Shard;
use crate::wait::{precise_timers, wait_until};
use dbtime_model::{MonoNanos, Nanos, now};
use std::sync::{Arc, Mutex, OnceLock};

/// Why nothing could be driven.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Connections cannot be encrypted as asked for.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Not one connection could be made.
    #[error("{}", .0.message)]
    Refused(Box<Failure>),
    /// The system gives no thread or no epoll instance.
    #[error("cannot start a shard: {0}; use fewer --shards, or raise the limits")]
    System(std::io::Error),
    /// The run was ended before its connections were there.
    #[error("the run was ended while its connections were being made")]
    Stopped,
}

/// Shards need a moment between the last connection and the first transaction.
const HEAD_START: Nanos = Nanos::from_millis(2);

/// Drives the plan and blocks until all shards have ended. The load starts when every connection
/// has been made or refused; those that were refused are tried again when they are needed.
///
/// # Errors
/// When not one connection could be made, or no shard started; then nothing was driven.
pub fn drive<P: Protocol>(
    plan: &Plan,
    shared: &Arc<P::Shared>,
    settings: &Arc<SocketSettings>,
    watcher: Watcher<'_>,
    stop: &Stop,
) -> Result<Driven, ConnectError> {
    let run = Run::<P> {
        plan,
        shared,
        settings,
        stop,
        gate: Gate::new(),
        start: OnceLock::new(),
        made: Mutex::new(Made::default()),
    };
    let threads = std::thread::scope(|scope| {
        let spawn = |id| {
            let (sink, run) = ((watcher.sink)(id), &run);
            let named = std::thread::Builder::new().name(format!("shard {id}"));
            let spawned = named.spawn_scoped(scope, move || run.shard(id, sink));
            spawned.map_err(|error| run.fail(ConnectError::System(error))).ok()
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
struct Run<'a, P: Protocol> {
    plan: &'a Plan,
    shared: &'a Arc<P::Shared>,
    settings: &'a Arc<SocketSettings>,
    stop: &'a Stop,
    gate: Gate<ConnectError>,
    start: OnceLock<MonoNanos>,
    made: Mutex<Made>,
}

/// What became of the first connections.
#[derive(Default)]
struct Made {
    up: usize,
    failure: Option<Failure>,
}

impl<P: Protocol> Run<'_, P> {
    /// One shard: connects, waits for the others, and drives its part.
    fn shard(&self, id: u32, sink: Box<dyn SecondSink>) -> Option<ThreadResult> {
        let _attendance = self.gate.attend();
        precise_timers();
        let mine = (id..self.plan.servers).step_by(self.plan.shards as usize).count();
        let (shared, settings) = (Arc::clone(self.shared), Arc::clone(self.settings));
        let mut reactor = SocketReactor::<P>::new(shared, settings, mine)
            .map_err(|error| self.fail(ConnectError::System(error.into())))
            .ok()?;
        let (up, failure) = reactor.connect_all(|| self.stop.is_set());
        {
            let mut made = lock(&self.made);
            made.up += up;
            made.failure = made.failure.take().or(failure);
        }
        self.gate.change(|state| state.connected += 1);
        if !self.gate.wait(|state| state.is_open) {
            return None;
        }
        let start = *self.start.get()?;
        let shard = Shard::new(self.plan, id, start, reactor, sink, self.stop);
        wait_until(start, true, |at| at >= self.stop.instant());
        let (result, reactor) = shard.run();
        self.gate.change(|state| state.ended += 1);
        // Who watches the server looks once more before its connections are closed.
        self.gate.wait(|state| state.is_over);
        drop(reactor);
        Some(result)
    }

    /// Lets the load start, or says why it cannot.
    fn open(&self, watcher: Watcher<'_>) {
        let Made { up, failure } = std::mem::take(&mut *lock(&self.made));
        match failure {
            _ if self.stop.is_set() => return self.fail(ConnectError::Stopped),
            Some(failure) if up == 0 => {
                return self.fail(ConnectError::Refused(Box::new(failure)));
            }
            _ => {}
        }
        (watcher.ready)();
        (watcher.started)(*self.start.get_or_init(|| now() + HEAD_START));
        self.gate.change(|state| state.is_open = true);
    }

    fn fail(&self, error: ConnectError) {
        self.gate.change(|state| state.failed = Some(error));
    }
}
