//! Recordings and records with numbers that nobody has measured, in every view.

use crate::every_view;
use dbtime_model::record::{csv, file, read_run};
use dbtime_model::traced::{
    Blocker, BlockingTransaction, ErrorCode, ExecutedStatement, Preemptor, QueryCache,
    RequestOutcome, TextState, TracedRequest,
};
use dbtime_model::traced_file::{
    RecordedPart, TraceBegin, TraceEnd, TraceLineWriter, TraceReader, VERSION,
};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_ledger::{TraceCost, TraceLedger};
use dbtime_model::traced_totals::{
    LockWaitTotals, Preemption, ReplacedStatements, StatementName, StatementTotals, TraceTotals,
    TracedLockHolder, TracedTotals,
};
use dbtime_model::{MonoNanos, Nanos, Part, Parts, ServerQueueParts, WireProtocol};
use dbtime_report::{html, terminal};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// Numbers where types, sums and products end, and what stands for no number.
const EXTREMES: [&str; 13] = [
    "0",
    "1",
    "-1",
    "2147483648",
    "4294967296",
    "1000000000000",
    "9007199254740992",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-9223372036854775808",
    "1e308",
    "null",
];

/// What a report may come to, beside so many times the record. Unit: bytes.
const SMALL_BYTES: usize = 1 << 20;
const MOST_TIMES: usize = 100;

fn file_wait(number: u64) -> FileWait {
    let file = FileName::Named(format!("file{number}"));
    FileWait { file, part: Part::Sync, count: 5, length: Nanos(7_000) }
}

fn request(text: &str) -> TracedRequest {
    let transaction = BlockingTransaction {
        statements: 3,
        latest: vec!["UPDATE t".into()],
        length: Nanos(90_000),
        idle: Nanos(30_000),
    };
    let statement = ExecutedStatement {
        text: "SELECT 1".into(),
        text_state: TextState::Cut,
        executes: 2,
        rows: Some(4),
        length: Some(Nanos(5_000)),
        has_others: true,
    };
    TracedRequest {
        connection: 3,
        process: 4711,
        thread: 6487,
        start: MonoNanos(1_010_071_000),
        first_sent: Some(MonoNanos(1_010_100_000)),
        end: MonoNanos(1_010_122_000),
        login: None,
        protocol: WireProtocol::Mysql,
        command: 3,
        executes: 2,
        statements: vec![statement.clone(), statement],
        length: 24,
        text: text.into(),
        text_state: TextState::Whole,
        sent_bytes: 64,
        writes: 1,
        rows: Some(7),
        error: Some(ErrorCode::Number(1146)),
        outcome: RequestOutcome::Ended,
        server_queue: Some(Nanos(9_000)),
        queue_parts: Some(queue_parts(1)),
        parts: Parts::of(&[(Part::Cpu, 20_000), (Part::Lock, 30_000), (Part::Sync, 1_000)]),
        other_call: Some(1),
        blocker: Some(Blocker {
            thread: Some(12),
            connection: Some(8),
            server_id: Some(99),
            has_left: false,
            transaction: Some(transaction.into()),
            lock: Some("row lock".into()),
            statement: Some("COMMIT".into()),
            length: Nanos(20_000),
        }),
        preemptors: ["sh", "ls"]
            .map(|name| Preemptor { thread: 5, name: name.to_owned(), length: Nanos(700) })
            .to_vec(),
        files: vec![file_wait(1), file_wait(2)],
        cache: QueryCache::Miss,
        is_match: false,
        answer_arrived: None,
        taken: None,
        stacks: Vec::new(),
    }
}

/// What so many requests waited for in the socket.
fn queue_parts(requests: u64) -> ServerQueueParts {
    ServerQueueParts {
        runq_preempted: Nanos(100 * requests),
        runq_woken: Nanos(200 * requests),
        throttled: Nanos(300 * requests),
        stopped: Nanos(400 * requests),
    }
}

fn statement(name: &str, cache: QueryCache, files: u64) -> StatementTotals {
    let mut totals = TraceTotals {
        count: 9,
        response: Nanos(900_000),
        errors: 1,
        longest: Nanos(200_000),
        executes: 12,
        queued: 7,
        server_queue: Nanos(27_000),
        queue_parts: queue_parts(7),
        parts: Parts::of(&[(Part::Cpu, 500_000), (Part::Lock, 300_000)]),
        files: (0..files).map(file_wait).collect(),
        ..TraceTotals::default()
    };
    totals.responses.add(112, 9);
    totals.coarse.add_to(6, 9);
    StatementTotals {
        was_preempted: cache == QueryCache::Hit,
        cache,
        totals,
        ..StatementTotals::nothing_of(StatementName::Text(name.into()))
    }
}

