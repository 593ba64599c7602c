//! Worker threads over a database that blocks its caller: an embedded engine.
//!
//! Each worker has its own connection, made on its own thread, and claims its own transactions.
//! Workers share nothing but the queue, and a closed loop in which every client has its own worker
//! not even that.

mod call;
mod lifecycle;
mod own_cpu_share;
mod transaction;
mod worker;

use crate::drive::gate::lock;
use crate::drive::load_threads::{self, LoadThreads};
use crate::drive::observer::{LoadObserver, LoadSink};
use crate::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop, ScriptError, ThreadResult};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::queue::{ClaimResult, ClosedQueue, OpenQueue};
use dbtime_load::results::ResultSets;
use dbtime_load::session::Session;
use dbtime_machine::cpus::usable_cpus;
use dbtime_machine::now;
use dbtime_machine::switch_clock::OffCpuTime;
use dbtime_model::{MonoNanos, Nanos, PartSet, Parts, StatementId};
use lifecycle::{set_up, terminate};
use own_cpu_share::OwnCpuShare;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use worker::PoolWorker;

/// A connection that blocks its caller. It lives on one thread.
pub trait PoolConnection {
    /// Parts that [`PoolConnection::execute_measured`] measures.
    fn measured(&self) -> PartSet;

    /// Executes a statement, reads its rows to the end and counts them.
    fn execute(
        &mut self,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
    ) -> Result<u64, DatabaseFailure>;

    /// The same, with the time inside split into parts: adds them to `parts` and returns the
    /// instants of begin and end.
    fn execute_measured(
        &mut self,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
        parts: &mut Parts,
    ) -> (Result<u64, DatabaseFailure>, MonoNanos, MonoNanos);

    /// Does what a script asks, booked under `statement`. Returns its rows.
    fn perform(
        &mut self,
        op: ConnectionOp<'_>,
        statement: Option<StatementId>,
    ) -> Result<u64, DatabaseFailure>;

    /// The same, as [`PoolConnection::execute_measured`] is the same as
    /// [`PoolConnection::execute`].
    fn perform_measured(
        &mut self,
        op: ConnectionOp<'_>,
        statement: Option<StatementId>,
        parts: &mut Parts,
    ) -> (Result<u64, DatabaseFailure>, MonoNanos, MonoNanos);

    /// Whether measuring takes readings before a statement, which hold it up.
    fn is_disturbed(&self) -> bool;

    /// No statement is under way: what is to be done for measuring the next one is done here.
    /// Returns how long the thread was off the CPU since this was known last; `None` where it kept
    /// the CPU, or that is not seen.
    fn settle(&mut self) -> Option<OffCpuTime>;

    /// What the last [`PoolConnection::perform`] has brought back.
    fn results(&mut self) -> &mut ResultSets;

    /// The first row of the last statement, when it was wanted.
    fn first_row(&self) -> &[SqlValue];

    /// The measured window begins; counters start from here. Gives nothing yet.
    fn window_begins(&mut self);

    /// The measured window has ended for this connection: the thread's CPU and run-queue wait in
    /// it, the latter `None` where the kernel hides it.
    fn window_ended(&mut self) -> (Nanos, Option<Nanos>);
}

/// A database that many workers can connect to.
pub trait PoolDatabase: Sync {
    /// Its connections.
    type Connection: PoolConnection;
    /// Why one cannot be made.
    type Error: Send;

    /// Makes the connection of a worker, on that worker's thread.
    fn connect(&self, worker: u32) -> Result<Self::Connection, Self::Error>;

    /// Ends statements that are under way; called again and again once the run should be over.
    fn interrupt(&self);

    /// Takes a connection back after the run, with whatever it counted.
    fn disconnect(&self, worker: u32, connection: Self::Connection);
}

/// The queue all workers share.
struct PoolShared {
    queue: Mutex<PoolQueue>,
    /// Signalled when a client asks again, for workers that found nobody asking.
    client_ready: Condvar,
    /// Workers whose clients have not quit.
    workers: AtomicU32,
}

enum PoolQueue {
    Open(OpenQueue),
    Closed(ClosedQueue),
}

/// How long a worker sleeps at most before it looks whether the run was ended.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

