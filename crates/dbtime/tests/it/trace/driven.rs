//! `dbtime run --trace`: what the driver sent is matched with what the server did.

use super::rights::{folder, pid, status};
use super::*;
use crate::given_server::PRODUCTS;
use crate::raw_postgres::RawPostgres;
use crate::small_workloads::write_small;
use dbtime_model::record::{ExemplarKind, TransactionStatement, read_run};
use rustix::process::{Signal, kill_process};

/// A run's record; `None` without eBPF.
pub(super) fn traced(target: &str, options: &str) -> Option<Value> {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&format!(
        "run --query 'SELECT 1' --target '{target}' --time 1s --warmup 100ms --trace --json {options}"
    ));
    let record: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    let warnings = record["validity"]["warnings"].as_array().expect("a list");
    let untraced = warnings.iter().find(|warning| warning["kind"] == "untraced");
    if let Some(untraced) = untraced {
        assert!(untraced["text"].to_string().contains("CAP_BPF"), "{untraced}");
        not_tested(&untraced["text"].to_string());
        return None;
    }
    Some(record)
}

/// Every statement is matched, and its parts are what its response was.
pub(super) fn is_explained(record: &Value) {
    let join = &record["trace"]["join"];
    let count = |name: &str| join[name].as_u64().expect("a count");
    let statements = count("matched") + count("unmatched") + count("ambiguous");
    assert!(count("matched") > 30, "{join}");
    assert!(count("matched") as f64 >= 0.999 * statements as f64, "{join}");
    adds_up(&record["budget_us"]);
}

/// The server's time is split, and the parts are the response.
fn adds_up(budget: &Value) {
    let part = |name: &str| budget[name].as_f64();
    for name in ["wire", "server_queue", "cpu", "runq_woken", "lock", "sync"] {
        assert!(part(name).is_some(), "{name}: {budget}");
    }
    assert!(part("cpu") > Some(0.0), "{budget}");
    assert_eq!(part("server_and_wire"), None, "{budget}");
    let parts = budget.as_object().expect("parts by name");
    let sum: f64 =
        parts.iter().filter(|(name, _)| *name != "total").filter_map(|(_, us)| us.as_f64()).sum();
    let total = part("total").expect("a total");
    assert!((sum - total).abs() < 0.01, "{sum}: {budget}");
}

/// A machine that is busy or stands still makes parts of its own.
const ATTEMPTS: usize = 4;

#[test]
fn statements_are_matched_by_socket_and_by_port() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let closed = "--connections 4 --transactions 2000 --warmup 0s";
        let rate = "--connections 4 --rate 500/s --protocol text";
        for (target, options) in [(server.target(), closed), (server.target_tcp(), rate)] {
            let mut budgets = Vec::new();
            loop {
                let Some(record) = traced(&target, options) else { return };
                is_explained(&record);
                if is_taken_by_the_driver(&record) {
                    break;
                }
                budgets.push(record["budget_us"].clone());
                assert!(budgets.len() < ATTEMPTS, "{budgets:#?}");
            }
        }
    }
}

/// On one machine an answer is in the driver's socket before its send is over: what is left of the
/// way back is the driver's, and the way there, which takes as long, is the wire's. Were the way
/// back the wire's too, next to nothing would be the driver's in any attempt.
fn is_taken_by_the_driver(record: &Value) -> bool {
    let join = &record["trace"]["join"];
    let count = |name: &str| join[name].as_f64().expect("a count");
    assert!(count("arrived") >= 0.99 * count("matched"), "{join}");
    let budget = &record["budget_us"];
    let part = |name: &str| budget[name].as_f64().expect("a part");
    let runq = record["trace"]["client_runq_us"].as_f64().expect("it was seen");
    part("wire") < 3.0 * part("client") && runq > 0.0 && runq <= 1.000_001 * part("client")
}

/// What the driver holds back as a network would is on its way, and not with the driver. Taken for
/// the driver's, it would never be the wire's; a machine that stands still may make it so in one
/// attempt.
#[test]
fn a_simulated_network_is_the_wire() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        // Headers included an answer of a row has over 125 bytes: 1 ms at 1 Mbit/s.
        let options = "--connections 1 --network-rate 1Mbit/s";
        let mut budgets = Vec::new();
        loop {
            let Some(record) = traced(&server.target(), options) else { return };
            is_explained(&record);
            assert_eq!(record["trace"]["join"]["arrived"], 0, "{}", record["trace"]);
            assert!(record["trace"]["client_runq_us"].is_null(), "{}", record["trace"]);
            let part = |name: &str| record["budget_us"][name].as_f64().expect("a part");
            if part("wire") > 1e3 && part("client") < 0.5e3 {
                break;
            }
            budgets.push(record["budget_us"].clone());
            assert!(budgets.len() < ATTEMPTS, "{budgets:#?}");
        }
    }
}

