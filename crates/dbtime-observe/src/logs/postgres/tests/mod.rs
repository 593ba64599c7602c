//! Logs as servers write them, and as they do not.

mod cuts;
mod forms;
mod hostile;
mod sessions;

use super::{PostgresCsv, PostgresJson, PostgresText, PrefixPattern};
use crate::logs::{ClassNamer, JoinedRecord, LogReader, RecordBatch, RecordSink};
use dbtime_model::log_digest::{LogFigure, UnreadReason};

/// What was handed on of a record.
#[derive(Clone, Debug, Default, PartialEq)]
struct KeptStatement {
    offset: u64,
    class: String,
    text: String,
    start_us: Option<i64>,
    end_us: Option<i64>,
    duration_us: Option<u64>,
    session: u64,
    names: String,
    error: String,
    query_id: String,
    figures: Vec<(LogFigure, u64)>,
}

/// All that was handed on.
#[derive(Clone, Debug, Default, PartialEq)]
struct KeptLog {
    records: Vec<KeptStatement>,
    events: Vec<String>,
    unread: Vec<(UnreadReason, u64)>,
}

impl RecordSink for KeptLog {
    fn take(&mut self, record: &JoinedRecord<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.records.push(KeptStatement {
            offset: record.offset,
            class: record.class.to_owned(),
            text: text(record.text),
            start_us: record.start_us,
            end_us: record.end_us,
            duration_us: record.duration.map(|duration| duration.0 / 1000),
            session: record.session,
            names: [record.user, record.host, record.database].map(text).join(" "),
            error: text(record.error),
            query_id: text(record.query_id),
            figures: record.figures.to_vec(),
        });
    }

    fn count_event(&mut self, name: &str, _: Option<i64>) {
        self.events.push(name.to_owned());
    }

    fn count_unread(&mut self, why: UnreadReason, offset: u64) {
        self.unread.push((why, offset));
    }
}

impl KeptLog {
    /// Class and microseconds of each record.
    fn durations(&self) -> Vec<(&str, Option<u64>)> {
        self.records.iter().map(|record| (&*record.class, record.duration_us)).collect()
    }
}

/// Names classes by their text with `?` for digits.
struct DigitNamer;

impl ClassNamer for DigitNamer {
    fn name(&mut self, text: &[u8], out: &mut String) {
        out.clear();
        let text = String::from_utf8_lossy(text);
        out.extend(text.chars().map(|c| if c.is_ascii_digit() { '?' } else { c }));
    }
}

/// Reads blocks of a log, one after the other.
fn read_blocks(reader: &dyn LogReader, blocks: &[&[u8]]) -> KeptLog {
    let (mut kept, mut joiner) = (KeptLog::default(), reader.joiner());
    let (mut batch, mut offset) = (RecordBatch::default(), 0);
    for block in blocks {
        batch.clear();
        reader.read(block, &mut DigitNamer, &mut batch);
        for (why, at) in &batch.unread {
            kept.count_unread(*why, offset + u64::from(*at));
        }
        joiner.join(block, offset, &batch, &mut kept);
        offset += block.len() as u64;
    }
    joiner.end(&mut kept);
    kept
}

fn text_log(prefix: &str) -> PostgresText {
    PostgresText::new(PrefixPattern::parse(prefix).expect("a prefix"))
}

/// The time of all messages, and its instant.
const TIME: &str = "2024-01-02 03:04:05.678 UTC";
const TIME_US: i64 = 1_704_164_645_678_000;

/// A message in all three formats: severity, SQLSTATE, message, statement beside it.
type ShortMessage<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Reads the messages of a session in each of the formats, and checks that all mean the same.
fn read_messages(messages: &[ShortMessage<'_>]) -> KeptLog {
    let text: String = messages.iter().map(as_text).collect();
    let csv: String = messages.iter().map(as_csv).collect();
    let json: String = messages.iter().map(as_json).collect();
    let kept = read_blocks(&text_log("%m [%p] %e %q%u@%d "), &[text.as_bytes()]);
    let others = [
        read_blocks(&PostgresCsv, &[csv.as_bytes()]),
        read_blocks(&PostgresJson, &[json.as_bytes()]),
    ];
    let without_places = |kept: &KeptLog| {
        let place = |mut record: KeptStatement| {
            (record.offset, record.session, record.names) = Default::default();
            record
        };
        let records: Vec<_> = kept.records.iter().cloned().map(place).collect();
        let unread: Vec<_> = kept.unread.iter().map(|(why, _)| *why).collect();
        (records, kept.events.clone(), unread)
    };
    for other in &others {
        assert_eq!(without_places(other), without_places(&kept));
    }
    kept
}

fn as_text((severity, state, message, statement): &ShortMessage<'_>) -> String {
    let head = format!("{TIME} [77] {state} ann@shop");
    let message = message.replace('\n', "\n\t");
    let mut lines = format!("{head} {severity}:  {message}\n");
    if !statement.is_empty() {
        lines += &format!("{head} STATEMENT:  {}\n", statement.replace('\n', "\n\t"));
    }
    lines
}

fn as_csv((severity, state, message, statement): &ShortMessage<'_>) -> String {
    let quoted = |text: &str| match text {
        "" => String::new(),
        text => format!("\"{}\"", text.replace('"', "\"\"")),
    };
    let (message, statement) = (quoted(message), quoted(statement));
    format!(
        "{TIME},\"ann\",\"shop\",77,\"10.0.0.1:5432\",6593e0c5.4d,3,\"SELECT\",{TIME},3/12,0,\
         {severity},{state},{message},,,,,,{statement},,,\"psql\",\"client backend\",,0\n"
    )
}

fn as_json((severity, state, message, statement): &ShortMessage<'_>) -> String {
    let mut object = serde_json::json!({
        "timestamp": TIME, "user": "ann", "dbname": "shop", "pid": 77,
        "remote_host": "10.0.0.1", "remote_port": 5432, "session_id": "6593e0c5.4d",
        "error_severity": severity, "state_code": state, "message": message,
        "application_name": "psql\t", "query_id": 0,
    });
    if !statement.is_empty() {
        object["statement"] = (*statement).into();
    }
    format!("{object}\n")
}
