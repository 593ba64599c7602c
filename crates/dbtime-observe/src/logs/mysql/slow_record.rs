//! One record of a slow log: comments, the lines that the server puts before the statement, and the
//! statement.

use super::lines::{first_line, lines, without_header};
use super::log_time::instant_us;
use super::slow::{ACCOUNT, TIME, time_of};
use super::slow_keys::{AccountParts, KeyPairs, SlowKey, figure_value, millis_value};
use super::{span, used_database};
use crate::logs::numbers::{seconds, whole};
use crate::logs::{ClassNamer, EntryKind, LogSpan, RecordBatch, RecordPiece};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{LogFigure, UnreadReason};
use std::ops::Range;

/// What stands in the place of a statement where there was none.
const COMMAND: &[u8] = b"# administrator command:";

/// Comments that are for people, or repeat statements and their values.
const WORDS: [&[u8]; 4] =
    [b"# explain:", b"# No InnoDB statistics", b"# Warnings:", b"# Prev_stmt:"];

/// As long and longer is logged of Percona Server whatever the sampling
/// (`slow_query_log_always_write_time`, by default).
const ALWAYS_LOGGED: Nanos = Nanos::from_secs(10);

/// The last comments of MariaDB: messages with literals, and with the ends of lines in these.
const WARNINGS: &[u8] = b"# Warnings";

/// So many keys of a record that dbtime does not know are kept; no server writes half as many.
const MOST_UNKNOWN: usize = 256;

// Each figure has a bit in `SlowRecord::has`.
const _: () = assert!(LogFigure::ALL.len() <= 64);

/// A record on its way into a batch.
#[derive(Debug)]
pub(super) struct SlowRecord<'a> {
    block: &'a [u8],
    batch: &'a mut RecordBatch,
    /// How far the log's clock is ahead of UTC. Unit: microseconds.
    zone_us: i64,
    piece: RecordPiece,
    /// Which figures it has, by bits: a figure that is there twice counts once.
    has: u64,
    /// How many unread lines were before it.
    unread: usize,
    /// Whether the server has opened its log anew behind it.
    is_last_before_header: bool,
}

impl<'a> SlowRecord<'a> {
    /// The record that begins at a place in a block of a log whose clock is ahead of UTC by so
    /// much.
    pub(super) fn new(
        block: &'a [u8],
        at: usize,
        zone_us: i64,
        batch: &'a mut RecordBatch,
    ) -> Self {
        let (figures, unknown) = (batch.figures.len() as u32, batch.unknown.len() as u32);
        let piece = RecordPiece {
            at: at as u32,
            figures: figures..figures,
            unknown: unknown..unknown,
            ..RecordPiece::default()
        };
        let unread = batch.unread.len();
        Self { block, batch, zone_us, piece, has: 0, unread, is_last_before_header: false }
    }

    /// Reads it and adds it to the batch, or counts it as unread.
    pub(super) fn read(
        mut self,
        range: Range<usize>,
        namer: &mut dyn ClassNamer,
        name: &mut String,
    ) {
        let at = self.piece.at;
        let text_at = self.read_comments(range.clone());
        let text = self.read_text(text_at..range.end);
        let is_read = match text {
            Some(text) => self.name_text(text, namer, name),
            None => Err(UnreadReason::Incomplete),
        };
        if self.piece.duration.is_some_and(|duration| duration >= ALWAYS_LOGGED) {
            self.piece.weight = 0;
        }
        self.piece.figures.end = self.batch.figures.len() as u32;
        self.piece.unknown.end = self.batch.unknown.len() as u32;
        match is_read {
            Ok(()) => self.batch.pieces.push(std::mem::take(&mut self.piece)),
            Err(why) => self.forget(why),
        }
        if self.is_last_before_header {
            // The server names the database of the next record if there is one.
            let kind = EntryKind::Database;
            self.batch.pieces.push(RecordPiece { at, kind, ..RecordPiece::default() });
        }
    }

