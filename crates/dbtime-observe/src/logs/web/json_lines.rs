//! Reads access logs whose lines are objects of JSON, and spans of OpenTelemetry.

use super::joiner::RequestJoiner;
use super::json_fields::{JsonField, JsonFields, SECOND_NS};
use super::route::RouteNamer;
use super::row::{RequestRow, RowWriter, upstream_sum};
use super::time::{DayCache, span_of_time};
use crate::logs::json_cursor::{JsonCursor, JsonValue, unescape};
use crate::logs::lines::{LogLine, first_lines, last_line, lines_of, mostly_right};
use crate::logs::numbers::{text_hash, whole};
use crate::logs::{BorderState, ClassNamer, LogReader, LogSpan, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::{TimeMeaning, UnreadReason};

/// How deep objects are looked into.
const MAX_DEPTH: usize = 3;

/// How many lines are looked at to find out what a file is.
const LOOKED_AT: usize = 100;

/// A log with an object of JSON on each line. Instants are when requests ended: a log that has
/// when they began gets their durations added.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonLines {
    fields: JsonFields,
}

impl JsonLines {
    /// One whose keys mean this.
    pub(crate) fn new(fields: JsonFields) -> Self {
        Self { fields }
    }

    /// One with the keys that are known, if at least nine of ten of the first lines are objects,
    /// and one of ten is a request or has spans: servers such as Caddy write of other things, too.
    /// Shape: `head` is how the file begins; a line without its end does not count.
    pub(crate) fn detect(head: &[u8]) -> Option<Self> {
        let reader = Self::default();
        let mut batch = RecordBatch::default();
        let (mut all, mut objects, mut end) = (0, 0, 0);
        for line in first_lines(head, LOOKED_AT) {
            let text = head[line.clone()].trim_ascii();
            objects += usize::from(text.starts_with(b"{") && text.ends_with(b"}"));
            (all, end) = (all + 1, line.end);
        }
        reader.read(&head[..end], &mut RouteNamer::default(), &mut batch);
        let right = all - batch.unread.len().min(all);
        let is_of_requests = right * 10 >= all && !batch.pieces.is_empty();
        (mostly_right(objects, all) && is_of_requests).then_some(reader)
    }

    /// Whether a file that begins like this is such a log.
    #[cfg(test)]
    pub(crate) fn looks_like(head: &[u8]) -> bool {
        Self::detect(head).is_some()
    }

    /// Whether instants in the beginning of a file name no zone.
    pub(crate) fn has_local_time(&self, head: &[u8]) -> bool {
        let mut batch = RecordBatch::default();
        self.read_lines(head, &mut RouteNamer::default(), &mut batch).has_local
    }

    /// Reads the lines of a block; what was seen of their times.
    fn read_lines(
        &self,
        block: &[u8],
        namer: &mut dyn ClassNamer,
        batch: &mut RecordBatch,
    ) -> DayCache {
        let mut reading = JsonReading {
            block,
            batch,
            writer: RowWriter::new(namer),
            days: DayCache::default(),
            path: Vec::new(),
            row: RequestRow::default(),
            start_us: None,
            has_spans: false,
            has_request: false,
            bare: None,
            bare_unit_ns: SECOND_NS,
        };
        for line in lines_of(block) {
            let (at, has_end) = (line.range.start, line.has_end);
            let before = reading.batch.pieces.len();
            if let Err(why) = self.read_line(line, &mut reading) {
                // A line counts as a whole or not at all.
                reading.batch.pieces.truncate(before);
                let why = if has_end { why } else { UnreadReason::Incomplete };
                reading.batch.unread.push((why, at as u32));
            } else {
                reading.batch.has_form = true;
            }
        }
        reading.days
    }

    fn read_line(&self, line: LogLine, reading: &mut JsonReading<'_>) -> Result<(), UnreadReason> {
        let at = line.range.start;
        let mut cursor = JsonCursor::new(reading.block, line.range);
        reading.row = RequestRow::default();
        (reading.start_us, reading.has_spans, reading.has_request) = (None, false, false);
        (reading.bare, reading.bare_unit_ns) = (None, SECOND_NS);
        reading.path.clear();
        self.read_object(&mut cursor, reading, 0)?;
        if !cursor.is_at_end() {
            return Err(UnreadReason::Form);
        }
        if reading.has_spans { Ok(()) } else { reading.finish_row(at) }
    }

