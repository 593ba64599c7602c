//! Messages of many sessions, mixed.

use super::*;
use crate::logs::{EntryKind, RecordPiece};

fn line(pid: usize, message: &str) -> String {
    format!("{TIME} [{pid}] LOG:  {message}\n")
}

fn read(log: &str) -> KeptLog {
    read_blocks(&text_log("%m [%p] "), &[log.as_bytes()])
}

#[test]
fn sessions_do_not_take_from_each_other() {
    let mut log = String::new();
    for step in ["parse", "bind", "execute"] {
        for pid in 1..=100 {
            log += &line(pid, &format!("duration: {pid}.0 ms  {step} <unnamed>: SELECT $1"));
        }
    }
    let kept = read(&log);
    let found: Vec<_> = kept.records.iter().map(|r| (r.session, r.duration_us)).collect();
    let all: Vec<_> = (1..=100u64).map(|pid| (pid, Some(pid * 3000))).collect();
    assert_eq!(found, all);
}

#[test]
fn statements_that_are_prepared_first_count_when_they_are_executed() {
    let log = [
        line(7, "duration: 4.0 ms  parse a: SELECT a"),
        line(7, "duration: 2.0 ms  parse b: SELECT b"),
        line(7, "duration: 9.0 ms  parse c: SELECT c"),
        line(7, "duration: 1.0 ms  bind a: SELECT a"),
        line(7, "duration: 5.0 ms  execute a: SELECT a"),
        line(7, "duration: 1.0 ms  bind b: SELECT b"),
        line(7, "duration: 6.0 ms  execute b: SELECT b"),
        line(7, "duration: 1.0 ms  bind a: SELECT a"),
        line(7, "duration: 5.0 ms  execute a: SELECT a"),
    ];
    let kept = read(&log.concat());
    let all = [("SELECT a", 10_000), ("SELECT b", 9000), ("SELECT a", 6000), ("SELECT c", 9000)];
    assert_eq!(kept.durations(), all.map(|(class, us)| (class, Some(us))));
}

#[test]
fn a_statement_that_fails_after_its_parse_has_no_duration() {
    let log = [
        line(7, "duration: 4.0 ms  parse a: SELECT $1"),
        line(7, "duration: 1.0 ms  parse b: SELECT b"),
        line(7, "duration: 1.0 ms  bind b: SELECT b"),
        line(7, "duration: 1.0 ms  execute b: SELECT b"),
        format!("{TIME} [7] ERROR:  canceling statement due to statement timeout\n"),
        format!("{TIME} [7] STATEMENT:  SELECT $1\n"),
    ];
    let kept = read(&log.concat());
    assert_eq!(kept.durations(), [("SELECT b", Some(3000)), ("SELECT $?", None)]);
    assert_eq!(kept.records[1].figures, [(LogFigure::ParseTime, 4_000_000)]);
}

#[test]
fn a_duration_of_another_process_finds_no_statement() {
    let text = line(1, "statement: SELECT 1");
    let kept = read(&(text.clone() + &line(2, "duration: 5.0 ms")));
    assert_eq!(kept.durations(), [("SELECT ?", None)]);
    assert_eq!(kept.unread, [(UnreadReason::NoStatement, text.len() as u64)]);
}

#[test]
fn what_is_open_is_left_where_its_messages_are_read_again() {
    let first = line(7, "duration: 4.0 ms  parse a: SELECT a");
    let log = first.clone() + &line(7, "statement: SELECT b");
    let reader = text_log("%m [%p] ");
    let mut batch = RecordBatch::default();
    reader.read(log.as_bytes(), &mut DigitNamer, &mut batch);
    for (from, expected) in [(0, (2, 0)), (first.len() - 1, (1, 1)), (log.len(), (0, 2))] {
        let (mut joiner, mut kept) = (reader.joiner(), KeptLog::default());
        joiner.join(log.as_bytes(), 0, &batch, &mut kept);
        let left = joiner.leave_open(from as u64, &mut kept);
        assert_eq!((left, kept.records.len()), expected, "behind {from}");
    }
}

#[test]
fn sessions_keep_what_their_connection_was() {
    let log = [
        line(7, "connection received: host=10.0.0.9 port=4711"),
        line(7, "connection authorized: user=ann database=shop application_name=psql"),
        line(7, "duration: 1.0 ms  statement: SELECT 1"),
        line(7, "statement: SELECT 2"),
        line(7, "disconnection: session time: 0:00:01.234 user=ann database=shop host=10.0.0.9"),
        line(7, "duration: 5.0 ms"),
    ];
    let kept = read(&log.concat());
    let names: Vec<_> = kept.records.iter().map(|record| &*record.names).collect();
    assert_eq!(names, ["ann 10.0.0.9 shop"; 2]);
    assert_eq!(kept.durations(), [("SELECT ?", Some(1000)), ("SELECT ?", None)]);
    assert_eq!(kept.unread.len(), 1, "the session is over");
}

#[test]
fn open_statements_are_bounded_and_none_is_lost() {
    let count = 25_000;
    let log: String = (1..=count).map(|pid| line(pid, "statement: SELECT 1")).collect();
    let kept = read(&log);
    assert_eq!(kept.records.len(), count);
    let sessions: Vec<_> = kept.records.iter().map(|record| record.session).collect();
    assert!(sessions.is_sorted(), "oldest first");
}

#[test]
fn long_classes_are_not_held_without_bound() {
    let mut batch = RecordBatch::default();
    let class = Some(batch.classes.intern(&"x".repeat(1 << 20)));
    let kind = EntryKind::StatementText;
    let piece = |session| RecordPiece { kind, class, session, ..RecordPiece::default() };
    batch.pieces.extend((0..60).map(piece));
    let (mut joiner, mut kept) = (PostgresCsv.joiner(), KeptLog::default());
    joiner.join(b"", 0, &batch, &mut kept);
    assert!((20..40).contains(&kept.records.len()), "{}", kept.records.len());
    joiner.end(&mut kept);
    assert_eq!(kept.records.len(), 60);
}
