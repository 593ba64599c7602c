//! Slow logs in every variant.

use super::{TakenLog, TakenRecord, assert_same_in_parts, read_every_piece, read_parts};
use crate::logs::mysql::SlowLog;
use dbtime_model::log_digest::{ClassKind, LogFigure, UnreadReason};

/// 2021-10-12 01:13:38.132884. Unit: microseconds.
const ISO_US: i64 = 1_634_001_218_132_884;

/// 2007-10-15 21:43:52. Unit: microseconds.
pub(super) const OLD_US: i64 = 1_192_484_632_000_000;

/// A log in which records depend on others before them.
pub(super) const OLD: &str = "\
/usr/sbin/mysqld, Version: 5.1.41-log (x). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
# Time: 071015 21:43:52
# User@Host: root[root] @ localhost []
# Query_time: 2  Lock_time: 0  Rows_sent: 1  Rows_examined: 0
use test;
select sleep(2) from n;
# User@Host: app[app] @  [10.0.0.1]
# Query_time: 1  Lock_time: 0  Rows_sent: 1  Rows_examined: 0
SET timestamp=1192484633;
select a
from b;
/usr/sbin/mysqld, Version: 5.1.41-log (x). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
# Time: 071015 21:43:59
# User@Host: app[app] @  [10.0.0.1]
# Query_time: 3  Lock_time: 0  Rows_sent: 0  Rows_examined: 0
SET insert_id=5,last_insert_id=4,timestamp=1192484639;
insert into t values ('; # Time: x');
# User@Host: app[app] @  [10.0.0.1]
# Query_time: 0  Lock_time: 0  Rows_sent: 0  Rows_examined: 0
SET timestamp=1192484639;
# administrator command: Quit;
";

pub(super) fn read(log: &str) -> TakenLog {
    read_parts(&SlowLog::default(), &[log.as_bytes()])
}

/// The one record of a log in which nothing is unread.
fn only(log: &str) -> TakenRecord {
    let mut taken = read(log);
    assert_eq!((taken.records.len(), taken.unread.as_slice()), (1, &[][..]), "{log}");
    taken.records.remove(0)
}

fn value(record: &TakenRecord, figure: LogFigure) -> Option<u64> {
    let mut values = record.figures.iter().filter(|(name, _)| *name == figure);
    let value = values.next().map(|(_, value)| *value);
    assert_eq!(values.next(), None, "{figure:?} is there twice");
    value
}

#[test]
fn old_records_share_time_and_database() {
    let taken = read(OLD);
    assert!(taken.unread.is_empty(), "{taken:?}");
    let texts =
        ["select sleep(2) from n", "select a\nfrom b", "insert into t values ('; # Time: x')"];
    assert_eq!(taken.texts(), [&texts[..], &["Quit"]].concat());
    let ends: Vec<_> = taken.records.iter().map(|record| record.end_us).collect();
    assert_eq!(ends, [0, 1, 7, 7].map(|later| Some(OLD_US + later * 1_000_000)));
    let databases: Vec<_> = taken.records.iter().map(|record| record.database.as_str()).collect();
    assert_eq!(databases, ["test", "test", "", ""]);
    let first = TakenRecord {
        offset: OLD.find("# Time").expect("a record") as u64,
        class: texts[0].into(),
        text: texts[0].into(),
        start_us: Some(OLD_US - 2_000_000),
        end_us: Some(OLD_US),
        duration_ns: Some(2_000_000_000),
        user: "root".into(),
        host: "localhost".into(),
        database: "test".into(),
        figures: vec![
            (LogFigure::LockTime, 0),
            (LogFigure::RowsSent, 1),
            (LogFigure::RowsExamined, 0),
        ],
        ..TakenRecord::default()
    };
    assert_eq!(taken.records[0], first);
    let [_, second, _, last] = taken.records.as_slice() else { panic!("{taken:?}") };
    assert_eq!((second.user.as_str(), second.host.as_str()), ("app", "10.0.0.1"));
    assert_eq!((last.kind, last.class.as_str()), (ClassKind::Command, "Quit"));
}

