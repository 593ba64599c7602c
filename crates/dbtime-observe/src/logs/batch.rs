//! What a worker reads from a block, without knowledge of what is before it.

use super::{ClassTexts, JoinedRecord};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{ClassKind, LogFigure, UnreadReason};
use std::ops::Range;

/// A stretch of the bytes of a block, or of the texts that a batch has made of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogSpan {
    start: u32,
    end: u32,
    /// Whether it is of [`RecordBatch::texts`] rather than of the block.
    is_made: bool,
}

impl LogSpan {
    /// A stretch of the block; blocks are smaller than 4 GiB.
    pub fn of_block(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32, is_made: false }
    }

    /// Whether there is nothing in it, which stands for unknown.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// What was read from a block: pieces in the order of the block. Shape: cleared and filled again,
/// so that a worker allocates nothing once it is warm.
#[derive(Debug, Default)]
pub struct RecordBatch {
    /// What was found, in its order.
    pub pieces: Vec<RecordPiece>,
    /// Figures of the pieces; times in nanoseconds.
    pub figures: Vec<(LogFigure, u64)>,
    /// Keys that dbtime does not know, and their values.
    pub unknown: Vec<(LogSpan, LogSpan)>,
    /// Texts that do not stand in the block as such: unescaped, joined from lines.
    pub texts: Vec<u8>,
    /// The classes of the pieces, each once.
    pub classes: ClassTexts,
    /// What could not be read, and where it begins in the block. The engine hands it on. Unit:
    /// bytes.
    pub unread: Vec<(UnreadReason, u32)>,
    /// Whether a line has the form of the format, though there may be no piece of it.
    pub has_form: bool,
}

impl RecordBatch {
    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.figures.clear();
        self.unknown.clear();
        self.texts.clear();
        self.classes.clear();
        self.unread.clear();
        self.has_form = false;
    }

    /// The bytes of a span, given the block that the batch was read from.
    pub fn text<'a>(&'a self, block: &'a [u8], span: LogSpan) -> &'a [u8] {
        let bytes = if span.is_made { &self.texts } else { block };
        bytes.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Keeps a text that does not stand in the block as such.
    pub fn make_text(&mut self, bytes: &[u8]) -> LogSpan {
        let start = self.texts.len();
        self.texts.extend_from_slice(bytes);
        self.made_since(start)
    }

    /// The texts that were added behind so many bytes of [`RecordBatch::texts`].
    pub fn made_since(&self, start: usize) -> LogSpan {
        LogSpan { start: start as u32, end: self.texts.len() as u32, is_made: true }
    }

    /// The figures of a piece.
    pub fn figures_of(&self, piece: &RecordPiece) -> &[(LogFigure, u64)] {
        self.figures.get(piece.figures.start as usize..piece.figures.end as usize).unwrap_or(&[])
    }

    /// The text of a piece's class; empty: it has none.
    pub fn class_of(&self, piece: &RecordPiece) -> &str {
        let class = piece.class.and_then(|class| self.classes.texts().get(class as usize));
        class.map_or("", |text| text)
    }

    /// What a piece has of a record, given its block and where that begins in the file: all but
    /// its times, and keys that dbtime does not know.
    pub fn record<'a>(
        &'a self,
        block: &'a [u8],
        offset: u64,
        piece: &RecordPiece,
    ) -> JoinedRecord<'a> {
        JoinedRecord {
            offset: offset.saturating_add(piece.at.into()),
            kind: piece.kind.class_kind(),
            class: self.class_of(piece),
            text: self.text(block, piece.text),
            duration: piece.duration,
            session: piece.session,
            process: piece.process,
            user: self.text(block, piece.user),
            account: self.text(block, piece.account),
            host: self.text(block, piece.host),
            database: self.text(block, piece.database),
            error: self.text(block, piece.error),
            query_id: self.text(block, piece.query_id),
            figures: self.figures_of(piece),
            weight: piece.weight,
            ..JoinedRecord::default()
        }
    }
}

/// One piece: a whole record, or a part of one that the joiner completes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordPiece {
    /// Where it begins in the block. Unit: bytes.
    pub at: u32,
    /// What it is.
    pub kind: EntryKind,
    /// Its class in [`RecordBatch::classes`]; `None`: it has none.
    pub class: Option<u32>,
    /// The statement or request line.
    pub text: LogSpan,
    /// When.
    pub time: PieceTime,
    /// How long it took.
    pub duration: Option<Nanos>,
    /// The server's number of the session, connection or process; 0: unknown.
    pub session: u64,
    /// The web server's process; 0: unknown.
    pub process: u64,
    /// Who.
    pub user: LogSpan,
    /// The server's own account for it, where that may be another one.
    pub account: LogSpan,
    /// From where.
    pub host: LogSpan,
    /// In which database.
    pub database: LogSpan,
    /// The code of the error (`1213`, `40P01`, `500`); empty: none.
    pub error: LogSpan,
    /// The server's own ID of the statement.
    pub query_id: LogSpan,
    /// Its figures, by index in [`RecordBatch::figures`].
    pub figures: Range<u32>,
    /// Its unknown keys, by index in [`RecordBatch::unknown`].
    pub unknown: Range<u32>,
    /// For how many records it stands; 0 and 1: for itself.
    pub weight: u32,
}

/// When a piece was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PieceTime {
    /// The log's instant. Unit: microseconds since 1970-01-01; `None`: that of the piece before, or
    /// unknown.
    pub logged_us: Option<i64>,
    /// What the statement itself was given as its time (`SET timestamp`). Unit: seconds.
    pub given_s: Option<i64>,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A whole statement.
    #[default]
    Statement,
    /// Another command of the protocol, by its name.
    Command,
    /// A request of a web server.
    Request,
    /// Nothing but a time, for what follows.
    Time,
    /// The session's database, for what follows.
    Database,
    /// A session begins: its user, host and database.
    Connect,
    /// A session ends.
    Disconnect,
    /// The text of a statement whose duration may follow.
    StatementText,
    /// The text of a prepared statement that is executed now: its duration may follow, and those of
    /// its other steps may have come alone.
    ExecuteText,
    /// PostgreSQL's parse step, with its duration.
    Parse,
    /// PostgreSQL's bind step, with its duration.
    Bind,
    /// A duration alone: it belongs to the session's last text.
    Duration,
    /// An error of the session's statement, with its code.
    Error,
    /// The statement that an error before it was about.
    ErrorStatement,
    /// What is counted by its name in [`RecordPiece::text`]: a lock wait, a temporary file, a
    /// checkpoint, a deadlock. Its figures, if any, belong to the session's statement.
    Event,
}

impl EntryKind {
    /// What a record is that has one piece alone: whatever else goes over a connection is a
    /// command.
    const fn class_kind(self) -> ClassKind {
        match self {
            Self::Statement => ClassKind::Statement,
            Self::Request => ClassKind::Request,
            _ => ClassKind::Command,
        }
    }
}
