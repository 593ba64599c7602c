//! One entry of a general log as a piece.

use super::entry_head::{EntryHead, LoginParts};
use super::lines::{first_line, without_header};
use super::log_time::instant_us;
use super::{span, used_database};
use crate::logs::{ClassNamer, EntryKind, LogSpan, RecordBatch, RecordPiece};
use dbtime_model::log_digest::UnreadReason;
use std::ops::Range;

/// What servers say of a login that they refuse, and what of a database.
const REFUSED: &[u8] = b"Access denied";
const REFUSED_DATABASE: &[u8] = b" to database ";

/// An entry, which may have several lines.
#[derive(Debug)]
pub(super) struct GeneralEntry<'a> {
    block: &'a [u8],
    range: Range<usize>,
    head: EntryHead<'a>,
}

impl<'a> GeneralEntry<'a> {
    /// The entry in a part of a block; `None`: there is none.
    pub(super) fn read(block: &'a [u8], range: Range<usize>) -> Option<Self> {
        let head = EntryHead::read(first_line(&block[range.clone()]))?;
        Some(Self { block, range, head })
    }

    /// Adds it to the batch, or counts it as unread.
    pub(super) fn add(
        &self,
        namer: &mut dyn ClassNamer,
        name: &mut String,
        batch: &mut RecordBatch,
    ) {
        let at = self.range.start as u32;
        if !self.block[self.range.clone()].ends_with(b"\n") {
            batch.unread.push((UnreadReason::Incomplete, at));
            return;
        }
        let mut piece = RecordPiece { at, session: self.head.session, ..RecordPiece::default() };
        if !self.head.time.is_empty() {
            piece.time.logged_us = instant_us(self.head.time).map(|(instant, _)| instant);
            if piece.time.logged_us.is_none() {
                batch.unread.push((UnreadReason::Time, at));
            }
        }
        if self.head.is_known {
            self.add_command(&mut piece, namer, name, batch);
        } else {
            batch.unread.push((UnreadReason::Form, at));
            // Entries behind it may be without a time of their own.
            piece.kind = EntryKind::Time;
        }
        batch.pieces.push(piece);
    }

    fn add_command(
        &self,
        piece: &mut RecordPiece,
        namer: &mut dyn ClassNamer,
        name: &mut String,
        batch: &mut RecordBatch,
    ) {
        let (start, part) = (self.range.start, &self.head.command);
        let command = start + part.start..start + part.end;
        piece.text = LogSpan::of_block(command.clone());
        piece.kind = match &self.block[command.clone()] {
            b"Query" | b"Execute" => {
                let text = self.statement();
                let bytes = &self.block[text.clone()];
                if let Some(database) = used_database(bytes) {
                    piece.database = span(text.start, &database);
                }
                namer.name(bytes, name);
                piece.class = Some(batch.classes.intern(name));
                piece.text = LogSpan::of_block(text);
                EntryKind::Statement
            }
            b"Connect" | b"Change user" => self.read_login(piece, batch),
            b"Init DB" => {
                piece.database = LogSpan::of_block(self.argument_line());
                EntryKind::Database
            }
            b"Quit" => EntryKind::Disconnect,
            _ => EntryKind::Command,
        };
        if piece.class.is_none() {
            let command = std::str::from_utf8(&self.block[command]).unwrap_or_default();
            piece.class = Some(batch.classes.intern(command));
        }
    }

    /// The statement, in the block. Old servers have the number of a prepared one before it.
    fn statement(&self) -> Range<usize> {
        let start = self.range.start + self.head.argument;
        let written = &self.block[start..self.range.end];
        let mut text = without_header(written);
        if text.len() == written.trim_ascii_end().len() {
            // Blanks before the end of its last line are the statement's own.
            let line = written.strip_suffix(b"\n").unwrap_or(written);
            text = line.strip_suffix(b"\r").unwrap_or(line);
        }
        let end = start + text.len();
        let number = text.strip_prefix(b"[").and_then(|rest| {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (digits > 0 && rest[digits..].starts_with(b"] ")).then_some(digits)
        });
        start + number.map_or(0, |digits| digits + b"[] ".len())..end
    }

    /// The argument up to the end of its first line, in the block.
    fn argument_line(&self) -> Range<usize> {
        let start = self.range.start + self.head.argument;
        let line = first_line(&self.block[start..self.range.end]);
        start..start + line.strip_suffix(b"\r").unwrap_or(line).len()
    }

    /// Reads who has logged in, or was refused.
    fn read_login(&self, piece: &mut RecordPiece, batch: &mut RecordBatch) -> EntryKind {
        let line = self.argument_line();
        let text = &self.block[line.clone()];
        let is_refused = text.starts_with(REFUSED);
        let parts = if is_refused { LoginParts::of_refusal(text) } else { LoginParts::read(text) };
        piece.user = span(line.start, &parts.user);
        piece.host = span(line.start, &parts.host);
        piece.database = span(line.start, &parts.database);
        if !is_refused {
            return EntryKind::Connect;
        }
        let is_of_database = memchr::memmem::find(text, REFUSED_DATABASE).is_some();
        piece.error = batch.make_text(if is_of_database { b"1044" } else { b"1045" });
        EntryKind::Error
    }
}