#[test]
fn records_read_the_same_in_parts() {
    assert_same_in_parts(&SlowLog::default(), OLD.as_bytes());
    assert_same_in_parts(&SlowLog::default(), &[OLD, OLD].concat().into_bytes());
    assert_same_in_parts(&SlowLog::default(), OLD.replace('\n', "\r\n").as_bytes());
    read_every_piece(&SlowLog::default(), OLD.as_bytes());
    assert_eq!(read(&OLD.replace('\n', "\r\n")).records.len(), 4);
}

#[test]
fn times_have_fractions_and_zones() {
    let record = only(
        "# Time: 2021-10-12T01:13:38.132884Z\n\
         # User@Host: priv[app] @ web1 [10.0.0.1]  Id:    15\n\
         # Query_time: 0.132885  Lock_time: 0.000002 Rows_sent: 0  Rows_examined: 7\n\
         SET timestamp=1634001218;\nselect 1;\n",
    );
    assert_eq!((record.session, record.user.as_str(), record.host.as_str()), (15, "app", "web1"));
    assert_eq!(record.duration_ns, Some(132_885_000));
    assert_eq!((record.start_us, record.end_us), (Some(ISO_US - 132_885), Some(ISO_US)));
    assert_eq!(value(&record, LogFigure::LockTime), Some(2_000));
    let ends = [
        ("2021-10-12T03:13:38.132884+02:00", Some(ISO_US)),
        ("2021-10-12-09:13:38.132884 +0800", Some(ISO_US)),
        ("211012  1:13:38.1328841234", Some(ISO_US)),
        ("211012  1:13:38", Some(ISO_US - 132_884)),
    ];
    for (time, end) in ends {
        let record = only(&format!("# Time: {time}\n# User@Host: a[a] @ b []\nselect 1;\n"));
        assert_eq!((record.end_us, record.start_us), (end, None), "{time}");
    }
}

#[test]
fn mysql_8_has_extra_keys_on_one_line() {
    let record = only(
        "# Time: 2021-10-12T01:13:38.132884Z\n# User@Host: root[root] @ localhost []  Id:     8\n\
         # Query_time: 0.000500  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 3 Thread_id: 8 \
         Errno: 1317 Killed: 1317 Bytes_received: 60 Bytes_sent: 70 Read_first: 1 Read_last: 0 \
         Sort_merge_passes: 2 Sort_rows: 4 Created_tmp_disk_tables: 5 Created_tmp_tables: 6 \
         Start: 2021-10-12T01:13:38.132384Z End: 2021-10-12T01:13:38.132884Z\n\
         SET timestamp=1634001218;\nselect * from t;\n",
    );
    assert_eq!((record.session, record.error.as_str()), (8, "1317"));
    let figures = [
        (LogFigure::BytesReceived, 60),
        (LogFigure::BytesSent, 70),
        (LogFigure::MergePasses, 2),
        (LogFigure::SortRows, 4),
        (LogFigure::TmpDiskTables, 5),
        (LogFigure::TmpTables, 6),
    ];
    for (figure, number) in figures {
        assert_eq!(value(&record, figure), Some(number), "{figure:?}");
    }
    let keys: Vec<_> = record.unknown.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["Read_first", "Read_last", "Start", "End"]);
    assert_eq!(record.unknown[2].1, "2021-10-12T01:13:38.132384Z");
}

#[test]
fn mariadb_has_milliseconds_and_explanations() {
    let record = only(
        "# Time: 211012  1:13:38\n# User@Host: root[root] @ localhost []\n\
         # Thread_id: 32  Schema: shop  QC_hit: No\n\
         # Query_time: 0.001234  Lock_time: 0.000100  Rows_sent: 2  Rows_examined: 9\n\
         # Rows_affected: 1  Bytes_sent: 95\n# Tmp_tables: 1  Tmp_disk_tables: 0  \
         Tmp_table_sizes: 126976\n# Pages_accessed: 12  Pages_read: 3  Pages_prefetched: 4\n\
         # Pages_read_time: 1.5000  Engine_time: 2.2500\n\
         # Full_scan: Yes  Full_join: No  Tmp_table: Yes  Tmp_table_on_disk: No\n\
         # Filesort: Yes  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: Yes\n#\n\
         # explain: id\tselect_type\ttable\ttype: x\n# explain: 1\tSIMPLE\tt\tALL\n#\n\
         SET timestamp=1634001218;\nselect * from t order by a;\n",
    );
    assert_eq!((record.session, record.database.as_str()), (32, "shop"));
    let figures = [
        (LogFigure::CacheHit, 0),
        (LogFigure::RowsAffected, 1),
        (LogFigure::BytesSent, 95),
        (LogFigure::TmpBytes, 126_976),
        (LogFigure::PagesAccessed, 12),
        (LogFigure::PagesRead, 3),
        (LogFigure::ReadWait, 1_500_000),
        (LogFigure::EngineTime, 2_250_000),
        (LogFigure::FullScan, 1),
        (LogFigure::FullJoin, 0),
        (LogFigure::TmpTable, 1),
        (LogFigure::TmpTableOnDisk, 0),
        (LogFigure::Filesort, 1),
        (LogFigure::FilesortOnDisk, 0),
    ];
    for (figure, number) in figures {
        assert_eq!(value(&record, figure), Some(number), "{figure:?}");
    }
    let unknown = [("Pages_prefetched", "4"), ("Priority_queue", "Yes")];
    let unknown = unknown.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(record.unknown, unknown);
}

