//! A worker: claims transactions of its clients and has its connection execute them.

use super::own_cpu_share::{OwnCpuShare, WaitAccount};
use super::transaction::PoolTransaction;
use super::{ActiveWorkers, LoadStart, PoolConnection, PoolQueue, PoolRun, PoolShared};
use crate::drive::gate::lock;
use crate::drive::observer::LoadSink;
use crate::drive::plan::{LoadPlan, RunStop, ThreadResult};
use crate::drive::timing::{ThreadRecorder, TransactionTiming};
use dbtime_load::program::Ticket;
use dbtime_load::queue::{ClaimResult, ClosedQueue};
use dbtime_load::session::Session;
use dbtime_machine::now;
use dbtime_machine::wait::PreciseWaiter;
use dbtime_model::recorder::ReadyWaits;
use dbtime_model::{MonoNanos, Nanos, OperationId, Outcome};
use std::sync::atomic::Ordering;

/// One worker: a thread with its session, its recorder, and its own clients if it has any.
pub(super) struct PoolWorker<'a> {
    plan: &'a LoadPlan,
    stop: &'a RunStop,
    shared: Option<&'a PoolShared>,
    own: Option<ClosedQueue>,
    session: Session,
    thread_recorder: ThreadRecorder,
    waiter: PreciseWaiter,
    /// Workers that neither sleep nor wait for a client.
    active: &'a ActiveWorkers,
    /// `None` where its waits for a CPU are not divided.
    own_cpu_share: Option<&'a OwnCpuShare>,
    /// Of the present transaction.
    ready_wait: WaitAccount,
    end: MonoNanos,
    /// When nobody waits for a transaction any more.
    last: MonoNanos,
}

/// What a worker does next.
enum WorkerTurn {
    Run(Ticket, MonoNanos),
    Again,
    Over,
}

impl<'a> PoolWorker<'a> {
    pub(super) fn new(
        id: u32,
        run: PoolRun<'a>,
        session: Session,
        sink: Box<dyn LoadSink>,
    ) -> Self {
        let PoolRun { plan, start, stop } = run;
        let LoadStart { at: start, shared, active, own_cpu_share } = start;
        let start = *start;
        let shared = shared.as_ref();
        let own = if shared.is_none() { plan.closed_queue(start, [id]) } else { None };
        let thread_recorder =
            ThreadRecorder::new(plan.recorder(start, id), plan.sampling(), start, sink);
        let end = plan.window(start).end;
        let last = plan.measure.map_or(MonoNanos(u64::MAX), |_| end + plan.rundown);
        let waiter = PreciseWaiter::new(plan.concurrency);
        let (own_cpu_share, ready_wait) = (Some(own_cpu_share), WaitAccount::new(start));
        Self {
            plan,
            stop,
            shared,
            own,
            session,
            thread_recorder,
            waiter,
            active,
            own_cpu_share,
            ready_wait,
            end,
            last,
        }
    }

    pub(super) fn run<C: PoolConnection>(mut self, connection: &mut C) -> (ThreadResult, Session) {
        let window = self.thread_recorder.recorder.window();
        self.divide_waits(!connection.is_disturbed());
        let mut in_window = false;
        let mut used = None;
        let mut freed = now();
        let mut left_by = None;
        loop {
            match self.claim(freed, connection) {
                WorkerTurn::Run(ticket, ready) => {
                    // What the connection counts belongs to the same transactions as the record.
                    if !in_window && ticket.due >= window.start {
                        connection.window_begins();
                        in_window = true;
                    }
                    if used.is_none() && ticket.due >= window.end {
                        used = Some(connection.window_ended());
                    }
                    let ticket = self.session.claimed(ticket);
                    self.thread_recorder.offered(&ticket);
                    let goes_on = self.transaction(connection, ticket, ready);
                    freed = self.served(&ticket);
                    if !goes_on {
                        left_by = Some(ticket);
                        break;
                    }
                }
                WorkerTurn::Again => {}
                WorkerTurn::Over => break,
            }
        }
        if !in_window {
            connection.window_begins();
        }
        let (cpu, runq) = used.unwrap_or_else(|| connection.window_ended());
        let has_quit = left_by.is_some();
        match left_by {
            Some(ticket) => self.leave(&ticket),
            None => self.drain(self.stop.instant().min(self.end)),
        }
        let (recorder, driver, ended) = self.thread_recorder.finish();
        let result = ThreadResult { recorder, cpu, runq, driver, ended, link: None, has_quit };
        (result, self.session)
    }

    /// Divides waits for a CPU where they are seen, and there is another worker to wait for.
    fn divide_waits(&mut self, are_seen: bool) {
        let can_divide = are_seen && self.plan.concurrency > 1;
        self.own_cpu_share = self.own_cpu_share.filter(|_| can_divide);
        self.thread_recorder.recorder.ready_waits = can_divide.then(ReadyWaits::default);
    }

