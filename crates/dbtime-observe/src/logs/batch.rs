//! What a worker reads from a block, without knowledge of what is before it.

use super::{ClassTexts, JoinedRecord};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{ClassKind, LogFigure, UnreadReason};
use std::ops::Range;

/// A stretch of the bytes of a block, or of the texts that a batch has made of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogSpan {
    start: u32,
    end: u32,
    /// Whether it is of [`RecordBatch::texts`] rather than of the block.
    is_made: bool,
}

impl LogSpan {
    /// A stretch of the block; blocks are smaller than 4 GiB.
    pub(crate) fn of_block(range: Range<usize>) -> Self {
        Self { start: range.start as u32, end: range.end as u32, is_made: false }
    }

    /// Whether there is nothing in it, which stands for unknown.
    pub(crate) fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// What was read from a block: pieces in the order of the block. Shape: cleared and filled again,
/// so that a worker allocates nothing once it is warm.
#[derive(Debug, Default)]
pub(crate) struct RecordBatch {
    /// What was found, in its order.
    pub(crate) pieces: Vec<RecordPiece>,
    /// Figures of the pieces; times in nanoseconds.
    pub(crate) figures: Vec<(LogFigure, u64)>,
    /// Keys that dbtime does not know, and their values.
    pub(crate) unknown: Vec<(LogSpan, LogSpan)>,
    /// Texts that do not stand in the block as such: unescaped, joined from lines.
    pub(crate) texts: Vec<u8>,
    /// The classes of the pieces, each once.
    pub(crate) classes: ClassTexts,
    /// What could not be read, and where it begins in the block. The engine hands it on. Unit:
    /// bytes.
    pub(crate) unread: Vec<(UnreadReason, u32)>,
    /// Whether a line has the form of the format, though there may be no piece of it.
    pub(crate) has_form: bool,
}

impl RecordBatch {
    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.figures.clear();
        self.unknown.clear();
        self.texts.clear();
        self.classes.clear();
        self.unread.clear();
        self.has_form = false;
    }

    /// The bytes of a span, given the block that the batch was read from.
    pub(crate) fn text<'a>(&'a self, block: &'a [u8], span: LogSpan) -> &'a [u8] {
        let bytes = if span.is_made { &self.texts } else { block };
        bytes.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Keeps a text that does not stand in the block as such.
    pub(crate) fn make_text(&mut self, bytes: &[u8]) -> LogSpan {
        let start = self.texts.len();
        self.texts.extend_from_slice(bytes);
        self.made_since(start)
    }

    /// The texts that were added behind so many bytes of [`RecordBatch::texts`].
    pub(crate) fn made_since(&self, start: usize) -> LogSpan {
        LogSpan { start: start as u32, end: self.texts.len() as u32, is_made: true }
    }

    /// The figures of a piece.
    pub(crate) fn figures_of(&self, piece: &RecordPiece) -> &[(LogFigure, u64)] {
        self.figures.get(piece.figures.start as usize..piece.figures.end as usize).unwrap_or(&[])
    }

    /// The text of a piece's class; empty: it has none.
    pub(crate) fn class_of(&self, piece: &RecordPiece) -> &str {
        let class = piece.class.and_then(|class| self.classes.texts().get(class as usize));
        class.map_or("", |text| text)
    }

    /// What a piece has of a record, given its block and where that begins in the file: all but
    /// its times, and keys that dbtime does not know.
    pub(crate) fn record<'a>(
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
            shows_outcome: piece.shows_outcome,
            query_id: self.text(block, piece.query_id),
            figures: self.figures_of(piece),
            weight: piece.weight,
            ..JoinedRecord::default()
        }
    }
}

/// One piece: a whole record, or a part of one that the joiner completes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RecordPiece {
    /// Where it begins in the block. Unit: bytes.
    pub(crate) at: u32,
    /// What it is.
    pub(crate) kind: EntryKind,
    /// Its class in [`RecordBatch::classes`]; `None`: it has none.
    pub(crate) class: Option<u32>,
    /// The statement or request line.
    pub(crate) text: LogSpan,
    /// When.
    pub(crate) time: PieceTime,
    /// How long it took.
    pub(crate) duration: Option<Nanos>,
    /// The server's number of the session, connection or process; 0: unknown.
    pub(crate) session: u64,
    /// The web server's process; 0: unknown.
    pub(crate) process: u64,
    /// Who.
    pub(crate) user: LogSpan,
    /// The server's own account for it, where that may be another one.
    pub(crate) account: LogSpan,
    /// From where.
    pub(crate) host: LogSpan,
    /// In which database.
    pub(crate) database: LogSpan,
    /// The code of the error (`1213`, `40P01`, `500`); empty: none, or unknown.
    pub(crate) error: LogSpan,
    /// Whether the log shows whether it failed; what has an error shows it.
    pub(crate) shows_outcome: bool,
    /// The server's own ID of the statement.
    pub(crate) query_id: LogSpan,
    /// Its figures, by index in [`RecordBatch::figures`].
    pub(crate) figures: Range<u32>,
    /// Its unknown keys, by index in [`RecordBatch::unknown`].
    pub(crate) unknown: Range<u32>,
    /// For how many records it stands; 0 and 1: for itself.
    pub(crate) weight: u32,
}

/// When a piece was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PieceTime {
    /// The log's instant. Unit: microseconds since 1970-01-01; `None`: that of the piece before, or
    /// unknown.
    pub(crate) logged_us: Option<i64>,
    /// What the statement itself was given as its time (`SET timestamp`). Unit: seconds.
    pub(crate) given_s: Option<i64>,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum EntryKind {
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
