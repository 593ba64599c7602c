//! A request as a line of JSON, and the ledger as the last. Times are microseconds.

use dbtime_model::traced::{
    Blocker, ErrorCode, ExecutedStatement, Fate, Preemptor, QueryCache, TextState, TracedRequest,
};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_ledger::{Ledger, TraceCost};
use dbtime_model::{MonoNanos, Part, Parts};
use dbtime_report::terminal::command_cell;
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::net::SocketAddr;
use std::sync::Arc;

#[derive(Serialize)]
struct Line<'a> {
    time_us: f64,
    connection: u64,
    server_id: Option<u64>,
    client: Option<SocketAddr>,
    process: u32,
    thread: u32,
    user: Option<&'a str>,
    database: Option<&'a str>,
    response_us: f64,
    parts_us: TracedParts<'a>,
    unexplained_us: f64,
    other_call: Option<u16>,
    server_queue_us: Option<f64>,
    blocker: Option<BlockerOf<'a>>,
    preemptor: Option<PreemptorOf<'a>>,
    files: Vec<FileJson<'a>>,
    query_cache: QueryCache,
    command: String,
    executes: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    statements: Vec<StatementOf<'a>>,
    length: u32,
    text: &'a str,
    text_state: TextState,
    rows: Option<u64>,
    error: Option<&'a ErrorCode>,
    sent_bytes: u64,
    sends: u32,
    fate: Fate,
}

#[derive(Serialize)]
struct BlockerOf<'a> {
    connection: Option<u64>,
    server_id: Option<u64>,
    thread: Option<u32>,
    client_left: bool,
    lock: Option<&'a str>,
    statement: Option<&'a str>,
    transaction: Option<TransactionOf<'a>>,
    wait_us: f64,
}

#[derive(Serialize)]
struct TransactionOf<'a> {
    statements: u64,
    latest: &'a [Arc<str>],
    length_us: f64,
    idle_us: f64,
}

/// One of several statements.
#[derive(Serialize)]
struct StatementOf<'a> {
    text: &'a str,
    text_state: TextState,
    executes: u32,
    rows: Option<u64>,
    length_us: Option<f64>,
    has_others: bool,
}

#[derive(Serialize)]
struct PreemptorOf<'a> {
    thread: u32,
    name: &'a str,
    wait_us: f64,
}

#[derive(Serialize)]
pub(super) struct FileJson<'a> {
    kind: &'static str,
    name: Option<&'a str>,
    part: &'a str,
    waits: u64,
    wait_us: f64,
}

#[derive(Serialize)]
struct LastLine<'a> {
    ledger: LedgerJson<'a>,
    cost: Option<TraceCost>,
}

/// Everything that adds up to what was started, also what follows from the rest: whoever reads it
/// need not know how.
#[derive(Serialize)]
pub(super) struct LedgerJson<'a> {
    #[serde(flatten)]
    counts: &'a Ledger,
    vanished: i64,
}

impl<'a> LedgerJson<'a> {
    pub(super) fn of(counts: &'a Ledger) -> Self {
        Self { counts, vanished: counts.vanished() }
    }
}

/// The parts by their names.
pub(super) struct TracedParts<'a>(pub(super) &'a Parts);

impl Serialize for TracedParts<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(Part::TRACED.len()))?;
        for part in Part::TRACED {
            map.serialize_entry(part.name(), &(self.0.get(part) as f64 / 1e3))?;
        }
        map.end()
    }
}

/// The line of a request, without its end.
///
/// # Errors
/// None but a bug's.
pub(super) fn line(
    request: &TracedRequest,
    since: MonoNanos,
    command: &str,
) -> serde_json::Result<String> {
    serde_json::to_string(&Line {
        time_us: (request.start - since).as_micros(),
        connection: request.connection,
        server_id: request.server_id(),
        client: request.client(),
        process: request.process,
        thread: request.thread,
        user: request.user(),
        database: request.database(),
        response_us: request.response().as_micros(),
        parts_us: TracedParts(&request.parts),
        unexplained_us: request.unexplained_ns() as f64 / 1e3,
        other_call: request.other_call,
        server_queue_us: request.server_queue.map(|queue| queue.as_micros()),
        blocker: request.blocker.as_ref().map(|blocker| blocker_of(blocker)),
        preemptor: request.preemptor.as_ref().map(preemptor_of),
        files: request.files.iter().map(file_of).collect(),
        query_cache: request.cache,
        command: command_cell(request, command),
        executes: request.executes,
        statements: statements_of(request),
        length: request.length,
        text: &request.text,
        text_state: request.text_state,
        rows: request.rows,
        error: request.error.as_ref(),
        sent_bytes: request.sent_bytes,
        sends: request.sends,
        fate: request.fate,
    })
}

/// The line below all requests, without its end.
///
/// # Errors
/// None but a bug's.
pub(super) fn last_line(ledger: &Ledger, cost: Option<TraceCost>) -> serde_json::Result<String> {
    serde_json::to_string(&LastLine { ledger: LedgerJson::of(ledger), cost })
}

fn blocker_of(blocker: &Blocker) -> BlockerOf<'_> {
    BlockerOf {
        connection: blocker.connection,
        server_id: blocker.server_id,
        thread: blocker.thread,
        client_left: blocker.has_left,
        lock: blocker.lock.as_deref(),
        statement: blocker.statement.as_deref(),
        transaction: blocker.transaction.as_ref().map(|transaction| TransactionOf {
            statements: transaction.statements,
            latest: &transaction.latest,
            length_us: transaction.length.as_micros(),
            idle_us: transaction.idle.as_micros(),
        }),
        wait_us: blocker.length.as_micros(),
    }
}

fn statements_of(request: &TracedRequest) -> Vec<StatementOf<'_>> {
    let statement = |one| {
        let one: &ExecutedStatement = one;
        StatementOf {
            text: &one.text,
            text_state: one.text_state,
            executes: one.executes,
            rows: one.rows,
            length_us: one.length.map(|length| length.as_micros()),
            has_others: one.has_others,
        }
    };
    request.statements.iter().map(statement).collect()
}

fn preemptor_of(preemptor: &Preemptor) -> PreemptorOf<'_> {
    PreemptorOf {
        thread: preemptor.thread,
        name: &preemptor.name,
        wait_us: preemptor.length.as_micros(),
    }
}

pub(super) fn file_of(file: &FileWait) -> FileJson<'_> {
    let (kind, name) = match &file.file {
        FileName::Named(name) => ("named", Some(&**name)),
        FileName::Mapped => ("mapped", None),
        FileName::Others => ("others", None),
    };
    FileJson {
        kind,
        name,
        part: file.part.name(),
        waits: file.count,
        wait_us: file.length.as_micros(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_ledger_adds_up_as_it_is_printed() {
        let (ended, in_flight, aborted, partial) = (5, 4, 3, 2);
        let ledger =
            Ledger { started: 15, ended, in_flight, aborted, partial, ..Ledger::default() };
        let line = last_line(&ledger, None).expect("plain data");
        let line: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&line["ledger"]["vanished"], &line["cost"]), (&1.into(), &Value::Null));
        let fates = ["ended", "in_flight", "aborted", "partial", "vanished"];
        let fates = fates.map(|fate| line["ledger"][fate].as_u64().expect("a count"));
        assert_eq!(line["ledger"]["started"], fates.iter().sum::<u64>());
    }
}
