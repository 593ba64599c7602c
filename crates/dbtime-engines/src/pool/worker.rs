//! A worker: claims transactions of its clients and has its connection execute them.

use super::call::Call;
use super::{Active, Connection, GRACE, INTERRUPTED, Queue, Shared, Start};
use crate::failure::Failure;
use crate::gate::lock;
use crate::observer::SecondSink;
use crate::plan::{Plan, Stop, ThreadResult};
use crate::timing::{Ledger, Timing};
use dbtime_load::program::Ticket;
use dbtime_load::queue::{Claim, ClosedQueue};
use dbtime_load::session::{Action, Session};
use dbtime_machine::now;
use dbtime_machine::wait::{PreciseWaiter, wait_until};
use dbtime_model::{MonoNanos, Nanos, OperationId, Outcome};
use std::sync::atomic::Ordering;

/// One worker: a thread with its session, its ledger, and its own clients if it has any.
pub(super) struct Worker<'a> {
    plan: &'a Plan,
    stop: &'a Stop,
    shared: Option<&'a Shared>,
    own: Option<ClosedQueue>,
    session: Session,
    ledger: Ledger,
    waiter: PreciseWaiter,
    /// Workers that neither sleep nor wait for a client.
    active: &'a Active,
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
    pub(super) fn new(
        id: u32,
        (plan, start, stop): (&'a Plan, &'a Start, &'a Stop),
        session: Session,
        sink: Box<dyn SecondSink>,
    ) -> Self {
        let Start { at: start, shared, active } = start;
        let (start, shared) = (*start, shared.as_ref());
        let own = if shared.is_none() { plan.closed_queue(start, [id]) } else { None };
        let ledger = Ledger::new(plan.recorder(start, id), plan.sampling(), start, sink);
        let end = plan.window(start).end;
        let last = plan.measure.map_or(MonoNanos(u64::MAX), |_| end + plan.rundown);
        let waiter = PreciseWaiter::new(plan.servers);
        Self { plan, stop, shared, own, session, ledger, waiter, active, end, last }
    }

    pub(super) fn run<C: Connection>(mut self, connection: &mut C) -> (ThreadResult, Session) {
        let window = self.ledger.recorder.window();
        let mut in_window = false;
        let mut used = None;
        let mut freed = now();
        let mut left_by = None;
        loop {
            match self.claim(freed, connection) {
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
        let has_quit = left_by.is_some();
        match left_by {
            Some(ticket) => self.leave(&ticket),
            None => self.drain(self.stop.instant().min(self.end)),
        }
        let (recorder, driver, ended) = self.ledger.finish();
        (ThreadResult { recorder, cpu, runq, driver, ended, has_quit }, self.session)
    }

    /// Claims the next transaction for a worker that is free since `freed`, and waits until it is
    /// due.
    #[inline]
    fn claim<C: Connection>(&mut self, freed: MonoNanos, connection: &mut C) -> Turn {
        if self.stop.is_set() {
            return Turn::Over;
        }
        let claim = match (&mut self.own, self.shared) {
            (Some(own), _) => own.claim(freed, freed, true),
            (None, Some(shared)) => shared.claim(freed, self.stop),
            (None, None) => Claim::Over,
        };
        match claim {
            Claim::Run { ticket, ready, think } => self.accept(ticket, ready, think, connection),
            Claim::Dropped(ticket) => {
                let dropped = self.ledger.dropped(&ticket, now());
                self.session.ended(&dropped);
                Turn::Again
            }
            Claim::Wait(_) => Turn::Again,
            Claim::Over => Turn::Over,
        }
    }

    #[inline]
    fn accept<C: Connection>(
        &mut self,
        ticket: Ticket,
        ready: MonoNanos,
        think: Option<(OperationId, Nanos)>,
        connection: &mut C,
    ) -> Turn {
        if ready > self.ledger.ended && !self.wait_for(ready, connection) {
            return Turn::Over; // ended early, before it was due
        }
        if let Some((operation, wanted)) = think {
            let taken = wanted + (now() - ready);
            self.ledger.recorder.think(operation, ticket.due, wanted, taken);
        }
        let begins = ready.max(self.ledger.ended);
        if self.plan.measure.is_some() && begins >= self.end + self.plan.late_start {
            self.ledger.not_sent(&ticket, Outcome::Unfinished, begins);
            self.given_up();
            return Turn::Again;
        }
        Turn::Run(ticket, ready)
    }

    /// Waits until a transaction is ready. Returns whether it came to that.
    fn wait_for<C: Connection>(&mut self, ready: MonoNanos, connection: &mut C) -> bool {
        let Self { waiter, active, stop, .. } = self;
        active.leave();
        // It takes a CPU itself while it spins.
        let may_spin = || active.has_room();
        let near = || {
            active.enter();
            connection.settle();
        };
        let woken = waiter.wait_until(ready, may_spin, near, |at| at >= stop.instant());
        self.ledger.woken(ready, woken);
        woken >= ready
    }

    /// Tells a closed loop that its client was served. Returns the moment the worker is free, or
    /// would have been had the driver never been late.
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
        self.ledger.freed
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
        let sampled = self.plan.sampling().includes(ticket.index);
        let mut timing = Timing::new(ready, sampled);
        timing.parts.measure(connection.measured());
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
                    let to = wait_until(until, |at| at >= self.stop.instant());
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
    Failure::statement(
        "connections",
        "",
        "a script's client has one connection to an embedded database",
    )
}
