//! What a line has of a request, before it becomes a piece of a batch.

use super::field::AccessField;
use crate::logs::numbers::{decimal, seconds, whole};
use crate::logs::{ClassNamer, EntryKind, LogSpan, PieceTime, RecordBatch, RecordPiece};
use dbtime_model::Nanos;
use dbtime_model::log_digest::{LogFigure, UnreadReason};
use std::ops::Range;

/// A request. Spans are of the block and the batch that it is put into.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestRow {
    /// The request line; empty: method, path and query are there instead.
    pub(super) request: LogSpan,
    pub(super) method: LogSpan,
    pub(super) path: LogSpan,
    pub(super) query: LogSpan,
    pub(super) user: LogSpan,
    pub(super) host: LogSpan,
    pub(super) database: LogSpan,
    /// The status of a request that failed.
    pub(super) error: LogSpan,
    /// Whether there is a status at all; a span has one, which need not be in the log.
    pub(super) has_status: bool,
    pub(super) logged_us: Option<i64>,
    pub(super) duration: Option<Nanos>,
    pub(super) upstream: Option<Nanos>,
    pub(super) sent: Option<u64>,
    pub(super) received: Option<u64>,
    pub(super) process: u64,
    pub(super) thread: u64,
    pub(super) connection: u64,
    keep_alive: Option<KeepAlive>,
}

/// What became of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeepAlive {
    Kept,
    Closed,
    Aborted,
}

impl RequestRow {
    /// Takes a field of an access log. Errors: it is no number where one has to be.
    pub(super) fn set(
        &mut self,
        field: AccessField,
        block: &[u8],
        value: Range<usize>,
    ) -> Result<(), UnreadReason> {
        let text = &block[value.clone()];
        let span = LogSpan::of_block(value.clone());
        let is_absent = matches!(text, b"" | b"-");
        match field {
            AccessField::Skipped | AccessField::ServerName | AccessField::Time(_) => {}
            AccessField::KeepAlive => self.keep_alive = keep_alive(text),
            // Apache's `%b` has a dash for nothing.
            AccessField::Sent if is_absent => self.sent = Some(0),
            _ if is_absent => {}
            AccessField::Request => self.request = span,
            AccessField::Method => self.method = span,
            AccessField::Path => self.path = span,
            AccessField::Query => self.query = span,
            AccessField::Status => self.set_status(text, span)?,
            AccessField::Sent => self.sent = Some(number(text)?),
            AccessField::Received => self.received = Some(number(text)?),
            AccessField::Process => self.process = number(text)?,
            AccessField::Thread => self.thread = number(text)?,
            AccessField::Connection => self.connection = number(text)?,
            AccessField::User => self.user = span,
            AccessField::Host => self.set_host(span),
            AccessField::HostPort => {
                let port = memchr::memrchr(b':', text).unwrap_or(text.len());
                self.set_host(LogSpan::of_block(value.start..value.start + port));
            }
            AccessField::Forwarded => {
                let first = memchr::memchr(b',', text).unwrap_or(text.len());
                self.set_host(LogSpan::of_block(value.start..value.start + first));
            }
            AccessField::Duration(_)
            | AccessField::PointedTime
            | AccessField::TakenTime
            | AccessField::AddedTime
            | AccessField::AddedUpstream
            | AccessField::Upstream => self.set_time(field, text)?,
        }
        Ok(())
    }

    /// Takes a status: from 400 on, the request has failed.
    pub(super) fn set_status(&mut self, text: &[u8], span: LogSpan) -> Result<(), UnreadReason> {
        self.error = if number(text)? >= 400 { span } else { LogSpan::default() };
        self.has_status = true;
        Ok(())
    }

    /// Takes where it came from, unless that is known: proxies come last.
    pub(super) fn set_host(&mut self, span: LogSpan) {
        if self.host.is_empty() {
            self.host = span;
        }
    }

    fn set_time(&mut self, field: AccessField, text: &[u8]) -> Result<(), UnreadReason> {
        let time = match field {
            AccessField::Upstream => {
                self.upstream = upstream_sum(text, 1_000_000_000)?;
                return Ok(());
            }
            AccessField::AddedTime | AccessField::AddedUpstream if text == b"-1" => return Ok(()),
            AccessField::Duration(unit_ns) => decimal(text, unit_ns),
            AccessField::PointedTime if !text.contains(&b'.') => None,
            AccessField::TakenTime if !text.contains(&b'.') => decimal(text, 1_000_000),
            _ => seconds(text),
        };
        let time = time.ok_or(UnreadReason::Number)?;
        if field == AccessField::AddedUpstream {
            self.upstream = Some(time);
        }
        let is_share = matches!(field, AccessField::AddedTime | AccessField::AddedUpstream);
        let before = self.duration.filter(|_| is_share).unwrap_or_default();
        self.duration = Some(before + time);
        Ok(())
    }