impl PoolShared {
    /// The next transaction for a worker that is free since `freed`. Sleeps while no client asks.
    #[inline]
    fn claim(&self, freed: MonoNanos, stop: &RunStop) -> ClaimResult {
        let mut queue = lock(&self.queue);
        loop {
            let claim = match &mut *queue {
                PoolQueue::Open(queue) => queue.claim(freed),
                PoolQueue::Closed(queue) => queue.claim(now(), false),
            };
            let ClaimResult::Wait(until) = claim else { return claim };
            if stop.is_set() {
                return claim;
            }
            let wait = until.map_or(STOP_POLL_INTERVAL, |at| {
                Duration::from_nanos((at - now()).0).min(STOP_POLL_INTERVAL)
            });
            let woken = self.client_ready.wait_timeout(queue, wait);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What workers learn when the load starts.
struct LoadStart {
    at: MonoNanos,
    /// `None` when every client of a closed loop has its own worker.
    shared: Option<PoolShared>,
    active: ActiveWorkers,
    own_cpu_share: OwnCpuShare,
}

/// What all workers of a load are given.
#[derive(Clone, Copy)]
struct PoolRun<'a> {
    plan: &'a LoadPlan,
    start: &'a LoadStart,
    stop: &'a RunStop,
}

/// How many workers have something to do, or are about to: a worker that waits for its next
/// transaction spins only where a CPU is left for it.
struct ActiveWorkers {
    count: AtomicU32,
    cpus: u32,
}

impl ActiveWorkers {
    fn new(workers: u32) -> Self {
        Self { count: AtomicU32::new(workers), cpus: usable_cpus() }
    }

    fn enter(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn leave(&self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    fn has_room(&self) -> bool {
        self.count.load(Ordering::Relaxed) < self.cpus
    }
}

/// Why a pool could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum PoolError<E> {
    /// A connection could not be made.
    #[error(transparent)]
    Connect(E),
    /// The system starts no more threads.
    #[error(
        "cannot start worker {worker} of {workers}: {source}; use fewer workers, or raise the limit on threads"
    )]
    Thread {
        /// Which worker.
        worker: u32,
        /// Out of how many.
        workers: u32,
        /// The system's reason.
        source: io::Error,
    },
    /// A script failed before the load.
    #[error(transparent)]
    Script(ScriptError),
    /// The run was ended before the load.
    #[error("the run was ended before its load began")]
    Stopped,
}

/// Drives the plan over a pool of workers and blocks until all have ended.
///
/// Errors: the first connection or thread that cannot be made; then nothing was driven.
pub fn drive<D: PoolDatabase>(
    plan: &LoadPlan,
    database: &D,
    observer: &dyn LoadObserver,
    stop: &RunStop,
) -> Result<LoadResult, PoolError<D::Error>> {
    let workers = WorkerThreads { plan, database, stop, start: OnceLock::new() };
    load_threads::drive(plan, &workers, observer, stop)
}

/// The workers of a load, a thread each.
struct WorkerThreads<'a, D> {
    plan: &'a LoadPlan,
    database: &'a D,
    stop: &'a RunStop,
    start: OnceLock<LoadStart>,
}

impl<D: PoolDatabase> LoadThreads for WorkerThreads<'_, D> {
    type Connected = (D::Connection, Session);
    type Error = PoolError<D::Error>;

    fn count(&self) -> u32 {
        self.plan.concurrency
    }

    fn name(&self, worker: u32) -> String {
        format!("worker {worker}")
    }

    fn refused(&self, worker: u32, source: io::Error) -> Self::Error {
        PoolError::Thread { worker, workers: self.plan.concurrency, source }
    }

    fn connect(&self, worker: u32) -> Result<Self::Connected, Self::Error> {
        set_up(self.plan, worker, self.database, self.stop)
    }

    fn all_connected(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn share(&self, at: MonoNanos) {
        let shared = shared_queue(self.plan, at);
        let active = ActiveWorkers::new(self.plan.concurrency);
        let own_cpu_share = OwnCpuShare::new(self.plan.concurrency);
        self.start.get_or_init(|| LoadStart { at, shared, active, own_cpu_share });
    }

    fn run(
        &self,
        worker: u32,
        (mut connection, session): Self::Connected,
        _: MonoNanos,
        sink: Box<dyn LoadSink>,
    ) -> (ThreadResult, Self::Connected) {
        let start = self.start.get().expect("made before the load starts");
        let run = PoolRun { plan: self.plan, start, stop: self.stop };
        let worker = PoolWorker::new(worker, run, session, sink);
        let (result, session) = worker.run(&mut connection);
        (result, (connection, session))
    }

    /// Looks at what has the CPUs, and ends statements that would hold up the end.
    fn supervise(&self, start: MonoNanos) {
        let present = now();
        if let Some(shared) = self.start.get() {
            shared.own_cpu_share.look(present);
        }
        let late = self.plan.window(start).end + self.plan.rundown;
        if present > late || self.stop.is_late(present) {
            self.database.interrupt();
        }
    }

    fn disconnect(&self, worker: u32, (mut connection, session): Self::Connected) {
        terminate(session, &mut connection, self.stop);
        self.database.disconnect(worker, connection);
    }
}

fn shared_queue(plan: &LoadPlan, start: MonoNanos) -> Option<PoolShared> {
    let queue = match (plan.open_queue(start, 0, 1), &plan.demand) {
        (Some(queue), _) => PoolQueue::Open(queue),
        (None, LoadDemand::Closed { clients, .. }) if plan.is_pooled() => {
            PoolQueue::Closed(plan.closed_queue(start, 0..*clients)?)
        }
        _ => return None,
    };
    let workers = AtomicU32::new(plan.concurrency);
    Some(PoolShared { queue: Mutex::new(queue), client_ready: Condvar::new(), workers })
}
