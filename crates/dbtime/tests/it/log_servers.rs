//! `log` over what real servers wrote: its counts are those of the driver, class by class.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{PATIENCE, SMALL, Sandbox, count};
use dbtime_engines::drive::plan::RunStop;
use dbtime_model::Product;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Logs of everything, in the data folder. Which statements failed, MySQL has since 8.0.14 in its
/// slow log, if it is told to.
const MYSQL_SETTINGS: [(&str, &str); 6] = [
    ("slow_query_log", "1"),
    ("long_query_time", "0"),
    ("slow_query_log_file", "slow.log"),
    ("general_log", "1"),
    ("general_log_file", "general.log"),
    ("loose-log_slow_extra", "1"),
];

/// Every statement, and the text of those that failed.
const POSTGRES_SETTINGS: [(&str, &str); 2] =
    [("log_min_duration_statement", "0"), ("log_min_error_statement", "error")];

/// Stands behind the load, so that a log which has it has all of the load.
const MARK: &str = "SELECT 'the load ends here'";

/// What is sent by either protocol: a transaction of a read and a write, a read on several
/// connections, and an insert that finds its key taken.
const TRANSACTIONS: u64 = 30;
const READS: u64 = 90;
const FAILURES: u64 = 20;

/// Classes of the load: the text, how many there are, and whether they fail.
const EXPECTED: [(&str, u64, bool); 4] = [
    ("SELECT n FROM item WHERE id = ?", 2 * TRANSACTIONS, false),
    ("UPDATE item SET n = n + ? WHERE id = ?", 2 * TRANSACTIONS, false),
    ("SELECT n + ? FROM item WHERE id = ?", 2 * READS, false),
    ("INSERT INTO item VALUES (...)", 2 * FAILURES, true),
];

/// A log that a server writes.
struct ServerLog {
    /// Where it is in the data folder.
    path: &'static str,
    kind: &'static str,
    /// The flags that it is read with, beside none.
    flags: &'static str,
    /// What each record begins with, where that is a line of its own.
    head: Option<&'static str>,
    has_durations: bool,
    /// The code by which it has failures; `None`: it does not have them.
    failure: Option<&'static str>,
}

impl ServerLog {
    const SLOW: Self = Self {
        path: "slow.log",
        kind: "slow",
        flags: "--read-as slow",
        head: Some("# User@Host:"),
        has_durations: true,
        failure: None,
    };
    const GENERAL: Self = Self {
        path: "general.log",
        kind: "general",
        flags: "--read-as general",
        head: None,
        has_durations: false,
        failure: None,
    };
    const STDERR: Self = Self {
        path: "logs/pg.log",
        kind: "postgres",
        // As private servers have it.
        flags: "--prefix '%m [%p] %e '",
        head: None,
        has_durations: true,
        failure: Some("23505"),
    };
    const CSV: Self = Self {
        path: "logs/pg.csv",
        kind: "postgres_csv",
        flags: "--read-as postgres_csv",
        ..Self::STDERR
    };
    const JSON: Self = Self {
        path: "logs/pg.json",
        kind: "postgres_json",
        flags: "--read-as postgres_json",
        ..Self::STDERR
    };
}

#[test]
fn what_servers_log_is_counted_as_it_was_sent() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, logging(product));
        // Debian's PostgreSQL 15 is the first with a jsonlog.
        agrees_with_the_driver(given, true);
    }
}

/// With these settings a server logs what is sent to it.
pub(crate) fn logging(product: Product) -> &'static [(&'static str, &'static str)] {
    match product {
        Product::Postgres => &POSTGRES_SETTINGS,
        _ => &MYSQL_SETTINGS,
    }
}

/// Sends the load to a server with these settings, and compares each of its logs. A newer one has
/// what came since PostgreSQL 15 or MySQL 8.0.14.
pub(crate) fn agrees_with_the_driver(mut given: GivenServer, is_newer: bool) {
    let is_postgres = given.server.product() == Product::Postgres;
    if is_postgres {
        collect(&mut given, is_newer);
    }
    let (sandbox, failure) = (Sandbox::new(), if is_postgres { "23505" } else { "1062" });
    send(&sandbox, &given.target(), failure);
    given.sql(MARK);
    let is_mysql = given.server.product() == Product::Mysql;
    let slow = ServerLog { failure: (is_mysql && is_newer).then_some("1062"), ..ServerLog::SLOW };
    let logs = match (is_postgres, is_newer) {
        (true, true) => vec![ServerLog::STDERR, ServerLog::CSV, ServerLog::JSON],
        (true, false) => vec![ServerLog::STDERR, ServerLog::CSV],
        (false, _) => vec![slow, ServerLog::GENERAL],
    };
    for log in logs {
        until_marked(&given.server.data().join(log.path));
        // It goes on writing.
        let copy = fs::copy(given.server.data().join(log.path), sandbox.path("it.log"));
        copy.expect("a copy");
        agrees(&sandbox, &log, given.server.version());
    }
}