/// Answers that come while the driver is stopped wait for it, and are not on their way.
#[test]
fn a_stopped_driver_is_not_the_wire() {
    for (product, query) in [
        (Product::Mariadb, "SELECT SLEEP(0.05)"),
        (Product::Postgres, "SELECT 1 FROM pg_sleep(0.05)"),
    ] {
        let server = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let load = "--connections 2 --warmup 100ms --time 5s --trace --json";
        let running =
            sandbox.start(&format!("run --query '{query}' --target '{}' {load}", server.target()));
        wait_for_thread(running.pid(), "load");
        // It is attached, and a part of the window has gone by.
        std::thread::sleep(Duration::from_millis(500));
        for _ in 0..STOPS {
            kill_process(pid(running.pid()), Signal::STOP).expect("it runs");
            std::thread::sleep(STOP);
            kill_process(pid(running.pid()), Signal::CONT).expect("it is there");
            std::thread::sleep(Duration::from_millis(100));
        }
        let ran = running.end();
        let record: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        if record["trace"].is_null() {
            return not_tested(&record["validity"].to_string());
        }
        let budget = &record["budget_us"];
        let sampled = record["budget"]["sampled"].as_f64().expect("a count");
        let in_all_ms = |name: &str| budget[name].as_f64().expect("a part") * sampled / 1e3;
        // Both clients' statements end within each stop, long before its end unless the server has
        // no CPU.
        let driver = in_all_ms("lag") + in_all_ms("client");
        let stopped = f64::from(STOPS) * STOP.as_secs_f64() * 1e3;
        assert!(driver > 0.5 * stopped, "{driver}: {budget}");
        // Were it the wire's, all of that would be there.
        assert!(in_all_ms("wire") < 0.5 * driver, "{driver}: {budget}");
        let join = &record["trace"]["join"];
        assert_eq!(join["arrived"], join["matched"], "{join}");
    }
}

const STOPS: u32 = 4;

/// How long the driver is stopped each time: much longer than a statement takes, and longer in all
/// than a busy machine keeps answers on their way.
const STOP: Duration = Duration::from_millis(300);

#[test]
fn what_was_traced_before_the_tracer_ends_is_kept() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    // The reader has the counts; without its helper it still hands them over.
    for (victim, has_counts) in [("dbtime-reader", false), ("dbtime-helper", true)] {
        let Some((record, report)) = cut_short(&server, victim) else { return };
        let warnings = record["validity"]["warnings"].as_array().expect("a list");
        let of_kind = |kind| warnings.iter().filter(move |warning| warning["kind"] == kind);
        let untraced: Vec<_> = of_kind("untraced").collect();
        let [untraced] = untraced[..] else { panic!("{warnings:?}") };
        let text = untraced["text"].as_str().expect("a text");
        assert!(text.starts_with("not traced from "), "{text}");
        assert!(text.contains("signal 9"), "{text}");
        assert_eq!(of_kind("unmatched").count(), 0, "{warnings:?}");

        let (budget, trace) = (&record["budget"], &record["trace"]);
        assert_eq!(budget["method"], "traced");
        let count = |of: &Value| of.as_u64().expect("a count");
        let (sampled, of) = (count(&budget["sampled"]), count(&budget["of"]));
        assert!(100 < sampled && sampled + 100 < of, "{budget}");
        assert!(count(&trace["join"]["unmatched"]) > 100, "{trace}");
        assert!(count(&trace["join"]["left_out"]) > 100, "{trace}");
        adds_up(&record["budget_us"]);
        for name in ["ledger", "cost"] {
            assert_eq!(trace[name].is_object(), has_counts, "{trace}");
        }
        assert_eq!(report.contains("watching took"), has_counts, "{report}");
    }
}

/// The record and the report of a run in the midst of which this process of its tracer was killed;
/// `None` without eBPF.
fn cut_short(server: &GivenServer, victim: &str) -> Option<(Value, String)> {
    let sandbox = Sandbox::new();
    let load = "--connections 2 --rate 400/s --warmup 100ms --time 5s --trace --details --out cut";
    let line = format!("run --query 'SELECT 1' --target '{}' {load}", server.target());
    let running = sandbox.start(&line);
    wait_for_thread(running.pid(), "load");
    // A part of the window has gone by.
    wait_for_selects(server, 400);
    let Some(victim) = descendant(running.pid(), victim) else {
        not_tested(&running.end().out);
        return None;
    };
    kill_process(pid(victim), Signal::KILL).expect("it is there");
    let ran = running.end().fine();
    let record = std::fs::read_to_string(sandbox.path("cut/run.json")).expect("a record");
    Some((serde_json::from_str(&record).expect("JSON"), ran.out))
}