    /// Puts a statement or command into the piece.
    fn name_text(
        &mut self,
        text: Range<usize>,
        namer: &mut dyn ClassNamer,
        name: &mut String,
    ) -> Result<(), UnreadReason> {
        let block = self.block;
        if let Some(command) = block[text.clone()].strip_prefix(COMMAND) {
            let command = command_name(command).ok_or(UnreadReason::Form)?;
            self.piece.kind = EntryKind::Command;
            let end = text.start + block[text].trim_ascii_end().len();
            // The text ends in the name.
            self.piece.text = LogSpan::of_block(end - command.len()..end);
            self.piece.class = Some(self.batch.classes.intern(command));
        } else {
            namer.name(&block[text.clone()], name);
            self.piece.class = Some(self.batch.classes.intern(name));
            self.piece.text = LogSpan::of_block(text);
        }
        Ok(())
    }

    /// Counts the record as unread, and nothing of it as anything else.
    fn forget(&mut self, why: UnreadReason) {
        self.batch.figures.truncate(self.piece.figures.start as usize);
        self.batch.unknown.truncate(self.piece.unknown.start as usize);
        self.batch.unread.truncate(self.unread);
        self.batch.unread.push((why, self.piece.at));
    }

    /// Reads the comments, and gives where they end.
    fn read_comments(&mut self, range: Range<usize>) -> usize {
        let block = self.block;
        let mut has_warnings = false;
        for (at, line) in lines(&block[range.clone()]) {
            if has_warnings {
                if is_of_server(line) {
                    return range.start + at;
                }
                continue;
            }
            if !line.starts_with(b"#") || line.starts_with(COMMAND) {
                return range.start + at;
            }
            has_warnings = line.trim_ascii_end() == WARNINGS;
            if !has_warnings {
                self.read_comment(range.start + at, line);
            }
        }
        range.end
    }

    fn read_comment(&mut self, at: usize, line: &[u8]) {
        if let Some(rest) = line.strip_prefix(TIME) {
            self.read_time(at, time_of(rest));
            // Old versions of Percona Server have the account behind the time.
            let account = memchr::memchr(b'#', rest).map_or(line.len(), |found| TIME.len() + found);
            if line[account..].starts_with(ACCOUNT) {
                self.read_account(at + account, &line[account..]);
            }
        } else if line.starts_with(ACCOUNT) {
            self.read_account(at, line);
        } else if !WORDS.iter().any(|words| line.starts_with(words)) {
            let is_blank = |byte: &u8| *byte == b'#' || byte.is_ascii_whitespace();
            if !self.read_pairs(at, line) && !line.iter().all(is_blank) {
                self.batch.unread.push((UnreadReason::Form, at as u32));
            }
        }
    }

    fn read_time(&mut self, at: usize, time: &[u8]) {
        match instant_us(time) {
            Some((instant, has_zone)) => {
                // A newer server has gone on with the log of one that wrote local time.
                let ahead_us = if has_zone { self.zone_us } else { 0 };
                self.piece.time.logged_us = Some(instant.saturating_add(ahead_us));
            }
            None => self.batch.unread.push((UnreadReason::Time, at as u32)),
        }
    }

    fn read_account(&mut self, at: usize, line: &[u8]) {
        let Some(parts) = AccountParts::read(line, ACCOUNT.len()) else {
            self.batch.unread.push((UnreadReason::Form, at as u32));
            return;
        };
        self.piece.user = span(at, &parts.user);
        self.piece.account = span(at, &parts.account);
        self.piece.host = span(at, &parts.host);
        self.read_pairs(at + parts.end, &line[parts.end..]);
    }

    /// Reads the keys of a line with their values; `false`: there are none.
    fn read_pairs(&mut self, at: usize, line: &[u8]) -> bool {
        let (mut has_pairs, mut is_read, mut has_room) = (false, true, true);
        for (key, value) in KeyPairs::of(line) {
            has_pairs = true;
            let text = &line[value.clone()];
            match SlowKey::of(&line[key.clone()]) {
                Some(known) => is_read &= self.set(known, text, span(at, &value)).is_some(),
                None => has_room &= self.keep_unknown((span(at, &key), span(at, &value))),
            }
        }
        for (is_fine, why) in [(is_read, UnreadReason::Number), (has_room, UnreadReason::Form)] {
            if !is_fine {
                self.batch.unread.push((why, at as u32));
            }
        }
        has_pairs
    }

