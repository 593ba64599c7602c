//! What once went wrong, so that it does not again.

use crate::sandbox::{Sandbox, count, counts_add_up};
use crate::watched_run::WatchedRun;
use rusqlite::Connection;
use rustix::process::Signal;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn what_the_rundown_completes_is_not_throughput() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=1ms' --connections 1 --rate 2000/s \
                --warmup 0s --time 1s --no-record --json";
    let run = sandbox.run(line).fine().json();
    counts_add_up(&run);
    let tps = run["throughput_tps"].as_f64().expect("a number");
    assert!(tps < 1010.0, "one connection of 1 ms cannot carry {tps}/s");
    let warnings = run["validity"]["warnings"].to_string();
    assert!(warnings.contains("rate_missed"), "{warnings}");
}

#[test]
fn init_never_drops_a_table_it_did_not_make() {
    let sandbox = Sandbox::new();
    let db = Connection::open(sandbox.path("my.db")).expect("a new database");
    db.execute_batch("CREATE TABLE account (name TEXT); INSERT INTO account VALUES ('payroll');")
        .expect("a table");
    let told = ["table account", "not made for workload atm", "name another file"];
    sandbox.run("init atm --target sqlite:my.db").refused(3, &told);
    let name: String =
        db.query_row("SELECT name FROM account", [], |row| row.get(0)).expect("still there");
    assert_eq!(name, "payroll");
    // Unless that is what is wanted.
    let ran = sandbox.run("init atm --target sqlite:my.db --replace").fine();
    ran.prints(&["in the place of tables that were not made for it"]);
    let rows: i64 =
        db.query_row("SELECT count(*) FROM account", [], |row| row.get(0)).expect("its rows");
    assert_eq!(rows, 100_000);
}

#[test]
fn init_takes_no_pipe_s_or_socket_s_place() {
    let sandbox = Sandbox::new();
    let socket = sandbox.path("socket");
    let _bound = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let told = ["not a regular file"];
    sandbox.run("init tpcb --target sqlite:socket").refused(3, &told);
    sandbox.run("init tpcb --target sqlite:socket --replace").refused(3, &[]);
    let kind = fs::metadata(&socket).expect("still there").file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_socket(&kind));
}

#[test]
fn init_is_not_misled_by_the_log_of_a_database_that_is_gone() {
    let sandbox = Sandbox::new();
    sandbox.run("init atm --target sqlite:w.db").fine();
    // A reader that stays keeps the log from being removed when the run ends.
    let reader = Connection::open(sandbox.path("w.db")).expect("a database");
    let _: i64 =
        reader.query_row("SELECT count(*) FROM account", [], |row| row.get(0)).expect("a count");
    sandbox.run("run atm --target sqlite:w.db --warmup 0s --transactions 200 --no-record").fine();
    let log = fs::read(sandbox.path("w.db-wal")).expect("a log");
    assert!(!log.is_empty());
    drop(reader);
    fs::remove_file(sandbox.path("w.db")).expect("removed");
    fs::write(sandbox.path("w.db-wal"), log).expect("put back");
    sandbox.run("init atm --target sqlite:w.db").fine();
    let db = Connection::open(sandbox.path("w.db")).expect("a database");
    let check: String =
        db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
    let rows: i64 =
        db.query_row("SELECT count(*) FROM history", [], |row| row.get(0)).expect("a count");
    assert_eq!((check.as_str(), rows), ("ok", 0));
}

#[test]
fn more_workers_than_clients_serve_no_one_twice() {
    let sandbox = Sandbox::loaded();
    let line = "run small.toml --target sqlite:t.db --connections 2 --workers 4 \
                --transactions 100 --no-record --json";
    let run = sandbox.run(line).fine().json();
    assert_eq!(count(&run, "/counts/offered"), 100);
}

#[test]
fn a_number_of_transactions_is_all_that_is_done_to_the_data() {
    let sandbox = Sandbox::new();
    let db = Connection::open(sandbox.path("log.db")).expect("a new database");
    db.execute_batch("CREATE TABLE log (n INTEGER);").expect("a table");
    let line = "run --query 'INSERT INTO log VALUES (1)' --target sqlite:log.db \
                --transactions 3 --no-record";
    sandbox.run(line).fine();
    let rows: i64 = db.query_row("SELECT count(*) FROM log", [], |row| row.get(0)).expect("rows");
    assert_eq!(rows, 3);
}

#[test]
fn transactions_end_the_window_before_its_time() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target null --transactions 1000 --time 1m --warmup 0s \
                --no-record --json";
    let run = sandbox.run(line).fine().json();
    let measured = run["window"]["measure_s"].as_f64().expect("a number");
    assert!(measured < 30.0, "1000 transactions of nothing took {measured} s");
}

#[test]
fn an_early_end_does_not_wait_for_what_is_due_later() {
    let sandbox = Sandbox::new();
    // The first transaction is due at once, the second in a minute.
    let running = sandbox.start(
        "run values1 --target null: --rate 1/m --arrivals steady --warmup 0s --time 10m \
         --no-record",
    );
    std::thread::sleep(Duration::from_millis(600));
    let begun = Instant::now();
    running.interrupt();
    running.end();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn clients_given_up_after_the_rundown_do_not_hold_up_the_end() {
    let sandbox = Sandbox::new();
    let line = "run values1 --target 'null:?service=400ms' --connections 50 --workers 1 \
                --time 300ms --warmup 0s --no-record --json";
    let run = sandbox.run(line).fine().json();
    counts_add_up(&run);
    assert!(count(&run, "/counts/unfinished") > 20, "{}", run["counts"]);
}

#[test]
fn a_statement_of_an_hour_does_not_make_a_run_of_an_hour() {
    let sandbox = Sandbox::new();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                   SELECT count(*) FROM n";
    let line = format!("run --query '{endless}' --time 60s --warmup 0s --budget-every 1");
    let running = WatchedRun::start(&sandbox, &format!("{line} --no-record"));
    std::thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    running.signal(Signal::INT);
    let run = running.end().json();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    counts_add_up(&run);
    assert_eq!(count(&run, "/counts/unfinished"), 1);
}
