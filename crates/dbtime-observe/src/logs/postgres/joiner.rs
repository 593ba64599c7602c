//! Joins the messages of each session into records of statements.
//!
//! ```text
//!   parse 2 ms ─► bind 1 ms ─► execute 5 ms                one record of 8 ms, whatever is between
//!   statement (log_statement) ─► duration 5 ms             one record of 5 ms
//!   duration, duration ─► execute (log_statement) ─► duration      one record with all of them
//!   plan of 4 ms (auto_explain) ─► duration, statement     one record; alone: of 4 ms
//!   ERROR ─► STATEMENT                                     one record with an error
//! ```
//!
//! What is still open when the session goes on with another statement is a record as it is. What is
//! open at the end of a file goes on in the next file of the log.

use super::lone_durations::LoneDurations;
use super::session::{LoggedSession, OpenFailure, OpenStatement, PieceView};
use crate::logs::{EntryKind, RecordBatch, RecordJoiner, RecordSink};
use dbtime_model::Nanos;
use dbtime_model::log_digest::LogFigure;
use rustc_hash::FxHashMap;

/// How many sessions are kept. The older half is handed on when there are more.
const MAX_SESSIONS: usize = 10_000;

/// How much the texts of open statements may take before the older half is handed on. Unit: bytes.
const MAX_HELD_BYTES: usize = 48 << 20;

/// Joins pieces by session.
#[derive(Debug, Default)]
pub(super) struct PostgresJoiner {
    sessions: FxHashMap<u64, Box<LoggedSession>>,
    /// How many pieces were seen.
    seen: u64,
    held_bytes: usize,
    last_us: Option<i64>,
    /// Whether a statement was logged with its duration, not with its plan alone.
    pub(super) has_durations: bool,
    pub(super) figures: Vec<(LogFigure, u64)>,
}

impl RecordJoiner for PostgresJoiner {
    fn join(&mut self, block: &[u8], offset: u64, batch: &RecordBatch, sink: &mut dyn RecordSink) {
        for piece in &batch.pieces {
            self.seen += 1;
            self.last_us = piece.time.logged_us.or(self.last_us);
            let (offset, logged_us) = (offset + u64::from(piece.at), self.last_us);
            self.take(PieceView { block, batch, piece, offset, logged_us }, sink);
        }
    }

    fn end(&mut self, sink: &mut dyn RecordSink) {
        self.hand_on_oldest(self.sessions.len(), sink);
    }

    fn follow(&mut self, begin_us: i64, sink: &mut dyn RecordSink) -> bool {
        let follows = self.last_us.is_some_and(|last| last <= begin_us);
        if follows {
            for session in self.sessions.values_mut() {
                session.lone.drop_all(sink);
                session.carry();
            }
        }
        follows
    }

    fn leave_open(&mut self, from: u64, sink: &mut dyn RecordSink) -> u64 {
        let left = self.sessions.values_mut().map(|session| session.leave_behind(from)).sum();
        self.end(sink);
        left
    }

    fn forget_counted(&mut self) {
        for session in self.sessions.values_mut() {
            session.lone = LoneDurations::default();
        }
    }
}

impl PostgresJoiner {
    fn take(&mut self, view: PieceView<'_>, sink: &mut dyn RecordSink) {
        let id = view.piece.session;
        let mut session = self.sessions.remove(&id).unwrap_or_default();
        session.names.learn(view);
        session.seen = self.seen;
        let is_end = view.piece.kind == EntryKind::Disconnect;
        match view.piece.kind {
            EntryKind::Event => {
                let name = std::str::from_utf8(view.bytes(view.piece.text)).unwrap_or_default();
                if !name.is_empty() {
                    sink.count_event(name, view.logged_us);
                }
                session.figures.add(view.batch.figures_of(view.piece));
            }
            EntryKind::Error => {
                Self::close_error(&mut session, sink);
                session.error = Some(OpenFailure::of(view));
            }
            _ => self.advance(&mut session, view, sink),
        }
        if is_end {
            self.close(&mut session, id, sink);
            return;
        }
        self.sessions.insert(id, session);
        if self.sessions.len() > MAX_SESSIONS || self.held_bytes > MAX_HELD_BYTES {
            self.hand_on_oldest(self.sessions.len().div_ceil(2), sink);
        }
    }

