//! Spans as OpenTelemetry's file exporter writes them, many to a line:
//! <https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/>.

use super::json_lines::JsonReading;
use super::row::{RequestRow, number};
use super::template::push_text;
use crate::logs::json_cursor::{JsonCursor, JsonValue};
use crate::logs::{EntryKind, LogSpan};
use dbtime_model::log_digest::UnreadReason;
use dbtime_model::{Nanos, SqlDialect};
use dbtime_sql::{LexicalRules, fingerprint};

/// What a span has beside that which a request has.
#[derive(Clone, Debug, Default)]
struct SpanParts {
    row: RequestRow,
    name: LogSpan,
    /// The route, which says more than the path.
    route: LogSpan,
    statement: LogSpan,
    dialect: Option<SqlDialect>,
    start_ns: Option<u64>,
    end_ns: Option<u64>,
    has_failed: bool,
}

impl JsonReading<'_> {
    /// Reads the array of `resourceSpans`.
    pub(super) fn read_spans(&mut self, cursor: &mut JsonCursor<'_>) -> Result<(), UnreadReason> {
        self.has_spans = true;
        self.read_array(cursor, &[b"scopeSpans", b"spans"])
    }

    /// Reads an array of objects that have arrays with these names in each other.
    fn read_array(
        &mut self,
        cursor: &mut JsonCursor<'_>,
        names: &[&[u8]],
    ) -> Result<(), UnreadReason> {
        cursor.open(b'[')?;
        while cursor.has_item()? {
            let Some((name, inner)) = names.split_first() else {
                self.read_span(cursor)?;
                continue;
            };
            cursor.open(b'{')?;
            while let Some(key) = cursor.key()? {
                let is_named = self.block[key] == **name;
                match cursor.value()? {
                    JsonValue::Array if is_named => self.read_array(cursor, inner)?,
                    JsonValue::Array | JsonValue::Object => cursor.skip()?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn read_span(&mut self, cursor: &mut JsonCursor<'_>) -> Result<(), UnreadReason> {
        let at = cursor.next_at();
        let mut parts = SpanParts::default();
        cursor.open(b'{')?;
        while let Some(key) = cursor.key()? {
            let key = &self.block[key];
            match cursor.value()? {
                JsonValue::Array if key == b"attributes" => {
                    self.read_attributes(cursor, &mut parts)?;
                }
                JsonValue::Object if key == b"status" => self.read_status(cursor, &mut parts)?,
                JsonValue::Array | JsonValue::Object => cursor.skip()?,
                value => self.set_of_span(key, value, &mut parts)?,
            }
        }
        self.finish_span(at, parts)
    }

    fn set_of_span(
        &mut self,
        key: &[u8],
        value: JsonValue,
        parts: &mut SpanParts,
    ) -> Result<(), UnreadReason> {
        let span = self.span(value);
        let text = self.batch.text(self.block, span);
        match key {
            b"name" => parts.name = span,
            b"startTimeUnixNano" => parts.start_ns = Some(number(text)?),
            b"endTimeUnixNano" => parts.end_ns = Some(number(text)?),
            // Spans of one trace belong together as the requests of a session do.
            b"traceId" => {
                let low = text.get(text.len().saturating_sub(16)..).unwrap_or_default();
                let digits = str::from_utf8(low).unwrap_or_default();
                parts.row.connection = u64::from_str_radix(digits, 16).unwrap_or_default();
            }
            _ => {}
        }
        Ok(())
    }

    fn read_status(
        &mut self,
        cursor: &mut JsonCursor<'_>,
        parts: &mut SpanParts,
    ) -> Result<(), UnreadReason> {
        cursor.open(b'{')?;
        while let Some(key) = cursor.key()? {
            let key = &self.block[key];
            match cursor.value()? {
                JsonValue::Array | JsonValue::Object => cursor.skip()?,
                value if key == b"code" => {
                    let span = self.span(value);
                    let code = self.batch.text(self.block, span);
                    parts.has_failed = matches!(code, b"2" | b"STATUS_CODE_ERROR");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads pairs such as `{"key":"http.method","value":{"stringValue":"GET"}}`.
    fn read_attributes(
        &mut self,
        cursor: &mut JsonCursor<'_>,
        parts: &mut SpanParts,
    ) -> Result<(), UnreadReason> {
        cursor.open(b'[')?;
        while cursor.has_item()? {
            let (mut name, mut value) = (LogSpan::default(), LogSpan::default());
            cursor.open(b'{')?;
            while let Some(key) = cursor.key()? {
                let key = &self.block[key];
                match cursor.value()? {
                    JsonValue::Object if key == b"value" => value = self.any_value(cursor)?,
                    JsonValue::Array | JsonValue::Object => cursor.skip()?,
                    text if key == b"key" => name = self.span(text),
                    _ => {}
                }
            }
            self.set_attribute(name, value, parts)?;
        }
        Ok(())
    }

    /// The text of `{"stringValue":"GET"}` or `{"intValue":"200"}`; empty: it has none.
    fn any_value(&mut self, cursor: &mut JsonCursor<'_>) -> Result<LogSpan, UnreadReason> {
        let mut found = LogSpan::default();
        cursor.open(b'{')?;
        while cursor.key()?.is_some() {
            match cursor.value()? {
                JsonValue::Array | JsonValue::Object => cursor.skip()?,
                value => found = self.span(value),
            }
        }
        Ok(found)
    }

    fn set_attribute(
        &mut self,
        name: LogSpan,
        value: LogSpan,
        parts: &mut SpanParts,
    ) -> Result<(), UnreadReason> {
        let text = self.batch.text(self.block, value);
        if text.is_empty() {
            return Ok(());
        }
        let row = &mut parts.row;
        match self.batch.text(self.block, name) {
            b"http.request.method" | b"http.method" => row.method = value,
            b"http.route" => parts.route = value,
            b"url.path" | b"http.target" | b"url.full" | b"http.url" => row.path = value,
            b"url.query" => row.query = value,
            b"http.response.status_code" | b"http.status_code" => row.set_status(text, value)?,
            b"client.address" | b"http.client_ip" | b"net.peer.ip" => row.set_host(value),
            b"enduser.id" | b"user.id" | b"user.name" | b"db.user" => row.user = value,
            b"db.namespace" | b"db.name" => row.database = value,
            b"db.query.text" | b"db.statement" => parts.statement = value,
            b"db.system.name" | b"db.system" => parts.dialect = dialect(text),
            _ => {}
        }
        Ok(())
    }

    /// Adds a span: a request by its route or path, a statement by its fingerprint, and anything
    /// else by its name, which is of few kinds by the specification.
    fn finish_span(&mut self, at: usize, mut parts: SpanParts) -> Result<(), UnreadReason> {
        let row = &mut parts.row;
        row.duration = parts.start_ns.zip(parts.end_ns).map(duration).transpose()?;
        row.logged_us = parts.end_ns.or(parts.start_ns).map(|ns| (ns / 1000).cast_signed());
        row.has_status = true;
        if parts.has_failed && row.error.is_empty() {
            row.error = self.batch.make_text(b"ERROR");
        }
        if !parts.route.is_empty() {
            (row.path, row.query) = (parts.route, LogSpan::default());
        }
        if !row.path.is_empty() {
            self.writer.push(row, at, self.block, self.batch);
            return Ok(());
        }
        let name = &mut self.writer.name;
        name.clear();
        let statement = self.batch.text(self.block, parts.statement);
        let (kind, text) = match parts.dialect.filter(|_| !statement.is_empty()) {
            Some(dialect) => {
                fingerprint(statement, &LexicalRules::unknown(dialect), name);
                (EntryKind::Statement, parts.statement)
            }
            None => {
                let text = self.batch.text(self.block, parts.name);
                push_text(&text[..text.len().min(256)], name);
                (EntryKind::Request, parts.name)
            }
        };
        self.writer.push_named(row, kind, text, at, self.batch);
        Ok(())
    }
}

/// How long a span took. Errors: it ended before it began.
fn duration((start_ns, end_ns): (u64, u64)) -> Result<Nanos, UnreadReason> {
    end_ns.checked_sub(start_ns).map(Nanos).ok_or(UnreadReason::Number)
}

/// The SQL of a system by OpenTelemetry's name; `None`: it is another one, whose literals cannot be
/// found for sure.
fn dialect(system: &[u8]) -> Option<SqlDialect> {
    match system {
        b"mysql" | b"mariadb" => Some(SqlDialect::Mysql),
        b"postgresql" => Some(SqlDialect::Postgres),
        b"sqlite" => Some(SqlDialect::Sqlite),
        _ => None,
    }
}
