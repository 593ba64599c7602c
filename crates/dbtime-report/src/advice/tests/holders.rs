//! Rules that name who had the CPU or a lock, and which file was waited for.

use super::{mariadb, postgres, says, set, sqlite};
use dbtime_model::Part;
use dbtime_model::record::{
    BudgetCpuHolder, BudgetFileWait, BudgetLockChain, BudgetLockHolder, ChainCause, CpuHolderKind,
    RunRecord, ServerInfo, StacksInfo, TraceInfo, WaitedFile,
};

fn holder(kind: CpuHolderKind, process: &str, thread: &str, share_pct: f64) -> BudgetCpuHolder {
    BudgetCpuHolder {
        kind,
        process: Some(process.to_owned()),
        pid: None,
        thread: Some(thread.to_owned()),
        count: Some(10),
        wait_s: share_pct / 100.0,
        share_pct,
    }
}

fn queued(holders: Vec<BudgetCpuHolder>) -> RunRecord {
    let mut record = postgres(&[(Part::RunqWoken, 400.0)]);
    record.cpu_holders = Some(holders);
    record.environment.cpus = 2;
    record.server = Some(ServerInfo { cpus: 2, wall_s: 10.0, cpu_s: 5.0, ..ServerInfo::default() });
    record
}

#[test]
fn threads_of_one_process_had_the_cpu_together() {
    let driver = CpuHolderKind::Driver;
    let record = queued(vec![
        holder(driver, "dbtime", "shard 0", 20.0),
        holder(driver, "dbtime", "shard 1", 18.0),
        holder(CpuHolderKind::Server, "postgres", "postgres", 9.0),
    ]);
    let these = ["dbtime (driver) had the CPU in 38 % of it", "--client-cpus"];
    says(&record, "cpu_queue", &these, &["postgres (server)", "stop "]);
}

#[test]
fn what_has_ended_keeps_its_own_name() {
    let ended = |thread: &str, share_pct| BudgetCpuHolder {
        process: None,
        ..holder(CpuHolderKind::Ended, "", thread, share_pct)
    };
    let record = queued(vec![ended("cc1", 40.0), ended("sh", 30.0)]);
    let these = ["cc1 (ended) had the CPU in 40 % of it", "sh (ended) had the CPU in 30 % of it"];
    says(&record, "foreign_cpu", &these, &["70 %"]);
    // Those of a server with a process for each connection end with it.
    let record = queued(vec![
        holder(CpuHolderKind::Server, "postgres", "postgres", 20.0),
        ended("postgres", 60.0),
        ended("sh", 1.0),
    ]);
    says(&record, "cpu_queue", &["postgres (server)"], &["stop those processes"]);
}

#[test]
fn a_process_that_has_nothing_to_do_with_the_run_is_named() {
    let record = queued(vec![
        holder(CpuHolderKind::Other, "backup", "backup", 60.0),
        holder(CpuHolderKind::Server, "postgres", "postgres", 30.0),
        BudgetCpuHolder { share_pct: 10.0, ..BudgetCpuHolder::default() },
    ]);
    let these = [
        "backup had the CPU in 60 % of it",
        "postgres (server) had the CPU in 30 % of it",
        "stop backup, or keep it to other CPUs",
    ];
    says(&record, "foreign_cpu", &these, &["not named", "stop those"]);
    // It had the CPU less often than the run's own.
    let record = queued(vec![
        holder(CpuHolderKind::Other, "backup", "backup", 30.0),
        holder(CpuHolderKind::Server, "postgres", "postgres", 60.0),
    ]);
    says(&record, "cpu_queue", &["stop backup, or keep it to other CPUs"], &[]);
    // Of two servers of one name only the other one may be stopped.
    let record = queued(vec![
        holder(CpuHolderKind::Other, "postgres", "postgres", 60.0),
        holder(CpuHolderKind::Server, "postgres", "postgres", 30.0),
    ]);
    says(&record, "foreign_cpu", &["stop another postgres, not the driven server"], &[]);
}

#[test]
fn another_process_of_the_name_of_the_run_is_told_from_it() {
    let other =
        |pid| BudgetCpuHolder { pid, ..holder(CpuHolderKind::Other, "dbtime", "shard 0", 30.0) };
    let record = queued(vec![other(Some(4711)), other(Some(4711))]);
    let these = [
        "another dbtime (pid 4711) had the CPU in 60 % of it",
        "stop another dbtime (pid 4711), or keep it to other CPUs",
    ];
    says(&record, "foreign_cpu", &these, &[]);
    let record = queued(vec![other(Some(4711)), other(Some(4712))]);
    says(&record, "foreign_cpu", &["stop another dbtime, or keep it"], &["pid"]);
}

fn waited(waiter: Option<&str>, file: Option<&str>, part: Part, share_pct: f64) -> BudgetFileWait {
    BudgetFileWait {
        waiter: waiter.map(str::to_owned),
        kind: if file.is_some() { WaitedFile::Named } else { WaitedFile::NotNamed },
        file: file.map(str::to_owned),
        part,
        count: Some(5),
        wait_s: 1.0,
        share_pct,
    }
}

