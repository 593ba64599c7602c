//! What the three formats have of a message, and how its pieces are written.

use super::severity::MessageSeverity;
use crate::logs::numbers::{iso_us, seconds, whole};
use crate::logs::{ClassNamer, EntryKind, LogSpan, PieceTime, RecordBatch, RecordPiece};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{LogFigure, UnreadReason};
use std::ops::Range;

/// A text of a log, and where it stands in its block; made texts stand nowhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineText<'a> {
    /// The text.
    pub(super) bytes: &'a [u8],
    at: Option<usize>,
}

impl<'a> LineText<'a> {
    /// A stretch of the block; empty where there is none.
    pub(super) fn of_block(block: &'a [u8], range: Range<usize>) -> Self {
        Self { bytes: block.get(range.clone()).unwrap_or_default(), at: Some(range.start) }
    }

    /// A text that stands in no block as such.
    pub(super) fn made(bytes: &'a [u8]) -> Self {
        Self { bytes, at: None }
    }

    /// A stretch of it; empty where there is none.
    pub(super) fn part(self, range: Range<usize>) -> Self {
        let at = self.at.map(|at| at + range.start);
        Self { bytes: self.bytes.get(range).unwrap_or_default(), at }
    }

    /// All behind so many bytes.
    pub(super) fn behind(self, start: usize) -> Self {
        self.part(start.min(self.bytes.len())..self.bytes.len())
    }

    /// The same without blanks around it.
    pub(super) fn trimmed(self) -> Self {
        let start = self.bytes.len() - self.bytes.trim_ascii_start().len();
        self.part(start..start + self.bytes.trim_ascii().len())
    }

    /// A name of a user, database or host; empty where the server knows none.
    pub(super) fn name(self) -> Self {
        if self.bytes == b"[unknown]" { Self::default() } else { self }
    }

    fn span(self, batch: &mut RecordBatch) -> LogSpan {
        match self.at {
            _ if self.bytes.is_empty() => LogSpan::default(),
            Some(at) => LogSpan::of_block(at..at + self.bytes.len()),
            None => batch.make_text(self.bytes),
        }
    }
}

/// A message with everything that stands beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MessageLine<'a> {
    /// Where it begins in the block. Unit: bytes.
    pub(super) at: usize,
    /// How severe it is.
    pub(super) severity: MessageSeverity,
    /// When it was logged; empty: unknown.
    pub(super) time: &'a [u8],
    /// The same as seconds since 1970-01-01.
    pub(super) epoch: &'a [u8],
    /// The session's ID, two hexadecimal numbers; empty: unknown.
    pub(super) session: &'a [u8],
    /// The number of the process.
    pub(super) pid: &'a [u8],
    /// Who.
    pub(super) user: LineText<'a>,
    /// In which database.
    pub(super) database: LineText<'a>,
    /// From where, without the port.
    pub(super) host: LineText<'a>,
    /// The SQLSTATE.
    pub(super) state: LineText<'a>,
    /// The server's ID of the statement.
    pub(super) query_id: LineText<'a>,
    /// The message.
    pub(super) message: LineText<'a>,
    /// The statement that it is about, where that stands beside it.
    pub(super) statement: LineText<'a>,
}

/// Writes the pieces of messages to a batch.
pub(super) struct MessageWriter<'a> {
    namer: &'a mut dyn ClassNamer,
    class: String,
    batch: &'a mut RecordBatch,
}

impl<'a> MessageWriter<'a> {
    /// A writer to this batch.
    pub(super) fn new(namer: &'a mut dyn ClassNamer, batch: &'a mut RecordBatch) -> Self {
        Self { namer, class: String::new(), batch }
    }

    /// Notes that there is a message, though nothing may be written of it.
    pub(super) fn note_message(&mut self) {
        self.batch.has_form = true;
    }

    /// Counts what cannot be read, by where it begins in the block.
    pub(super) fn unread(&mut self, why: UnreadReason, at: usize) {
        self.batch.unread.push((why, at as u32));
    }

    /// Adds a figure for the piece that is written next.
    pub(super) fn figure(&mut self, figure: LogFigure, value: u64) {
        self.batch.figures.push((figure, value));
    }

    /// Writes a piece with a text of no class: the name of an event.
    pub(super) fn event(&mut self, line: &MessageLine<'_>, name: &'static str) {
        let text = LineText::made(name.as_bytes());
        self.piece(line, EntryKind::Event, text, None);
    }