#[test]
fn warnings_of_mariadb_are_no_keys() {
    let record = only(
        "# User@Host: root[root] @ localhost []\n# Query_time: 0.001  Lock_time: 0.0\n#\n\
         # Warnings\n# Warning 1292 Truncated incorrect INTEGER value: '5 pin: 1234 x\nEnd: 5\n\
         # Id: 6'\n\
         # Note 1051 Unknown table: 7\nSET timestamp=1634001218;\nselect 1;\n",
    );
    assert_eq!((record.text.as_str(), record.unknown.as_slice()), ("select 1", &[][..]));
    assert_eq!(record.session, 0);
}

#[test]
fn percona_has_innodb_cpu_and_weights() {
    let record = only(
        "# Time: 130601  8:01:06.058915\n# User@Host: root[root] @ localhost []  Id:     1\n\
         # Schema: imdb  Last_errno: 1062  Killed: 0\n\
         # Query_time: 0.010000  Lock_time: 0.000100  Rows_sent: 0  Rows_examined: 0  \
         Rows_affected: 0  Rows_read: 5\n# Bytes_sent: 11  Tmp_tables: 0\n\
         # InnoDB_trx_id: 1A88583F\n# QC_Hit: Yes  Full_scan: No\n\
         #   InnoDB_IO_r_ops: 2  InnoDB_IO_r_bytes: 32768  InnoDB_IO_r_wait: 0.004000\n\
         #   InnoDB_rec_lock_wait: 0.001000  InnoDB_queue_wait: 0.000000\n\
         #   InnoDB_pages_distinct: 7\n\
         # Profile_starting: 0.000036 Profile_starting_cpu: 0.000020 \
         # Profile_total: 0.009000 Profile_total_cpu: 0.003000 \n\
         # Log_slow_rate_type: query  Log_slow_rate_limit: 2\n\
         SET timestamp=1370073666;\nupdate t set a = 1;\n",
    );
    assert_eq!((record.error.as_str(), record.database.as_str()), ("1062", "imdb"));
    assert_eq!(record.weight, 2);
    let figures = [
        (LogFigure::RowsRead, 5),
        (LogFigure::CacheHit, 1),
        (LogFigure::ReadCalls, 2),
        (LogFigure::ReadBytes, 32_768),
        (LogFigure::ReadWait, 4_000_000),
        (LogFigure::RowLockWait, 1_000_000),
        (LogFigure::QueueWait, 0),
        (LogFigure::PagesDistinct, 7),
        (LogFigure::CpuTime, 3_000_000),
    ];
    for (figure, number) in figures {
        assert_eq!(value(&record, figure), Some(number), "{figure:?}");
    }
    let keys: Vec<_> = record.unknown.iter().map(|(key, _)| key.as_str()).collect();
    let unknown = ["InnoDB_trx_id", "Profile_starting", "Profile_starting_cpu", "Profile_total"];
    assert_eq!(keys, unknown);
}

#[test]
fn what_is_always_logged_stands_for_itself() {
    let weight = |seconds: &str| {
        only(&format!(
            "# User@Host: a[a] @ b []\n# Query_time: {seconds}\n\
             # Log_slow_rate_type: query  Log_slow_rate_limit: 100\nselect 1;\n"
        ))
        .weight
    };
    assert_eq!(["9.999999", "10.000000", "12"].map(weight), [100, 0, 0]);
}