#[test]
fn the_file_that_is_waited_for_is_named_with_who_waits() {
    let mut record = mariadb(&[(Part::Sync, 500.0), (Part::IoRead, 200.0), (Part::IoWrite, 200.0)]);
    record.file_waits = Some(vec![
        waited(Some("tpcb: commit"), Some("ib_logfile0"), Part::Sync, 98.0),
        waited(None, Some("account.ibd"), Part::IoRead, 55.0),
        waited(Some("tpcb: update"), Some("account.ibd"), Part::IoRead, 45.0),
        waited(None, None, Part::IoWrite, 80.0),
        waited(None, Some("undo001"), Part::IoWrite, 20.0),
    ]);
    let sync = "98 % of it is in tpcb: commit, for the file ib_logfile0";
    says(&record, "log_sync", &[sync], &["account"]);
    says(&record, "file_reads", &["55 % of it is for the file account.ibd"], &["ib_logfile0"]);
    says(&record, "page_writes", &[], &["undo001"]);
}

#[test]
fn a_holder_that_does_nothing_is_told_from_one_that_works() {
    let chain = |cause, wait_s| BudgetLockChain {
        statements: vec!["tpcb: branch".to_owned(), "UPDATE t SET n = ?".to_owned()],
        cause,
        count: 10,
        wait_s,
    };
    let (idle, sync) = (ChainCause::Part(Part::Client), ChainCause::Part(Part::Sync));
    let mut record = mariadb(&[(Part::Lock, 500.0)]);
    record.lock_chains = Some(vec![chain(idle, 0.9), chain(sync, 0.1)]);
    let these = [
        "in 90 % of it the holder did nothing: its client keeps the transaction open after \
         UPDATE t SET n = ?",
        "commit sooner",
    ];
    says(&record, "lock_waits", &these, &[]);
    record.lock_chains = Some(vec![chain(idle, 0.1), chain(sync, 0.9)]);
    says(&record, "lock_waits", &[], &["did nothing", "commit sooner"]);
    record.lock_chains = Some(Vec::new());
    says(&record, "lock_waits", &[], &["did nothing"]);
    // Somebody else cannot be told to commit sooner by the workload.
    let mut other = chain(idle, 1.0);
    other.statements[1].push_str(BudgetLockChain::OUTSIDE);
    record.lock_chains = Some(vec![other]);
    says(&record, "lock_waits", &["did nothing"], &["commit sooner"]);
}

/// A server whose statements wait for this holder, traced.
fn waiting(target: fn(&[(Part, f64)]) -> RunRecord, holder: &str, lock: Option<&str>) -> RunRecord {
    let mut record = target(&[(Part::Lock, 500.0)]);
    record.trace = Some(TraceInfo::default());
    record.lock_holders = vec![BudgetLockHolder {
        waiter: "tpcb: branch".to_owned(),
        holder: holder.to_owned(),
        outside: None,
        lock: lock.map(str::to_owned),
        count: 100,
        wait_s: 1.0,
    }];
    record
}

const MUTEX: &str = "it is a mutex inside the server";

#[test]
fn a_lock_without_a_name_is_a_mutex_of_the_server_s_threads() {
    let threads = [("thread_handling", "one-thread-per-connection")];
    let record = set(waiting(mariadb, "tpcb: branch", None), &threads);
    let these = [
        MUTEX,
        "threads that execute tpcb: branch release it",
        "run it with --stacks too",
        "--workers below 8",
        "table_open_cache_instances",
        "thread_handling=pool-of-threads",
    ];
    says(
        &record,
        "lock_waits",
        &these,
        &["buffer_pool", "trace --summary", "tpcb: branch as late"],
    );
    let mut stacks = waiting(postgres, "tpcb: branch", None);
    let stacked = TraceInfo { stacks: Some(StacksInfo::default()), ..TraceInfo::default() };
    stacks.trace = Some(stacked);
    let these = [MUTEX, "Where the server's threads were", "shared_preload_libraries"];
    says(&stacks, "lock_waits", &these, &["--stacks", "table_open_cache", "wait_event"]);
}

#[test]
fn what_has_a_name_or_may_lack_it_is_no_mutex() {
    let not_these = ["mutex", "--stacks", "table_open_cache"];
    let is_none = |record: RunRecord| says(&record, "lock_waits", &[], &not_these);
    is_none(waiting(mariadb, "tpcb: branch", Some("row lock")));
    is_none(waiting(postgres, "tpcb: branch", Some("LWLock")));
    for holder in [BudgetLockHolder::SERVER_THREAD, BudgetLockHolder::NOBODY] {
        is_none(waiting(mariadb, holder, None));
    }
    let mut commits = waiting(mariadb, "tpcb: commit", None);
    commits.lock_holders[0].waiter = "tpcb: commit".to_owned();
    is_none(commits);
    let mut unnamed = waiting(mariadb, "tpcb: branch", None);
    let note = format!("not measured: the {} (no symbols)", TraceInfo::LOCK_NAMES);
    unnamed.trace = Some(TraceInfo { notes: vec![note], ..TraceInfo::default() });
    is_none(unnamed.clone());
    unnamed.trace = Some(TraceInfo { lock_names: Some(false), ..TraceInfo::default() });
    is_none(unnamed);
    let mut untraced = waiting(mariadb, "tpcb: branch", None);
    untraced.trace = None;
    is_none(untraced);
    is_none(waiting(sqlite, "tpcb: branch", None));
}
