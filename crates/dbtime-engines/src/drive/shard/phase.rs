//! What clients do before the load and after it: connect, prepare, say goodbye. Nothing of it is
//! recorded.

use super::transaction::reply_to;
use super::{
    Completion, CompletionKind, ConnectionMap, ScriptConnections, ShardClients, StatementResult,
};
use dbtime_load::script::ProgramPhase;
use dbtime_load::session::{ScriptAction, ScriptSession, Session};
use dbtime_model::{MonoNanos, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How long the last phase of clients may take; with an embedded database, once the run was ended.
pub(crate) const CLOSE_TIMEOUT: Nanos = Nanos::from_secs(5);

/// How often it is looked whether nobody waits any more.
const POLL_INTERVAL: Nanos = Nanos::from_millis(50);

/// Lets every script go through a phase, all of them at once; other sessions have none. Returns
/// whether the run may go on: not when a session ended it, or `is_over` says that nobody waits any
/// more.
pub(crate) fn run_phase<R: ScriptConnections>(
    clients: &mut ShardClients<R>,
    phase: ProgramPhase,
    is_over: impl Fn() -> bool,
) -> bool {
    let ShardClients { reactor, sessions, connection_map } = clients;
    let mut walk = PhaseWalk {
        reactor,
        connection_map,
        last_connection: 0,
        pauses: BinaryHeap::new(),
        under_way: 0,
        is_ended: false,
        is_over: &is_over,
    };
    // The sessions of a run are all of one kind: a script's has the same number here.
    let mut scripts: Vec<_> = sessions.iter_mut().filter_map(Session::as_script).collect();
    for (id, session) in (0..).zip(&mut scripts) {
        if let Some(action) = session.begin_phase(phase) {
            walk.under_way += 1;
            if let Some(answer) = walk.start_action(id, action) {
                walk.continue_session(id, session, answer);
            }
        }
    }
    let mut events = Vec::new();
    while walk.under_way > 0 && !walk.is_ended && !is_over() {
        walk.wait(&mut scripts, &mut events);
    }
    !walk.is_ended && walk.under_way == 0
}

/// A phase under way.
struct PhaseWalk<'a, R> {
    reactor: &'a mut R,
    connection_map: &'a mut ConnectionMap,
    /// The connection that was asked last.
    last_connection: u32,
    /// Sessions that pause, and until when.
    pauses: BinaryHeap<Reverse<(MonoNanos, u32)>>,
    /// Sessions that have not ended the phase.
    under_way: usize,
    /// Whether one of them has ended the run.
    is_ended: bool,
    /// Whether nobody waits any more.
    is_over: &'a dyn Fn() -> bool,
}

impl<R: ScriptConnections> PhaseWalk<'_, R> {
    /// Does what a session wants. `Some`: that has been answered already.
    fn start_action(&mut self, id: u32, action: ScriptAction<'_>) -> Option<StatementResult> {
        match action {
            ScriptAction::Perform { op, connection, .. } => {
                return match self.connection_map.connection(self.reactor, id, connection) {
                    Ok(target) => {
                        self.last_connection = target;
                        self.reactor.perform(target, op)
                    }
                    Err(failure) => Some(StatementResult::unsent(failure)),
                };
            }
            ScriptAction::Sleep(length) => {
                self.pauses.push(Reverse((self.reactor.now() + length, id)));
            }
            ScriptAction::End(_) => self.under_way -= 1,
            ScriptAction::Quit { all, .. } => {
                self.under_way -= 1;
                self.is_ended |= all;
            }
        }
        None
    }

    /// Tells a session of an answer, and does what it wants for as long as that is answered.
    fn continue_session(
        &mut self,
        id: u32,
        session: &mut ScriptSession,
        mut answer: StatementResult,
    ) {
        loop {
            let action = reply_to(session, self.reactor, self.last_connection, &answer);
            match self.start_action(id, action) {
                // One whose every statement is answered at once would not come to an end by itself.
                Some(next) if !(self.is_over)() => answer = next,
                _ => return,
            }
        }
    }

    fn wait(&mut self, sessions: &mut [&mut ScriptSession], events: &mut Vec<Completion>) {
        let present = self.reactor.now();
        let first = self.pauses.peek().map_or(present + POLL_INTERVAL, |Reverse((at, _))| *at);
        self.reactor.wait(first.min(present + POLL_INTERVAL), false, events);
        for Completion { connection, kind, .. } in events.drain(..) {
            if let CompletionKind::Answered(answer) = kind {
                self.last_connection = connection;
                let id = self.connection_map.session(connection);
                self.continue_session(id, sessions[id as usize], answer);
            }
        }
        let present = self.reactor.now();
        while let Some(&Reverse((at, id))) = self.pauses.peek() {
            if at > present {
                break;
            }
            self.pauses.pop();
            let session = &mut *sessions[id as usize];
            let action = session.resumed();
            if let Some(answer) = self.start_action(id, action) {
                self.continue_session(id, session, answer);
            }
        }
    }
}
