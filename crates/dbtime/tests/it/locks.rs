//! Who held the lock: another worker's statement, or another process.

use crate::sandbox::{Sandbox, count, counts_add_up};
use rusqlite::Connection;
use serde_json::Value;

/// Opens the sandbox's database in this process, which the one under test finds as a stranger.
fn stranger(sandbox: &Sandbox) -> Connection {
    Connection::open(sandbox.path("t.db")).expect("a database")
}

fn own_pid() -> String {
    format!("pid {} (", std::process::id())
}

/// What holders did is of the same waits as who they were; in seconds.
fn chains_are_all_waits(json: &Value) {
    let sum = |name: &str| -> f64 {
        let rows = json[name].as_array().expect("a list");
        rows.iter().filter_map(|row| row["wait_s"].as_f64()).sum()
    };
    let (chains, holders) = (sum("lock_chains"), sum("lock_holders"));
    assert!((chains - holders).abs() < 1e-9, "{chains} of {holders}: {}", json["lock_chains"]);
}

/// The writer syncs its commits while the others nap.
#[test]
fn what_the_holder_of_sqlite_s_write_lock_did_is_named() {
    let sandbox = Sandbox::on_disk();
    let line = "run atm --target 'sqlite:?synchronous=full' --workers 4 --warmup 0s --time 1s";
    let json = sandbox.run(&format!("{line} --no-record --json")).fine().json();
    chains_are_all_waits(&json);
    let chains = json["lock_chains"].as_array().expect("a list");
    let by_sync = |row: &&Value| {
        row["statements"] == serde_json::json!(["withdraw: begin", "withdraw: commit"])
            && row["cause"] == "sync"
    };
    let row = chains.iter().find(by_sync).unwrap_or_else(|| panic!("{chains:#?}"));
    assert!(count(row, "/count") > 0 && row["wait_s"].as_f64() > Some(0.0), "{row}");
}

#[test]
fn two_workers_name_each_other() {
    let sandbox = Sandbox::new();
    let line = "run atm --target 'sqlite?synchronous=full' --workers 2 --warmup 0s --time 600ms";
    let has_holder = |_| {
        let line = format!("{line} --budget-every 1 --no-record --json");
        let json = sandbox.run(&line).fine().json();
        counts_add_up(&json);
        chains_are_all_waits(&json);
        let holders = json["lock_holders"].as_array().expect("a list").clone();
        holders.into_iter().find(|row| row["holder"].to_string().contains("withdraw: "))
    };
    let row = (0..5).find_map(has_holder).expect("no worker waited for the other in five runs");
    assert_eq!(row["waiter"], "withdraw: begin", "{row}");
    assert!(count(&row, "/count") > 0 && row["wait_s"].as_f64() > Some(0.0), "{row}");
}

#[test]
fn another_process_is_named_while_it_holds_the_write_lock() {
    let sandbox = Sandbox::loaded();
    let other = stranger(&sandbox);
    for mode in ["wal", "delete"] {
        other.pragma_update(None, "journal_mode", mode).expect("nobody else is there");
        let target = format!("'sqlite:t.db?journal_mode={mode}&busy_timeout=30ms'");
        let line = format!("run small.toml --target {target} --transactions 5 --budget-every 1");
        // Readers of a rollback journal are let in, writers are not.
        other.execute_batch("BEGIN IMMEDIATE; UPDATE item SET n = 1 WHERE id = 1").expect("alone");
        let json = sandbox.run(&format!("{line} --no-record --json")).unserved().json();
        other.execute_batch("ROLLBACK").expect("held");
        counts_add_up(&json);
        assert_eq!(count(&json, "/counts/failed"), 5, "{mode}: {}", json["counts"]);
        assert!(count(&json, "/errors/SQLITE_BUSY") >= 5, "{mode}: {}", json["errors"]);
        chains_are_all_waits(&json);
        let holders = json["lock_holders"].as_array().expect("a list");
        let named = |row: &Value| row["holder"].as_str().is_some_and(|h| h.starts_with(&own_pid()));
        assert!(holders.iter().any(named), "{mode}: {holders:?}");
        assert!(holders.iter().all(|row| row["waiter"] == "change: begin"), "{mode}: {holders:?}");
    }
}

#[test]
fn a_database_that_is_locked_altogether_is_told_with_its_holder() {
    let sandbox = Sandbox::loaded();
    let other = stranger(&sandbox);
    other.pragma_update(None, "journal_mode", "delete").expect("nobody else is there");
    other.execute_batch("BEGIN EXCLUSIVE").expect("alone");
    let target = "--target 'sqlite:t.db?journal_mode=delete&busy_timeout=50ms'";
    let told = ["t.db is locked by", &own_pid(), "busy_timeout"];
    sandbox.run(&format!("run small.toml {target} --out r")).refused(3, &told);
    sandbox.run(&format!("init small.toml {target}")).refused(3, &told);
    drop(other);
    assert_eq!(sandbox.left(), ["small.toml", "t.db"]);
    sandbox.run(&format!("run small.toml {target} --transactions 5 --no-record")).fine();
}

#[test]
fn init_waits_for_no_writer_longer_than_it_was_told() {
    let sandbox = Sandbox::loaded();
    let other = stranger(&sandbox);
    other.execute_batch("BEGIN IMMEDIATE; UPDATE item SET n = 1").expect("alone");
    let line = "init small.toml --target 'sqlite:t.db?busy_timeout=50ms'";
    sandbox.run(line).refused(3, &["t.db is locked by", &own_pid()]);
    other.execute_batch("COMMIT").expect("held");
    let whole: i64 =
        other.query_row("SELECT SUM(n) FROM item", [], |row| row.get(0)).expect("rows");
    assert_eq!(whole, 100, "what was there is still there");
    sandbox.run(line).fine();
}