fn lock_wait(number: u64) -> LockWaitTotals {
    let name = StatementName::Text("UPDATE t".into());
    LockWaitTotals {
        statement: name.clone(),
        lock: Some(format!("lock {number}").into()),
        holder: Some(TracedLockHolder {
            connection: number,
            server_id: Some(70 + number),
            has_left: number == 1,
            statement: name,
        }),
        count: 2,
        length: Nanos(5_000_000),
        longest: Nanos(3_000_000),
    }
}

/// An end with more of everything than is shown, so that the rest is added up.
fn end() -> TraceEnd {
    let preemptor = |number: u64| Preemption {
        name: Some(format!("thread {number}")),
        count: 3,
        length: Nanos(40_000),
    };
    let mut statements = vec![
        statement("UPDATE t", QueryCache::Hit, 20),
        statement("UPDATE t", QueryCache::Miss, 20),
    ];
    let more = (0..20).map(|number| statement(&format!("SELECT {number}"), QueryCache::Miss, 1));
    statements.extend(more);
    TraceEnd {
        length: Nanos(9_000_000_000),
        added_up: Some(Nanos(8_000_000_000)),
        clock: "now".to_owned(),
        ledger: TraceLedger {
            started: 14,
            ended: 9,
            in_flight: 2,
            aborted: 1,
            partial: 1,
            streamed: 5,
            dropped: 3,
            not_streamed: 2,
            cut: 1,
            unread: 1,
            pipelined_over: 1,
            no_storage: 1,
            resync: 1,
            missed_events: 1,
            connections: 4,
            logins: 2,
            ..TraceLedger::default()
        },
        cost: Some(TraceCost {
            kernel: Nanos(2_000_000),
            probe_hits: 70,
            trap: Nanos(600),
            own: Nanos(800_000),
        }),
        totals: TracedTotals {
            statements,
            preemptors: (0..20).map(preemptor).collect(),
            lock_waits: (0..6).map(lock_wait).collect(),
            replaced: Some(ReplacedStatements { rows: 5, most_calls: 2, most_time: Nanos(3_000) }),
        },
    }
}

/// A recording as lines of JSON that has something everywhere.
fn rich_lines() -> Vec<u8> {
    let begin = TraceBegin {
        version: VERSION,
        since: MonoNanos(1_000_000_000),
        clock: "then".to_owned(),
        clock_id: Some("3f".to_owned()),
        servers: vec!["mariadbd, process 1".to_owned()],
        raw_sql: true,
        step: Nanos(500_000),
    };
    lines(&begin, &[RecordedPart::Requests(vec![request("SELECT 1"), request("UPDATE t")])], &end())
}

fn lines(begin: &TraceBegin, parts: &[RecordedPart], end: &TraceEnd) -> Vec<u8> {
    let mut writer = TraceLineWriter::begin(Vec::new(), begin).expect("memory");
    for part in parts {
        if let RecordedPart::Requests(requests) = part {
            let each = |request| writer.request(request, "QUERY").expect("memory");
            requests.iter().for_each(each);
        }
    }
    writer.end(end).expect("memory");
    std::mem::take(writer.get_mut())
}

/// A recording of blocks as lines of JSON.
fn as_lines(blocks: &[u8]) -> Vec<u8> {
    let (begin, mut reader) = TraceReader::begin(blocks).expect("a recording");
    let mut parts = Vec::new();
    while let Some(part) = reader.next().expect("a block") {
        match part {
            RecordedPart::End(end) => return lines(&begin, &parts, &end),
            part => parts.push(part),
        }
    }
    panic!("it has no end")
}

/// The documents of each recording: a line each.
fn recordings() -> Vec<Vec<Value>> {
    let first = include_bytes!("../../../../fuzz/seeds/trace/recording").to_vec();
    let fifth = as_lines(include_bytes!("../../../../fuzz/seeds/trace/recording_5"));
    let parse = |line: &[u8]| serde_json::from_slice::<Value>(line).expect("JSON");
    let of_lines = |lines: Vec<u8>| {
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(parse).collect::<Vec<_>>()
    };
    [first, fifth, rich_lines()].map(of_lines).to_vec()
}

fn recording(documents: &[Value]) -> Vec<u8> {
    documents.iter().flat_map(|document| format!("{document}\n").into_bytes()).collect()
}

/// The names of all numbers in a document; those of a list have its name.
fn names(document: &Value, name: &str, all: &mut BTreeSet<String>) {
    match document {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| names(field, name, all));
        }
        Value::Array(list) => list.iter().for_each(|one| names(one, name, all)),
        Value::Number(_) => _ = all.insert(name.to_owned()),
        _ => {}
    }
}

