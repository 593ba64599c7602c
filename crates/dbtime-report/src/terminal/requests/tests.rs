//! Tests of lines of requests.

use super::*;
use dbtime_model::Nanos;
use dbtime_model::Parts;
use dbtime_model::traced::{BlockingTransaction, QueryCache};

fn request() -> TracedRequest {
    TracedRequest {
        connection: 3,
        login: None,
        executes: 0,
        statements: Vec::new(),
        process: 4711,
        thread: 6487,
        start: MonoNanos(1_010_071_000),
        first_sent: Some(MonoNanos(1_010_100_000)),
        end: MonoNanos(1_010_122_000),
        protocol: WireProtocol::Mysql,
        command: 3,
        length: 24,
        text: "SELECT  1\nFROM\tt\x1b[2J".into(),
        text_state: TextState::Cut,
        sent_bytes: 64,
        writes: 1,
        rows: Some(7),
        error: Some(ErrorCode::Number(1146)),
        outcome: RequestOutcome::Ended,
        server_queue: None,
        queue_parts: None,
        parts: Parts::of(&[(Part::Cpu, 30_000), (Part::Lock, 20_000)]),
        other_call: None,
        blocker: None,
        preemptors: Vec::new(),
        files: Vec::new(),
        cache: QueryCache::NotAsked,
        is_match: false,
        answer_arrived: None,
        taken: None,
        stacks: Vec::new(),
    }
}

#[test]
fn what_it_took_is_told_for_each_request() {
    let cost = TraceCost {
        kernel: Nanos(2_200_000),
        probe_hits: 7000,
        trap: Nanos(600),
        own: Nanos(800_000),
    };
    let line = cost_line(&cost, 1000, Nanos(1_000_000_000));
    let expected = "cost         0.7 % of one CPU: a request 2.20 µs in the kernel (estimated), \
                    800 ns in dbtime, 7.00 traps of 600 ns\n";
    assert_eq!(line, expected);
    let none = cost_line(&TraceCost::default(), 0, Nanos(1_000_000_000));
    assert_eq!(none, "cost         0 % of one CPU\n");
}

#[test]
fn a_request_is_one_line_whatever_its_text() {
    let request = request();
    let line = |room| {
        let mut line = String::new();
        request_line(&request, MonoNanos(1_000_000_000), "QUERY", room, &mut line);
        line
    };
    assert_eq!(
        line(None),
        "  0.010071      #3    6487  51.0 µs  30.0 µs  lock 20.0 µs     03:QUERY       7     24  \
         ERROR 1146 SELECT 1 FROM t\u{fffd}[2J…\n"
    );
    assert_eq!(line(Some(40)).chars().count(), 41);
    let odd = TracedRequest { protocol: WireProtocol::Postgres, command: 0x1b, ..request.clone() };
    let mut out = String::new();
    push_command(&odd, "?", &mut out);
    assert_eq!(std::mem::take(&mut out), "1b:?");
    push_line("\x1b", &mut out);
    assert_eq!(out, "\u{fffd}");
}

#[test]
fn waits_for_a_cpu_of_both_kinds_are_one_in_a_line() {
    let kinds = [(Part::RunqPreempted, 9_000), (Part::RunqWoken, 7_000), (Part::Lock, 12_000)];
    let request = TracedRequest { parts: Parts::of(&kinds), ..request() };
    let mut line = String::new();
    request_line(&request, MonoNanos(0), "QUERY", None, &mut line);
    assert!(line.contains("  runq 16.0 µs  "), "{line}");
}

#[test]
fn no_foreign_text_of_a_request_drives_the_terminal() {
    let lock = Some("\x1b[31mrow".into());
    let blocker = Blocker { lock, length: Nanos(20_000), thread: Some(7), ..Blocker::default() };
    let hostile = TracedRequest {
        error: Some(ErrorCode::SqlState("\x1b]0;42P01\x07".to_owned())),
        blocker: Some(blocker),
        ..request()
    };
    let mut line = String::new();
    request_line(&hostile, MonoNanos(0), "QUERY", None, &mut line);
    let expected = "ERROR \u{fffd}]0;42P01\u{fffd} [\u{fffd}[31mrow from thread 7] SELECT";
    assert!(line.contains(expected), "{line:?}");
    let mut blocker = hostile.blocker.expect("one");
    blocker.server_id = Some(42);
    assert_eq!(blocker_text(&blocker), "\u{fffd}[31mrow from process 42");
}

