//! Summaries of made traces: golden, and whole whatever a recording says.

use super::*;
use crate::terminal::{COLUMNS, LockRelease, PageStyle, SCREEN_LINES, ledger_troubles};
use dbtime_model::traced_file::TraceBegin;
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_totals::{Preemption, ReplacedStatements, StatementName, StatementTotals};
use dbtime_model::{MonoNanos, Parts, ServerQueueParts};

fn row(name: &str, was_preempted: bool, count: u64, coarse: &[(u32, u64)]) -> StatementTotals {
    let mut totals = TraceTotals {
        count,
        response: Nanos(count * 100_000),
        longest: Nanos(200_000),
        queued: count,
        server_queue: Nanos(count * 3_000),
        queue_parts: ServerQueueParts {
            runq_woken: Nanos(count * 2_000),
            ..ServerQueueParts::default()
        },
        parts: Parts::of(&[
            (Part::Cpu, Nanos(count * 75_000).signed()),
            (Part::Lock, Nanos(count * 24_000).signed()),
        ]),
        ..TraceTotals::default()
    };
    totals.responses.add(112, count);
    coarse.iter().for_each(|&(power, count)| totals.coarse.add_to(power, count));
    let name = StatementName::Text(name.into());
    StatementTotals { was_preempted, totals, ..StatementTotals::nothing_of(name) }
}

fn report(totals: &TracedTotals) -> TracedReport<'_> {
    let named = |row: &StatementTotals| match &row.name {
        StatementName::Text(text) => (text.to_string(), row.totals.clone()),
        _ => ("(others)".to_owned(), row.totals.clone()),
    };
    let statements = totals.statements.iter().map(named).collect();
    TracedReport {
        totals,
        statements,
        locks: Vec::new(),
        length: Nanos::from_secs(2),
        only_counted: Nanos::ZERO,
        step: Nanos::ZERO,
    }
}

/// The summary as text.
fn summary(totals: &TracedTotals) -> String {
    trace_document(&report(totals)).text(PageStyle::default())
}

#[test]
fn a_summary_holds_what_querystat_told_and_the_parts_and_statements() {
    let sysbench =
        Preemption { name: Some("sysbench".into()), count: 3095, length: Nanos(95_000_000) };
    let log = FileWait {
        file: FileName::Named("ib_logfile0".into()),
        part: Part::Sync,
        count: 1660,
        length: Nanos(12_200_000),
    };
    let other = FileWait { count: 7, length: Nanos(900_000), ..log.clone() };
    let update = "UPDATE t SET c=?, pad=? WHERE id=? AND name LIKE ? ".repeat(6);
    let mut totals = TracedTotals {
        statements: vec![
            row("SELECT c FROM t WHERE id=?", false, 1500, &[(0, 20), (6, 1480)]),
            row(&update, true, 500, &[(7, 500)]),
        ],
        lock_waits: Vec::new(),
        preemptors: vec![sysbench],
        replaced: None,
    };
    let mapped = FileWait { file: FileName::Mapped, part: Part::IoRead, ..other };
    totals.statements[1].totals.files = vec![mapped, log];
    insta::assert_snapshot!(summary(&totals));
    totals.statements[0].cache = QueryCache::Hit;
    totals.statements[0].totals.queued = 1400;
    let cached = summary(&totals);
    assert!(cached.contains("query-cache hits") && cached.contains("query-cache misses"));
    assert!(cached.contains(" 3.16 µs on average, of 1,900 that were seen"), "{cached}");
    totals.replaced =
        Some(ReplacedStatements { rows: 1953, most_calls: 2, most_time: Nanos(1_053_000) });
    let replaced = summary(&totals);
    assert!(replaced.contains("1,953 rows") && replaced.contains("1.05 ms"), "{replaced}");
    let nothing = TracedTotals::default();
    let nothing = summary(&nothing);
    assert!(nothing.contains("0 in 2.0 s") && !nothing.contains("Distribution"), "{nothing}");
}

#[test]
fn counts_and_times_of_a_stranger_have_a_place_in_every_line() {
    let mut odd = row("SELECT 1", true, 1, &[(6, u64::MAX), (7, 1_000_000_000_000)]);
    odd.totals.parts = Parts::of(&[(Part::Cpu, i64::MAX), (Part::Lock, i64::MAX)]);
    let name = Some("sh".to_owned());
    let preemptor = Preemption { name, count: u64::MAX, length: Nanos(u64::MAX) };
    let totals = TracedTotals {
        statements: vec![odd],
        preemptors: vec![preemptor; MAX_ROWS + 2],
        ..TracedTotals::default()
    };
    let text = summary(&totals);
    assert!(text.lines().all(|line| line.chars().count() < 2 * COLUMNS), "{text}");
    assert!(text.contains(&"@".repeat(40)) && !text.contains(&"@".repeat(41)), "{text}");
}

