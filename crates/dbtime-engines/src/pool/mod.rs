//! Worker threads over a database that blocks its caller: an embedded engine.
//!
//! Each worker has its own connection, made on its own thread, and claims its own transactions.
//! Workers share nothing but the queue, and a closed loop in which every client has its own worker
//! not even that.

mod around;
mod call;

use crate::failure::Failure;
use crate::gate::{Gate, lock};
use crate::plan::{
    ALWAYS_MEASURED, Demand, Driven, Plan, ScriptError, SecondSink, Stop, ThreadResult,
};
use crate::timing::{Ledger, Timing};
use crate::wait::{precise_timers, wait_until};
use around::{say_goodbye, set_up};
use call::Call;
use dbtime_load::program::{Ticket, Value};
use dbtime_load::queue::{Claim, ClosedQueue, OpenQueue};
use dbtime_load::request::Request;
use dbtime_load::results::Results;
use dbtime_load::session::{Action, Session};
use dbtime_model::budget::PartSet;
use dbtime_model::{ErrorClass, MonoNanos, Nanos, OperationId, Outcome, Parts, StatementId, now};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The code of a statement that the end of the run has ended.
pub const INTERRUPTED: &str = "SQLITE_INTERRUPT";

/// A connection that blocks its caller. It lives on one thread.
pub trait Connection {
    /// Parts that [`Connection::execute_measured`] measures.
    fn measured(&self) -> PartSet;

    /// Executes a statement, reads its rows to the end and counts them.
    fn execute(
        &mut self,
        statement: StatementId,
        parameters: &[Value],
        wants_row: bool,
    ) -> Result<u64, Failure>;

    /// The same, with the time inside split into parts: adds them to `parts` and returns the
    /// instants of begin and end.
    fn execute_measured(
        &mut self,
        statement: StatementId,
        parameters: &[Value],
        wants_row: bool,
        parts: &mut Parts,
    ) -> (Result<u64, Failure>, MonoNanos, MonoNanos);

