//! Plans of auto_explain beside the statements that they are of.
//!
//! ```text
//!   plan, plan ─► duration: 9 ms  statement: SELECT 1; SELECT 2    parts of one record
//!   plan of a function's statement ─► duration: 9 ms  statement    a part of it as well
//!   duration: 5 ms  execute ─► plan                                its portal was closed later
//!   plan ─► anything else                                          a record by itself
//! ```

use super::joiner::{PostgresJoiner, added};
use super::session::{LoggedSession, OpenStatement, PieceView};
use crate::logs::numbers::text_hash;
use crate::logs::record::began_us;
use crate::logs::{EntryKind, RecordSink};

/// How many plans of a session wait for its statement where statements are logged with durations.
const MAX_PLANS: usize = 64;

/// Instants are logged to the millisecond. Unit: microseconds.
const INSTANT_STEP_US: i64 = 1000;

impl PostgresJoiner {
    /// Keeps a plan until the statement that it is of, or a part of, is logged; that of a portal
    /// which was closed late is of the statement before it.
    pub(super) fn take_plan(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) {
        if session.ended == Some(text_hash(view.text())) {
            session.ended = None;
            return;
        }
        let mut plan = self.held(view);
        // A portal may be closed by the next statement, whose ID the server logs then.
        plan.query_id = Box::default();
        session.plans.push_back(plan);
        let most = if self.has_durations { MAX_PLANS } else { 1 };
        while session.plans.len() > most {
            let Some(oldest) = session.plans.pop_front() else { break };
            self.settle_plan(session, oldest, view.piece.session, sink);
        }
    }

    /// Gives the plans of a session to what is logged next, or hands them on.
    pub(super) fn settle_plans(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) {
        let kind = view.piece.kind;
        self.has_durations |= view.piece.duration.is_some();
        if kind == EntryKind::Duration && session.open.is_none() {
            session.open = session.plans.pop_back();
            session.is_planned = session.open.is_some();
        }
        let is_whole = matches!(kind, EntryKind::Statement | EntryKind::ErrorStatement);
        for plan in std::mem::take(&mut session.plans) {
            let is_opens = session.open.as_ref().is_some_and(|open| open.text == plan.text);
            let is_own = is_whole && plan.is_of(view);
            if is_own || is_within(&plan, view) {
                session.is_planned |= is_own || is_opens;
                self.release(&plan);
            } else {
                self.settle_plan(session, plan, view.piece.session, sink);
            }
        }
    }

    /// Gives a plan to the open statement of the same text, or hands it on.
    pub(super) fn settle_plan(
        &mut self,
        session: &mut LoggedSession,
        plan: OpenStatement,
        id: u64,
        sink: &mut dyn RecordSink,
    ) {
        match session.open.as_mut().filter(|open| open.text == plan.text) {
            Some(open) => {
                open.plan = added(open.plan, plan.plan);
                session.is_planned = true;
                self.release(&plan);
            }
            None => self.hand_on(session, plan, id, sink),
        }
    }
}

impl LoggedSession {
    /// Notes that a statement is handed on with its duration: its plan may still come.
    pub(super) fn end_statement(&mut self, text: &[u8]) {
        let is_planned = std::mem::take(&mut self.is_planned);
        self.ended = (!is_planned).then(|| text_hash(text));
    }
}

/// Whether a plan was logged while that ran of which a piece has the duration.
fn is_within(plan: &OpenStatement, view: PieceView<'_>) -> bool {
    let begun_us = began_us(view.logged_us, view.piece.duration);
    plan.logged_us.zip(begun_us).is_some_and(|(ended, begun)| ended + INSTANT_STEP_US > begun)
}