#[test]
fn pre_emptors_without_a_name_have_a_row_with_their_share() {
    let mut lost = row("SELECT 1", true, 1, &[(6, 1)]);
    lost.totals.parts.add(Part::RunqPreempted, 100_000);
    let sh = Preemption { name: Some("sh".to_owned()), count: 3, length: Nanos(75_000) };
    let totals =
        TracedTotals { statements: vec![lost], preemptors: vec![sh], ..TracedTotals::default() };
    let text = summary(&totals);
    let (_, table) = text.split_once("Pre-emptors").expect("a table");
    let rows: Vec<Vec<&str>> =
        table.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["sh", "3", "75.0", "µs", "25.0", "µs"], "{text}");
    assert_eq!(rows[1], ["(not", "named,", "25", "%)", NONE, "25.0", "µs", NONE], "{text}");
}

#[test]
fn parts_that_were_not_measured_are_no_zeros() {
    let mut totals = TracedTotals {
        statements: vec![row("SELECT 1", false, 500, &[(6, 500)])],
        ..TracedTotals::default()
    };
    totals.statements[0].totals.parts = Parts::default();
    let text = summary(&totals);
    assert!(text.trim_start().starts_with("not measured: the parts of responses"), "{text}");
    assert!(!text.contains("unexplained") && !text.contains("0 ns"), "{text}");
    assert!(!text.contains("pre-empted"), "{text}");
    let all = text.lines().find(|line| line.trim_start().starts_with("all statements"));
    assert!(all.is_some_and(|line| line.ends_with(NONE)), "{text}");
}

#[test]
fn those_that_were_throttled_are_told_apart_from_those_pre_empted() {
    let mut held = row("SELECT 1", true, 10, &[(6, 10)]);
    held.totals.parts.add(Part::Throttled, 250_000);
    let mut free = row("SELECT 2", false, 10, &[(6, 10)]);
    free.totals.parts.add(Part::Throttled, 250_000);
    let told = |statements| {
        let totals = TracedTotals { statements, ..TracedTotals::default() };
        summary(&totals)
    };
    let text = told(vec![held]);
    assert!(text.contains("were throttled first (25 % of its time)"), "{text}");
    assert!(!told(vec![free]).contains("throttled first"));
}

#[test]
fn no_more_of_a_time_in_the_socket_is_told_than_there_was() {
    let mut odd = row("SELECT 1", false, 10, &[(6, 10)]);
    odd.totals.queue_parts.runq_preempted = Nanos(20_000);
    let statements = vec![odd];
    let totals = TracedTotals { statements, ..TracedTotals::default() };
    let text = summary(&totals);
    assert!(text.contains("server_queue, before that: 3.00 µs on average"), "{text}");
    assert!(text.contains("waited: runq_preempted 2.00 µs, runq_woken 1.00 µs"), "{text}");
}

#[test]
fn equal_steps_begin_at_zero_and_the_last_is_open() {
    let statements = vec![row("SELECT 1", false, 9, &[(0, 8), (39, 1)])];
    let totals = TracedTotals { statements, ..TracedTotals::default() };
    let text = trace_histogram(&totals, Nanos(500_000));
    assert!(text.contains("  0 |") && text.contains(" 500 |"), "{text}");
    assert!(text.contains(">= 19500 |"), "{text}");
}

#[test]
fn the_page_has_every_statement_and_markdown_those_of_the_text() {
    let names = (0..MAX_STATEMENTS + 5).map(|n| format!("SELECT c{n}x FROM t"));
    let names: Vec<String> = names.collect();
    let statement = |(n, name): (usize, &String)| row(name, false, 100 - n as u64, &[(6, 75)]);
    let totals = TracedTotals {
        statements: names.iter().enumerate().map(statement).collect(),
        ..TracedTotals::default()
    };
    let report = report(&totals);
    let end = TraceEnd {
        length: report.length,
        added_up: None,
        clock: String::new(),
        ledger: TraceLedger::default(),
        cost: None,
        totals: TracedTotals::default(),
    };
    let document = whole_trace_document(&report, &begin(), &end);
    let (page, markdown) = (document.html(), document.markdown());
    assert!(names.iter().all(|name| page.contains(name)), "{page}");
    assert!(
        page.contains("<pre class") && page.contains("@@@@") && page.contains("<rect"),
        "{page}"
    );
    let (shown, hidden) = names.split_at(MAX_STATEMENTS);
    assert!(shown.iter().all(|name| markdown.contains(name)), "{markdown}");
    assert!(!hidden.iter().any(|name| markdown.contains(name)), "{markdown}");
    assert!(markdown.contains("\n5 more statements: ") && markdown.contains("### Ledger\n"));
    let [server, clock] = ["mariadbd, process 1, port 3306", "from 2026-11-27 10:00:00 to"];
    for form in [&page, &markdown] {
        for expected in [server, clock, "nothing is missing: all requests"] {
            assert!(form.contains(expected), "no {expected} in {form}");
        }
    }
}

/// What stands at the beginning of a recording of several servers.
fn begin() -> TraceBegin {
    let server = |number: u64| format!("mariadbd, process {number}, port 3306 and its Unix socket");
    TraceBegin {
        version: 0,
        since: MonoNanos(0),
        clock: "2026-11-27 10:00:00".to_owned(),
        clock_id: None,
        servers: (1..9).map(server).collect(),
        raw_sql: false,
        step: Nanos::ZERO,
    }
}