fn names_of(documents: &[Value]) -> Vec<String> {
    let mut all = BTreeSet::new();
    documents.iter().for_each(|document| names(document, "", &mut all));
    all.into_iter().collect()
}

/// Puts a number in the place of all that have this name.
fn put(document: &mut Value, name: &str, place: &str, number: &Value) {
    match document {
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, field)| put(field, name, place, number));
        }
        Value::Array(list) => list.iter_mut().for_each(|one| put(one, name, place, number)),
        Value::Number(_) if name == place => *document = number.clone(),
        _ => {}
    }
}

fn put_into(documents: &mut [Value], place: &str, extreme: &str) {
    let number: Value = serde_json::from_str(extreme).expect("a number");
    documents.iter_mut().for_each(|document| put(document, "", place, &number));
}

#[test]
fn any_number_of_a_recording_is_shown_in_bounds() {
    let mut tried = BTreeSet::new();
    // The last has most of them; what the others have too is tried there, and together with more.
    for documents in recordings().into_iter().rev() {
        assert!(every_view::show(&recording(&documents)), "it is whole");
        for name in names_of(&documents).into_iter().filter(|name| tried.insert(name.clone())) {
            for extreme in EXTREMES {
                let mut documents = documents.clone();
                put_into(&mut documents, &name, extreme);
                every_view::show(&recording(&documents));
            }
        }
    }
}

/// The files of a record, in the order of the seeds, with a zero byte between them.
const RECORD_FILES: [&str; 6] = [
    file::RUN,
    file::SERIES,
    file::TRANSACTIONS,
    file::TRANSACTION_STATEMENTS,
    file::SERVER_SECONDS,
    file::LATENCY,
];

/// The texts of the files of records.
fn records() -> Vec<Vec<String>> {
    let seeds = [
        &include_bytes!("../../../../fuzz/seeds/record/point-select")[..],
        include_bytes!("../../../../fuzz/seeds/record/traced"),
    ];
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a text");
    seeds.map(|seed| seed.split(|byte| *byte == 0).map(text).collect::<Vec<_>>()).to_vec()
}

/// Puts a number into all rows of a column.
fn put_into_column(table: &str, column: usize, extreme: &str) -> String {
    let row = |(at, row): (usize, &str)| {
        let mut cells: Vec<&str> = row.split(',').collect();
        if let Some(cell) = cells.get_mut(column).filter(|_| at > 0) {
            *cell = extreme;
        }
        cells.join(",") + "\n"
    };
    table.lines().enumerate().map(row).collect()
}

/// Shows a record as text and as a page, if it can be read. Returns whether it can.
fn show_record(texts: &[String]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("room");
    write(file::SERIES, &csv::series_text(&[]));
    for (name, text) in RECORD_FILES.iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
        write(name, text);
    }
    let Ok(run) = read_run(folder.path()) else { return false };
    let options =
        terminal::TerminalOptions { histogram: true, threads: true, ..Default::default() };
    let short = terminal::TerminalOptions { short: true, ..Default::default() };
    let short = terminal::run_report(&run, &short);
    assert!(short.lines().count() <= terminal::SHORT_LINES, "{short}");
    let length = terminal::run_report(&run, &options).len() + html::report(&run).len();
    let most = SMALL_BYTES + MOST_TIMES * texts.iter().map(String::len).sum::<usize>();
    assert!(length <= most, "{length} bytes of reports, of at most {most}");
    true
}

#[test]
fn the_seeds_of_records_can_be_shown() {
    records().iter().for_each(|texts| assert!(show_record(texts)));
}

proptest! {
    #[test]
    fn any_numbers_of_a_recording_together_are_shown_in_bounds(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..EXTREMES.len()), 2..12),
    ) {
        let mut documents = recordings().swap_remove(which);
        let names = names_of(&documents);
        for (name, extreme) in changes {
            put_into(&mut documents, name.get::<String>(&names), EXTREMES[extreme]);
        }
        every_view::show(&recording(&documents));
    }

    #[test]
    fn any_numbers_of_a_record_are_shown_in_bounds(
        which in 0usize..2,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..EXTREMES.len()), 1..6),
        (table, column, cell) in (1usize..6, 0usize..20, 0..EXTREMES.len()),
    ) {
        let mut texts = records().swap_remove(which);
        let mut record = [serde_json::from_str::<Value>(&texts[0]).expect("JSON")];
        let names = names_of(&record);
        for (name, extreme) in changes {
            put_into(&mut record, name.get::<String>(&names), EXTREMES[extreme]);
        }
        texts[0] = record[0].to_string();
        if let Some(table) = texts.get_mut(table) {
            *table = put_into_column(table, column, EXTREMES[cell]);
        }
        show_record(&texts);
    }
}