    /// Does what a script asks, booked under `statement`. Returns its rows.
    fn ask(&mut self, request: Request<'_>, statement: Option<StatementId>)
    -> Result<u64, Failure>;

    /// The same, as [`Connection::execute_measured`] is the same as [`Connection::execute`].
    fn ask_measured(
        &mut self,
        request: Request<'_>,
        statement: Option<StatementId>,
        parts: &mut Parts,
    ) -> (Result<u64, Failure>, MonoNanos, MonoNanos);

    /// What the last [`Connection::ask`] has brought back.
    fn results(&mut self) -> &mut Results;

    /// The first row of the last statement, when it was wanted.
    fn first_row(&self) -> &[Value];

    /// The measured window begins; counters start from here. Gives nothing yet.
    fn window_begins(&mut self);

    /// The measured window has ended for this connection: the thread's CPU and run-queue wait in
    /// it, the latter `None` where the kernel hides it.
    fn window_ended(&mut self) -> (Nanos, Option<Nanos>);
}

/// A database that many workers can connect to.
pub trait Database: Sync {
    /// Its connections.
    type Connection: Connection;
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
struct Shared {
    queue: Mutex<Queue>,
    /// Signalled when a client asks again, for workers that found nobody asking.
    asked: Condvar,
    /// Workers whose clients have not quit.
    workers: AtomicU32,
}

enum Queue {
    Open(OpenQueue),
    Closed(ClosedQueue),
}

/// How often the workers are looked after, and how long a statement may take after an early end.
const LOOK: Duration = Duration::from_millis(20);
const GRACE: Nanos = Nanos::from_secs(1);

/// How long a worker sleeps at most before it looks whether the run was ended.
const NAP: Duration = Duration::from_millis(50);

impl Shared {
    /// The next transaction for a worker that is free since `freed`. Sleeps while no client asks.
    #[inline]
    fn claim(&self, freed: MonoNanos, stop: &Stop) -> Claim {
        let mut queue = lock(&self.queue);
        loop {
            let claim = match &mut *queue {
                Queue::Open(queue) => queue.claim(freed),
                Queue::Closed(queue) => queue.claim(freed, now(), false),
            };
            let Claim::Wait(until) = claim else { return claim };
            if stop.is_set() {
                return claim;
            }
            let wait = until.map_or(NAP, |at| Duration::from_nanos((at - now()).0).min(NAP));
            let woken = self.asked.wait_timeout(queue, wait);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What workers learn when the load starts.
struct Start {
    at: MonoNanos,
    /// `None` when every client of a closed loop has its own worker.
    shared: Option<Shared>,
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
pub fn drive<D: Database>(
    plan: &Plan,
    database: &D,
    sink: impl Fn(u32) -> Box<dyn SecondSink>,
    started: impl Fn(MonoNanos),
    stop: &Stop,
) -> Result<Driven, PoolError<D::Error>> {
    let gate = Gate::new();
    let start = OnceLock::<Start>::new();
    let threads = std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for id in 0..plan.servers {
            let sink = sink(id);
            let (gate, start) = (&gate, &start);
            let work = move || -> Option<ThreadResult> {
                let _attendance = gate.attend();
                precise_timers();
                let (mut connection, session) = match set_up(plan, id, database, stop) {
                    Ok(ready) => ready,
                    Err(error) => {
                        gate.change(|state| state.failed = Some(error));
                        return None;
                    }
                };
                gate.change(|state| state.connected += 1);
                if !gate.wait(|state| state.is_open) {
                    return None;
                }
                let worker = Worker::new(id, (plan, start.get()?, stop), session, sink);
                let (result, session) = worker.run(&mut connection);
                say_goodbye(session, &mut connection);
                database.disconnect(id, connection);
                Some(result)
            };
            let named = std::thread::Builder::new().name(format!("worker {id}"));
            match named.spawn_scoped(scope, work) {
                Ok(worker) => workers.push(worker),
                Err(source) => {
                    let (worker, workers) = (id, plan.servers);
                    let failed = PoolError::Thread { worker, workers, source };
                    gate.change(|state| state.failed = Some(failed));
                    break;
                }
            }
        }
        if gate.wait(|state| state.connected == plan.servers) {
            let at = now();
            let chosen = start.get_or_init(|| Start { at, shared: shared_queue(plan, at) });
            started(chosen.at);
            gate.change(|state| state.is_open = true);
        }
        if let Some(start) = start.get() {
            let late = plan.window(start.at).end + plan.rundown;
            while !workers.iter().all(|worker| worker.is_finished()) {
                std::thread::sleep(LOOK);
                let present = now();
                if present > late || present > stop.instant() + GRACE {
                    database.interrupt();
                }
            }
        }
        let joined = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    if let Some(error) = gate.into_failure() {
        return Err(error);
    }
    let start = start.get().expect("set, for nothing failed").at;
    Ok(Driven::gather(plan, start, threads))
}

fn shared_queue(plan: &Plan, start: MonoNanos) -> Option<Shared> {
    let queue = match (plan.open_queue(start, 0, 1), &plan.demand) {
        (Some(queue), _) => Queue::Open(queue),
        (None, Demand::Closed { clients, .. }) if plan.is_pooled() => {
            Queue::Closed(plan.closed_queue(start, 0..*clients)?)
        }
        _ => return None,
    };
    let workers = AtomicU32::new(plan.servers);
    Some(Shared { queue: Mutex::new(queue), asked: Condvar::new(), workers })
}

/// One worker: a thread with its session, its ledger, and its own clients if it has any.
struct Worker<'a> {
    plan: &'a Plan,
    stop: &'a Stop,
    shared: Option<&'a Shared>,
    own: Option<ClosedQueue>,
    session: Session,
    ledger: Ledger,
    end: MonoNanos,
    /// When nobody waits for a transaction any more.
    last: MonoNanos,
}

/// What a worker does next.
enum Turn {
    Run(Ticket, MonoNanos),
    Again,
    Over,
}

impl<'a> Worker<'a> {
    fn new(
        id: u32,
        (plan, start, stop): (&'a Plan, &'a Start, &'a Stop),
        session: Session,
        sink: Box<dyn SecondSink>,
    ) -> Self {
        let Start { at: start, shared } = start;
        let (start, shared) = (*start, shared.as_ref());
        let own = if shared.is_none() { plan.closed_queue(start, [id]) } else { None };
        let ledger = Ledger::new(plan.recorder(start, id), start, sink);
        let end = plan.window(start).end;
        let last = plan.measure.map_or(MonoNanos(u64::MAX), |_| end + plan.rundown);
        Self { plan, stop, shared, own, session, ledger, end, last }
    }

    fn run<C: Connection>(mut self, connection: &mut C) -> (ThreadResult, Session) {
        let window = self.ledger.recorder.window();
        let mut in_window = false;
        let mut used = None;
        let mut freed = now();
        let mut left_by = None;
        loop {
            match self.claim(freed) {
                Turn::Run(ticket, ready) => {
                    // What the connection counts belongs to the same transactions as the record.
                    if !in_window && ticket.due >= window.start {
                        connection.window_begins();
                        in_window = true;
                    }
                    if used.is_none() && ticket.due >= window.end {
                        used = Some(connection.window_ended());
                    }
                    let ticket = self.session.claimed(ticket);
                    self.ledger.offered(&ticket);
                    let goes_on = self.transaction(connection, ticket, ready);
                    freed = self.served(&ticket);
                    if !goes_on {
                        left_by = Some(ticket);
                        break;
                    }
                }
                Turn::Again => {}
                Turn::Over => break,
            }
        }
        if !in_window {
            connection.window_begins();
        }
        let (cpu, runq) = used.unwrap_or_else(|| connection.window_ended());
        let measured = ALWAYS_MEASURED.with(connection.measured());
        let has_quit = left_by.is_some();
        match left_by {
            Some(ticket) => self.leave(&ticket),
            None => self.drain(self.stop.instant().min(self.end)),
        }
        let (recorder, driver, ended) = self.ledger.finish();
        (ThreadResult { recorder, measured, cpu, runq, driver, ended, has_quit }, self.session)
    }

    /// Claims the next transaction for a worker that is free since `freed`, and waits until it is
    /// due.
    #[inline]
    fn claim(&mut self, freed: MonoNanos) -> Turn {
        if self.stop.is_set() {
            return Turn::Over;
        }
        let claim = match (&mut self.own, self.shared) {
            (Some(own), _) => own.claim(freed, freed, true),
            (None, Some(shared)) => shared.claim(freed, self.stop),
            (None, None) => Claim::Over,
        };
        match claim {
            Claim::Run { ticket, ready, think } => self.accept(ticket, ready, think, freed),
            Claim::Dropped(ticket) => {
                let dropped = self.ledger.dropped(&ticket, freed);
                self.session.ended(&dropped);
                Turn::Again
            }
            Claim::Wait(_) => Turn::Again,
            Claim::Over => Turn::Over,
        }
    }

    #[inline]
    fn accept(
        &mut self,
        ticket: Ticket,
        ready: MonoNanos,
        think: Option<(OperationId, Nanos)>,
        freed: MonoNanos,
    ) -> Turn {
        if ready > freed {
            let came_back = wait_until(ready, false, |at| at >= self.stop.instant());
            if came_back < ready {
                return Turn::Over; // ended early, before it was due
            }
        }
        if let Some((operation, wanted)) = think {
            let taken = wanted + (now() - ready);
            self.ledger.recorder.think(operation, ticket.due, wanted, taken);
        }
        if self.plan.measure.is_some() && ready >= self.end + self.plan.late_start {
            self.ledger.not_sent(&ticket, Outcome::Unfinished, ready);
            self.given_up();
            return Turn::Again;
        }
        Turn::Run(ticket, ready)
    }

    /// Tells a closed loop that its client was served. Returns the moment the worker is free.
    #[inline]
    fn served(&mut self, ticket: &Ticket) -> MonoNanos {
        let done = self.ledger.ended;
        match (&mut self.own, self.shared) {
            (Some(own), _) => own.served(ticket, done),
            (None, Some(shared)) => {
                if let Queue::Closed(queue) = &mut *lock(&shared.queue) {
                    queue.served(ticket, done);
                    shared.asked.notify_one();
                }
            }
            (None, None) => {}
        }
        done
    }

    /// Tells a closed loop that its client was not served any more.
    fn given_up(&mut self) {
        match (&mut self.own, self.shared) {
            (Some(own), _) => own.given_up(),
            (None, Some(shared)) => {
                if let Queue::Closed(queue) = &mut *lock(&shared.queue) {
                    queue.given_up();
                }
            }
            (None, None) => {}
        }
    }

    /// Runs a transaction. Returns whether its client asks for another one.
    fn transaction<C: Connection>(
        &mut self,
        connection: &mut C,
        ticket: Ticket,
        ready: MonoNanos,
    ) -> bool {
        let mut goes_on = true;
        let sampled = self.plan.is_sampled(ticket.index);
        let mut timing = Timing::new(ready, sampled);
        let ledger = &mut self.ledger;
        let session = &mut self.session;
        let mut action = session.start(ticket);
        let outcome = loop {
            action = match action {
                Action::Execute { statement, parameters, wants_row } => {
                    let call = Call::Execute { statement, parameters, wants_row };
                    match call.make(connection, &ticket, &mut timing, ledger) {
                        Ok(rows) if wants_row => session.answered(rows, connection.first_row()),
                        Ok(rows) => session.answered(rows, &[]),
                        Err(failure) if failure.code == INTERRUPTED => {
                            // Only the end of the run interrupts.
                            break Outcome::Unfinished;
                        }
                        Err(failure) => {
                            ledger.error(&ticket, &failure, timing.done());
                            session.failed(failure.class, failure.undone)
                        }
                    }
                }
                Action::Pause { part, length } => {
                    let from = now();
                    let until = (from + length).min(self.last);
                    let to = wait_until(until, false, |at| at >= self.stop.instant());
                    timing.pause(part, from, to);
                    if to >= self.last || to >= self.stop.instant() + GRACE {
                        break Outcome::Unfinished;
                    }
                    session.resumed(part)
                }
                Action::Ask { connection: 1.., .. } => {
                    let failure = one_connection();
                    ledger.error(&ticket, &failure, timing.done());
                    session.replied(Err(&failure))
                }
                Action::Ask { request, statement, .. } => {
                    let call = Call::Ask { request, statement };
                    match call.make(connection, &ticket, &mut timing, ledger) {
                        Ok(_) => session.replied(Ok(connection.results())),
                        Err(failure) if failure.code == INTERRUPTED => break Outcome::Unfinished,
                        Err(failure) => {
                            ledger.error(&ticket, &failure, timing.done());
                            session.replied(Err(&failure))
                        }
                    }
                }
                Action::Wait => unreachable!("a thread has one statement under way"),
                Action::End(outcome) => break outcome,
                Action::Quit { outcome, all } => {
                    goes_on = false;
                    if all {
                        self.stop.at(now());
                    }
                    break outcome;
                }
            };
        };
        if self.plan.workload.script.is_some() {
            timing.ends(now());
        }
        let sample = timing.sample(&ticket, outcome, session.retries());
        session.ended(&sample);
        ledger.ended(&timing, &sample);
        goes_on
    }

    /// The client has quit with this transaction: others go on, unless nobody is left.
    #[cold]
    fn leave(&mut self, ticket: &Ticket) {
        let Some(shared) = self.shared else { return };
        if let Queue::Closed(queue) = &mut *lock(&shared.queue) {
            queue.leave(ticket);
        }
        if shared.workers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.drain(now().min(self.end));
        }
    }

    /// Counts what was due before `stopped` and will not be served any more.
    fn drain(&mut self, stopped: MonoNanos) {
        let Some(shared) = self.shared else { return };
        let present = now();
        let mut unfinished = |ticket| {
            self.ledger.not_sent(&ticket, Outcome::Unfinished, present);
        };
        match &mut *lock(&shared.queue) {
            Queue::Open(queue) => {
                queue.by_ref().take_while(|ticket| ticket.due < stopped).for_each(&mut unfinished);
            }
            Queue::Closed(queue) => queue.waiting(stopped).for_each(&mut unfinished),
        }
    }
}

/// A worker's connection is all that its client gets.
#[cold]
fn one_connection() -> Failure {
    Failure {
        class: ErrorClass::Statement,
        code: "connections".to_owned(),
        state: String::new(),
        message: "a script's client has one connection to an embedded database".to_owned(),
        undone: false,
    }
}
