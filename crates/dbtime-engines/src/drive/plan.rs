//! What an engine is asked to do, and what it brings back.

use dbtime_load::arrivals::{Arrivals, Rate, Schedule};
use dbtime_load::pipelining::Pipelining;
use dbtime_load::queue::{Backlog, ClientGroup, ClosedQueue, OpenQueue};
use dbtime_load::random::{RandomStream, draw};
use dbtime_load::session::{NativeSession, ScriptSession, Session};
use dbtime_load::think::ThinkTime;
use dbtime_load::workload::Workload;
use dbtime_model::recorder::Window;
use dbtime_model::{MonoNanos, Nanos, Recorder};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is wrong with a script, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub String);

/// A load to be driven.
#[derive(Clone)]
pub struct LoadPlan {
    /// What is run.
    pub workload: Arc<Workload>,
    /// How many times its base size.
    pub scale: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Number of the first transaction: keys that must not repeat follow from the number.
    pub first: u64,
    /// Who asks, and when.
    pub demand: LoadDemand,
    /// What happens to what nobody is free for.
    pub backlog: Backlog,
    /// How many transactions can be under way at once: connections, or workers of a pool.
    pub concurrency: u32,
    /// Load before the window.
    pub warmup: Nanos,
    /// Length of the window; `None`: until `transactions` have been offered.
    pub measure: Option<Nanos>,
    /// How many transactions are offered, warm-up included; `None`: until the window ends.
    pub transactions: Option<u64>,
    /// How long what is under way is still waited for after the window.
    pub rundown: Nanos,
    /// How long after the window waiting transactions are still begun; no longer than `rundown`.
    pub late_start: Nanos,
    /// The costly parts are measured on one transaction in so many; 0: on none.
    pub budget_every: u32,
    /// Shards of an event loop.
    pub shards: u32,
    /// Which statements of a transaction may be under way at once. Only an event loop has several.
    pub pipelining: Pipelining,
}

/// Measure one transaction in how many, so that measuring costs at most `share` of the service
/// time? `cost_ns` is what measuring one transaction costs, `service_ns` what it takes. A power of
/// two, at most 1024.
pub fn probe_every(cost_ns: f64, service_ns: f64, share: f64) -> u32 {
    let every = (cost_ns / (share * service_ns.max(1.0))).ceil();
    (every as u32).clamp(1, 1024).next_power_of_two()
}

/// Which transactions have their parts measured: a pure function of seed and number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartSampling {
    seed: u64,
    every: u32,
}

impl PartSampling {
    #[inline]
    pub(crate) fn includes(self, index: u64) -> bool {
        match u64::from(self.every) {
            0 => false,
            1 => true,
            every => draw(self.seed, RandomStream::Budget, index).is_multiple_of(every),
        }
    }
}

/// Who asks, and when.
#[derive(Clone, Debug)]
pub enum LoadDemand {
    /// So many clients, each asking again when it has been served and has thought.
    Closed {
        /// How many there are, over all shards.
        clients: u32,
        /// Replaces the think times of the workload.
        think: Option<ThinkTime>,
    },
    /// A schedule.
    Open {
        /// How many are wanted by when.
        rate: Rate,
        /// How they fall around that.
        arrivals: Arrivals,
    },
}

impl LoadPlan {
    /// The window of a load that starts at `start`.
    pub fn window(&self, start: MonoNanos) -> Window {
        let from = start + self.warmup;
        Window {
            start: from,
            end: self.measure.map_or(MonoNanos(u64::MAX), |length| from + length),
        }
    }

    /// Whether clients share the servers, so that they may have to wait for one.
    pub fn is_pooled(&self) -> bool {
        match self.demand {
            LoadDemand::Closed { clients, .. } => clients > self.concurrency,
            LoadDemand::Open { .. } => true,
        }
    }