    /// Keeps a pair that dbtime does not know; `false`: the record has too many of them.
    fn keep_unknown(&mut self, pair: (LogSpan, LogSpan)) -> bool {
        let unknown = &mut self.batch.unknown;
        let has_room = unknown.len() - (self.piece.unknown.start as usize) < MOST_UNKNOWN;
        if has_room {
            unknown.push(pair);
        }
        has_room
    }

    /// Takes the value of a key, whose place is `span`; `None`: it is not the number it should be.
    fn set(&mut self, key: SlowKey, value: &[u8], span: LogSpan) -> Option<()> {
        match key {
            SlowKey::Duration => self.piece.duration = Some(seconds(value)?),
            SlowKey::Figure(figure) => self.set_figure(figure, figure_value(figure, value)?),
            SlowKey::Millis(figure) => self.set_figure(figure, millis_value(value)?),
            SlowKey::Session => self.piece.session = whole(value)?,
            SlowKey::Database => self.piece.database = span,
            SlowKey::QueryId => self.piece.query_id = span,
            SlowKey::Weight => self.piece.weight = u32::try_from(whole(value)?).ok()?,
            SlowKey::Error => {
                if whole(value)? > 0 {
                    self.piece.error = span;
                }
                self.piece.shows_outcome = true;
            }
            SlowKey::Killed if whole(value)? > 0 && self.piece.error.is_empty() => {
                self.piece.error = span;
            }
            SlowKey::Killed | SlowKey::SampleKind => {}
        }
        Some(())
    }

    fn set_figure(&mut self, figure: LogFigure, value: u64) {
        let bit = 1u64 << figure as u32;
        if self.has & bit == 0 {
            self.has |= bit;
            self.batch.figures.push((figure, value));
            return;
        }
        let own = &mut self.batch.figures[self.piece.figures.start as usize..];
        if let Some((_, kept)) = own.iter_mut().find(|(name, _)| *name == figure) {
            *kept = value;
        }
    }

    /// Reads what the server puts before the statement, and gives the statement without its last
    /// `;`. `None`: there is none, or it has no end.
    fn read_text(&mut self, range: Range<usize>) -> Option<Range<usize>> {
        let block = self.block;
        let mut at = range.start;
        let written = block[range].trim_ascii_end();
        let end = at + without_header(written).len();
        self.is_last_before_header = end < at + written.len();
        let line = first_line(&block[at..end]);
        // With nothing behind it, it is the statement itself.
        let has_more = at + line.len() < end;
        if has_more
            && is_use(line)
            && let Some(database) = used_database(line)
        {
            self.piece.database = span(at, &database);
            at += line.len() + 1;
        }
        let line = first_line(&block[at..end]);
        if let Some(given) = given_seconds(line) {
            self.piece.time.given_s = Some(given);
            at = end.min(at + line.len() + 1);
        }
        // Percona's tools make another ID of a statement that ends in a blank.
        let text = block[at..end].strip_suffix(b";")?;
        Some(at..at + text.len())
    }
}

/// Whether a server writes this line before a statement.
fn is_of_server(line: &[u8]) -> bool {
    is_use(line) || given_seconds(line).is_some()
}

/// Whether a line is the `use` of a server.
fn is_use(line: &[u8]) -> bool {
    line.starts_with(b"use ") && line.trim_ascii_end().ends_with(b";")
}

/// The name of a command: letters, digits and blanks.
fn command_name(text: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(text.trim_ascii()).ok()?;
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_');
    (!name.is_empty() && name.bytes().all(is_of_name)).then_some(name)
}

/// The time in `SET timestamp=1192477432;`, as the server writes it: `insert_id` and
/// `last_insert_id` may be there too, in any order. Unit: seconds; `None`: it is another statement.
pub(super) fn given_seconds(line: &[u8]) -> Option<i64> {
    let settings = line.trim_ascii_end().strip_suffix(b";")?.strip_prefix(b"SET ")?;
    let mut given = None;
    for setting in settings.split(|byte| *byte == b',') {
        let (name, value) = setting.split_at(memchr::memchr(b'=', setting)?);
        let value = &value[1..];
        match name {
            b"timestamp" => given = Some(i64::try_from(seconds(value)?.0 / 1_000_000_000).ok()?),
            b"insert_id" | b"last_insert_id" => {
                whole(value)?;
            }
            _ => return None,
        }
    }
    given
}
