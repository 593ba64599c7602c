//! Drives a plan over many shards, from their first connection to their last.

use super::{CLOSE_TIMEOUT, FINISHED_GRACE, Reactor, Shard, ShardClients, ShardStart, run_phase};
use crate::drive::gate::lock;
use crate::drive::load_threads::{self, LoadThreads};
use crate::drive::observer::{LoadObserver, LoadSink};
use crate::drive::plan::{LoadPlan, LoadResult, RunStop, ScriptError, ThreadResult};
use crate::socket::TlsError;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::script::ProgramPhase;
use dbtime_machine::now;
use dbtime_model::MonoNanos;
use std::io;
use std::sync::Mutex;
use std::time::Duration;

/// Why nothing could be driven.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Connections cannot be encrypted as asked for.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Not one connection could be made.
    #[error("{}", .0.message)]
    Refused(Box<DatabaseFailure>),
    /// The system gives no thread or no epoll instance.
    #[error("cannot start a shard: {0}; use fewer --shards, or raise the limits")]
    System(io::Error),
    /// A script failed before the load.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The run was ended before its connections were there.
    #[error("the run was ended while its connections were being made")]
    Stopped,
}

/// The connections of a shard, and what became of making them.
pub struct ConnectedShard<R> {
    /// The connections.
    pub reactor: R,
    /// How many are there.
    pub up: usize,
    /// Why the first that is not there could not be made.
    pub failure: Option<DatabaseFailure>,
}

/// Drives the plan and blocks until all shards have ended. `make` makes a shard's connections, so
/// many, on its thread. The load starts when every connection has been made or refused, and every
/// script is ready.
///
/// # Errors
/// When not one connection could be made, no shard started, or a script failed; then nothing was
/// driven.
pub fn drive<R: Reactor>(
    plan: &LoadPlan,
    make: impl Fn(usize) -> Result<ConnectedShard<R>, DriveError> + Sync,
    observer: &dyn LoadObserver,
    stop: &RunStop,
) -> Result<LoadResult, DriveError> {
    let shards = ShardThreads { plan, make, stop, made: Mutex::new((0, None)) };
    load_threads::drive(plan, &shards, observer, stop)
}

/// The shards of a load, a thread each.
struct ShardThreads<'a, F> {
    plan: &'a LoadPlan,
    make: F,
    stop: &'a RunStop,
    /// How many connections are there, and why the first that is not could not be made.
    made: Mutex<(usize, Option<DatabaseFailure>)>,
}

impl<R: Reactor, F: Fn(usize) -> Result<ConnectedShard<R>, DriveError> + Sync> LoadThreads
    for ShardThreads<'_, F>
{
    type Connected = ShardClients<R>;
    type Error = DriveError;

    fn count(&self) -> u32 {
        self.plan.shards
    }

    fn name(&self, shard: u32) -> String {
        format!("shard {shard}")
    }

    fn refused(&self, _: u32, source: io::Error) -> DriveError {
        DriveError::System(source)
    }

    /// Makes a shard's connections, and lets its sessions do what they do before the load.
    fn connect(&self, shard: u32) -> Result<Self::Connected, DriveError> {
        let sessions = self.plan.sessions(shard, self.plan.shards)?;
        let ConnectedShard { reactor, up, failure } = (self.make)(sessions.len())?;
        {
            let mut made = lock(&self.made);
            made.0 += up;
            made.1 = made.1.take().or(failure);
        }
        let mut clients = ShardClients::new(reactor, sessions);
        let is_ready = run_phase(&mut clients, ProgramPhase::Open, || self.stop.is_set());
        match self.plan.script_error() {
            Some(trouble) => Err(trouble.into()),
            None if !is_ready => Err(DriveError::Stopped),
            None => Ok(clients),
        }
    }

    fn all_connected(&self) -> Result<(), DriveError> {
        let (up, failure) = std::mem::take(&mut *lock(&self.made));
        match failure {
            _ if self.stop.is_set() => Err(DriveError::Stopped),
            Some(failure) if up == 0 => Err(DriveError::Refused(Box::new(failure))),
            _ => Ok(()),
        }
    }

    fn run(
        &self,
        id: u32,
        connected: Self::Connected,
        start: MonoNanos,
        sink: Box<dyn LoadSink>,
    ) -> (ThreadResult, Self::Connected) {
        let start = ShardStart { shard: id, at: start };
        Shard::new(self.plan, start, connected, sink, self.stop).run()
    }

    /// Those of another shard may wait for a place at the server.
    fn patience(&self) -> Option<Duration> {
        Some(Duration::from_nanos(FINISHED_GRACE.0))
    }

    fn disconnect(&self, _: u32, mut clients: Self::Connected) {
        clients.reactor.ends();
        let given_up_at = now() + CLOSE_TIMEOUT;
        run_phase(&mut clients, ProgramPhase::Close, || now() > given_up_at);
    }
}
