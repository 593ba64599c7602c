//! Statements that are parsed first and executed later, as programs prepare all of theirs when they
//! begin.

use super::joiner::PostgresJoiner;
use super::session::{LoggedSession, OpenStatement, PieceView};
use crate::logs::{EntryKind, RecordSink};

/// How many parsed statements of a session wait for their execution.
const MAX_PARSED: usize = 16;

impl PostgresJoiner {
    /// Hands on the open statement of a session; one that was only parsed waits for its bind step.
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
        let parsed = if is_bind { take_parsed(session, view) } else { None };
        match parsed {
            Some(mut parsed) => {
                parsed.advance(view);
                parsed
            }
            None => self.held(view),
        }
    }

    /// The parsed statement that a failure of its bind step is about.
    pub(super) fn failed_parsed(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
    ) -> Option<OpenStatement> {
        let parsed = take_parsed(session, view)?;
        self.release(&parsed);
        Some(parsed)
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

fn take_parsed(session: &mut LoggedSession, view: PieceView<'_>) -> Option<OpenStatement> {
    let place = session.parsed.iter().position(|parsed| parsed.is_of(view))?;
    session.parsed.remove(place)
}
