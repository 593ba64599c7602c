//! Whom and what the transactions of a traced run waited for.

use super::*;
use crate::small_workloads::write_small;
use crate::watched_run::WatchedRun;
use rustix::process::Signal;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The record of a run of the small `tpcb` with these options, on a disk; `None` without eBPF.
pub(super) fn traced_tpcb(options: &str) -> Option<Value> {
    let sandbox = Sandbox::on_disk();
    let workload = write_small(&sandbox, "tpcb");
    traced_in(&sandbox, &format!("{workload} {options}"))
}

/// The same of any run, in this sandbox.
pub(super) fn traced_in(sandbox: &Sandbox, line: &str) -> Option<Value> {
    let ran = sandbox.run(&format!("run {line} --trace --json"));
    let record = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    if_traced(record)
}

/// The record of a run that was traced; `None` without eBPF.
fn if_traced(record: Value) -> Option<Value> {
    if record["trace"].is_null() {
        not_tested(&record["validity"].to_string());
        return None;
    }
    Some(record)
}

/// A part of all transactions that are in the parts. Unit: seconds.
pub(super) fn part_s(record: &Value, part: &str) -> f64 {
    let sampled = record["budget"]["sampled"].as_f64().expect("a count");
    record["budget_us"][part].as_f64().expect("measured") * sampled / 1e6
}

/// The first CPU that this test may run on.
pub(super) fn first_cpu() -> usize {
    let cpus = sched_getaffinity(None).expect("CPUs");
    (0..CpuSet::MAX_CPU).find(|cpu| cpus.is_set(*cpu)).expect("a CPU")
}

/// The tests that put a server on the first CPU: one at a time.
pub(super) static FIRST_CPU: Mutex<()> = Mutex::new(());

/// A process called `hog` that wants a CPU, until this goes.
pub(super) struct NamedHog(Child);

impl NamedHog {
    /// Several of them, so that other tests on the same CPU take less of it.
    pub(super) fn start_some(sandbox: &Sandbox, cpu: usize) -> Vec<Self> {
        let program = sandbox.path("hog");
        std::os::unix::fs::symlink("/bin/sh", &program).expect("a link");
        (0..3).map(|_| Self::start(&program, cpu)).collect()
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    fn start(program: &Path, cpu: usize) -> Self {
        let mut shell = Command::new(program);
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).stdout(Stdio::null());
        let hog = Self(shell.spawn().expect("a shell"));
        let mut set = CpuSet::new();
        set.set(cpu);
        let pid = rustix::process::Pid::from_child(&hog.0);
        sched_setaffinity(Some(pid), &set).expect("it is ours");
        hog
    }
}

impl Drop for NamedHog {
    fn drop(&mut self) {
        self.0.kill().expect("it is there");
        self.0.wait().expect("it ends");
    }
}

/// The rows with names; all of them together are the part.
fn cpu_holders(record: &Value) -> Vec<&Value> {
    let rows = record["cpu_holders"].as_array().expect("a list");
    let sum: f64 = rows.iter().filter_map(|row| row["wait_s"].as_f64()).sum();
    let part = part_s(record, "runq_preempted") + part_s(record, "runq_woken");
    assert!((sum - part).abs() <= 1e-6 * part.max(1.0), "{sum} of {part}: {rows:#?}");
    rows.iter().filter(|row| row["kind"] != "not_named").collect()
}

/// Some tens of milliseconds of CPU: more than a thread has of it before it is another's turn.
fn busy_query(product: Product) -> &'static str {
    match product {
        Product::Postgres => "SELECT count(*) FROM generate_series(1, 200000)",
        _ => "SELECT BENCHMARK(200000, MD5('a'))",
    }
}

#[test]
fn who_had_the_cpu_of_a_run_s_server_is_named_first() {
    let _alone = FIRST_CPU.lock().unwrap_or_else(PoisonError::into_inner);
    let cpu = first_cpu();
    for product in [Product::Mariadb, Product::Postgres] {
        let sandbox = Sandbox::new();
        let line = format!(
            "run --query \"{}\" --target {} --connections 1 --time 300s --warmup 0s --trace \
             --no-record --server-cpus {cpu}",
            busy_query(product),
            product.name(),
        );
        // Behind that: the server need not start beside them.
        let running = WatchedRun::start(&sandbox, &line);
        let hogs = NamedHog::start_some(&sandbox, cpu);
        let had = || hogs.iter().map(|hog| holders::cpu(hog.pid())).sum::<Duration>();
        let begun = Instant::now();
        while had() < Duration::from_millis(1500) {
            assert!(begun.elapsed() < PATIENCE, "they have no CPU");
            std::thread::sleep(Duration::from_millis(50));
        }
        running.signal(Signal::INT);
        let record = running.end().json();
        drop(hogs);
        let Some(record) = if_traced(record) else { return };
        let rows = cpu_holders(&record);
        let first = rows.first().unwrap_or_else(|| panic!("{}", record["budget_us"]));
        assert_eq!(
            (&first["process"], &first["kind"]),
            (&"hog".into(), &"other".into()),
            "{rows:#?}"
        );
        assert!(first["share_pct"].as_f64() > Some(30.0), "{rows:#?}");
    }
}

