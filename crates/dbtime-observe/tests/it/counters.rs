//! Samples that real servers and their clients printed: read, told apart, subtracted.
//!
//! The files were recorded with MariaDB 10.11, MySQL 9.7 and PostgreSQL 9.6, 15, 17 and 18. Between
//! the two of MariaDB lie a hundred transactions of five selects and an update, between the two of
//! PostgreSQL 15 a hundred of pgbench.

use dbtime_model::Product;
use dbtime_model::counters::{
    CounterDocument, CounterKind, CounterNote, CounterReport, CounterSample, CounterValue,
    IntervalSource, SampleInstant,
};
use dbtime_observe::counters::{
    DifferenceError, FileError, ParseError, difference, key_counters, parse, per_transaction_of,
    read,
};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn sample(name: &str) -> CounterSample {
    match read(&fixture(name)) {
        Ok(CounterDocument::CounterSample(sample)) => sample,
        other => panic!("{name}: {other:?}"),
    }
}

fn mariadb() -> [CounterSample; 2] {
    ["mariadb-10.11-before.tsv", "mariadb-10.11-after.tsv"].map(sample)
}

fn postgres() -> [CounterSample; 2] {
    ["postgres-15-before.txt", "postgres-15-after.csv"].map(sample)
}

fn report(before: &CounterSample, after: &CounterSample) -> CounterReport {
    difference(before, after).expect("one product")
}

/// A sample with these variables alone.
fn variables(lines: &str) -> CounterSample {
    let text = format!("Variable_name\tValue\n{lines}");
    match parse(text.as_bytes()) {
        Ok(CounterDocument::CounterSample(sample)) => sample,
        other => panic!("{other:?}"),
    }
}

fn delta<'a>(report: &'a CounterReport, name: &str) -> &'a dbtime_model::counters::CounterDelta {
    report.counters.iter().find(|delta| delta.name == name).unwrap_or_else(|| panic!("no {name}"))
}

