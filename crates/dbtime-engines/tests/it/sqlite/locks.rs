//! Who waited for whom: workers of one run, and other processes.

use super::atm::{
    BEGIN, BEGIN_READ, Bank, COMMIT, FETCH, ROLLBACK, UPDATE, load, statements, transact,
};
use dbtime_engines::databases::sqlite::{SqliteConnection, SqliteTarget, check, lock_holders};
use dbtime_load::program::SqlValue;
use dbtime_machine::now;
use dbtime_model::record::BudgetLockHolder;
use dbtime_model::{ErrorClass, Nanos, Part, Parts};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

fn holders(connection: &SqliteConnection) -> Vec<BudgetLockHolder> {
    lock_holders(&connection.figures().waits, &statements(), &["withdraw".to_owned()])
}

fn change() -> [SqlValue; 2] {
    [SqlValue::Integer(1), SqlValue::Integer(1)]
}

/// A worker that has waited for 100 ms for the lock that another one holds, and what its time went
/// to. Now and then it comes too late to wait, or the hypervisor takes the CPU away: then it is
/// tried again.
fn waiter_for_a_lock(bank: &Bank) -> (SqliteConnection, Parts) {
    let is_undisturbed = |(waiter, parts): &(SqliteConnection, Parts)| {
        let unexplained = parts.get(Part::Unexplained).abs();
        waiter.figures().naps > 0 && unexplained < parts.total() / 10
    };
    let mut tries = (0..20).map(|_| wait_for_a_lock(bank));
    tries.find(is_undisturbed).expect("one that waits, all of whose time is explained")
}

fn wait_for_a_lock(bank: &Bank) -> (SqliteConnection, Parts) {
    let database = &bank.database(2);
    let ((told, learns), (begins, waits)) = (mpsc::channel(), mpsc::channel());
    let mut parts = Parts::default();
    let mut waiter = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut holder = database.connect(1).expect("a connection");
            holder.execute(BEGIN, &[], false).expect("begun");
            holder.execute(UPDATE, &change(), false).expect("updated");
            told.send(()).expect("heard");
            waits.recv().expect("it begins");
            std::thread::sleep(std::time::Duration::from_millis(100));
            holder.execute(COMMIT, &[], false).expect("committed");
        });
        learns.recv().expect("told");
        let mut waiter = database.connect(0).expect("a connection");
        begins.send(()).expect("heard");
        let (result, timing) = waiter.execute_measured(BEGIN, &[], false, &mut parts);
        result.expect("begun in the end");
        parts.close(timing.done - timing.sent);
        waiter
    });
    waiter.execute(ROLLBACK, &[], false).expect("rolled back");
    (waiter, parts)
}

#[test]
fn the_statement_of_the_worker_that_holds_the_lock_is_named() {
    for journal in ["wal", "delete"] {
        let bank = Bank::new(&[("journal_mode", journal)]);
        let (waiter, parts) = waiter_for_a_lock(&bank);
        let found = holders(&waiter);
        println!("{journal}: {found:?}, {parts:?}");
        assert_eq!(found[0].waiter, "withdraw: begin");
        assert_eq!(found[0].holder, "withdraw: update account");
        let figures = waiter.figures();
        assert_eq!(figures.naps, figures.waits.iter().map(|wait| wait.count).sum::<u64>());
        assert_eq!(figures.nap_ns, figures.waits.iter().map(|wait| wait.wait_ns).sum::<u64>());
        // A nap lasts until there is a CPU again. Its parts are read by the kernel's accounts at
        // both of its ends, a little outside of its own instants.
        let [slept, queued] = [Part::Lock, Part::Runq].map(|part| parts.get(part) as f64);
        let naps = figures.nap_ns as f64;
        assert!(slept < 1.1 * naps && slept + queued > 0.5 * naps, "{naps}, {parts:?}");
    }
}

#[test]
fn a_reader_holds_up_a_commit_of_the_rollback_modes() {
    let bank = Bank::new(&[("journal_mode", "truncate"), ("busy_timeout", "20ms")]);
    let database = bank.database(2);
    std::thread::scope(|scope| {
        let (told, learns) = mpsc::channel();
        let (done, waits) = mpsc::channel::<()>();
        let database = &database;
        scope.spawn(move || {
            let mut reader = database.connect(1).expect("a connection");
            reader.execute(BEGIN_READ, &[], false).expect("begun");
            reader.execute(FETCH, &[SqlValue::Integer(1)], false).expect("a row");
            told.send(()).expect("heard");
            waits.recv().ok();
            reader.execute(COMMIT, &[], false).expect("committed");
        });
        learns.recv().expect("told");
        let mut writer = database.connect(0).expect("a connection");
        writer.execute(BEGIN, &[], false).expect("begun");
        writer.execute(UPDATE, &change(), false).expect("updated");
        let failure = writer.execute(COMMIT, &[], false).expect_err("a reader is there");
        assert_eq!((failure.class, failure.undone), (ErrorClass::Busy, false));
        writer.execute(ROLLBACK, &[], false).expect("rolled back");
        let found = holders(&writer);
        assert_eq!(found[0].waiter, "withdraw: commit");
        assert_eq!(found[0].holder, "withdraw: fetch account");
        drop(done);
    });
}

