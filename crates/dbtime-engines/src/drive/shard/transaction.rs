//! Moves a transaction on: hands over what its session wants, until that has to be waited for.

use super::in_flight::InFlight;
use super::reactor::AnswerTime;
use super::{ConnectionMap, Reactor, ScriptConnections, StatementConnections, StatementResult};
use crate::drive::timing::ThreadRecorder;
use dbtime_load::program::Ticket;
use dbtime_load::session::{
    NativeAction, NativeSession, ScriptAction, ScriptSession, StatementCall,
};
use dbtime_model::{ErrorClass, MonoNanos, Nanos, Outcome, Part};

/// What moves a transaction on.
pub(super) enum TransactionInput {
    Start(Ticket),
    Answer(StatementResult, AnswerTime),
    /// A pause for this is over.
    Resumed(Part),
}

/// Why a transaction goes no further for now.
pub(super) enum TransactionState {
    /// An answer is awaited; the present instant.
    Waiting(MonoNanos),
    /// It pauses for so long.
    Pausing(Part, Nanos),
    Ended(Outcome),
    /// It has ended, its client goes, and with `all` the run does.
    Quit {
        outcome: Outcome,
        all: bool,
    },
}

/// A connection's transaction, and what it takes to move it on.
pub(super) struct ShardTransaction<'a, R> {
    pub(super) id: u32,
    pub(super) reactor: &'a mut R,
    pub(super) in_flight: &'a mut InFlight,
    pub(super) thread_recorder: &'a mut ThreadRecorder,
}

impl<R: Reactor> ShardTransaction<'_, R> {
    /// One of a workload's statements, which may be sent ahead where it `is_pipelined`.
    #[inline]
    pub(super) fn advance_native(
        mut self,
        session: &mut NativeSession,
        input: TransactionInput,
        is_pipelined: bool,
    ) -> TransactionState {
        let mut action = match input {
            TransactionInput::Start(ticket) => session.start(ticket),
            TransactionInput::Answer(answer, time) => {
                let (ticket, repeats) = (session.ticket(), session.has_failed());
                self.book(ticket, repeats, self.id, (&answer, time));
                if self.in_flight.next_behind(time.read_at) {
                    let failure = answer.rows.err().map(|failure| (failure.class, failure.undone));
                    session.oldest_answered(failure);
                    return TransactionState::Waiting(self.reactor.now());
                }
                action_after(session, self.reactor, self.id, answer)
            }
            TransactionInput::Resumed(part) => {
                self.in_flight.timing.pause(part, self.in_flight.sent, self.reactor.now());
                session.resumed(part)
            }
        };
        let Self { id, reactor, in_flight, thread_recorder } = self;
        loop {
            let StatementCall { statement, parameters, needs_row } = match action {
                NativeAction::Execute(call) => call,
                NativeAction::Pause { part, length } => {
                    return TransactionState::Pausing(part, length);
                }
                NativeAction::End(outcome) => return TransactionState::Ended(outcome),
            };
            in_flight.hand_over(Some(statement), reactor.now());
            let pipelines = is_pipelined && reactor.hold(id);
            let answer = reactor.submit(id, statement, parameters, needs_row);
            if pipelines {
                if answer.is_none() {
                    in_flight.send_ahead(session, reactor, id);
                }
                reactor.release(id);
            }
            let Some(answer) = answer else { return TransactionState::Waiting(in_flight.sent) };
            let time = AnswerTime::now(reactor);
            in_flight.account(session.ticket(), false, thread_recorder, &answer, time);
            action = action_after(session, reactor, id, answer);
        }
    }

    /// One of a script, whose client may have several connections. Once `is_over` says so, one
    /// whose statements are all answered at once ends too.
    #[inline]
    pub(super) fn advance_script(
        mut self,
        session: &mut ScriptSession,
        input: TransactionInput,
        connection_map: &mut ConnectionMap,
        is_over: impl Fn(MonoNanos) -> bool,
    ) -> TransactionState {
        let mut action = match input {
            TransactionInput::Start(ticket) => session.start(ticket),
            TransactionInput::Answer(answer, time) => {
                let connection = self.in_flight.script_connection.unwrap_or(self.id);
                self.book(session.ticket(), false, connection, (&answer, time));
                reply_to(session, self.reactor, connection, &answer)
            }
            TransactionInput::Resumed(part) => {
                self.in_flight.timing.pause(part, self.in_flight.sent, self.reactor.now());
                session.resumed()
            }
        };
        let Self { id, reactor, in_flight, thread_recorder } = self;
        loop {
            let (op, statement, connection) = match action {
                ScriptAction::Perform { op, statement, connection } => (op, statement, connection),
                ScriptAction::Sleep(length) => {
                    return TransactionState::Pausing(Part::Think, length);
                }
                ScriptAction::End(outcome) => return TransactionState::Ended(outcome),
                ScriptAction::Quit { outcome, all } => {
                    return TransactionState::Quit { outcome, all };
                }
            };
            in_flight.hand_over(statement, reactor.now());
            let answer = match connection_map.connection(reactor, id, connection) {
                Ok(target) => {
                    in_flight.script_connection = Some(target);
                    reactor.perform(target, op)
                }
                Err(failure) => Some(StatementResult::unsent(failure)),
            };
            let Some(answer) = answer else { return TransactionState::Waiting(in_flight.sent) };
            let time = AnswerTime::now(reactor);
            in_flight.account(session.ticket(), false, thread_recorder, &answer, time);
            if is_over(in_flight.sent) {
                return TransactionState::Ended(Outcome::Unfinished);
            }
            action = reply_to(session, reactor, in_flight.script_connection.unwrap_or(id), &answer);
        }
    }

    /// Books an answer, and hands its statement on where somebody takes it.
    #[inline]
    fn book(
        &mut self,
        ticket: &Ticket,
        repeats: bool,
        connection: u32,
        (answer, time): (&StatementResult, AnswerTime),
    ) {
        let Self { reactor, in_flight, thread_recorder, .. } = self;
        let late = in_flight.account(ticket, repeats, thread_recorder, answer, time);
        if let (Some(late), true) = (late, thread_recorder.takes_exchanges && is_answered(answer)) {
            let names = (reactor.connection_key(connection), reactor.server_id(connection));
            in_flight.hand_on(ticket, thread_recorder, names, (time.read_at, late));
        }
    }
}

/// Whether the server has answered: a connection that is lost brings nothing that could be matched.
fn is_answered(answer: &StatementResult) -> bool {
    !answer.rows.as_ref().is_err_and(|failure| failure.class == ErrorClass::Connection)
}

/// What a session wants after the last answer under way.
#[inline]
fn action_after<'s, R: StatementConnections>(
    session: &'s mut NativeSession,
    reactor: &R,
    connection: u32,
    answer: StatementResult,
) -> NativeAction<'s> {
    match answer.rows {
        Ok(rows) => session.answered(rows, reactor.first_row(connection)),
        Err(failure) => session.failed(failure.class, failure.undone),
    }
}

/// What a script wants after an answer of that connection.
#[inline]
pub(super) fn reply_to<'s, R: ScriptConnections>(
    session: &'s mut ScriptSession,
    reactor: &mut R,
    connection: u32,
    answer: &StatementResult,
) -> ScriptAction<'s> {
    session.replied(match &answer.rows {
        Ok(_) => Ok(reactor.results(connection)),
        Err(failure) => Err(failure),
    })
}