    fn read_object(
        &self,
        cursor: &mut JsonCursor<'_>,
        reading: &mut JsonReading<'_>,
        depth: usize,
    ) -> Result<(), UnreadReason> {
        cursor.open(b'{')?;
        let parent = reading.path.len();
        while let Some(key) = cursor.key()? {
            reading.path.truncate(parent);
            if parent > 0 {
                reading.path.push(b'.');
            }
            reading.path.extend_from_slice(&reading.block[key]);
            match cursor.value()? {
                JsonValue::Object if depth < MAX_DEPTH && self.fields.leads_on(&reading.path) => {
                    self.read_object(cursor, reading, depth + 1)?;
                }
                JsonValue::Array if reading.path == b"resourceSpans" => {
                    reading.read_spans(cursor)?;
                }
                JsonValue::Object | JsonValue::Array => cursor.skip()?,
                value => {
                    if let Some(field) = self.fields.field(&reading.path) {
                        reading.look_at(field);
                        reading.set(field, value)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl LogReader for JsonLines {
    fn last_start(&self, bytes: &[u8], _state: BorderState) -> Option<usize> {
        last_line(bytes)
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        self.read_lines(block, namer, batch);
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        Box::new(RequestJoiner { meaning: self.time_meaning() })
    }

    fn time_meaning(&self) -> TimeMeaning {
        TimeMeaning::End
    }
}

/// The reading of a block.
pub(super) struct JsonReading<'a> {
    pub(super) block: &'a [u8],
    pub(super) batch: &'a mut RecordBatch,
    pub(super) writer: RowWriter<'a>,
    days: DayCache,
    /// The keys that lead to the value that is read.
    path: Vec<u8>,
    row: RequestRow,
    start_us: Option<i64>,
    /// Whether the line is one of OpenTelemetry, whose spans are in the batch.
    pub(super) has_spans: bool,
    /// Whether the line has a key for its request, though that may be empty: the client sent
    /// rubbish, or nothing.
    has_request: bool,
    /// A duration without a unit.
    bare: Option<LogSpan>,
    /// The unit of that. Unit: nanoseconds.
    bare_unit_ns: u64,
}

impl JsonReading<'_> {
    /// The text of a value; empty: it has none.
    pub(super) fn span(&mut self, value: JsonValue) -> LogSpan {
        match value {
            JsonValue::Text(range, false) | JsonValue::Plain(range) => LogSpan::of_block(range),
            JsonValue::Text(range, true) => {
                self.writer.scratch.clear();
                unescape(&self.block[range], &mut self.writer.scratch);
                self.batch.make_text(&self.writer.scratch)
            }
            JsonValue::Null | JsonValue::Object | JsonValue::Array => LogSpan::default(),
        }
    }

    /// What the key alone shows, whatever its value.
    fn look_at(&mut self, field: JsonField) {
        match field {
            JsonField::Path | JsonField::Request => self.has_request = true,
            JsonField::BareUnit(unit_ns) => self.bare_unit_ns = unit_ns,
            _ => {}
        }
    }

    /// Takes a value. Errors: it is no time or no duration where one has to be.
    fn set(&mut self, field: JsonField, value: JsonValue) -> Result<(), UnreadReason> {
        let span = self.span(value);
        let text = self.batch.text(self.block, span);
        let row = &mut self.row;
        if matches!(text, b"" | b"-") {
            return Ok(());
        }
        match field {
            JsonField::Time => {
                let instant = self.days.any_us(text).ok_or(UnreadReason::Time)?;
                row.logged_us = row.logged_us.or(Some(instant));
            }
            JsonField::Start => {
                self.start_us = Some(self.days.any_us(text).ok_or(UnreadReason::Time)?);
            }
            JsonField::BareDuration => self.bare = Some(span),
            JsonField::BareUnit(_) => {}
            JsonField::Duration(unit_ns) => {
                row.duration = Some(span_of_time(text, unit_ns).ok_or(UnreadReason::Number)?);
            }
            JsonField::Upstream(unit_ns) => {
                row.upstream = match span_of_time(text, unit_ns) {
                    None => upstream_sum(text, unit_ns)?,
                    time => time,
                };
            }
            JsonField::Method => row.method = span,
            JsonField::Request if text.contains(&b' ') => row.request = span,
            JsonField::Path | JsonField::Request => row.path = span,
            JsonField::Query => row.query = span,
            // Others than web servers have a status too: `ok`.
            JsonField::Status if whole(text).is_none() => {}
            JsonField::Status => row.set_status(text, span)?,
            JsonField::User => row.user = span,
            JsonField::Host => row.set_host(span),
            JsonField::Session => row.connection = session_number(text),
            JsonField::Process => row.process = session_number(text),
            JsonField::Sent => row.sent = whole(text),
            JsonField::Received => row.received = whole(text),
        }
        Ok(())
    }

    /// Adds the row. Errors: it is no request.
    fn finish_row(&mut self, at: usize) -> Result<(), UnreadReason> {
        if !self.has_request {
            return Err(UnreadReason::Form);
        }
        let row = &mut self.row;
        if let Some(bare) = self.bare.filter(|_| row.duration.is_none()) {
            let text = self.batch.text(self.block, bare);
            let duration = span_of_time(text, self.bare_unit_ns).ok_or(UnreadReason::Number)?;
            row.duration = Some(duration);
        }
        if let Some(start) = self.start_us {
            let length = row.duration.map(|duration| (duration.0 / 1000).cast_signed());
            let end = length.map(|length| start.saturating_add(length));
            row.logged_us = end.or(row.logged_us).or(Some(start));
        }
        self.writer.push(row, at, self.block, self.batch);
        Ok(())
    }
}

/// The number of a session, or one made of its name.
fn session_number(text: &[u8]) -> u64 {
    whole(text).unwrap_or_else(|| text_hash(text).max(1))
}
