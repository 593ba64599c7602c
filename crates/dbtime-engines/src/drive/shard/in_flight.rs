//! What of a transaction is under way on a connection, and booking the answers.

use super::reactor::AnswerTime;
use super::{StatementConnections, StatementResult};
use crate::drive::timing::{StatementExecution, ThreadRecorder, TransactionTiming};
use dbtime_load::program::Ticket;
use dbtime_load::session::{NativeSession, StatementCall};
use dbtime_model::exchange::{ConnectionKey, StatementExchange};
use dbtime_model::{MonoNanos, Nanos, Outcome, Part, PartSet, Parts, Sample, StatementId};
use std::collections::VecDeque;

/// What of a transaction is under way.
pub(super) struct InFlight {
    pub(super) timing: TransactionTiming,
    /// When its statement was sent, or its pause began; of a statement that went out with another
    /// when that was answered.
    pub(super) sent: MonoNanos,
    /// When its statement was handed over, alone or with others.
    handed_over: MonoNanos,
    /// The statement; `None`: something was asked that is none.
    pub(super) executing: Option<StatementId>,
    /// The connection that a script has asked; `None`: a statement of the workload is executed.
    pub(super) script_connection: Option<u32>,
    /// Statements under way behind that, and when they were sent.
    behind: VecDeque<(StatementId, MonoNanos)>,
}

impl InFlight {
    pub(super) fn new(present: MonoNanos) -> Self {
        Self {
            timing: TransactionTiming::new(present, false),
            sent: present,
            handed_over: present,
            executing: None,
            script_connection: None,
            behind: VecDeque::new(),
        }
    }

    /// Begins the timing of a transaction that was ready at that instant.
    pub(super) fn begin(&mut self, ready: MonoNanos, is_sampled: bool) {
        self.timing = TransactionTiming::new(ready, is_sampled);
        self.timing.parts.measure(PartSet::of(&[Part::ServerAndWire]));
    }

    /// Its statement had to wait for a connection: since `since` one was made, which was there, and
    /// the statement on its way, at `at`.
    pub(super) fn connected(&mut self, since: MonoNanos, at: MonoNanos) {
        if since > self.sent {
            self.timing.pause(Part::Backoff, self.sent, since);
        }
        self.timing.connecting(since.max(self.sent), at);
        (self.sent, self.handed_over) = (at, at);
    }

    /// Ends a transaction; nothing is under way any more.
    pub(super) fn end(&mut self, ticket: &Ticket, outcome: Outcome, retries: u32) -> Sample {
        self.behind.clear();
        self.timing.sample(ticket, outcome, retries)
    }

    /// Sends whatever may go out with the statement that was just handed over.
    pub(super) fn send_ahead<R: StatementConnections>(
        &mut self,
        session: &mut NativeSession,
        reactor: &mut R,
        id: u32,
    ) {
        // A statement that cannot be sent takes its connection with it, and all behind it wait.
        while reactor.hold(id)
            && let Some(StatementCall { statement, parameters, needs_row }) = session.next_ahead()
        {
            self.behind.push_back((statement, self.sent));
            reactor.submit(id, statement, parameters, needs_row);
        }
    }

    /// After an answer that was read then: whether there is a statement behind it, which is the
    /// server's next.
    #[inline]
    pub(super) fn next_behind(&mut self, read_at: MonoNanos) -> bool {
        let Some((next, sent)) = self.behind.pop_front() else { return false };
        self.executing = Some(next);
        (self.sent, self.handed_over) = (sent.max(read_at), sent);
        true
    }

    /// A statement is handed over at that instant; `None`: something that is none.
    #[inline]
    pub(super) fn hand_over(&mut self, statement: Option<StatementId>, at: MonoNanos) {
        self.executing = statement;
        (self.sent, self.handed_over) = (at, at);
    }

    /// Hands an answered statement on, to be matched with what the server did. Its answer was read
    /// then, and had waited so long for the driver. Its connection is named by the first of `names`
    /// at both ends, by the second on the server.
    pub(super) fn hand_on(
        &mut self,
        ticket: &Ticket,
        thread_recorder: &mut ThreadRecorder,
        (key, server_id): (Option<ConnectionKey>, Option<u32>),
        (read, late): (MonoNanos, Nanos),
    ) {
        let (transaction, statement, sent) = (ticket.index, self.executing, self.handed_over);
        self.timing.exchanges += 1;
        thread_recorder.exchange(StatementExchange {
            key,
            server_id,
            transaction,
            statement,
            sent,
            read,
            late,
        });
    }

    /// Books an answer. It `repeats` a failure where one before it has failed. Returns how long it
    /// had waited for the driver; `None`: its statement never left.
    #[inline]
    pub(super) fn account(
        &mut self,
        ticket: &Ticket,
        repeats: bool,
        thread_recorder: &mut ThreadRecorder,
        answer: &StatementResult,
        time: AnswerTime,
    ) -> Option<Nanos> {
        let Self { timing, executing, sent, .. } = self;
        let AnswerTime { read_at: done, delay } = time;
        // Behind a failure the others only repeat that there was one.
        if let (Err(failure), false) = (&answer.rows, repeats) {
            thread_recorder.error(ticket, failure, done);
        }
        if !answer.is_sent {
            // It never left: the driver waited before it tried to connect again.
            timing.pause(Part::Backoff, *sent, done);
            return None;
        }
        timing.statement(*sent, done);
        let late = thread_recorder.delay_of(delay.between(*sent, done), done - *sent);
        timing.late(late);
        let took = (done - *sent) - late;
        let rows = *answer.rows.as_ref().unwrap_or(&0);
        let round_trips = answer.round_trips;
        let parts = Parts::only(Part::ServerAndWire, took.0.cast_signed());
        if timing.sampled {
            timing.parts.add_all(&parts);
        }
        if let Some(statement) = *executing {
            let executed = StatementExecution { statement, took, rows, round_trips };
            thread_recorder.statement(ticket, executed, timing.sampled.then_some(&parts));
        }
        if answer.warnings > 0 {
            thread_recorder.recorder.warnings(ticket.due, answer.warnings);
        }
        Some(late)
    }
}
