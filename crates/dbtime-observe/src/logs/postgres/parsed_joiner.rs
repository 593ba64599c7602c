//! Statements that are parsed first and executed later, as programs prepare all of theirs when they
//! begin.

use super::joiner::PostgresJoiner;
use super::session::{LoggedSession, OpenStatement, PieceView};
use crate::logs::{EntryKind, RecordSink};

/// How many parsed statements of a session wait for their execution.
const MAX_PARSED: usize = 16;

impl PostgresJoiner {
    /// Hands on the open statement of a session; one that was parsed alone is kept until it is bound.
    pub(super) fn close_open(
        &mut self,
        session: &mut LoggedSession,
        id: u64,
        sink: &mut dyn RecordSink,
    ) {
        let Some(open) = session.open.take() else { return };
        if open.step != EntryKind::Parse {
            return self.hand_on(session, open, id, sink);
        }
        session.parsed.push_back(open);
        if session.parsed.len() > MAX_PARSED
            && let Some(oldest) = session.parsed.pop_front()
        {
            self.hand_on(session, oldest, id, sink);
        }
    }

    /// The statement that a piece is the next step of, or that it begins.
    pub(super) fn begun(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
    ) -> OpenStatement {
        let is_bind = view.piece.kind == EntryKind::Bind;
        let place = session.parsed.iter().position(|parsed| is_bind && parsed.is_of(view));
        match place.and_then(|place| session.parsed.remove(place)) {
            Some(mut parsed) => {
                parsed.advance(view);
                parsed
            }
            None => self.held(view),
        }
    }

    /// Hands on what was parsed and never executed.
    pub(super) fn close_parsed(
        &mut self,
        session: &mut LoggedSession,
        id: u64,
        sink: &mut dyn RecordSink,
    ) {
        for parsed in std::mem::take(&mut session.parsed) {
            self.hand_on(session, parsed, id, sink);
        }
    }
}
