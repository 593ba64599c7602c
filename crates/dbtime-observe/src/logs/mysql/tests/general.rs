//! General logs in both forms.

use super::{TakenLog, TakenRecord, assert_same_in_parts, read_every_piece, read_parts};
use crate::logs::mysql::GeneralLog;
use dbtime_model::log_digest::{ClassKind, UnreadReason};

/// 2007-10-07 21:55:24. Unit: microseconds.
const OLD_US: i64 = 1_191_794_124_000_000;

/// A log in which entries depend on others before them.
const OLD: &str = "\
/usr/sbin/mysqld, Version: 5.1.41-log (x). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
071007 21:55:24\t     42 Connect\troot@localhost on shop
\t\t     42 Query\tselect a
\tfrom b
 5 lines
\t\t     42 Init DB\tother
\t\t     43 Connect\tapp@10.0.0.1 on\x20
071007 21:55:25\t     42 Execute\t[1] select 'x'
/usr/sbin/mysqld, Version: 5.1.41-log (x). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
\t\t     43 Query\tUSE `third`;
\t\t     43 Close stmt\t
\t\t     42 Quit\t
\t\t     42 Query\tselect 1
";

fn read(log: &str) -> TakenLog {
    read_parts(&GeneralLog, &[log.as_bytes()])
}

/// The class, user and database of a record.
fn summary(record: &TakenRecord) -> (&str, &str, &str) {
    (&record.class, &record.user, &record.database)
}

#[test]
fn old_entries_share_time_account_and_database() {
    let taken = read(OLD);
    assert!(taken.unread.is_empty(), "{taken:?}");
    let records = [
        ("Connect", "root", "shop"),
        ("select a\n\tfrom b\n 5 lines", "root", "shop"),
        ("Init DB", "root", "other"),
        ("Connect", "app", ""),
        ("select 'x'", "root", "other"),
        ("USE `third`;", "app", "third"),
        ("Close stmt", "app", "third"),
        ("Quit", "root", "other"),
        ("select 1", "", ""),
    ];
    assert_eq!(taken.records.iter().map(summary).collect::<Vec<_>>(), records);
    let seconds: Vec<_> = taken.records.iter().map(|record| record.start_us).collect();
    let expected = [0, 0, 0, 0, 1, 1, 1, 1, 1].map(|later| Some(OLD_US + later * 1_000_000));
    assert_eq!(seconds, expected);
    let execute = TakenRecord {
        offset: OLD.find("071007 21:55:25").expect("an entry") as u64,
        kind: ClassKind::Statement,
        class: "select 'x'".into(),
        text: "select 'x'".into(),
        start_us: Some(OLD_US + 1_000_000),
        end_us: Some(OLD_US + 1_000_000),
        session: 42,
        user: "root".into(),
        host: "localhost".into(),
        database: "other".into(),
        ..TakenRecord::default()
    };
    assert_eq!(taken.records[4], execute);
    assert_eq!(taken.records[6].kind, ClassKind::Command);
    assert_eq!(taken.records[6].text, "Close stmt");
}

#[test]
fn entries_read_the_same_in_parts() {
    assert_same_in_parts(&GeneralLog, OLD.as_bytes());
    assert_same_in_parts(&GeneralLog, OLD.replace('\n', "\r\n").as_bytes());
    read_every_piece(&GeneralLog, OLD.as_bytes());
    let rubbish = b"\0\t\t 1 Query\n\t\t 18446744073709551615 Quit\n999999 99:99:99\t1 Ping";
    read_every_piece(&GeneralLog, &[OLD.as_bytes(), rubbish].concat());
}

#[test]
fn new_entries_have_their_own_times() {
    let taken = read(
        "2021-10-12T01:13:38.132884Z\t    8 Connect\troot@localhost on shop using Socket\n\
         2021-10-12T03:13:38.132885+02:00\t    8 Query\tselect 1\n\
         2021-10-12T01:13:38.132886Z\t    8 Change user\tapp@web on \n\
         2021-10-12T01:13:38.132887Z\t    8 Prepare\tselect ?\n",
    );
    assert!(taken.unread.is_empty(), "{taken:?}");
    let starts: Vec<_> = taken.records.iter().map(|record| record.start_us).collect();
    assert_eq!(starts, [4, 5, 6, 7].map(|us| Some(1_634_001_218_132_880 + us)));
    let records = [
        ("Connect", "root", "shop"),
        ("select 1", "root", "shop"),
        ("Change user", "app", ""),
        ("Prepare", "app", ""),
    ];
    assert_eq!(taken.records.iter().map(summary).collect::<Vec<_>>(), records);
}

#[test]
fn blanks_at_the_end_of_a_statement_are_its_own() {
    let header = &OLD[..OLD.find("071007").expect("an entry")];
    let of = |end: &str| read(&format!("\t\t 7 Query\tselect 1 {end}")).records.remove(0).text;
    assert_eq!(["\n", "\r\n", "\n\n"].map(of), ["select 1 ", "select 1 ", "select 1 \n"]);
    assert_eq!(of(&format!("\n{header}")), "select 1");
}

#[test]
fn refused_logins_are_errors() {
    let cases = [("(using password: YES)", "1045"), ("to database 'shop'", "1044")];
    for (what, code) in cases {
        let line = format!("\t\t 7 Connect\tAccess denied for user 'app'@'web' {what}\n");
        let taken = read(&line);
        let record = &taken.records[0];
        assert_eq!((record.error.as_str(), record.kind), (code, ClassKind::Command));
        assert_eq!((record.user.as_str(), record.host.as_str()), ("app", "web"));
        assert_eq!((record.class.as_str(), record.text.as_str()), ("Connect", "Connect"));
    }
}

#[test]
fn what_is_no_entry_is_counted() {
    let log = "select 1\n071007 21:55:24\t 1 New thing\tx\n\t\t 1 Query\tselect 2\n\
               071307 21:55:24\t 1 Ping\t\n\t\t 1 Query\tselect";
    let taken = read(log);
    let at = |text: &str| log.find(text).expect("a line") as u64;
    let unread = [
        (UnreadReason::Form, 0),
        (UnreadReason::Form, at("071007")),
        (UnreadReason::Time, at("071307")),
        (UnreadReason::Incomplete, log.rfind("\t\t").expect("a line") as u64),
    ];
    assert_eq!(taken.unread, unread);
    assert_eq!(taken.texts(), ["select 2", "Ping"]);
    assert_eq!(taken.records[0].start_us, Some(OLD_US));
}

#[test]
fn heads_of_general_logs_are_found() {
    assert!(GeneralLog::looks_like(OLD.as_bytes()) && GeneralLog::has_local_time(OLD.as_bytes()));
    let head = b"2021-10-12T01:13:38.132884Z\t    8 Query\tselect 1\n";
    assert!(GeneralLog::looks_like(head) && !GeneralLog::has_local_time(head));
    assert!(!GeneralLog::looks_like(&head[..head.len() - 1]));
    assert!(!GeneralLog::looks_like(super::slow::OLD.as_bytes()));
}
