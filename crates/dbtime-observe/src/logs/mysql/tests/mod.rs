//! Both readers on lines as servers write them: whole, cut at every border, and hostile.

mod general;
mod slow;
mod slow_context;
mod slow_hostile;

use crate::logs::{BorderState, ClassNamer, JoinedRecord, LogReader, RecordBatch, RecordSink};
use dbtime_model::log_digest::{ClassKind, LogFigure, UnreadReason};

/// Names each text by itself.
struct PlainNamer;

impl ClassNamer for PlainNamer {
    fn name(&mut self, text: &[u8], out: &mut String) {
        out.clear();
        out.push_str(&string(text));
    }
}

/// A record that was handed on.
#[derive(Clone, Debug, Default, PartialEq)]
struct TakenRecord {
    offset: u64,
    kind: ClassKind,
    class: String,
    text: String,
    start_us: Option<i64>,
    end_us: Option<i64>,
    duration_ns: Option<u64>,
    session: u64,
    user: String,
    host: String,
    database: String,
    error: String,
    query_id: String,
    figures: Vec<(LogFigure, u64)>,
    unknown: Vec<(String, String)>,
    weight: u32,
}

/// What was read of a log.
#[derive(Debug, Default, PartialEq)]
struct TakenLog {
    records: Vec<TakenRecord>,
    unread: Vec<(UnreadReason, u64)>,
    events: Vec<String>,
}

impl TakenLog {
    fn texts(&self) -> Vec<&str> {
        self.records.iter().map(|record| record.text.as_str()).collect()
    }
}

impl RecordSink for TakenLog {
    fn take(&mut self, record: &JoinedRecord<'_>) {
        let unknown = record.unknown.iter().map(|(key, value)| (string(key), string(value)));
        self.records.push(TakenRecord {
            offset: record.offset,
            kind: record.kind,
            class: record.class.to_owned(),
            text: string(record.text),
            start_us: record.start_us,
            end_us: record.end_us,
            duration_ns: record.duration.map(|duration| duration.0),
            session: record.session,
            user: string(record.user),
            host: string(record.host),
            database: string(record.database),
            error: string(record.error),
            query_id: string(record.query_id),
            figures: record.figures.to_vec(),
            unknown: unknown.collect(),
            weight: record.weight,
        });
    }

    fn count_event(&mut self, name: &str, _: Option<i64>) {
        self.events.push(name.to_owned());
    }

    fn count_unread(&mut self, why: UnreadReason, offset: u64) {
        self.unread.push((why, offset));
    }
}

fn string(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Reads a log whose parts end where records begin.
fn read_parts(reader: &dyn LogReader, parts: &[&[u8]]) -> TakenLog {
    let (mut taken, mut batch) = (TakenLog::default(), RecordBatch::default());
    let (mut joiner, mut offset) = (reader.joiner(), 0);
    for part in parts {
        batch.clear();
        reader.read(part, &mut PlainNamer, &mut batch);
        joiner.join(part, offset, &batch, &mut taken);
        taken.unread.extend(batch.unread.iter().map(|(why, at)| (*why, offset + u64::from(*at))));
        offset += part.len() as u64;
    }
    joiner.end(&mut taken);
    taken
}

/// Where records begin, but for the first, last one first.
fn borders(reader: &dyn LogReader, log: &[u8]) -> Vec<usize> {
    let mut end = log.len();
    let next = || {
        let at = reader.last_start(&log[..end], BorderState::default())?;
        end = at;
        Some(at)
    };
    std::iter::from_fn(next).collect()
}

/// Asserts that a log reads the same however it is cut.
fn assert_same_in_parts(reader: &dyn LogReader, log: &[u8]) {
    let whole = read_parts(reader, &[log]);
    let borders = borders(reader, log);
    for border in &borders {
        let (before, behind) = log.split_at(*border);
        assert_eq!(read_parts(reader, &[before, behind]), whole, "cut at {border}");
    }
    let mut parts = Vec::new();
    let mut end = log.len();
    for border in &borders {
        parts.insert(0, &log[*border..end]);
        end = *border;
    }
    parts.insert(0, &log[..end]);
    assert_eq!(read_parts(reader, &parts), whole, "cut at every border");
    for end in 0..log.len() {
        if let Some(at) = reader.last_start(&log[..end], BorderState::default()) {
            assert!(borders.contains(&at), "a border at {at} of the first {end} bytes");
        }
    }
}

/// Reads a log that ends, or begins, at any of its bytes; nothing is asserted but that this ends.
fn read_every_piece(reader: &dyn LogReader, log: &[u8]) {
    for at in 0..log.len() {
        read_parts(reader, &[&log[..at]]);
        read_parts(reader, &[&log[at..]]);
    }
}