    /// The sessions of the connections that thread number `thread` out of so many has. Called on
    /// that thread; what they share is made once.
    ///
    /// # Errors
    /// What is wrong with a script.
    pub fn sessions(&self, thread: u32, threads: u32) -> Result<Vec<Session>, ScriptError> {
        let clients = (thread..self.concurrency).step_by(threads as usize);
        let Some(script) = &self.workload.script else {
            let rules = self.workload.rules(self.seed).with_pipelining(self.pipelining);
            let rules = Arc::new(rules);
            let programs = self.workload.plan(self.scale, self.seed);
            let session = |_| NativeSession::new(programs.program(), Arc::clone(&rules));
            return Ok(clients.map(session).map(Session::Native).collect());
        };
        let mut factory = script.factory_for_thread(thread).map_err(ScriptError)?;
        let session = |client| Ok(Session::Script(ScriptSession::new(factory.program(client)?)));
        clients.map(session).collect::<Result<_, String>>().map_err(ScriptError)
    }

    /// Whether connections are made before the load, and not by a script.
    pub fn connects_first(&self) -> bool {
        self.workload.script.as_ref().is_none_or(|script| !script.connects())
    }

    /// Why a script has ended the run.
    pub fn script_error(&self) -> Option<ScriptError> {
        self.workload.script.as_ref()?.stop_reason().map(ScriptError)
    }

    /// Whether a script goes no further than to a pause that it is in: its run was ended. Where the
    /// failure of one client has ended that, the others come to their end.
    pub(crate) fn ends_at_pause(&self, stop: &RunStop, present: MonoNanos) -> bool {
        stop.has_come(present) && self.script_error().is_none()
    }

    /// The queue of an open loop for one shard out of so many; `None` in a closed loop.
    pub fn open_queue(&self, start: MonoNanos, shard: u32, shards: u32) -> Option<OpenQueue> {
        let LoadDemand::Open { rate, arrivals } = &self.demand else { return None };
        let length = self.measure.map(|measure| self.warmup + measure);
        let schedule = Schedule::new(rate.clone(), *arrivals, self.seed, length, self.transactions);
        let queue = OpenQueue::new(schedule, start, self.backlog, self.workload.mix(), self.seed);
        Some(queue.numbered_from(self.first).of_shard(shard.into(), shards.into()))
    }

    /// The queue of a closed loop for some of its clients; `None` in an open loop.
    pub(crate) fn closed_queue(
        &self,
        start: MonoNanos,
        members: impl IntoIterator<Item = u32>,
    ) -> Option<ClosedQueue> {
        let LoadDemand::Closed { clients, think } = &self.demand else { return None };
        let of_operation = self.workload.operations.iter().map(|op| think.or(op.think));
        let clients = ClientGroup {
            total: *clients,
            start,
            end: self.window(start).end,
            first: self.first,
            transactions: self.transactions,
            think: of_operation.collect(),
        };
        Some(ClosedQueue::new(clients, members, self.workload.mix(), self.seed))
    }

    /// Which transactions have their parts measured.
    pub(crate) fn sampling(&self) -> PartSampling {
        PartSampling { seed: self.seed, every: self.budget_every }
    }

    /// An empty recorder for thread number `thread`.
    pub fn recorder(&self, start: MonoNanos, thread: u32) -> Recorder {
        let seed = draw(self.seed, RandomStream::Exemplars, thread.into());
        let operations = self.workload.operations.len();
        let statements = self.workload.statements.len();
        Recorder::new(self.window(start), operations, statements, seed)
    }
}

/// The result of one thread.
pub struct ThreadResult {
    /// What it recorded.
    pub recorder: Recorder,
    /// Its CPU time in the window.
    pub cpu: Nanos,
    /// Its run-queue wait in the window; `None` where the kernel hides it.
    pub runq: Option<Nanos>,
    /// Time in the window it worked for the driver and not for the database.
    pub driver: Nanos,
    /// When its last transaction ended.
    pub ended: MonoNanos,
    /// How busy the simulated link of all threads was in its window; `None`: there is none.
    pub link: Option<LinkShare>,
    /// Whether all of its clients have quit.
    pub has_quit: bool,
}