    /// The session: a connection, a thread or a process.
    fn session(&self) -> u64 {
        match (self.process, self.thread, self.connection) {
            (process, 0, 0) => process,
            (0, 0, connection) => connection,
            (process, thread, connection) => {
                let own = if connection == 0 { thread } else { connection };
                (process.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ own).max(1)
            }
        }
    }

    /// The request line, or one made of method, path and query.
    fn text(&self, block: &[u8], batch: &mut RecordBatch, scratch: &mut Vec<u8>) -> LogSpan {
        if !self.request.is_empty() || self.path.is_empty() {
            return self.request;
        }
        scratch.clear();
        let method = batch.text(block, self.method);
        if !method.is_empty() {
            scratch.extend_from_slice(method);
            scratch.push(b' ');
        }
        let path = batch.text(block, self.path);
        scratch.extend_from_slice(path);
        let query = batch.text(block, self.query);
        if !query.is_empty() && !path.contains(&b'?') {
            scratch.push(b'?');
            scratch.extend_from_slice(query.strip_prefix(b"?").unwrap_or(query));
        }
        batch.make_text(scratch)
    }

    fn push_figures(&self, batch: &mut RecordBatch) -> Range<u32> {
        let start = batch.figures.len() as u32;
        let numbers = [
            (LogFigure::UpstreamTime, self.upstream.map(|time| time.0)),
            (LogFigure::BytesSent, self.sent),
            (LogFigure::BytesReceived, self.received),
            (LogFigure::KeptAlive, self.keep_alive.map(|end| u64::from(end == KeepAlive::Kept))),
            (LogFigure::Aborted, self.keep_alive.map(|end| u64::from(end == KeepAlive::Aborted))),
        ];
        let known = numbers.into_iter().filter_map(|(figure, number)| Some((figure, number?)));
        batch.figures.extend(known);
        start..batch.figures.len() as u32
    }
}

/// Puts rows into a batch, with the memory that this takes.
pub(super) struct RowWriter<'a> {
    namer: &'a mut dyn ClassNamer,
    pub(super) name: String,
    pub(super) scratch: Vec<u8>,
}

impl<'a> RowWriter<'a> {
    /// One that names classes by this namer.
    pub(super) fn new(namer: &'a mut dyn ClassNamer) -> Self {
        Self { namer, name: String::new(), scratch: Vec::new() }
    }

    /// Adds a request that begins at this byte of the block.
    pub(super) fn push(
        &mut self,
        row: &RequestRow,
        at: usize,
        block: &[u8],
        batch: &mut RecordBatch,
    ) {
        let text = row.text(block, batch, &mut self.scratch);
        self.namer.name(batch.text(block, text), &mut self.name);
        self.push_named(row, EntryKind::Request, text, at, batch);
    }

    /// Adds a record whose class has the name that was written last.
    pub(super) fn push_named(
        &mut self,
        row: &RequestRow,
        kind: EntryKind,
        text: LogSpan,
        at: usize,
        batch: &mut RecordBatch,
    ) {
        let class = batch.classes.intern(&self.name);
        let figures = row.push_figures(batch);
        batch.pieces.push(RecordPiece {
            at: at as u32,
            kind,
            class: Some(class),
            text,
            time: PieceTime { logged_us: row.logged_us, given_s: None },
            duration: row.duration,
            session: row.session(),
            process: row.process,
            user: row.user,
            host: row.host,
            database: row.database,
            error: row.error,
            shows_outcome: row.has_status,
            figures,
            ..RecordPiece::default()
        });
    }
}

/// The sum of a list such as `0.004, 0.010 : 0.002`; `None`: it has dashes alone.
pub(super) fn upstream_sum(text: &[u8], unit_ns: u64) -> Result<Option<Nanos>, UnreadReason> {
    let mut sum: Option<Nanos> = None;
    let members = text.split(|byte| matches!(byte, b',' | b':' | b' '));
    for member in members.filter(|member| !matches!(*member, b"" | b"-")) {
        let time = decimal(member, unit_ns).ok_or(UnreadReason::Number)?;
        sum = Some(sum.unwrap_or_default() + time);
    }
    Ok(sum)
}

/// A whole number.
pub(super) fn number(text: &[u8]) -> Result<u64, UnreadReason> {
    whole(text).ok_or(UnreadReason::Number)
}

/// What Apache's `%X` means.
fn keep_alive(text: &[u8]) -> Option<KeepAlive> {
    match text {
        b"+" => Some(KeepAlive::Kept),
        b"-" => Some(KeepAlive::Closed),
        b"X" => Some(KeepAlive::Aborted),
        _ => None,
    }
}
