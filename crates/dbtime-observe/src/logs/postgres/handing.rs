//! The records of statements whose last message has come, or that are handed on as they are.

use super::joiner::{PostgresJoiner, added};
use super::session::{LoggedSession, OpenFailure, OpenStatement, PieceView};
use crate::logs::record::began_us;
use crate::logs::{EntryKind, JoinedRecord, RecordSink};
use dbtime_model::log_digest::{ClassKind, LogFigure};

impl PostgresJoiner {
    /// Hands on a failed statement once, as an error of its class. How long it took is not logged:
    /// its steps before the one that failed are figures of it.
    pub(super) fn fail(
        &mut self,
        session: &mut LoggedSession,
        error: &OpenFailure,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) {
        let open = self.matching(session, view, sink);
        let open = open.or_else(|| self.failed_parsed(session, view));
        let record = JoinedRecord {
            offset: open.as_ref().map_or(view.offset, |open| open.offset),
            class: view.class(),
            text: view.text(),
            start_us: open.as_ref().and_then(|open| open.begun_us),
            end_us: error.logged_us,
            session: view.piece.session,
            error: &error.code,
            query_id: view.bytes(view.piece.query_id),
            ..JoinedRecord::default()
        };
        self.hand(session, open.as_ref(), record, sink);
    }

    /// Hands on a statement whose last step has come, with its earlier ones.
    pub(super) fn finish(
        &mut self,
        session: &mut LoggedSession,
        open: Option<OpenStatement>,
        view: PieceView<'_>,
        sink: &mut dyn RecordSink,
    ) {
        let is_command = view.piece.kind == EntryKind::Command;
        let own_id = view.bytes(view.piece.query_id);
        session.end_statement(view.text());
        let earlier = open.as_ref().and_then(OpenStatement::prepared);
        let duration = added(earlier, view.piece.duration);
        let record = JoinedRecord {
            offset: open.as_ref().map_or(view.offset, |open| open.offset),
            kind: if is_command { ClassKind::Command } else { ClassKind::Statement },
            class: view.class(),
            text: view.text(),
            start_us: began_us(view.logged_us, duration),
            end_us: view.logged_us,
            duration,
            session: view.piece.session,
            query_id: open.as_ref().map_or(own_id, |open| open.query_id_or(own_id)),
            ..JoinedRecord::default()
        };
        self.hand(session, open.as_ref(), record, sink);
    }

    /// Hands on an open statement as it is.
    pub(super) fn hand_on(
        &mut self,
        session: &mut LoggedSession,
        open: OpenStatement,
        id: u64,
        sink: &mut dyn RecordSink,
    ) {
        self.release(&open);
        let duration = added(open.prepared(), open.plan);
        let record = JoinedRecord {
            offset: open.offset,
            class: &open.class,
            text: &open.text,
            start_us: began_us(open.logged_us, duration).or(open.begun_us),
            end_us: open.logged_us,
            duration,
            session: id,
            query_id: &open.query_id,
            ..JoinedRecord::default()
        };
        self.hand(session, Some(&open), record, sink);
    }

    /// Hands on a record with the names and figures of its session.
    fn hand(
        &mut self,
        session: &mut LoggedSession,
        open: Option<&OpenStatement>,
        record: JoinedRecord<'_>,
        sink: &mut dyn RecordSink,
    ) {
        self.figures.clear();
        let steps = [
            (LogFigure::ParseTime, open.and_then(|open| open.parse)),
            (LogFigure::BindTime, open.and_then(|open| open.bind)),
        ];
        let steps = steps.into_iter().filter_map(|(figure, time)| Some((figure, time?.0)));
        self.figures.extend(steps);
        session.figures.drain_into(&mut self.figures);
        sink.take(&JoinedRecord {
            user: &session.names.user,
            host: &session.names.host,
            database: &session.names.database,
            figures: &self.figures,
            // The server logs failures beside their statements.
            shows_outcome: true,
            ..record
        });
    }
}