#[test]
fn old_percona_has_time_and_account_on_one_line() {
    let one = "# Time: 071015 21:43:52 # User@Host: root[root] @ localhost []\n\
               # Thread_id: 5\n# No InnoDB statistics available for this query\n\
               # Query_time: 0.7  Lock_time: 0  Rows_sent: 1  Rows_examined: 0\nselect 1;\n";
    let record = only(one);
    assert_eq!((record.session, record.user.as_str()), (5, "root"));
    assert_eq!(record.end_us, Some(OLD_US));
    assert_same_in_parts(&SlowLog::default(), one.repeat(3).as_bytes());
}

#[test]
fn what_imitates_a_slow_log_keeps_its_keys() {
    let record = only(
        "# Time: 2021-10-12-09:13:38.132884 +0800\n# User@Host: root[root] @ h [127.0.0.1]\n\
         # Client: 127.0.0.1:4000\n# Conn_ID: 6\n# Query_time: 4.8\n# Parse_time: 0.001\n\
         # DB: test\n# Digest: 42a1\n# Stats: t:pseudo\n# Succ: true\n\
         # Prev_stmt: update t set pin = ' pin: 1234 '\n# Warnings: [{pin: 1234 }]\nselect 1;\n",
    );
    assert_eq!((record.session, record.database.as_str()), (6, "test"));
    assert_eq!((record.query_id.as_str(), record.duration_ns), ("42a1", Some(4_800_000_000)));
    let keys: Vec<_> = record.unknown.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["Client", "Stats", "Succ"]);
    assert_eq!(value(&record, LogFigure::ParseTime), Some(1_000_000));
}

#[test]
fn statements_that_look_like_the_servers_are_kept() {
    let of = |text: &str| only(&format!("# User@Host: a[a] @ b []\n{text}\n"));
    let record = of("use a;\nSET timestamp=1634001218;\nuse b;");
    assert_eq!((record.text.as_str(), record.database.as_str()), ("use b", "a"));
    assert_eq!(record.end_us, Some(1_634_001_218_000_000));
    assert_eq!(of("SET timestamp=5;\nSET timestamp=6;").text, "SET timestamp=6");
    let own = ["use a", "USE a;\nselect 1", "set timestamp=5;\nselect 1", "SET a=1;\nselect 1"];
    for text in own {
        assert_eq!(of(&format!("{text};")).text, text);
    }
    assert_eq!(of("SET timestamp=5;\n# a comment\nselect 1 ;").text, "# a comment\nselect 1 ");
    assert_eq!(of("# administrator command: Init DB ;").text, "Init DB");
    assert_eq!(of("select 1; select 2;").text, "select 1; select 2");
}

#[test]
fn heads_of_slow_logs_are_found() {
    assert!(SlowLog::looks_like(OLD.as_bytes()) && SlowLog::has_local_time(OLD.as_bytes()));
    let head = b"# Time: 2021-10-12T01:13:38.132884Z\n# Query_time: 0.1  Lock_time: 0.0\nsel";
    assert!(SlowLog::looks_like(head) && !SlowLog::has_local_time(head));
    assert!(!SlowLog::looks_like(b"# Time: 071015 21:43:52\n# Query_time: 0.1"));
    let entry = "2021-10-12T01:13:38.132884Z\t    8 Query\tselect '\n";
    assert!(!SlowLog::looks_like(format!("{entry}{OLD}").as_bytes()));
    assert!(SlowLog::looks_like(format!("{OLD}{entry}").as_bytes()));
    assert!(!SlowLog::looks_like(b"") && !SlowLog::has_local_time(b""));
}

#[test]
fn a_wrong_number_leaves_the_rest_of_its_record() {
    let taken = read(
        "# User@Host: a[a] @ b []\n\
         # Query_time: 18446744073709.5  Lock_time: x  Rows_sent: 3\nselect 1;\n",
    );
    assert_eq!(taken.unread, [(UnreadReason::Number, 25)]);
    assert_eq!((taken.texts(), taken.records[0].duration_ns), (vec!["select 1"], None));
    assert_eq!(taken.records[0].figures, [(LogFigure::RowsSent, 3)]);
}