    /// Writes a piece about a statement.
    pub(super) fn statement(
        &mut self,
        line: &MessageLine<'_>,
        kind: EntryKind,
        text: LineText<'_>,
        duration: Option<Nanos>,
    ) {
        self.namer.name(text.bytes, &mut self.class);
        let class = self.batch.classes.intern(&self.class);
        let piece = self.piece(line, kind, text, duration);
        piece.class = Some(class);
    }

    /// Writes a piece that may have a text, and has no class.
    pub(super) fn piece(
        &mut self,
        line: &MessageLine<'_>,
        kind: EntryKind,
        text: LineText<'_>,
        duration: Option<Nanos>,
    ) -> &mut RecordPiece {
        let figures_end = self.batch.figures.len() as u32;
        let figures_start =
            self.batch.pieces.last().map_or(0, |piece| piece.figures.end).min(figures_end);
        let query_id =
            if line.query_id.bytes == b"0" { LineText::default() } else { line.query_id };
        let piece = RecordPiece {
            at: line.at as u32,
            kind,
            text: text.span(self.batch),
            time: PieceTime { logged_us: self.logged_us(line), given_s: None },
            duration,
            session: session_number(line.session, line.pid),
            user: line.user.name().span(self.batch),
            host: line.host.name().span(self.batch),
            database: line.database.name().span(self.batch),
            query_id: query_id.span(self.batch),
            figures: figures_start..figures_end,
            ..RecordPiece::default()
        };
        let index = self.batch.pieces.len();
        self.batch.pieces.push(piece);
        &mut self.batch.pieces[index]
    }

    /// Writes a failure, by its SQLSTATE where that is one, or else by its severity.
    pub(super) fn failure(&mut self, line: &MessageLine<'_>, severity: &'static str) {
        let state = line.state.trimmed();
        let is_state = state.bytes.len() == 5
            && state.bytes.iter().all(u8::is_ascii_alphanumeric)
            && state.bytes != b"00000";
        let code = if is_state { state } else { LineText::made(severity.as_bytes()) };
        let error = code.span(self.batch);
        self.piece(line, EntryKind::Error, LineText::default(), None).error = error;
    }

    fn logged_us(&mut self, line: &MessageLine<'_>) -> Option<i64> {
        if line.time.is_empty() && line.epoch.is_empty() {
            return None;
        }
        let logged = iso_us(line.time).map(|(us, _)| us).or_else(|| epoch_us(line.epoch));
        let unread = (UnreadReason::Time, line.at as u32);
        // A message may have several pieces.
        if logged.is_none() && self.batch.unread.last() != Some(&unread) {
            self.batch.unread.push(unread);
        }
        logged
    }
}

fn epoch_us(text: &[u8]) -> Option<i64> {
    let nanos = seconds(text)?;
    i64::try_from(nanos.0 / 1000).ok()
}

/// The number of a session: of its start and process, which none shares, or of the process alone.
fn session_number(session: &[u8], pid: &[u8]) -> u64 {
    let dot = memchr::memchr(b'.', session);
    let halves = dot.and_then(|dot| Some((hex(&session[..dot])?, hex(&session[dot + 1..])?)));
    match halves {
        Some((start, process)) => ((start & 0xffff_ffff) << 32) | (process & 0xffff_ffff),
        None => whole(pid).unwrap_or(0),
    }
}

/// A hexadecimal number of at most 64 bits.
fn hex(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter()
        .try_fold(0u64, |sum, byte| Some((sum << 4) | u64::from(char::from(*byte).to_digit(16)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_told_apart_by_start_and_process() {
        assert_eq!(session_number(b"6593e0c5.1a2b", b"9"), 0x6593_e0c5_0000_1a2b);
        assert_eq!(session_number(b"", b"6699"), 6699);
        assert_eq!(session_number(b"x.y", b"-1"), 0);
    }

    #[test]
    fn parts_know_where_they_stand() {
        let text = LineText::of_block(b"ab  cd ", 2..7);
        let mut batch = RecordBatch::default();
        let span = text.trimmed().span(&mut batch);
        assert_eq!(span, LogSpan::of_block(4..6));
        assert!(text.behind(99).span(&mut batch).is_empty());
        assert!(LineText::of_block(b"ab", 1..9).bytes.is_empty());
    }
}
