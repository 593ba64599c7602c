//! Slow logs that were cut, overwritten, or written by no server.

use super::slow::{OLD, read};
use super::{assert_same_in_parts, read_every_piece, read_parts};
use crate::logs::mysql::SlowLog;
use dbtime_model::log_digest::{LogFigure, UnreadReason};

/// The first lines of a record.
const ACCOUNT: &str = "# User@Host: a[a] @ b []\n";

#[test]
fn records_that_end_early_are_counted_once() {
    let cut = [
        "",
        "# Query_time: x",
        "# Query_time: 1\n",
        "SET timestamp=5;\n",
        "select 1",
        "use a;\nSET timestamp=5;",
    ];
    for text in cut {
        // The statement before it stays whole.
        let taken = read(&format!("{ACCOUNT}select 0;\n{ACCOUNT}{text}"));
        let at = (ACCOUNT.len() + "select 0;\n".len()) as u64;
        assert_eq!(taken.unread, [(UnreadReason::Incomplete, at)], "{text}");
        assert_eq!(taken.texts(), ["select 0"], "{text}");
    }
}

#[test]
fn a_crashed_servers_last_record_is_counted() {
    let header = &OLD[..OLD.find("# Time").expect("a record")];
    let taken = read(&format!("{ACCOUNT}select 1\n{header}{ACCOUNT}select 2;\n"));
    assert_eq!(taken.texts(), ["select 2"]);
    assert_eq!(taken.unread, [(UnreadReason::Incomplete, 0)]);
}

#[test]
fn lines_before_the_first_record_are_counted() {
    let taken = read(&format!("from t\nwhere a = 1;\n\n{OLD}"));
    assert_eq!(taken.unread, [(UnreadReason::Form, 0), (UnreadReason::Form, 7)]);
    assert_eq!(taken.records.len(), 4);
}

#[test]
fn lines_that_are_no_comments_of_a_server_are_counted() {
    let lines = [
        ("# Time: yesterday\n", UnreadReason::Time),
        ("# Time:\n", UnreadReason::Time),
        ("# User@Host: nothing\n", UnreadReason::Form),
        ("# some words\n", UnreadReason::Form),
        ("# Query_time:\n", UnreadReason::Number),
        ("# Full_scan: Maybe  Rows_sent: -1\n", UnreadReason::Number),
        ("# Log_slow_rate_limit: 99999999999\n", UnreadReason::Number),
    ];
    for (line, why) in lines {
        let taken = read(&format!("{ACCOUNT}{line}select 1;\n"));
        assert_eq!(taken.unread, [(why, ACCOUNT.len() as u64)], "{line}");
        assert_eq!(taken.texts(), ["select 1"], "{line}");
    }
    let taken = read(&format!("{ACCOUNT}# administrator command: a'b;\n"));
    assert_eq!((taken.records.len(), taken.unread), (0, vec![(UnreadReason::Form, 0)]));
}

#[test]
fn keys_that_are_too_many_are_counted_and_not_kept() {
    let pairs = "a: 1 ".repeat(100_000);
    let taken = read(&format!("{ACCOUNT}# {pairs}\n# Query_time: 1\nselect 1;\n"));
    assert_eq!(taken.unread, [(UnreadReason::Form, ACCOUNT.len() as u64)]);
    assert_eq!(taken.records[0].unknown.len(), 256);
    assert_eq!(taken.records[0].duration_ns, Some(1_000_000_000));
}

#[test]
fn a_figure_that_is_there_twice_counts_once() {
    let taken = read(&format!(
        "{ACCOUNT}# Query_time: 1  Rows_sent: 5\n# Query_time: 2  Rows_sent: 6\nselect 1;\n"
    ));
    assert_eq!(taken.records[0].duration_ns, Some(2_000_000_000));
    assert_eq!(taken.records[0].figures, [(LogFigure::RowsSent, 6)]);
}

#[test]
fn marks_in_statements_follow_the_rule_alone() {
    let text = "select '\n# Time: x\n# User@Host: y\n' from t";
    let log = format!("{ACCOUNT}{text};\n{ACCOUNT}select 2;\n");
    assert_eq!(read(&log).texts(), [text, "select 2"]);
    assert_same_in_parts(&SlowLog::default(), log.as_bytes());
}

#[test]
fn any_bytes_are_read_to_their_end() {
    let log = [
        OLD.as_bytes(),
        b"# Time: \xff\0\n# User@Host: [[]]@[]\n# :: Id:\n#\0 Id: 1 \0:\nuse `;\nSET =,;\n\0;\n",
        b"# Time:# User@Host:\n# Time: 999999 99:99:99 # User@Host: a[\n\n;\r\n# Time:\r\n",
    ]
    .concat();
    read_every_piece(&SlowLog::default(), &log);
    assert_same_in_parts(&SlowLog::default(), &log);
    read_every_piece(&SlowLog::default(), "\0;\n#;\n:".repeat(20).as_bytes());
    let hashes = read(&"#".repeat(1_000_000));
    assert_eq!(hashes.unread, [(UnreadReason::Form, 0)]);
    let comments = read(&format!("{ACCOUNT}{}select 1;\n", "#\n".repeat(50_000)));
    assert_eq!((comments.records.len(), comments.unread.len()), (1, 0));
    let taken = read_parts(&SlowLog::default(), &[&[]]);
    assert!(taken.records.is_empty() && taken.unread.is_empty());
}
