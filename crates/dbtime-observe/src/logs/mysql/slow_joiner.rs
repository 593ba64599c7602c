//! Joins what a slow log says once for several records: the time and the database.

use super::class_text;
use crate::logs::numbers::SECOND_US;
use crate::logs::{
    EntryKind, JoinedRecord, LogSpan, RecordBatch, RecordJoiner, RecordPiece, RecordSink,
};
use dbtime_model::log_digest::ClassKind;

/// The key of a statement that ran within another one, of a routine or trigger.
const ROUTINE: &[u8] = b"Stored_routine";

/// Such a statement, as it is counted.
const WITHIN: &str = "statement of a stored routine, whose time its caller has too";

/// A time that a session has set for itself, or of a clock that was set back, as it is counted.
const BACK: &str = "time more than an hour before the one in front of it";

/// Clocks go back by an hour at the end of summer. Unit: microseconds.
const HOUR_US: i64 = 3600 * SECOND_US;

/// What earlier records of the file say of those that follow.
#[derive(Debug, Default)]
pub(super) struct SlowJoiner {
    /// How far the clock of the log's times is ahead of UTC. Unit: microseconds.
    zone_us: i64,
    /// The last time. Unit: microseconds.
    last_us: Option<i64>,
    /// The last database: servers write `use` only when it is another one than in the record
    /// before, of any session, and of the first in a log that they have opened anew.
    database: Vec<u8>,
}

impl RecordJoiner for SlowJoiner {
    fn join(&mut self, block: &[u8], offset: u64, batch: &RecordBatch, sink: &mut dyn RecordSink) {
        let mut unknown = Vec::new();
        for piece in &batch.pieces {
            if piece.kind == EntryKind::Database {
                self.database.clear();
                continue;
            }
            let range = piece.unknown.start as usize..piece.unknown.end as usize;
            let pairs = batch.unknown.get(range).unwrap_or_default();
            let text = |span: &LogSpan| batch.text(block, *span);
            unknown.clear();
            unknown.extend(pairs.iter().map(|(key, value)| (text(key), text(value))));
            if unknown.iter().any(|(key, _)| *key == ROUTINE) {
                sink.count_event(WITHIN);
            }
            if self.is_back(piece) {
                sink.count_event(BACK);
            }
            sink.take(&self.joined((block, offset), batch, piece, &unknown));
        }
    }

    fn end(&mut self, _: &mut dyn RecordSink) {}
}

impl SlowJoiner {
    /// One for a log whose times are of a clock so many microseconds ahead of UTC.
    pub(super) fn new(zone_us: i64) -> Self {
        Self { zone_us, ..Self::default() }
    }

    /// Whether the time of a piece lies far before the last one.
    fn is_back(&self, piece: &RecordPiece) -> bool {
        match (self.last_us, piece.time.logged_us) {
            (Some(last), Some(logged)) => last.saturating_sub(logged) > HOUR_US,
            _ => false,
        }
    }

    /// The record of a piece in a block at an offset, with the keys that dbtime does not know.
    fn joined<'a>(
        &'a mut self,
        (block, offset): (&'a [u8], u64),
        batch: &'a RecordBatch,
        piece: &RecordPiece,
        unknown: &'a [(&'a [u8], &'a [u8])],
    ) -> JoinedRecord<'a> {
        let end_us = self.end_of(piece);
        let is_command = piece.kind == EntryKind::Command;
        JoinedRecord {
            offset: offset + u64::from(piece.at),
            kind: if is_command { ClassKind::Command } else { ClassKind::Statement },
            class: class_text(batch, piece),
            text: batch.text(block, piece.text),
            start_us: start_of(end_us, piece),
            end_us,
            duration: piece.duration,
            session: piece.session,
            process: piece.process,
            user: batch.text(block, piece.user),
            account: batch.text(block, piece.account),
            host: batch.text(block, piece.host),
            database: self.database_of(block, batch, piece),
            error: batch.text(block, piece.error),
            query_id: batch.text(block, piece.query_id),
            figures: batch.figures_of(piece),
            unknown,
            weight: piece.weight,
        }
    }

    /// When a record ended. Unit: microseconds.
    fn end_of(&mut self, piece: &RecordPiece) -> Option<i64> {
        let time = piece.time;
        if time.logged_us.is_some() {
            self.last_us = time.logged_us;
            return self.last_us;
        }
        let of_log = |given: i64| given.saturating_mul(SECOND_US).saturating_add(self.zone_us);
        let given_us = time.given_s.map(of_log);
        match (self.last_us, given_us) {
            // The time of the session may be its start, or set by its user: it counts only where it
            // is just behind the log's.
            (Some(last), Some(given)) if (0..=SECOND_US).contains(&given.saturating_sub(last)) => {
                Some(given)
            }
            (Some(last), _) => Some(last),
            (None, given) => given,
        }
    }

    /// In which database a record ran, which is that of those that follow too.
    fn database_of<'a>(
        &'a mut self,
        block: &'a [u8],
        batch: &'a RecordBatch,
        piece: &RecordPiece,
    ) -> &'a [u8] {
        let database = batch.text(block, piece.database);
        if piece.database == LogSpan::default() {
            return &self.database;
        }
        // Where the comments have an empty one, the session has none; those behind it may.
        if !database.is_empty() && database != self.database {
            self.database.clear();
            self.database.extend_from_slice(database);
        }
        database
    }
}

/// When a record began, of which the end is known. Unit: microseconds.
fn start_of(end_us: Option<i64>, piece: &RecordPiece) -> Option<i64> {
    let duration_us = piece.duration?.0 / 1000;
    Some(end_us?.saturating_sub_unsigned(duration_us))
}