#[test]
fn a_driver_that_takes_the_server_s_cpu_is_named() {
    let _alone = FIRST_CPU.lock().unwrap_or_else(PoisonError::into_inner);
    let cpu = first_cpu();
    for product in [Product::Mariadb, Product::Postgres] {
        let Some(record) = traced_tpcb(&format!(
            "--target {} --connections 8 --transactions 200 \
             --server-cpus {cpu} --client-cpus {cpu}",
            product.name(),
        )) else {
            return;
        };
        let rows = cpu_holders(&record);
        let is_shard =
            |row: &Value| row["thread"].as_str().is_some_and(|of| of.starts_with("shard"));
        let driver = rows.iter().find(|row| row["kind"] == "driver" && is_shard(row));
        let driver = driver.unwrap_or_else(|| panic!("{rows:#?}"));
        assert_eq!(driver["process"], "dbtime", "{driver}");
        assert!(driver["count"].as_u64() > Some(0), "{driver}");
        assert!(driver["wait_s"].as_f64() > Some(0.0), "{driver}");
    }
}

/// Where nothing is traced nobody knows who had the CPU.
#[test]
fn an_embedded_run_has_no_holders_of_cpus() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("run values1 --target sqlite --transactions 50 --no-record --json");
    let record = ran.fine().json();
    assert!(record["budget_us"]["runq"].is_number() && record["cpu_holders"].is_null());
}

/// The rows of a part and their sum.
fn rows_of<'a>(record: &'a Value, part: &str) -> (Vec<&'a Value>, f64) {
    let rows = record["file_waits"].as_array().expect("a list");
    let rows: Vec<_> = rows.iter().filter(|row| row["part"] == part).collect();
    let sum = rows.iter().filter_map(|row| row["wait_s"].as_f64()).sum();
    (rows, sum)
}

/// Each part of waiting for files is what its rows say, and what the commits sync is the log.
///
/// Other statements sync too, now and then: an insert that extends its file, for as long as the
/// disk likes.
pub(super) fn syncs_are_those_of_the_log(record: &Value, log: &str) {
    for part in ["io_read", "io_write", "sync"] {
        let (rows, sum) = rows_of(record, part);
        let all = part_s(record, part);
        assert!((sum - all).abs() <= 1e-6 * all.max(1.0), "{part} {sum} of {all}: {rows:#?}");
    }
    let (rows, _) = rows_of(record, "sync");
    let of_commits: Vec<_> =
        rows.into_iter().filter(|row| row["waiter"] == "tpcb: commit").collect();
    let first = of_commits.first().expect("each commit syncs");
    assert_eq!(first["file"], log, "{of_commits:#?}");
    let sum: f64 = of_commits.iter().filter_map(|row| row["wait_s"].as_f64()).sum();
    assert!(first["wait_s"].as_f64() > Some(0.5 * sum), "{of_commits:#?}");
    // Of two clients one may sync for both, and what the disk has by then is not waited for.
    let commits = record["counts"]["completed"].as_u64().expect("a count");
    let synced = first["count"].as_u64().expect("a count");
    assert!(10 * synced > commits, "{synced} of {commits}: {of_commits:#?}");
}

/// All calls are timed from within, and nothing is outside of the window.
#[test]
fn sqlite_s_waits_are_by_kind_of_file() {
    let sandbox = Sandbox::on_disk();
    let load = "--workers 2 --transactions 400 --budget-every 1 --no-record --json";
    let ran = sandbox.run(&format!("run atm --target 'sqlite:?synchronous=full' {load}"));
    let record = ran.fine().json();
    for part in ["io_read", "io_write", "sync"] {
        let (rows, sum) = rows_of(&record, part);
        let all = part_s(&record, part);
        assert!((sum - all).abs() <= 1e-6 * all.max(1.0), "{part} {sum} of {all}: {rows:#?}");
    }
    let (rows, _) = rows_of(&record, "sync");
    // A commit that checkpoints syncs the database as well, for as long as the disk likes.
    let log = rows.iter().find(|row| row["file"] == "wal").expect("commits sync");
    assert!(log["waiter"].as_str().is_some_and(|name| name.ends_with(": commit")), "{log}");
    assert_eq!(log["kind"], "named", "{log}");
}