/// Waits until a server has executed so many more SELECTs.
fn wait_for_selects(server: &GivenServer, more: u64) {
    let executed = || super::status(server, "Com_select");
    let (begun, before) = (Instant::now(), executed());
    while executed() < before + more {
        assert!(begun.elapsed() < PATIENCE, "the load does not go on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until a process has a thread of this name.
pub(super) fn wait_for_thread(process: u32, name: &str) {
    let begun = Instant::now();
    while !has_thread(process, name) {
        assert!(begun.elapsed() < PATIENCE, "process {process} has no thread {name}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process has a thread of this name.
fn has_thread(process: u32, name: &str) -> bool {
    let threads = std::fs::read_dir(folder(process).join("task")).into_iter().flatten().flatten();
    let is_named = |thread: std::fs::DirEntry| {
        let found = std::fs::read_to_string(thread.path().join("comm"));
        found.is_ok_and(|found| found.trim_end() == name)
    };
    threads.into_iter().any(is_named)
}

/// A process of this name that a process, or one that it started, has started.
fn descendant(of: u32, name: &str) -> Option<u32> {
    let is_below = |process: u32| {
        let parent = |process: &u32| status(&folder(*process), "PPid").parse::<u32>().ok();
        std::iter::successors(Some(process), parent).skip(1).any(|parent| parent == of)
    };
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let mut numbers = processes.filter_map(|one| one.file_name().to_str()?.parse().ok());
    numbers.find(|process| status(&folder(*process), "Name") == name && is_below(*process))
}

/// Single transactions of a traced run have each statement's instants on both sides, in their
/// order, and the page shows them; the server's counters were sampled meanwhile.
#[test]
fn single_transactions_have_their_statements() {
    for product in PRODUCTS {
        let sandbox = Sandbox::new();
        let workload = write_small(&sandbox, "tpcb");
        let load = "--connections 4 --rate 200/s --warmup 200ms --time 3s --trace --out r";
        let line = format!("run {workload} --target {} {load} --details", product.name());
        let ran = sandbox.run(&line);
        if ran.out.contains("not traced") {
            return not_tested(&ran.out);
        }
        let run = read_run(&sandbox.path("r")).expect("a record");
        let of = |kind| run.transactions.iter().filter(move |row| row.kept == kind);
        assert_eq!(of(ExemplarKind::Slowest).count(), 100);
        assert_eq!(of(ExemplarKind::Random).count(), 100);
        for row in &run.transactions {
            // Six and the commit, or more after a retry.
            assert!(row.statements.len() >= 7, "{row:#?}");
            row.statements.iter().for_each(is_in_order);
            let last = row.statements.iter().map(|s| s.read_us).fold(0.0, f64::max);
            assert!(last <= row.due_us + row.budget.total + 0.01, "{row:#?}");
            assert!(row.ready_us >= Some(row.due_us - 0.01) && row.sent_us >= row.ready_us);
            let took: f64 = row.statements.iter().map(|s| s.budget.total).sum();
            assert!(took <= row.budget.total + 0.1, "{row:#?}");
        }
        let page = std::fs::read_to_string(sandbox.path("r/report.html")).expect("a page");
        // Of each kind as many as a page draws.
        assert_eq!(page.matches("<details class=\"tx\">").count(), 50);
        assert!(page.contains("strip-name"), "no counters under the responses");
        let samples: Vec<_> = run.server_seconds.iter().map(|second| second.at_s).collect();
        // Five; one is left out while the server has not answered for the one before.
        assert!(samples.len() >= 3 && samples.is_sorted(), "{samples:?}");
        let log = ["Innodb_os_log_written", "wal_bytes"];
        let counters = &run.record.sampled_counters;
        let log = counters.iter().position(|c| log.contains(&c.name.as_str())).expect("a log");
        let written: Vec<_> = run.server_seconds.iter().filter_map(|s| s.values[log]).collect();
        assert!(written.last() > written.first() && written.is_sorted(), "{written:?}");
        let completed: u64 = run.series.iter().map(|row| row.completed + row.failed).sum();
        let buckets = run.responses.iter().flat_map(|second| &second.buckets);
        assert_eq!(buckets.map(|bucket| bucket.count).sum::<u64>(), completed);
    }
}

/// A statement is sent before it comes, read there before it is answered, and so on. The write of
/// an answer may return only after the client has read it.
fn is_in_order(statement: &TransactionStatement) {
    let TransactionStatement { sent_us, read_us, arrived_us, began_us, ended_us, .. } = statement;
    for last in [Some(*read_us), *ended_us] {
        let instants = [Some(*sent_us), *arrived_us, *began_us, last];
        let known: Vec<f64> = instants.into_iter().flatten().collect();
        assert!(known.len() >= 3 && known.is_sorted(), "{statement:#?}");
    }
    assert!(statement.thread.is_some() && statement.connection.is_some(), "{statement:#?}");
    let is_lock = statement.lock.is_empty() || statement.lock.parse::<f64>().is_err();
    assert!(is_lock && statement.lock_wait_us.is_some() != statement.holder.is_empty());
}

/// What they hold has no name until they say something.
#[test]
fn sessions_from_before_a_run_are_counted_in_its_record() {
    let server = GivenServer::start(Product::Postgres, &[]);
    let mut holder = RawPostgres::connect(&server);
    holder.query("BEGIN");
    holder.query("SELECT 1");
    let Some(record) = traced(&server.target(), "") else { return };
    assert_eq!(record["trace"]["before"]["in_transaction"], 1, "{}", record["trace"]);
}
