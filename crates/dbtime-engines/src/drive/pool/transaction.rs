//! A transaction on a worker's connection, from its first statement to its last.

use super::PoolConnection;
use super::call::PoolCall;
use super::own_cpu_share::{OwnCpuShare, WaitAccount};
use crate::drive::plan::{LoadPlan, RunStop};
use crate::drive::timing::{ThreadRecorder, TransactionTiming};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::Ticket;
use dbtime_load::session::{NativeAction, NativeSession, ScriptAction, ScriptSession};
use dbtime_machine::now;
use dbtime_machine::wait::wait_until;
use dbtime_model::{ErrorClass, MonoNanos, Nanos, Outcome, Part};

/// A transaction on a worker's connection.
pub(super) struct PoolTransaction<'a, C> {
    pub(super) connection: &'a mut C,
    pub(super) ticket: &'a Ticket,
    pub(super) timing: &'a mut TransactionTiming,
    pub(super) thread_recorder: &'a mut ThreadRecorder,
    pub(super) plan: &'a LoadPlan,
    pub(super) stop: &'a RunStop,
    /// Its wait for a CPU so far.
    pub(super) ready_wait: WaitAccount,
    /// `None` where waits are not divided.
    pub(super) own_cpu_share: Option<&'a OwnCpuShare>,
    /// When nobody waits for a transaction any more.
    pub(super) last: MonoNanos,
}

/// How a script's transaction has ended.
pub(super) struct ScriptEnd {
    pub(super) outcome: Outcome,
    /// Whether its client asks for no other.
    pub(super) has_quit: bool,
}

impl<C: PoolConnection> PoolTransaction<'_, C> {
    /// Runs one of a workload's statements.
    #[inline]
    pub(super) fn run_native(&mut self, session: &mut NativeSession) -> Outcome {
        let mut action = session.start(*self.ticket);
        loop {
            action = match action {
                NativeAction::Execute(call) => {
                    let needs_row = call.needs_row;
                    match self.call(&PoolCall::Execute(call)) {
                        Ok(rows) if needs_row => {
                            session.answered(rows, self.connection.first_row())
                        }
                        Ok(rows) => session.answered(rows, &[]),
                        Err(failure) if is_interrupted(&failure) => return Outcome::Unfinished,
                        Err(failure) => {
                            self.note(&failure);
                            session.failed(failure.class, failure.undone)
                        }
                    }
                }
                NativeAction::Pause { part, length } => {
                    if !self.pause(part, length) {
                        return Outcome::Unfinished;
                    }
                    session.resumed(part)
                }
                NativeAction::End(outcome) => return outcome,
            };
        }
    }

    /// Runs one of a script.
    #[inline]
    pub(super) fn run_script(&mut self, session: &mut ScriptSession) -> ScriptEnd {
        let ended = |outcome| ScriptEnd { outcome, has_quit: false };
        let mut action = session.start(*self.ticket);
        loop {
            action = match action {
                // None of its statements may take long enough to be interrupted.
                ScriptAction::Perform { .. } if self.is_over() => {
                    return ended(Outcome::Unfinished);
                }
                ScriptAction::Perform { connection: 1.., .. } => {
                    let failure = one_connection();
                    self.note(&failure);
                    session.replied(Err(&failure))
                }
                ScriptAction::Perform { op, statement, .. } => {
                    match self.call(&PoolCall::Perform { op, statement }) {
                        Ok(_) => session.replied(Ok(self.connection.results())),
                        Err(failure) if is_interrupted(&failure) => {
                            return ended(Outcome::Unfinished);
                        }
                        Err(failure) => {
                            self.note(&failure);
                            session.replied(Err(&failure))
                        }
                    }
                }
                ScriptAction::Sleep(length) => {
                    let goes_on = self.pause(Part::Think, length);
                    if !goes_on || self.plan.ends_at_pause(self.stop, self.timing.done()) {
                        self.give_locks_back();
                        return ended(Outcome::Unfinished);
                    }
                    session.resumed()
                }
                ScriptAction::End(outcome) => return ended(outcome),
                ScriptAction::Quit { outcome, all } => {
                    if all {
                        self.stop.at(now());
                    }
                    return ScriptEnd { outcome, has_quit: true };
                }
            };
        }
    }

    #[inline]
    fn call(&mut self, call: &PoolCall<'_>) -> Result<u64, DatabaseFailure> {
        self.begins();
        call.make(self.connection, self.ticket, self.timing, self.thread_recorder)
    }

    /// Whether the time of this is over, by its last answer; the clock is read only where the run
    /// was ended.
    #[inline]
    fn is_over(&self) -> bool {
        self.timing.done() >= self.last || (self.stop.is_set() && self.stop.is_late(now()))
    }

    /// Books a failure.
    fn note(&mut self, failure: &DatabaseFailure) {
        self.thread_recorder.error(self.ticket, failure, self.timing.done());
    }

    /// Ends what a script has begun and does not end: others may wait for its locks.
    #[cold]
    fn give_locks_back(&mut self) {
        // Where it fails, the database ends it when the connection is closed.
        let _ = self.connection.perform(ConnectionOp::Disconnect, None);
    }

    /// The first statement or pause is next: books what the transaction waited for a CPU.
    #[inline]
    fn begins(&mut self) {
        if let (Some(share), false) = (self.own_cpu_share, self.timing.has_begun()) {
            self.ready_wait.add(self.connection.settle());
            self.timing.waited(share.divide(self.ready_wait));
        }
    }

    /// Pauses for so long. Returns whether the transaction goes on after that.
    fn pause(&mut self, part: Part, length: Nanos) -> bool {
        self.begins();
        let from = now();
        let until = (from + length).min(self.last);
        let to = wait_until(until, |at| at >= self.stop.instant());
        self.timing.pause(part, from, to);
        to < self.last && !self.stop.is_late(to)
    }
}

/// Only the end of the run interrupts.
fn is_interrupted(failure: &DatabaseFailure) -> bool {
    failure.class == ErrorClass::Interrupted
}

/// A worker's connection is all that its client gets.
#[cold]
fn one_connection() -> DatabaseFailure {
    DatabaseFailure::statement(
        "connections",
        "",
        "a script's client has one connection to an embedded database",
    )
}