#[test]
fn a_timeout_that_runs_out_is_busy_and_an_old_snapshot_is_a_conflict() {
    let bank = Bank::new(&[("busy_timeout", "30ms")]);
    let database = bank.database(2);
    let mut holder = database.connect(1).expect("a connection");
    let mut waiter = database.connect(0).expect("a connection");
    holder.execute(BEGIN, &[], false).expect("begun");
    let start = now();
    let failure = waiter.execute(BEGIN, &[], false).expect_err("the other one writes");
    let took = now() - start;
    assert_eq!((failure.class, failure.code.as_str()), (ErrorClass::Busy, "SQLITE_BUSY"));
    assert!(failure.undone);
    assert!(took >= Nanos::from_millis(30), "{took}");
    // 1 + 2 + 5 + 10 ms, and 12 of the 15 that follow.
    assert_eq!(waiter.figures().naps, 5);
    holder.execute(ROLLBACK, &[], false).expect("rolled back");

    waiter.execute(BEGIN_READ, &[], false).expect("begun");
    waiter.execute(FETCH, &[SqlValue::Integer(1)], false).expect("a row");
    transact(&mut holder, 1);
    let failure = waiter.execute(UPDATE, &change(), false).expect_err("too old");
    assert_eq!(failure.class, ErrorClass::Conflict, "{failure:?}");
    assert_eq!((failure.code.as_str(), failure.undone), ("SQLITE_BUSY_SNAPSHOT", false));
}

/// Not a test of its own: the other process of the next one.
#[test]
fn other_process() {
    let Ok(path) = std::env::var("DBTIME_TEST_HOLD") else { return };
    let db = rusqlite::Connection::open(path).expect("a database");
    let mode = std::env::var("DBTIME_TEST_BEGIN").expect("how to begin");
    db.execute_batch(&format!("{mode}; SELECT count(*) FROM account;")).expect("locked");
    println!("\nholding");
    std::io::stdout().flush().expect("shown");
    std::io::stdin().read_line(&mut String::new()).ok();
}

/// Starts another process that holds a lock until its input is closed.
fn hold(target: &SqliteTarget, begin: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "sqlite::locks::other_process", "--nocapture", "--test-threads=1"])
        .env("DBTIME_TEST_HOLD", &target.path)
        .env("DBTIME_TEST_BEGIN", begin)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut lines = BufReader::new(child.stdout.as_mut().expect("piped")).lines();
    assert!(lines.any(|line| line.expect("text") == "holding"));
    child
}

#[test]
fn another_process_that_holds_the_lock_is_named() {
    for (journal, begin) in
        [("wal", "BEGIN IMMEDIATE"), ("delete", "BEGIN IMMEDIATE"), ("delete", "BEGIN EXCLUSIVE")]
    {
        // The kernel's list is read more than once then: it leaves locks out while others change.
        let bank = Bank::new(&[("journal_mode", journal), ("busy_timeout", "500ms")]);
        let mut connection = bank.connect();
        let mut other = hold(&bank.target, begin);
        let failure = connection.execute(BEGIN, &[], false).expect_err("it is locked");
        assert_eq!(failure.class, ErrorClass::Busy);
        let found = holders(&connection);
        println!("{journal}, {begin}: {found:?}");
        let expected = format!("pid {} (it-", other.id());
        assert!(found[0].holder.starts_with(&expected), "{found:?}");
        drop(other.stdin.take());
        other.wait().expect("ended");
        connection.execute(BEGIN, &[], false).expect("free again");
    }
}

#[test]
fn a_locked_database_is_refused_with_the_name_of_the_other() {
    let bank = Bank::new(&[("journal_mode", "delete"), ("busy_timeout", "10ms")]);
    let mut other = hold(&bank.target, "BEGIN EXCLUSIVE");
    let refused = || check(&bank.target, "bank", &[], None).expect_err("it is locked").to_string();
    let named = format!("pid {}", other.id());
    // The kernel's list leaves locks out while others change.
    let error = (0..50).map(|_| refused()).find(|error| error.contains(&named));
    let error = error.unwrap_or_else(refused);
    assert!(error.contains(&named) && error.contains("busy_timeout"), "{error}");
    drop(other.stdin.take());
    other.wait().expect("ended");
    load_again(&bank.target);
}

fn load_again(target: &SqliteTarget) {
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{suffix}", target.path.display())).ok();
    }
    load(target);
}