/// A line per counter that changed.
fn lines(report: &CounterReport) -> String {
    let value =
        |value: &Option<CounterValue>| value.as_ref().map_or("–".into(), |v| v.to_string());
    let line = |d: &dbtime_model::counters::CounterDelta| {
        let note = d.note.map_or(String::new(), |note| format!(" {note:?}"));
        let (before, after, change) = (value(&d.before), value(&d.after), value(&d.difference));
        format!("{:?} {} {}: {before} → {after}: {change}{note}", d.kind, d.group, d.name)
    };
    report.clone().without_unchanged().counters.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_hundred_transactions_of_mariadb() {
    let [before, after] = mariadb();
    assert_eq!(after.source.product, Product::Mariadb);
    let report = report(&before, &after);
    insta::assert_snapshot!("mariadb", lines(&report));
    assert_eq!(report.transactions, Some(100));
    assert_eq!(report.transactions_from.as_deref(), Some("Com_commit"));
    assert_eq!(delta(&report, "Com_select").per_transaction, Some(5.01));
    assert_eq!(report.interval_from, Some(IntervalSource::Uptime));
    assert_eq!(report.counters.len(), 562);
    let names: Vec<_> = key_counters(&report).into_iter().map(|one| one.name).collect();
    assert!(names.len() > 10 && names.starts_with(&["Questions".into()]), "{names:?}");
}

#[test]
fn a_hundred_transactions_of_postgres() {
    let [before, after] = postgres();
    let report = report(&before, &after);
    insta::assert_snapshot!("postgres", lines(&report));
    // The sampling itself is among them.
    assert!(report.transactions >= Some(100), "{:?}", report.transactions);
    // Nothing in these files tells the time.
    assert_eq!((report.interval_s, delta(&report, "wal_bytes").per_second), (None, None));
    let names: Vec<_> = key_counters(&report).into_iter().map(|one| one.name).collect();
    assert!(
        names.contains(&"wal_bytes".into()) && names.contains(&"tup_updated".into()),
        "{names:?}"
    );
}

/// What is believed not to count, of everything that servers print as a number.
#[test]
fn gauges_of_real_servers() {
    let gauges = |names: &[&str]| {
        let of = |name: &&str| {
            let sample = sample(name);
            let report = report(&sample, &sample);
            let is_gauge = |d: &&dbtime_model::counters::CounterDelta| d.kind == CounterKind::Gauge;
            let names = report.counters.iter().filter(is_gauge).map(|delta| delta.name.clone());
            names.collect::<Vec<_>>()
        };
        let mut all: Vec<String> = names.iter().flat_map(of).collect();
        all.sort();
        all.dedup();
        all.join("\n")
    };
    insta::assert_snapshot!(
        "gauges-global-status",
        gauges(&["mariadb-10.11-after.tsv", "mysql-9.7.tsv"])
    );
    insta::assert_snapshot!(
        "gauges-postgres",
        gauges(&["postgres-15-before.txt", "postgres-17-expanded.txt", "postgres-18.csv"])
    );
}

#[test]
fn every_form_that_clients_print_is_read() {
    let boxed = sample("mysql-9.7-box.txt");
    let tabs = sample("mysql-9.7.tsv");
    assert_eq!((boxed.source.product, tabs.count()), (Product::Mysql, 531));
    for name in ["Com_select", "Rsa_public_key", "Ssl_cipher", "option_tracker_usage:Binary Log"] {
        let of = |sample: &CounterSample| sample.get("global_status", name).cloned();
        assert!(of(&boxed).is_some(), "no {name}");
        // The key spans lines, which the box breaks and tabs escape.
        assert_eq!(
            of(&boxed).is_some_and(|v| v.as_f64().is_none()),
            of(&tabs).is_some_and(|v| v.as_f64().is_none())
        );
    }
    let text = |sample: &CounterSample| {
        sample.get("global_status", "Rsa_public_key").expect("is there").to_string()
    };
    assert_eq!(text(&boxed).trim_end(), text(&tabs).trim_end());
    let vertical = sample("mariadb-10.11-vertical.txt");
    assert_eq!(vertical.get("global_status", "Com_commit"), Some(&CounterValue::Unsigned(100)));
    assert!(vertical.uptime_s.is_some());

    let of = |name: &str, group: &str, counter: &str| {
        let sample = sample(name);
        assert_eq!(sample.source.product, Product::Postgres);
        let value = sample.get(group, counter).and_then(CounterValue::as_f64);
        value.unwrap_or_else(|| panic!("{name}: {:?}", sample.groups.keys()))
    };
    let database = "pg_stat_database (postgres)";
    for name in ["postgres-9.6-unaligned.txt", "postgres-17-expanded.txt", "postgres-18.csv"] {
        assert!(of(name, database, "xact_commit") > 500.0);
    }
    assert!(of("postgres-9.6-unaligned.txt", "pg_stat_bgwriter", "buffers_alloc") > 0.0);
    assert!(of("postgres-17-expanded.txt", "pg_stat_checkpointer", "buffers_written") > 0.0);
    assert!(of("postgres-18.csv", "pg_stat_io (walwriter, wal, normal)", "fsyncs") > 0.0);
    let update = "pg_stat_statements (-5371882943115234533, \
        UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE b)";
    assert_eq!(of("postgres-18.csv", update, "calls"), 1201.0);
}

#[test]
fn without_heading_or_in_other_names_it_is_the_same() {
    for text in [
        "Com_commit\t5\nUptime\t9\n",
        "VARIABLE_NAME\tVARIABLE_VALUE\r\nCom_commit\t5\r\nUptime\t9\r\n",
        "\u{feff}Variable_name\tValue\nCom_commit\t5\nUptime\t9",
        "Variable_name,Value\nCom_commit,5\nUptime,9\n",
    ] {
        let Ok(CounterDocument::CounterSample(sample)) = parse(text.as_bytes()) else {
            panic!("{text}");
        };
        assert_eq!(sample.get("global_status", "Com_commit"), Some(&CounterValue::Unsigned(5)));
        assert_eq!(sample.uptime_s, Some(9.0));
    }
}

#[test]
fn what_is_no_sample_is_said() {
    assert!(matches!(parse(b" \n"), Err(ParseError::Empty)));
    for other in ["hello", "a\tb\nc\td\n", "{}", "id | name\n---+-----\n 1 | x\n", "a,b\n1,2\n"] {
        let error = parse(other.as_bytes()).expect_err(other);
        assert!(!matches!(error, ParseError::Empty | ParseError::TwoSamples), "{other}: {error}");
    }
    let heading = "Variable_name\tValue\n";
    assert!(matches!(parse(heading.as_bytes()), Err(ParseError::Unknown)));
    let table = format!("{heading}Uptime\t9\n\n{heading}Uptime\t19\n");
    assert!(matches!(parse(table.as_bytes()), Err(ParseError::TwoSamples)));
    let csv = "num_timed\n1\nnum_timed\n2\n";
    assert!(matches!(parse(csv.as_bytes()), Err(ParseError::Unknown)));
    assert!(matches!(read(&fixture("absent")), Err(FileError::Io { .. })));
    assert!(matches!(read(&fixture("")), Err(FileError::Io { .. })));
    let endless = read(Path::new("/dev/zero")).expect_err("too large").to_string();
    assert!(endless.contains("/dev/zero is larger than 64 MiB"), "{endless}");
}

#[test]
fn a_saved_sample_is_the_same_sample() {
    let [before, after] = mariadb();
    let saved = CounterDocument::CounterSample(before.clone()).to_json();
    let Ok(CounterDocument::CounterSample(again)) = parse(saved.as_bytes()) else {
        panic!("as written");
    };
    assert_eq!(lines(&report(&again, &after)), lines(&report(&before, &after)));
    let document = CounterDocument::CounterReport(report(&before, &after));
    assert_eq!(parse(document.to_json_line().as_bytes()).expect("as written"), document);
}

#[test]
fn a_restart_sets_every_counter_to_zero() {
    let before = variables("Uptime\t1000\nQuestions\t500\nCom_select\t0\nThreads_running\t3\n");
    let after = variables("Uptime\t10\nQuestions\t600\nCom_select\t0\nThreads_running\t1\n");
    let report = report(&before, &after);
    assert!(report.notes[0].contains("restarted") && report.notes[0].contains("wrong order"));
    let questions = delta(&report, "Questions");
    assert_eq!(questions.note, Some(CounterNote::Reset));
    assert_eq!(questions.difference, Some(CounterValue::Unsigned(600)));
    assert_eq!((questions.per_second, report.transactions), (None, None));
    assert!(delta(&report, "Com_select").is_unchanged());
    let running = delta(&report, "Threads_running");
    assert_eq!((running.note, &running.difference), (None, &Some(CounterValue::Signed(-2))));
}

#[test]
fn a_restart_that_uptime_alone_hides_is_seen_by_the_clock() {
    let at = |seconds: u64| SampleInstant {
        at: None,
        mono_ns: Some(seconds * 1_000_000_000),
        boot: Some("x".into()),
    };
    let of = |seconds, uptime: u32| {
        let mut sample = variables(&format!("Uptime\t{uptime}\nQuestions\t5\n"));
        sample.taken = at(seconds);
        sample
    };
    let report_of = |uptime| report(&of(100, 10), &of(3700, uptime));
    assert!(report_of(3609).notes.is_empty(), "{:?}", report_of(3609).notes);
    assert!(report_of(3500).notes[0].contains("Uptime grew by 3490 s in 3600 s"));
    assert_eq!(delta(&report_of(3500), "Questions").note, Some(CounterNote::Reset));
    // Boots apart, the clock says nothing.
    let mut other = of(3700, 3500);
    other.taken.boot = Some("y".into());
    assert_eq!(report(&of(100, 10), &other).interval_from, Some(IntervalSource::Uptime));
}

#[test]
fn flush_status_is_noticed_by_counter_and_as_a_whole() {
    let since = |uptime, since, n| {
        variables(&format!(
            "Uptime\t{uptime}\nUptime_since_flush_status\t{since}\nKey_reads\t{n}\n"
        ))
    };
    let report = report(&since(1000, 1000, 50), &since(1010, 4, 7));
    assert!(report.notes[0].contains("FLUSH STATUS"), "{:?}", report.notes);
    assert_eq!(delta(&report, "Key_reads").note, Some(CounterNote::Reset));
    let quiet = self::report(&since(1000, 900, 50), &since(1010, 910, 57));
    assert_eq!(quiet.notes.len(), 1, "{:?}", quiet.notes);
    assert!(quiet.notes[0].contains("good to 10 %"), "{:?}", quiet.notes);
}

#[test]
fn a_counter_of_32_bits_goes_on_from_zero() {
    let of = |uptime, n: u64| variables(&format!("Uptime\t{uptime}\nBytes_sent\t{n}\n"));
    let wrapped = report(&of(10, 4_294_967_290), &of(20, 4));
    let sent = delta(&wrapped, "Bytes_sent");
    assert_eq!(sent.note, Some(CounterNote::Wrapped));
    assert_eq!((&sent.difference, sent.per_second), (&Some(CounterValue::Unsigned(10)), Some(1.0)));
    for (before, after) in [(of(10, 1 << 31), of(20, 4)), (of(10, 1 << 40), of(20, 4))] {
        assert_eq!(delta(&report(&before, &after), "Bytes_sent").note, Some(CounterNote::Reset));
    }
    // The server was restarted: it is no wrap-around.
    let restarted = report(&of(20, 4_294_967_290), &of(10, 4));
    assert_eq!(delta(&restarted, "Bytes_sent").note, Some(CounterNote::Reset));
}

#[test]
fn a_view_that_was_reset_says_so() {
    let [before, mut after] = postgres();
    let wal = after.groups.get_mut("pg_stat_wal").expect("is there");
    wal.insert("stats_reset".into(), CounterValue::Text("later".into()));
    let reset = report(&before, &after);
    let records = delta(&reset, "wal_records");
    assert_eq!((records.note, &records.difference), (Some(CounterNote::Reset), &records.after));
    // The others go on, and so do counters of a server that was started anew and kept them.
    assert_eq!(delta(&reset, "buffers_alloc").note, None);
    let (mut before, mut after) = (before, postgres()[1].clone());
    (before.uptime_s, after.uptime_s) = (Some(100.0), Some(3.0));
    let report = report(&before, &after);
    assert!(report.notes[0].contains("restarted"), "{:?}", report.notes);
    assert_eq!(delta(&report, "wal_records").note, None);
}

#[test]
fn samples_in_the_wrong_order_are_refused_where_a_clock_tells() {
    let [mut before, mut after] = mariadb();
    before.taken.at = Some("2026-11-21T10:00:10Z".into());
    after.taken.at = Some("2026-11-21T10:00:00Z".into());
    let error = difference(&before, &after).expect_err("swapped").to_string();
    assert!(error.contains("10:00:00Z before 2026-11-21T10:00:10Z"), "{error}");
    let (after, before) = (before, after);
    assert_eq!(report(&before, &after).interval_s, Some(10.0));
    let same = report(&before, &before);
    assert!(same.notes[0].contains("same time"), "{:?}", same.notes);
    assert!(same.without_unchanged().counters.is_empty());
}

#[test]
fn different_databases_have_no_difference() {
    let ([mariadb, _], [postgres, _]) = (mariadb(), postgres());
    let error = difference(&mariadb, &postgres).expect_err("refused");
    assert_eq!(error, DifferenceError::Products(Product::Mariadb, Product::Postgres));
    assert!(error.to_string().contains("MariaDB, the second of PostgreSQL"), "{error}");
    // One that does not say that it is MariaDB may be.
    assert!(difference(&sample("mysql-9.7.tsv"), &mariadb).is_ok());
    let mut other = mariadb.clone();
    let url = |text: &str| Some(text.to_owned());
    let mut one = mariadb;
    (one.source.url, other.source.url) = (url("mysql://a"), url("mysql://b"));
    let notes = report(&one, &other).notes;
    assert!(notes.iter().any(|note| note.contains("mysql://a and mysql://b")), "{notes:?}");
}

#[test]
fn a_counter_that_only_one_sample_has_has_no_difference() {
    let before = variables("Uptime\t10\nOld\t5\n");
    let report = report(&before, &variables("Uptime\t110\nNew\t5\n"));
    let [old, new] = ["Old", "New"].map(|name| delta(&report, name));
    assert_eq!((old.note, &old.difference), (Some(CounterNote::Gone), &None));
    assert_eq!((new.note, &new.difference), (Some(CounterNote::Appeared), &None));
}

#[test]
fn without_commits_a_statement_is_a_transaction() {
    let of = |n: u32| variables(&format!("Uptime\t{n}\nCom_commit\t0\nQuestions\t{}\n", n * 3));
    let report = report(&of(100), &of(200));
    assert_eq!(
        (report.transactions, report.transactions_from.as_deref()),
        (Some(300), Some("Questions"))
    );
    let mine = per_transaction_of(report, 30, "completed transactions of the run");
    assert_eq!(delta(&mine, "Questions").per_transaction, Some(10.0));
    let none = per_transaction_of(mine, 0, "completed transactions of the run");
    assert_eq!((none.transactions, delta(&none, "Questions").per_transaction), (None, None));
    assert_eq!(key_counters(&none)[0].per_transaction, None);
}

/// Pieces of what clients print, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("Variable_name\tValue\n".to_owned()),
        Just("+----+----+\n".to_owned()),
        Just("| Variable_name | Value |\n".to_owned()),
        Just("*** 1. row ***\n".to_owned()),
        Just("-[ RECORD 1 ]-+--\n".to_owned()),
        Just(" datname | xact_commit \n---------+----\n".to_owned()),
        Just("datname,xact_commit\n".to_owned()),
        Just("backend_type|object|context|reads\n".to_owned()),
        Just("{\"schema\":1,\"document\":\"counter_sample\",".to_owned()),
        "[A-Za-z_]{1,8}[\t|,:][0-9.-]{0,22}\n",
        "Uptime\t[0-9]{1,5}\n",
        "\\PC{0,20}\n?",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn whatever_was_read_has_a_difference(one in pieces(), other in pieces()) {
        let samples = [one, other].map(|text| parse(text.as_bytes()));
        use CounterDocument::CounterSample as Sample;
        if let [Ok(Sample(one)), Ok(Sample(other))] = samples {
            let itself = difference(&one, &one).expect("one product");
            prop_assert!(itself.without_unchanged().counters.is_empty());
            if let Ok(report) = difference(&one, &other) {
                let document = CounterDocument::CounterReport(report.clone());
                let again = CounterDocument::read(&document.to_json()).expect("as written");
                prop_assert_eq!(again, document);
                let _ = key_counters(&report);
            }
        }
    }

    #[test]
    fn a_counter_that_grew_shows_how_much(before in any::<u64>(), by in any::<u64>()) {
        let after = before.saturating_add(by);
        let of = |n: u64| variables(&format!("Uptime\t9\nQuestions\t{n}\n"));
        let report = report(&of(before), &of(after));
        let questions = delta(&report, "Questions");
        prop_assert_eq!(&questions.difference, &Some(CounterValue::Unsigned(after - before)));
        prop_assert_eq!(questions.note, None);
    }
}
