//! Joins what a slow log says once for several records: the time and the database.

use crate::logs::numbers::SECOND_US;
use crate::logs::record::began_us;
use crate::logs::{
    EntryKind, JoinedRecord, LogSpan, RecordBatch, RecordJoiner, RecordPiece, RecordSink,
};

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
    /// How much is taken from the times of that clock for records. Unit: microseconds.
    taken_us: i64,
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
            let logged_us = piece.time.logged_us.or(self.last_us).map(|us| self.of_record(us));
            if unknown.iter().any(|(key, _)| *key == ROUTINE) {
                sink.count_event(WITHIN, logged_us);
            }
            if self.is_back(piece) {
                sink.count_event(BACK, logged_us);
            }
            sink.take(&self.joined((block, offset), batch, piece, &unknown));
        }
    }

    fn end(&mut self, _: &mut dyn RecordSink) {}
}

impl SlowJoiner {
    /// One for a log whose times are of a clock so many microseconds ahead of UTC, of which so many
    /// are taken from them.
    pub(super) fn new(zone_us: i64, taken_us: i64) -> Self {
        Self { zone_us, taken_us, ..Self::default() }
    }

    /// A time of the log's clock as records have it. Unit: microseconds.
    const fn of_record(&self, us: i64) -> i64 {
        us.saturating_sub(self.taken_us)
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
        let end_us = self.end_of(piece).map(|us| self.of_record(us));
        JoinedRecord {
            start_us: began_us(end_us, piece.duration),
            end_us,
            database: self.database_of(block, batch, piece),
            unknown,
            ..batch.record(block, offset, piece)
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
