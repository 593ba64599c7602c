//! Joins what a general log says once for several entries: the time, and who each session is.

use crate::logs::{EntryKind, JoinedRecord, RecordBatch, RecordJoiner, RecordPiece, RecordSink};
use rustc_hash::FxHashMap;

/// The sessions that are kept. Sessions that were killed have no end in the log, so that all are
/// forgotten once there are so many.
const MOST_SESSIONS: usize = 65_536;

/// What earlier entries of the file say of those that follow.
#[derive(Debug, Default)]
pub(super) struct GeneralJoiner {
    /// The last time. Unit: microseconds.
    last_us: Option<i64>,
    sessions: FxHashMap<u64, GeneralSession>,
}

/// Who a session is, and which database it uses.
#[derive(Debug, Default)]
struct GeneralSession {
    user: Vec<u8>,
    host: Vec<u8>,
    database: Vec<u8>,
}

impl RecordJoiner for GeneralJoiner {
    fn join(&mut self, block: &[u8], offset: u64, batch: &RecordBatch, sink: &mut dyn RecordSink) {
        for piece in &batch.pieces {
            self.last_us = piece.time.logged_us.or(self.last_us);
            if piece.kind == EntryKind::Time {
                continue;
            }
            self.learn(block, batch, piece);
            sink.take(&self.joined(block, offset, batch, piece));
            if piece.kind == EntryKind::Disconnect {
                self.sessions.remove(&piece.session);
            }
        }
    }

    fn end(&mut self, _: &mut dyn RecordSink) {}

    fn follow(&mut self, begin_us: i64, _: &mut dyn RecordSink) -> bool {
        self.last_us.is_some_and(|last| last <= begin_us)
    }
}

impl GeneralJoiner {
    /// Keeps what a piece changes of its session.
    fn learn(&mut self, block: &[u8], batch: &RecordBatch, piece: &RecordPiece) {
        let database = batch.text(block, piece.database);
        match piece.kind {
            EntryKind::Connect => {
                *self.session(piece.session) = GeneralSession {
                    user: batch.text(block, piece.user).into(),
                    host: batch.text(block, piece.host).into(),
                    database: database.into(),
                };
            }
            EntryKind::Database | EntryKind::Statement if !database.is_empty() => {
                self.session(piece.session).database = database.into();
            }
            _ => {}
        }
    }

    fn session(&mut self, id: u64) -> &mut GeneralSession {
        if self.sessions.len() >= MOST_SESSIONS && !self.sessions.contains_key(&id) {
            self.sessions.clear();
        }
        self.sessions.entry(id).or_default()
    }

    fn joined<'a>(
        &'a self,
        block: &'a [u8],
        offset: u64,
        batch: &'a RecordBatch,
        piece: &RecordPiece,
    ) -> JoinedRecord<'a> {
        // A refused login is of another account than the session that it changes, if any.
        let session = self.sessions.get(&piece.session).filter(|_| piece.kind != EntryKind::Error);
        let record = batch.record(block, offset, piece);
        JoinedRecord {
            // When it ended the log does not have: the one instant stands for both.
            start_us: self.last_us,
            end_us: self.last_us,
            user: session.map_or(record.user, |session| session.user.as_slice()),
            host: session.map_or(record.host, |session| session.host.as_slice()),
            database: session.map(|session| session.database.as_slice()).unwrap_or_default(),
            ..record
        }
    }
}
