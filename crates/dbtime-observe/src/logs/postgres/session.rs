//! What a session has open: a statement whose duration may follow, an error whose statement may.

use super::lone_durations::LoneDurations;
use crate::logs::{EntryKind, LogSpan, RecordBatch, RecordPiece};
use dbtime_model::Nanos;
use dbtime_model::log_digest::LogFigure;
use std::collections::VecDeque;

/// How much of a text is kept. Unit: bytes.
const MAX_TEXT_BYTES: usize = 4 << 10;

/// How much of a name is kept. Unit: bytes.
const MAX_NAME_BYTES: usize = 256;

/// A piece with the block and batch that it stands in.
#[derive(Clone, Copy)]
pub(super) struct PieceView<'a> {
    /// The block.
    pub(super) block: &'a [u8],
    /// The batch.
    pub(super) batch: &'a RecordBatch,
    /// The piece.
    pub(super) piece: &'a RecordPiece,
    /// Where it begins in the file. Unit: bytes.
    pub(super) offset: u64,
    /// When it was logged. Unit: microseconds since 1970-01-01.
    pub(super) logged_us: Option<i64>,
}

impl<'a> PieceView<'a> {
    /// The bytes of one of its spans.
    pub(super) fn bytes(self, span: LogSpan) -> &'a [u8] {
        self.batch.text(self.block, span)
    }

    /// Its class; empty: it has none.
    pub(super) fn class(self) -> &'a str {
        self.batch.class_of(self.piece)
    }

    /// Its text without blanks around it, as far as it is kept.
    pub(super) fn text(self) -> &'a [u8] {
        kept(self.bytes(self.piece.text).trim_ascii(), MAX_TEXT_BYTES)
    }
}

fn kept(text: &[u8], most: usize) -> &[u8] {
    text.get(..most).unwrap_or(text)
}

/// A session, as far as later messages need it.
#[derive(Debug, Default)]
pub(super) struct LoggedSession {
    /// When it was seen last, by the number of the piece.
    pub(super) seen: u64,
    /// Who, from where, in which database.
    pub(super) names: SessionNames,
    /// The statement that is open.
    pub(super) open: Option<OpenStatement>,
    /// Plans whose statement may be logged itself.
    pub(super) plans: VecDeque<OpenStatement>,
    /// Whether a plan of the statement that is open, or logged next, has come.
    pub(super) is_planned: bool,
    /// The hash of the text of the last statement, as long as its plan has not come.
    pub(super) ended: Option<u64>,
    /// The error that is open.
    pub(super) error: Option<OpenFailure>,
    /// Statements that were parsed and not bound yet, the oldest first.
    pub(super) parsed: VecDeque<OpenStatement>,
    /// Durations alone whose statement has not come.
    pub(super) lone: LoneDurations,
    /// Figures for its next record.
    pub(super) figures: PendingFigures,
}

impl LoggedSession {
    /// The statements that are open.
    fn statements(&self) -> impl Iterator<Item = &OpenStatement> {
        self.open.iter().chain(&self.plans).chain(&self.parsed)
    }

    /// How many statements are open.
    fn open_count(&self) -> u64 {
        self.statements().count() as u64
    }

    /// Forgets what has its last message behind an offset of this file, at 0 anywhere in it; how
    /// many statements those are.
    pub(super) fn leave_behind(&mut self, from: u64) -> u64 {
        let is_left = |place: Option<u64>| place.is_some_and(|place| from == 0 || place > from);
        let before = self.open_count();
        if self.open.as_ref().is_some_and(|open| is_left(open.place)) {
            self.open = None;
        }
        self.plans.retain(|plan| !is_left(plan.place));
        self.parsed.retain(|parsed| !is_left(parsed.place));
        if self.error.as_ref().is_some_and(|error| is_left(error.place)) {
            self.error = None;
        }
        before - self.open_count()
    }

    /// Goes on in the next file.
    pub(super) fn carry(&mut self) {
        let statements = self.open.iter_mut().chain(&mut self.plans).chain(&mut self.parsed);
        for open in statements {
            (open.offset, open.place) = (0, None);
        }
        if let Some(error) = &mut self.error {
            error.place = None;
        }
    }
}

/// Who a session is.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionNames {
    /// Who.
    pub(super) user: Box<[u8]>,
    /// From where.
    pub(super) host: Box<[u8]>,
    /// In which database.
    pub(super) database: Box<[u8]>,
}

impl SessionNames {
    /// Keeps what a piece has of them.
    pub(super) fn learn(&mut self, view: PieceView<'_>) {
        let piece = view.piece;
        for (own, span) in [
            (&mut self.user, piece.user),
            (&mut self.host, piece.host),
            (&mut self.database, piece.database),
        ] {
            let name = kept(view.bytes(span), MAX_NAME_BYTES);
            if !name.is_empty() && **own != *name {
                *own = name.into();
            }
        }
    }
}

