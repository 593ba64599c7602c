//! `dbtime counters`: of two files, of a file and a target, of a target over an interval.

use crate::sandbox::{Sandbox, count, number};
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What real servers and their clients printed.
const RECORDED: [&str; 4] = [
    "mariadb-10.11-before.tsv",
    "mariadb-10.11-after.tsv",
    "postgres-15-before.txt",
    "postgres-15-after.csv",
];

/// A sandbox with these files.
fn recorded() -> Sandbox {
    let sandbox = Sandbox::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dbtime-observe/tests/fixtures");
    for name in RECORDED {
        fs::copy(folder.join(name), sandbox.path(name)).expect("a recorded file");
    }
    sandbox
}

/// A sandbox with a database that has a log, and a connection that keeps it open.
fn database() -> (Sandbox, Connection) {
    let sandbox = Sandbox::new();
    let connection = Connection::open(sandbox.path("t.db")).expect("a database");
    let begin = "PRAGMA journal_mode = wal; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)";
    connection.execute_batch(begin).expect("a table");
    (sandbox, connection)
}

fn write(connection: &Connection, times: u32) {
    for _ in 0..times {
        connection.execute("UPDATE t SET n = n + 1", []).expect("an update");
    }
}

/// The counter of a report, by its name.
fn counter<'a>(report: &'a Value, name: &str) -> &'a Value {
    let mut counters = report["counters"].as_array().expect("counters").iter();
    counters.find(|delta| delta["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}

#[test]
fn two_outputs_of_mysql() {
    let sandbox = recorded();
    let line = "counters mariadb-10.11-before.tsv mariadb-10.11-after.tsv";
    let ran = sandbox.run(line).fine().prints(&[
        "MariaDB\n  interval      2 s by the server's Uptime",
        "    Com_select                                  501       250.5\n",
        "513 values are the same in both samples",
    ]);
    assert!(!ran.out.contains("Per transaction") && !ran.out.contains("Com_insert"), "{ran:?}");
    sandbox.run(&format!("{line} --per-transaction --all")).fine().prints(&[
        "Per transaction",
        "    Com_commit                                               100          50                1\n",
        "    Com_insert                                                 0           0                0\n",
        "    Threads_running",
    ]);
    let json = sandbox.run(&format!("{line} --json")).fine().json();
    assert_eq!((&json["document"], count(&json, "/transactions")), (&"counter_report".into(), 100));
    assert_eq!(count(&json, "/left_out"), 513);
    let select = counter(&json, "Com_select");
    assert_eq!((number(select, "/difference"), number(select, "/per_transaction")), (501.0, 5.01));
    let all = sandbox.run(&format!("{line} --json --all")).fine().json();
    assert_eq!(
        (count(&all, "/left_out"), all["counters"].as_array().map(Vec::len)),
        (0, Some(562))
    );
}

#[test]
fn differences_are_a_page_and_markdown_too() {
    let sandbox = recorded();
    let line = "counters mariadb-10.11-before.tsv mariadb-10.11-after.tsv";
    sandbox.run(&format!("{line} --html c.html")).fine().prints(&["Report: c.html\n"]);
    let page = fs::read_to_string(sandbox.path("c.html")).expect("a page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Com_select"), "{page}");
    let ran = sandbox.run(&format!("{line} --markdown")).fine();
    ran.prints(&["## MariaDB", "\n### Counters\n", "| Com\\_select | 501 | 250.5 |"]);
    sandbox.run(&format!("{line} --json --html j.html")).fine().json();
    assert!(sandbox.path("j.html").exists());
    sandbox.run(&format!("{line} --html -")).refused(2, &["`-` is not a file name"]);
    sandbox.run(&format!("{line} --markdown --json")).refused(2, &["--markdown", "--json"]);
    sandbox.run(&format!("{line} --html /dev/null")).fine().prints(&["Report: /dev/null\n"]);
    // What cannot be written is refused before anything is sampled.
    sandbox.run(&format!("{line} --html no/c.html")).refused(3, &["cannot write no/c.html"]);
    let absent = "counters --target mysql://u@127.0.0.1:1 --html";
    sandbox.run(&format!("{absent} no/c.html")).refused(3, &["cannot write no/c.html"]);
    // And a page of before is not taken for the result of what failed.
    sandbox.run(&format!("{absent} c.html")).exits(3);
    let page = fs::read_to_string(sandbox.path("c.html")).expect("a page");
    assert!(page.contains("ended without a result") && !page.contains("Com_select"), "{page}");
}

#[test]
fn two_outputs_of_psql() {
    let sandbox = recorded();
    let line = "counters postgres-15-before.txt postgres-15-after.csv --per-transaction";
    sandbox.run(line).fine().prints(&[
        "PostgreSQL\n  interval      not known: no rates\n  transactions  110 (xact_commit)",
        "  pg_stat_database (postgres)\n",
        "    wal_records",
        "Gauges",
    ]);
}

#[test]
fn a_file_that_is_none_is_told_by_name() {
    let sandbox = recorded();
    let [before, ..] = RECORDED;
    let line = |file: &str| sandbox.run(&format!("counters {before} {file}"));
    line("absent").refused(3, &["cannot read absent: No such file"]);
    line("tmp").refused(3, &["cannot read tmp: Is a directory"]);
    line("/dev/zero").refused(3, &["/dev/zero is larger than 64 MiB"]);
    sandbox.write("garbage", "nobody\tknows\nwhat\tthis is\n\u{1b}[2J\n");
    line("garbage").refused(3, &["garbage holds no counters", "--save", "show global status"]);
    fs::write(sandbox.path("bytes"), [0u8, 255, 254, 7, 10, 200]).expect("a file");
    line("bytes").refused(3, &["bytes holds no counters"]);
    sandbox.write("empty", "");
    line("empty").refused(3, &["empty is empty"]);
    sandbox.write("newer", "{\"schema\": 99, \"document\": \"counter_sample\"}");
    line("newer").refused(3, &["newer has schema 99", "use a newer dbtime"]);
    let one = fs::read_to_string(sandbox.path(before)).expect("recorded");
    sandbox.write("both", &format!("{one}\n{one}"));
    line("both").refused(3, &["both holds more than one sample"]);
}

#[test]
fn samples_that_do_not_belong_together() {
    let sandbox = recorded();
    let [before, after, postgres, _] = RECORDED;
    let told = ["the first sample is of MariaDB, the second of PostgreSQL"];
    sandbox.run(&format!("counters {before} {postgres}")).refused(2, &told);
    // Uptime alone cannot tell a restart from the wrong order.
    sandbox.run(&format!("counters {after} {before}")).fine().prints(&[
        "Uptime went back from 43 s to 41 s",
        "wrong order",
        "reset, was",
    ]);
    let told = ["is a single sample", "--target"];
    sandbox.run(&format!("counters {before}")).refused(2, &told);
}

#[test]
fn flags_that_contradict_each_other() {
    let sandbox = recorded();
    sandbox.run("counters").refused(2, &["two files", "--target"]);
    sandbox.run("counters a b c").refused(2, &["unexpected"]);
    sandbox.run("counters a b --interval 1s").refused(2, &["--interval"]);
    sandbox.run("counters a b --count 2").refused(2, &["--count"]);
    sandbox.run("counters a b --save c").refused(2, &["--target"]);
    sandbox.run("counters a b --target sqlite:t.db").refused(2, &["two files", "--target"]);
    sandbox.run("counters --target sqlite:t.db --count 0").refused(2, &["--count"]);
    sandbox.run("counters --target sqlite:t.db --interval 0").refused(2, &["--interval", "1s"]);
    sandbox.run("counters --target sqlite").refused(2, &["sqlite:PATH"]);
    sandbox.run("counters --target null").refused(2, &["null counts nothing"]);
    sandbox.run("counters --target sqlite:t.db").refused(3, &["cannot read t.db", "No such file"]);
    sandbox.write(
        "t.db",
        "this is no database, however long it may be made ............................",
    );
    sandbox.run("counters --target sqlite:t.db").refused(3, &["t.db is no SQLite database"]);
}

#[test]
fn a_saved_sample_is_compared_with_the_present() {
    let (sandbox, connection) = database();
    let saved = sandbox.run("counters --target sqlite:t.db --save a.json").fine();
    assert!(saved.out.starts_with("Sample: a.json (") && saved.out.ends_with(" counters)\n"));
    write(&connection, 7);
    sandbox
        .run("counters a.json --target sqlite:t.db --per-transaction --save b.json")
        .fine()
        .prints(&[
            "SQLite at sqlite:t.db\n",
            "  transactions  7 (wal_transactions)\n",
            "    wal_transactions",
        ]);
    write(&connection, 5);
    sandbox.run("counters --target sqlite:t.db --save c.json --json").fine().json();
    let json = sandbox.run("counters b.json c.json --json").fine().json();
    assert_eq!(count(&json, "/transactions"), 5);
    assert_eq!(json["interval_from"], "clock");
    // These know when they were taken.
    let told = ["taken before the first", "in the other order"];
    sandbox.run("counters c.json a.json").refused(2, &told);
    // Looking at it has changed nothing: no lock, no checkpoint, no file.
    assert_eq!(sandbox.left(), ["a.json", "b.json", "c.json", "t.db", "t.db-shm", "t.db-wal"]);
    sandbox
        .run("counters --target sqlite:t.db --save no/such/folder")
        .refused(3, &["no/such/folder"]);
    for form in ["--markdown", "--html d.html"] {
        let line = format!("counters --target sqlite:t.db --save d.json {form}");
        sandbox.run(&line).refused(2, &["--save takes one sample"]);
    }
    assert!(!sandbox.path("d.json").exists());
}

#[test]
fn a_rollback_journal_counts_transactions_too() {
    let (sandbox, connection) = database();
    connection.execute_batch("PRAGMA journal_mode = delete").expect("no log");
    sandbox.run("counters --target sqlite:t.db --save a.json").fine();
    write(&connection, 3);
    let json = sandbox.run("counters a.json --target sqlite:t.db --json").fine().json();
    assert_eq!(count(&json, "/transactions"), 3);
    assert_eq!(json["transactions_from"], "journal_transactions");
}

#[test]
fn an_interval_is_a_report_and_several_are_lines() {
    let (sandbox, connection) = database();
    let line = "counters --target sqlite:t.db --interval 300ms";
    let one = sandbox.run(&format!("{line} --json")).fine().json();
    assert!(number(&one, "/interval_s") >= 0.29, "{one}");
    let running = sandbox.start(&format!("{line} --count 3 --json"));
    write(&connection, 20);
    let ran = running.end().fine();
    let reports: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    assert_eq!(reports.len(), 3);
    // Each begins where the one before it ended.
    assert!(reports.windows(2).all(|pair| pair[0]["to"] == pair[1]["from"]), "{ran:?}");
    let text = sandbox.run(&format!("{line} --count 2")).fine();
    assert_eq!(text.out.matches("SQLite at sqlite:t.db\n").count(), 2);
}

#[test]
fn an_interrupt_ends_the_interval_early() {
    let (sandbox, _connection) = database();
    let running = sandbox.start("counters --target sqlite:t.db --interval 10m --count 9 --json");
    // It has begun when it has caught the signal; before, it would be ended by it.
    running.wait_until_it_catches_interrupts();
    running.interrupt();
    let ran = running.end();
    assert_eq!((ran.code, ran.out.lines().count()), (Some(130), 1), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).expect("one line");
    assert!(number(&report, "/interval_s") < 500.0, "{ran:?}");
}

#[test]
fn a_saved_report_is_shown_again() {
    let sandbox = recorded();
    let [before, after, ..] = RECORDED;
    let line = format!("counters {before} {after}");
    let json = sandbox.run(&format!("{line} --json --all")).fine();
    sandbox.write("report.json", &json.out);
    let first = sandbox.run(&line).fine();
    assert_eq!(sandbox.run("counters report.json").fine().out, first.out);
    let told = ["report.json already compares", "dbtime counters report.json"];
    sandbox.run(&format!("counters {before} report.json")).refused(2, &told);
}
