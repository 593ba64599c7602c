//! What records of a slow log take from those before them: the time and the database.

use super::slow::{OLD, OLD_US, read};
use super::{assert_same_in_parts, read_parts};
use crate::logs::mysql::SlowLog;

#[test]
fn a_sessions_time_counts_only_just_behind_the_logs() {
    let of = |given: i64| {
        let later = format!("# User@Host: a[a] @ b []\nSET timestamp={given};\nselect 2;\n");
        let log = format!("# Time: 071015 21:43:52\n# User@Host: a[a] @ b []\nselect 1;\n{later}");
        read(&log).records[1].end_us
    };
    let second = OLD_US / 1_000_000;
    assert_eq!(of(second + 1), Some(OLD_US + 1_000_000));
    for given in [second - 1, second + 2, second + 7200, 0, i64::MAX / 1_000_000_000] {
        assert_eq!(of(given), Some(OLD_US), "{given}");
    }
}

#[test]
fn records_before_the_first_time_are_of_the_logs_clock() {
    let of = |text: &str| format!("# User@Host: a[a] @ b []\n{text};\n");
    let first = of("SET timestamp=1192477430;\nselect 1");
    let log =
        format!("{first}# Time: 071015 21:43:52\n{}", of("SET timestamp=1192477432;\nselect 2"));
    for head in [log.clone(), format!("{}{log}", of("SET timestamp=5;\nselect 0"))] {
        let taken = read_parts(&SlowLog::of(head.as_bytes()), &[log.as_bytes()]);
        let ends: Vec<_> = taken.records.iter().map(|record| record.end_us).collect();
        assert_eq!(ends, [OLD_US - 2_000_000, OLD_US].map(Some));
    }
}

#[test]
fn a_log_of_two_servers_has_one_clock() {
    let of = |time: &str| format!("# Time: {time}\n# User@Host: a[a] @ b []\nSET timestamp=");
    let old = format!("{}1192477432;\nselect 1;\n", of("071015 21:43:52"));
    let new = format!("{}1192477433;\nselect 2;\n", of("2007-10-15T19:43:53.5Z"));
    let ends = |log: &str| -> Vec<_> {
        let taken = read_parts(&SlowLog::of(log.as_bytes()), &[log.as_bytes()]);
        taken.records.iter().map(|record| record.end_us).collect()
    };
    assert_eq!(ends(&format!("{old}{new}")), [OLD_US, OLD_US + 1_500_000].map(Some));
    // What comes first names the clock.
    let utc_us = OLD_US - 7_200_000_000 + 1_500_000;
    assert_eq!(ends(&format!("{new}{old}")), [utc_us, OLD_US].map(Some));
}

#[test]
fn a_session_without_database_has_none() {
    let account = "# User@Host: a[a] @ b []\n";
    let of = |keys: &str| format!("{account}{keys}select 1;\n");
    let of_schema = |schema: &str| of(&format!("# Schema: {schema}  QC_hit: No\n"));
    let taken = read(&[of_schema("shop"), of_schema(""), of("")].concat());
    let databases: Vec<_> = taken.records.iter().map(|record| record.database.as_str()).collect();
    assert_eq!((databases, taken.unread), (vec!["shop", "", "shop"], vec![]));
}

#[test]
fn a_log_that_was_opened_anew_names_databases_again() {
    let header = &OLD[..OLD.find("# Time").expect("a record")];
    let of = |text: &str| format!("# User@Host: a[a] @ b []\n{text};\n");
    let log = format!(
        "{}{header}{}{}# User@Host: a[a] @ b []\nselect cut\n{header}{}",
        of("use shop;\nSET timestamp=5;\nselect 1"),
        of("select 2"),
        of("use bank;\nSET timestamp=5;\nselect 3"),
        of("select 4"),
    );
    let taken = read(&log);
    let databases: Vec<_> = taken.records.iter().map(|record| record.database.as_str()).collect();
    assert_eq!(databases, ["shop", "", "bank", ""]);
    assert_eq!(taken.unread.len(), 1);
    assert_same_in_parts(&SlowLog::default(), log.as_bytes());
}

#[test]
fn statements_of_stored_routines_are_counted_as_such() {
    let of = |keys: &str| format!("# User@Host: a[a] @ b []\n# Query_time: 1\n{keys}select 1;\n");
    let taken = read(&[of("# Stored_routine: shop.pay\n"), of("")].concat());
    assert_eq!((taken.records.len(), taken.events.len()), (2, 1));
    assert!(taken.events[0].contains("stored routine"), "{:?}", taken.events);
}

#[test]
fn times_that_go_back_are_counted() {
    let of = |time: &str| format!("# Time: {time}\n# User@Host: a[a] @ b []\nselect 1;\n");
    let times = ["071015 21:43:52", "010909  1:46:40", "071015 21:43:53", "071015 20:43:53"];
    let taken = read(&times.map(of).concat());
    assert_eq!((taken.records.len(), taken.events.len()), (4, 1));
    assert_same_in_parts(&SlowLog::default(), times.map(of).concat().as_bytes());
}