/// Figures that were logged before the record that they belong to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingFigures {
    lock_ns: Option<u64>,
    tmp_bytes: Option<u64>,
}

impl PendingFigures {
    /// Adds the figures of a piece.
    pub(super) fn add(&mut self, figures: &[(LogFigure, u64)]) {
        for (figure, value) in figures {
            let own = match figure {
                LogFigure::LockTime => &mut self.lock_ns,
                LogFigure::TmpBytes => &mut self.tmp_bytes,
                _ => continue,
            };
            *own = Some(own.unwrap_or(0).saturating_add(*value));
        }
    }

    /// Adds them to a list, and forgets them.
    pub(super) fn drain_into(&mut self, figures: &mut Vec<(LogFigure, u64)>) {
        let lock = self.lock_ns.take().map(|value| (LogFigure::LockTime, value));
        let tmp = self.tmp_bytes.take().map(|value| (LogFigure::TmpBytes, value));
        figures.extend(lock.into_iter().chain(tmp));
    }
}

/// An error whose statement may follow.
#[derive(Clone, Debug)]
pub(super) struct OpenFailure {
    /// Its SQLSTATE, or its severity.
    pub(super) code: Box<[u8]>,
    /// When it was logged. Unit: microseconds since 1970-01-01.
    pub(super) logged_us: Option<i64>,
    /// Where it begins in this file; `None`: in an earlier file. Unit: bytes.
    place: Option<u64>,
}

impl OpenFailure {
    /// The error of a piece.
    pub(super) fn of(view: PieceView<'_>) -> Self {
        let code = kept(view.bytes(view.piece.error), MAX_NAME_BYTES);
        Self { code: code.into(), logged_us: view.logged_us, place: Some(view.offset) }
    }
}

/// A statement whose duration, or whose next step, may follow.
#[derive(Clone, Debug)]
pub(super) struct OpenStatement {
    /// The last step that was logged.
    pub(super) step: EntryKind,
    /// Where its first message begins in the file, or 0. Unit: bytes.
    pub(super) offset: u64,
    /// Where its last message with its text begins in this file; `None`: in an earlier file. Unit:
    /// bytes.
    place: Option<u64>,
    /// The text of its class.
    pub(super) class: Box<str>,
    /// Its text.
    pub(super) text: Box<[u8]>,
    /// The server's ID of it.
    pub(super) query_id: Box<[u8]>,
    /// When its text was logged, which is before it is executed.
    pub(super) begun_us: Option<i64>,
    /// When its last step was logged.
    pub(super) logged_us: Option<i64>,
    /// How long it was parsed.
    pub(super) parse: Option<Nanos>,
    /// How long it was bound.
    pub(super) bind: Option<Nanos>,
    /// How long it took by its plan, which counts where nothing else has its duration.
    pub(super) plan: Option<Nanos>,
}

impl OpenStatement {
    /// A statement of which this is the first message.
    pub(super) fn of(view: PieceView<'_>) -> Self {
        let mut open = Self {
            step: view.piece.kind,
            offset: view.offset,
            place: None,
            class: view.class().into(),
            text: view.text().into(),
            query_id: Box::default(),
            begun_us: None,
            logged_us: None,
            parse: None,
            bind: None,
            plan: None,
        };
        open.advance(view);
        open
    }

    /// Takes the next message of the same statement.
    pub(super) fn advance(&mut self, view: PieceView<'_>) {
        let duration = view.piece.duration;
        (self.logged_us, self.place) = (view.logged_us, Some(view.offset));
        match view.piece.kind {
            EntryKind::Parse => self.parse = duration,
            EntryKind::Bind => self.bind = duration,
            EntryKind::StatementText if duration.is_some() => self.plan = duration,
            EntryKind::StatementText | EntryKind::ExecuteText => self.begun_us = view.logged_us,
            _ => {}
        }
        self.step = view.piece.kind;
        self.learn_query_id(view);
    }

    /// Keeps the ID that the server gave it, which it does not have yet when its text is logged.
    pub(super) fn learn_query_id(&mut self, view: PieceView<'_>) {
        if self.query_id.is_empty() {
            self.query_id = kept(view.bytes(view.piece.query_id), MAX_NAME_BYTES).into();
        }
    }

    /// Whether a piece is about the same statement.
    pub(super) fn is_of(&self, view: PieceView<'_>) -> bool {
        *self.text == *view.text()
    }

    /// An ID of a later message, or its own where that has none.
    pub(super) fn query_id_or<'a>(&'a self, later: &'a [u8]) -> &'a [u8] {
        if later.is_empty() { &self.query_id } else { later }
    }

    /// How long its steps took together; `None`: none was logged.
    pub(super) fn prepared(&self) -> Option<Nanos> {
        match (self.parse, self.bind) {
            (None, None) => None,
            (parse, bind) => Some(parse.unwrap_or_default() + bind.unwrap_or_default()),
        }
    }

    /// How much memory its texts take. Unit: bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.class.len() + self.text.len()
    }
}