#[test]
fn who_let_a_lock_go_is_named() {
    let blocker = Blocker {
        thread: Some(12),
        connection: Some(8),
        lock: Some("row lock".into()),
        statement: Some("COMMIT".into()),
        length: Nanos(20_000),
        ..Blocker::default()
    };
    let line = |blocker| {
        let text = "UPDATE t".into();
        let request = TracedRequest { blocker: Some(blocker), error: None, text, ..request() };
        let mut line = String::new();
        request_line(&request, MonoNanos(0), "QUERY", None, &mut line);
        line
    };
    let end = "  [row lock from connection #8: COMMIT] UPDATE t…\n";
    assert!(line(blocker.clone()).ends_with(end));
    let held = BlockingTransaction {
        statements: 3,
        idle: Nanos(2_000_000_000),
        ..BlockingTransaction::default()
    };
    let held = Blocker { transaction: Some(held.into()), server_id: Some(99), ..blocker.clone() };
    let end = "connection 99: COMMIT, 3 statements, 2.00 s idle] UPDATE t…\n";
    assert!(line(held.clone()).ends_with(end));
    let end = "connection 99, whose client had gone, 3 statements, 2.00 s idle] UPDATE t…\n";
    assert!(line(Blocker { has_left: true, ..held }).ends_with(end));
    let other = Blocker { connection: None, lock: None, ..blocker.clone() };
    assert!(line(other).ends_with("  [lock from thread 12] UPDATE t…\n"));
    let nobody = Blocker { connection: None, thread: None, ..blocker };
    assert!(line(nobody).ends_with("  [row lock whose holder is not known] UPDATE t…\n"));
}

#[test]
fn a_ledger_tells_troubles_where_there_are_some() {
    let fine = TraceLedger {
        started: 3,
        ended: 3,
        streamed: 3,
        connections: 1,
        logins: 1,
        ..TraceLedger::default()
    };
    assert_eq!(
        ledger_lines(&fine),
        "requests     3 started = 3 ended + 0 in flight + 0 aborted + 0 under way before\n\
         stream       3 handed on + 0 dropped\nconnections  1 followed\n"
    );
    let lossy = TraceLedger { started: 4, dropped: 1, streamed: 2, ..fine };
    let text = ledger_lines(&lossy);
    assert!(text.contains("+ 1 whose connection was gone") && text.contains("! 1 request dropped"));
    let older = ledger_lines(&TraceLedger { connections: 3, ..fine });
    assert!(older.contains("\nconnections  3 followed, 2 of unknown users, from before\n"));
    let refused = ledger_lines(&TraceLedger { connection_errors: 2, ..fine });
    assert!(refused.ends_with("\nconnections  1 followed; 2 errors outside of requests\n"));
    let restarted = TraceLedger { restarts: 2, unwatched: Nanos(52_100_000), ..fine };
    let line = "\n! 2 restarts of servers: requests in the 52.1 ms before they were \
                found may be missing\n";
    assert!(ledger_lines(&restarted).ends_with(line), "{}", ledger_lines(&restarted));
    let turned_away = TraceLedger { connections: 2, refused: 1, connection_errors: 1, ..fine };
    let line = "\nconnections  2 followed, 1 of clients that were refused before they had said \
                who they are; 1 error outside of requests\n";
    assert!(ledger_lines(&turned_away).ends_with(line), "{}", ledger_lines(&turned_away));
    let quiet = TraceLedger { connections: 4, replication: 1, cancels: 2, ..fine };
    let line = "\nconnections  4 followed, 1 of unknown users, from before, 1 of replicas, \
                2 that only cancelled a request\n";
    assert!(ledger_lines(&quiet).ends_with(line), "{}", ledger_lines(&quiet));
}

#[test]
fn each_kind_of_connection_that_is_not_read_has_its_line() {
    let none = TraceLedger::default();
    for (ledger, reason) in [
        (TraceLedger { tls: 2, ..none }, "! 2 connections spoke TLS"),
        (TraceLedger { gss: 3, ..none }, "! 3 connections encrypted by GSS"),
        (TraceLedger { compressed: 4, ..none }, "! 4 connections compressed"),
        (TraceLedger { other_protocol: 5, ..none }, "! 5 connections spoke another protocol"),
        (TraceLedger { unparsed: 6, ..none }, "! 6 connections sent data that dbtime did not"),
    ] {
        let text = ledger_lines(&ledger);
        assert!(text.contains(reason) && text.ends_with("missing\n"), "{text}");
    }
}

#[test]
fn a_trouble_that_came_once_is_told_as_one() {
    let none = TraceLedger::default();
    for (ledger, told) in [
        (TraceLedger { resync: 1, ..none }, "! 1 time a connection was lost track of"),
        (TraceLedger { resync: 1_200, ..none }, "! 1,200 times a connection was lost track of"),
        (TraceLedger { cut: 1, ..none }, "! 1 text longer than"),
        (TraceLedger { cut: 2, ..none }, "! 2 texts longer than"),
        (TraceLedger { tls: 1, ..none }, "! 1 connection spoke TLS"),
        (TraceLedger { no_storage: 1, ..none }, "! 1 call to read or write"),
        (TraceLedger { missed_events: 1, ..none }, "! 1 event of some process"),
    ] {
        let text = ledger_lines(&ledger);
        assert!(text.contains(told), "{text}");
    }
}