/// Has PostgreSQL write files of its own, which it does from its next start on.
fn collect(given: &mut GivenServer, has_json: bool) {
    let json = if has_json { ",jsonlog" } else { "" };
    for setting in [
        "logging_collector = on",
        "log_directory = 'logs'",
        "log_filename = 'pg.log'",
        &format!("log_destination = 'stderr,csvlog{json}'"),
    ] {
        given.sql(&format!("ALTER SYSTEM SET {setting}"));
    }
    given.server.restart(&|_| {}, &RunStop::default()).expect("it comes back");
}

/// Sends the load by either protocol; the driver counts what is expected.
fn send(sandbox: &Sandbox, target: &str, failure: &str) {
    sandbox.write("small.toml", SMALL);
    sandbox.run(&format!("init small.toml --target '{target}'")).fine();
    for protocol in ["text", "prepared"] {
        let run = |load: &str, connections: u64, transactions: u64| {
            sandbox.run(&format!(
                "run {load} --target '{target}' --protocol {protocol} --connections {connections} \
                 --transactions {transactions} --no-record --json"
            ))
        };
        let json = run("small.toml", 1, TRANSACTIONS).fine().json();
        assert_eq!(count(&json, "/counts/completed"), TRANSACTIONS, "{}", json["counts"]);
        let json = run("--query 'SELECT n + 1 FROM item WHERE id = 7'", 3, READS).fine().json();
        assert_eq!(count(&json, "/counts/completed"), READS, "{}", json["counts"]);
        let failed = run("--query 'INSERT INTO item VALUES (1, 0)'", 2, FAILURES);
        let json = failed.unserved().json();
        assert_eq!(json["errors"], serde_json::json!({ failure: FAILURES }));
    }
}

/// MariaDB of this version logs no execution of a prepared statement that fails: those are half of
/// all.
const NO_FAILED_EXECUTIONS: &str = "10.2.";

/// Waits until a log has all of the load: the server writes some from another process.
fn until_marked(path: &Path) {
    let begun = Instant::now();
    let is_marked = || {
        let log = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&log).lines().any(|line| line.contains(MARK))
    };
    while !is_marked() {
        assert!(begun.elapsed() < PATIENCE, "the load does not end in {}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether the digest of `it.log` has all records, and of the load as many as were sent.
fn agrees(sandbox: &Sandbox, log: &ServerLog, version: &str) {
    let what = format!("{version} {}", log.path);
    let digest = sandbox.run(&format!("log it.log {} --json", log.flags)).fine().json();
    let input = &digest["inputs"][0];
    assert_eq!(input["kind"], log.kind, "{what}");
    assert!(input["unread"].is_null(), "{what}: {input}");
    // The format is found without a flag too, and makes no difference but for failures by code.
    let found = sandbox.run("log it.log --json").fine().json();
    assert_eq!(found["inputs"][0]["kind"], log.kind, "{what}");
    assert_eq!(found["total"]["count"], digest["total"]["count"], "{what}");
    let records = count(&digest, "/inputs/0/records");
    let classes = digest["classes"].as_array().expect("classes");
    let counted: u64 = classes.iter().map(|class| count(class, "/count")).sum();
    assert_eq!([counted, count(&digest, "/total/count")], [records; 2], "{what}");
    if let Some(head) = log.head {
        let text = fs::read_to_string(sandbox.path("it.log")).expect("UTF-8");
        let heads = text.lines().filter(|line| line.starts_with(head)).count();
        assert_eq!(records, heads as u64, "{what}");
    }
    for (text, number, fails) in EXPECTED {
        let mut same = classes.iter().filter(|class| class["text"] == text);
        let class = same.next().unwrap_or_else(|| panic!("{what}: no {text} in {digest:#}"));
        assert!(same.next().is_none(), "{what}: {text} is there twice");
        let is_lost = fails && log.kind == "general" && version.starts_with(NO_FAILED_EXECUTIONS);
        let number = if is_lost { number / 2 } else { number };
        class_agrees(class, number, log, log.failure.filter(|_| fails), &what);
    }
}

fn class_agrees(class: &Value, number: u64, log: &ServerLog, failure: Option<&str>, what: &str) {
    assert_eq!([count(class, "/count"), count(class, "/logged")], [number; 2], "{what}: {class:#}");
    let errors = log.failure.map(|_| failure.map_or(0, |_| number));
    assert_eq!(class["errors"], serde_json::json!(errors), "{what}: {class:#}");
    if let Some(code) = failure {
        let codes = serde_json::json!([{ "name": code, "count": number }]);
        assert_eq!(class["error_codes"], codes, "{what}");
    }
    // A statement that fails PostgreSQL logs without its duration.
    let is_timed = log.has_durations && (failure.is_none() || log.kind == "slow");
    if is_timed {
        assert!(class["times"]["total_us"].as_f64().is_some_and(|us| us > 0.0), "{what}");
    }
    let is_read = class["text"].as_str().is_some_and(|text| text.starts_with("SELECT"));
    if log.kind == "slow" && is_read {
        // Each finds a row.
        let rows = class.pointer("/figures/rows_sent/total").and_then(Value::as_f64);
        assert_eq!(rows, Some(number as f64), "{what}: {class:#}");
    }
    if log.kind != "postgres" {
        let databases = serde_json::json!([{ "name": "d", "count": number }]);
        assert_eq!(class["databases"], databases, "{what}");
    }
}