/// How busy a simulated link was.
///
/// Shape: shares of the time, `0.0..=1.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkShare {
    /// Towards the server.
    pub requests: f64,
    /// From the server.
    pub answers: f64,
}

impl LinkShare {
    /// Of what the threads saw of one link, each in its own window; `None` of nothing.
    fn mean(seen: impl Iterator<Item = Self>) -> Option<Self> {
        let seen: Vec<Self> = seen.collect();
        let of = |side: fn(&Self) -> f64| seen.iter().map(side).sum::<f64>() / seen.len() as f64;
        let mean = || Self { requests: of(|one| one.requests), answers: of(|one| one.answers) };
        (!seen.is_empty()).then(mean)
    }
}

/// The result of a load.
pub struct LoadResult {
    /// When the load started.
    pub start: MonoNanos,
    /// When its last transaction ended.
    pub ended: MonoNanos,
    /// Everything recorded, all threads together.
    pub recorder: Recorder<u64>,
    /// CPU, run-queue wait and driver time by thread.
    pub threads: Vec<LoadThreadUse>,
    /// How busy the simulated link was in the window; `None`: there is none.
    pub link: Option<LinkShare>,
    /// Whether all clients have quit: nothing was driven after `ended`.
    pub has_quit: bool,
}

/// What one thread used in the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadThreadUse {
    /// CPU time.
    pub cpu: Nanos,
    /// Run-queue wait.
    pub runq: Option<Nanos>,
    /// Time it worked for the driver.
    pub driver: Nanos,
}

impl LoadResult {
    /// All threads together.
    pub fn gather(plan: &LoadPlan, start: MonoNanos, mut threads: Vec<ThreadResult>) -> Self {
        let operations = plan.workload.operations.len();
        let statements = plan.workload.statements.len();
        let mut recorder = Recorder::new(plan.window(start), operations, statements, plan.seed);
        let mut recorders: Vec<_> = threads.iter_mut().map(|each| &mut each.recorder).collect();
        Recorder::stays_quiet(&mut recorders);
        threads.iter().for_each(|thread| recorder.merge(&thread.recorder));
        let ended = threads.iter().map(|thread| thread.ended).max().unwrap_or(start);
        let used = |t: &ThreadResult| LoadThreadUse { cpu: t.cpu, runq: t.runq, driver: t.driver };
        let link = LinkShare::mean(threads.iter().filter_map(|thread| thread.link));
        let has_quit = !threads.is_empty() && threads.iter().all(|thread| thread.has_quit);
        let threads = threads.iter().map(used).collect();
        Self { start, ended, recorder, threads, link, has_quit }
    }
}

/// How long what is under way when a run is ended from outside may take.
const STOP_GRACE: Nanos = Nanos::from_secs(1);

/// Says from outside that the run shall end now. Shared by all threads of a run; a clone is the
/// same one, for whoever outlives a borrow.
#[derive(Clone, Debug)]
pub struct RunStop(Arc<AtomicU64>);

impl Default for RunStop {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl RunStop {
    /// Ends the run as of `at`: nothing due later is offered.
    pub fn at(&self, at: MonoNanos) {
        self.0.fetch_min(at.0, Ordering::Relaxed);
    }

    /// The instant from which nothing is offered any more; far in the future until told otherwise.
    #[inline]
    pub fn instant(&self) -> MonoNanos {
        MonoNanos(self.0.load(Ordering::Relaxed))
    }

    /// Whether the run was ended.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.instant() < MonoNanos(u64::MAX)
    }

    /// Whether the run was ended by then: nothing more is offered.
    #[inline]
    pub fn has_come(&self, present: MonoNanos) -> bool {
        present >= self.instant()
    }

    /// Whether nobody waits any more for what was under way when the run was ended.
    #[inline]
    pub fn is_late(&self, present: MonoNanos) -> bool {
        present >= self.instant() + STOP_GRACE
    }
}