/// Sums with more of everything than a screen has room for.
fn crowded() -> TracedTotals {
    let statement = |number: u64| {
        let name = format!("SELECT c{number} FROM a_table_with_a_long_name WHERE id = ? ");
        let mut row = row(&name.repeat(9), number.is_multiple_of(2), 100 - number, &[(6, 75)]);
        row.totals.parts = Parts::of(&Part::TRACED.map(|part| (part, 100_000_i64)));
        row
    };
    let preemptor = |number: u64| Preemption {
        name: Some(format!("thread {number} ").repeat(20)),
        count: 9,
        length: Nanos(1000 - number),
    };
    TracedTotals {
        statements: (0..50).map(statement).collect(),
        lock_waits: Vec::new(),
        preemptors: (0..50).map(preemptor).collect(),
        replaced: Some(ReplacedStatements { rows: 7, most_calls: 2, most_time: Nanos(9) }),
    }
}

/// Locks of many statements, each with a holder of its own.
fn crowded_locks() -> Vec<StatementLocks> {
    let of = |number: u64| {
        let release = LockRelease::Statement(format!("COMMIT {number} ").repeat(20));
        let statement = format!("UPDATE t{number} ").repeat(20);
        let mut locks = StatementLocks::new(statement, "row lock".to_owned(), release);
        locks.add(3, Nanos(9_000_000 - number), Nanos(4_000_000));
        locks
    };
    (0..30).map(of).collect()
}

/// The answer of these sums in a recording of several servers with this ledger.
fn answer(totals: &TracedTotals, ledger: TraceLedger) -> String {
    let end = TraceEnd {
        length: Nanos::from_secs(2),
        added_up: Some(Nanos::from_secs(1)),
        clock: "2026-11-27 10:00:02".to_owned(),
        ledger,
        cost: None,
        totals: TracedTotals::default(),
    };
    let only_counted = Nanos::from_secs(1);
    let report = TracedReport { locks: crowded_locks(), only_counted, ..report(totals) };
    let document = short_trace_document(&report, &begin(), &end);
    for columns in [72, 120] {
        let text = document.text(PageStyle::default().within(columns));
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
    }
    let text = document.text(PageStyle::default());
    assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
    assert!(text.lines().count() <= SCREEN_LINES, "{text}");
    text
}

#[test]
fn the_answer_of_a_recording_is_on_one_screen() {
    let text = answer(&crowded(), TraceLedger::default());
    let mut rest = text.as_str();
    for expected in [
        "3,775 requests in 2.0 s\n  watched       mariadbd, process 1, port 3306",
        "\n  recorded      from 2026-11-27 10:00:00 to 2026-11-27 10:00:02\n",
        "\n  statements    3,775 in 2.0 s: 1,888 queries/sec; 0 answered with an error\n",
        "requests were only counted\n",
        "\n  complete      nothing is missing",
        "\n  all statements ",
        "\nWhere the time goes\n",
        "\n  the rest ",
        "\n  unexplained ",
        "\nBy statement, the longest in all first\n",
        "more statements: ",
        "\n  (others) has what 7 rows had",
        "\nWho held locks, those first that were waited for longest\n",
        "row lock released by COMMIT 0",
        "further locks: ",
        "\nPre-emptors\n",
        "\n  (more) ",
        "\n  --details prints the rest: ",
    ] {
        let at = rest.find(expected).unwrap_or_else(|| panic!("no `{expected}` in\n{text}"));
        // The end of a line is the beginning of the next.
        rest = &rest[at + expected.trim_end().len()..];
    }
    let whole = trace_document(&report(&crowded())).text(PageStyle::default());
    assert!(whole.contains("\nResponse distribution, ") && !text.contains("Response distribution"));
}

#[test]
fn nothing_that_may_be_missing_is_left_out_of_an_answer() {
    let ledger = TraceLedger {
        started: 9,
        dropped: 2,
        not_streamed: 3,
        cut: 4,
        unread: 5,
        pipelined_over: 6,
        resync: 7,
        no_storage: 8,
        missed_events: 9,
        unseen_arrivals: 10,
        tls: 11,
        gss: 12,
        compressed: 13,
        other_protocol: 14,
        unparsed: 15,
        restarts: 16,
        ..TraceLedger::default()
    };
    let troubles = ledger_troubles(&ledger);
    assert_eq!(troubles.len(), 15, "{troubles:?}");
    let text = answer(&crowded(), ledger);
    let unbroken = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    for trouble in troubles {
        assert!(unbroken.contains(&format!("! {trouble}")), "{trouble}: {text}");
    }
    assert!(unbroken.contains("! 9 requests whose connection was gone"), "{text}");
    assert!(!text.contains("nothing is missing"), "{text}");
    let nothing = answer(&TracedTotals::default(), TraceLedger::default());
    assert!(nothing.contains("0 requests in 2.0 s\n") && !nothing.contains("By statement"));
}