    /// Claims the next transaction for a worker that is free since `freed`, and waits until it is
    /// due.
    #[inline]
    fn claim<C: PoolConnection>(&mut self, freed: MonoNanos, connection: &mut C) -> WorkerTurn {
        if self.stop.is_set() {
            return WorkerTurn::Over;
        }
        let claim = match (&mut self.own, self.shared) {
            (Some(own), _) => own.claim(self.thread_recorder.ended, true),
            (None, Some(shared)) => shared.claim(freed, self.stop),
            (None, None) => ClaimResult::Over,
        };
        match claim {
            ClaimResult::Run { ticket, ready, think } => {
                self.accept(ticket, ready, think, connection)
            }
            ClaimResult::Dropped(ticket) => {
                let dropped = self.thread_recorder.dropped(&ticket, now());
                self.session.ended(&dropped);
                WorkerTurn::Again
            }
            ClaimResult::Wait(_) => WorkerTurn::Again,
            ClaimResult::Over => WorkerTurn::Over,
        }
    }

    #[inline]
    fn accept<C: PoolConnection>(
        &mut self,
        ticket: Ticket,
        ready: MonoNanos,
        think: Option<(OperationId, Nanos)>,
        connection: &mut C,
    ) -> WorkerTurn {
        let begins = ready.max(self.thread_recorder.ended);
        self.ready_wait = WaitAccount::new(begins);
        if ready > self.thread_recorder.ended && !self.wait_for(ready, connection) {
            return WorkerTurn::Over; // ended early, before it was due
        }
        if let Some((operation, planned)) = think {
            let taken = planned + (now() - ready);
            self.thread_recorder.recorder.think(operation, ticket.due, planned, taken);
        }
        if self.plan.measure.is_some() && begins >= self.end + self.plan.late_start {
            self.thread_recorder.not_sent(&ticket, Outcome::Unfinished, begins);
            self.given_up(&ticket);
            return WorkerTurn::Again;
        }
        WorkerTurn::Run(ticket, ready)
    }

    /// Waits until a transaction is ready. Returns whether it came to that.
    fn wait_for<C: PoolConnection>(&mut self, ready: MonoNanos, connection: &mut C) -> bool {
        let Self { waiter, active, stop, ready_wait, own_cpu_share, .. } = self;
        ready_wait.add(connection.settle());
        active.leave();
        // It takes a CPU itself while it spins.
        let may_spin = || active.has_room();
        let near = || {
            active.enter();
            ready_wait.add(connection.settle());
        };
        let woken = waiter.wait_until(ready, may_spin, near, |at| at >= stop.instant());
        // What it left to other transactions is no standstill.
        let contended = own_cpu_share.map_or(Nanos::ZERO, |share| share.divide(*ready_wait).own);
        self.thread_recorder.woken(ready + contended, woken);
        woken >= ready
    }

    /// Tells a closed loop that its client was served. Returns the moment the worker is free, or
    /// would have been had the driver never been late.
    #[inline]
    fn served(&mut self, ticket: &Ticket) -> MonoNanos {
        let (done, freed) = (self.thread_recorder.ended, self.thread_recorder.freed);
        match (&mut self.own, self.shared) {
            (Some(own), _) => own.served(ticket, done, freed),
            (None, Some(shared)) => {
                if let PoolQueue::Closed(queue) = &mut *lock(&shared.queue) {
                    queue.served(ticket, done, freed);
                    shared.client_ready.notify_one();
                }
            }
            (None, None) => {}
        }
        freed
    }

    /// Tells a closed loop that its client was not served any more.
    fn given_up(&mut self, ticket: &Ticket) {
        match (&mut self.own, self.shared) {
            (Some(own), _) => own.given_up(ticket),
            (None, Some(shared)) => {
                if let PoolQueue::Closed(queue) = &mut *lock(&shared.queue) {
                    queue.given_up(ticket);
                }
            }
            (None, None) => {}
        }
    }

    /// Runs a transaction. Returns whether its client asks for another one.
    fn transaction<C: PoolConnection>(
        &mut self,
        connection: &mut C,
        ticket: Ticket,
        ready: MonoNanos,
    ) -> bool {
        let sampled = self.plan.sampling().includes(ticket.index);
        let mut timing = TransactionTiming::new(ready, sampled);
        timing.parts.measure(connection.measured());
        let plan = self.plan;
        let Self { session, thread_recorder, stop, last, ready_wait, own_cpu_share, .. } = self;
        let mut transaction = PoolTransaction {
            connection,
            ticket: &ticket,
            timing: &mut timing,
            thread_recorder,
            plan,
            stop,
            ready_wait: *ready_wait,
            own_cpu_share: *own_cpu_share,
            last: *last,
        };
        let mut goes_on = true;
        let outcome = match session {
            Session::Native(session) => transaction.run_native(session),
            Session::Script(session) => {
                let end = transaction.run_script(session);
                timing.ends(now());
                goes_on = !end.has_quit;
                end.outcome
            }
        };
        let sample = timing.sample(&ticket, outcome, session.retries());
        session.ended(&sample);
        thread_recorder.ended(&ticket, &timing, &sample);
        goes_on
    }

    /// The client has quit with this transaction: others go on, unless nobody is left.
    #[cold]
    fn leave(&mut self, ticket: &Ticket) {
        self.thread_recorder.recorder.quit += 1;
        let Some(shared) = self.shared else { return };
        if let PoolQueue::Closed(queue) = &mut *lock(&shared.queue) {
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
            self.thread_recorder.not_sent(&ticket, Outcome::Unfinished, present);
        };
        match &mut *lock(&shared.queue) {
            PoolQueue::Open(queue) => {
                queue.by_ref().take_while(|ticket| ticket.due < stopped).for_each(&mut unfinished);
            }
            PoolQueue::Closed(queue) => queue.waiting(stopped).for_each(&mut unfinished),
        }
    }
}