    /// Takes what is about a statement.
    fn advance(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) {
        let kind = view.piece.kind;
        if kind == EntryKind::ErrorStatement {
            // Waits and files have their statement behind them too, and that goes on.
            let Some(error) = session.error.take() else { return };
            session.lone.drop_all(sink);
            self.settle_plans(session, view, sink);
            return self.fail(session, &error, view, sink);
        }
        Self::close_error(session, sink);
        if kind == EntryKind::StatementText && view.piece.duration.is_some() {
            return self.take_plan(session, view, sink);
        }
        self.settle_plans(session, view, sink);
        if !matches!(kind, EntryKind::Duration | EntryKind::ExecuteText) {
            session.lone.drop_all(sink);
        }
        match kind {
            EntryKind::Statement => {
                let open = self.matching(session, view, sink);
                self.finish(session, open, view, sink);
            }
            EntryKind::Command => self.finish(session, None, view, sink),
            EntryKind::Duration => self.end_by_duration(session, view, sink),
            EntryKind::Connect | EntryKind::Disconnect => {}
            _ => self.begin_or_advance(session, view, sink),
        }
    }

    fn begin_or_advance(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) {
        let kind = view.piece.kind;
        let is_next = |open: &OpenStatement| match open.step {
            EntryKind::Parse => kind != EntryKind::Parse,
            EntryKind::Bind => kind == EntryKind::ExecuteText,
            _ => false,
        };
        let next = session.open.as_mut().filter(|open| is_next(open) && open.is_of(view));
        if let Some(open) = next {
            open.advance(view);
        } else {
            self.close_open(session, view.piece.session, sink);
            session.is_planned = false;
            let mut open = self.begun(session, view);
            if kind == EntryKind::ExecuteText {
                session.lone.give(&mut open, sink);
            }
            session.open = Some(open);
        }
    }

    /// A duration alone is the next step of the statement that is open, and mostly its last.
    fn end_by_duration(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) {
        let Some(mut open) = session.open.take() else {
            return session.lone.push(view, sink);
        };
        open.logged_us = view.logged_us;
        open.learn_query_id(view);
        if open.step == EntryKind::Parse {
            open.bind = view.piece.duration;
            open.step = EntryKind::Bind;
            session.open = Some(open);
        } else {
            // Its plan took a part of that.
            open.plan = view.piece.duration;
            session.end_statement(&open.text);
            self.hand_on(session, open, view.piece.session, sink);
        }
    }

    /// The open statement if a piece is about it; another one is handed on.
    pub(super) fn matching(
        &mut self,
        session: &mut LoggedSession,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) -> Option<OpenStatement> {
        if session.open.as_ref().is_some_and(|open| open.is_of(view)) {
            let open = session.open.take()?;
            self.release(&open);
            return Some(open);
        }
        self.close_open(session, view.piece.session, sink);
        None
    }

    /// An open statement that begins with this piece, counted as held.
    pub(super) fn held(&mut self, view: PieceView<'_>) -> OpenStatement {
        let open = OpenStatement::of(view);
        self.held_bytes += open.held_bytes();
        open
    }

    pub(super) fn release(&mut self, open: &OpenStatement) {
        self.held_bytes = self.held_bytes.saturating_sub(open.held_bytes());
    }

    /// Counts an error that no statement came with.
    fn close_error(session: &mut LoggedSession, sink: &mut dyn RecordSink) {
        if let Some(error) = session.error.take() {
            let code = String::from_utf8_lossy(&error.code);
            sink.count_event(&format!("error {code}"), error.logged_us);
        }
    }

    /// Hands on all that a session has open.
    fn close(&mut self, session: &mut LoggedSession, id: u64, sink: &mut dyn RecordSink) {
        for plan in std::mem::take(&mut session.plans) {
            self.settle_plan(session, plan, id, sink);
        }
        self.close_open(session, id, sink);
        self.close_parsed(session, id, sink);
        session.lone.drop_all(sink);
        Self::close_error(session, sink);
    }

    /// Hands on what so many sessions have open that were not seen for longest.
    fn hand_on_oldest(&mut self, count: usize, sink: &mut dyn RecordSink) {
        let mut order: Vec<(u64, u64)> =
            self.sessions.iter().map(|(id, session)| (session.seen, *id)).collect();
        order.sort_unstable();
        for (_, id) in order.into_iter().take(count) {
            if let Some(mut session) = self.sessions.remove(&id) {
                self.close(&mut session, id, sink);
            }
        }
    }
}

/// The sum of what was logged of two; `None`: nothing was.
pub(super) fn added(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}
