//! The fields of a line of csvlog or jsonlog: where they stand, or what was made of them.

use super::message_line::{LineText, MessageLine, MessageWriter};
use super::messages::write_message;
use super::severity::MessageSeverity;
use crate::logs::numbers::iso_us;
use dbtime_model::log_digest::UnreadReason;
use std::ops::Range;

/// The fields that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineColumn {
    /// When it was logged.
    Time,
    /// Who.
    User,
    /// In which database.
    Database,
    /// The process.
    Pid,
    /// From where.
    Host,
    /// The session.
    Session,
    /// How severe it is.
    Severity,
    /// The SQLSTATE.
    State,
    /// The message.
    Message,
    /// The statement that it is about.
    Statement,
    /// The server's ID of the statement.
    QueryId,
}

/// How many there are.
const COLUMNS: usize = LineColumn::QueryId as usize + 1;

/// The fields of one line. Shape: cleared and filled again.
#[derive(Debug, Default)]
pub(super) struct LineColumns {
    /// Where each stands, and whether in `made` rather than in the block.
    places: [(Range<usize>, bool); COLUMNS],
    made: Vec<u8>,
}

impl LineColumns {
    /// Forgets all fields.
    pub(super) fn clear(&mut self) {
        self.places = Default::default();
        self.made.clear();
    }

    /// A field that stands in the block as it is.
    pub(super) fn put(&mut self, column: LineColumn, range: Range<usize>) {
        self.places[column as usize] = (range, false);
    }

    /// A field that is written by `make` to the end of a text; what that returns.
    pub(super) fn make<T>(
        &mut self,
        column: LineColumn,
        make: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> T {
        let start = self.made.len();
        let result = make(&mut self.made);
        self.places[column as usize] = (start..self.made.len(), true);
        result
    }

    /// Whether they are of a message of PostgreSQL.
    pub(super) fn is_message(&self, block: &[u8]) -> bool {
        self.severity(block).is_some() && iso_us(self.text(block, LineColumn::Time).bytes).is_some()
    }

    /// Whether the time names no zone that is known.
    pub(super) fn is_local_time(&self, block: &[u8]) -> bool {
        iso_us(self.text(block, LineColumn::Time).bytes).is_some_and(|(_, is_known)| !is_known)
    }

    /// Writes the pieces of the message that begins at an offset of the block.
    pub(super) fn write(&self, block: &[u8], at: usize, writer: &mut MessageWriter<'_>) {
        let Some(severity) = self.severity(block) else {
            return writer.unread(UnreadReason::Form, at);
        };
        let text = |column| self.text(block, column);
        let line = MessageLine {
            at,
            severity,
            time: text(LineColumn::Time).bytes,
            epoch: &[],
            session: text(LineColumn::Session).bytes,
            pid: text(LineColumn::Pid).bytes,
            user: text(LineColumn::User),
            database: text(LineColumn::Database),
            host: text(LineColumn::Host),
            state: text(LineColumn::State),
            query_id: text(LineColumn::QueryId).trimmed(),
            message: text(LineColumn::Message),
            statement: text(LineColumn::Statement),
        };
        write_message(&line, writer);
    }

    fn severity(&self, block: &[u8]) -> Option<MessageSeverity> {
        MessageSeverity::of(self.text(block, LineColumn::Severity).bytes)
    }

    fn text<'a>(&'a self, block: &'a [u8], column: LineColumn) -> LineText<'a> {
        let (range, is_made) = self.places[column as usize].clone();
        if is_made {
            LineText::made(self.made.get(range).unwrap_or_default())
        } else {
            LineText::of_block(block, range)
        }
    }
}
