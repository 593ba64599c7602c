//! Causes that are the CPU's: work, and others' work.

use super::super::run_waits::NamedHog;
use super::*;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};

/// Has a server run on one CPU, with all that it starts later.
fn pin(server: &GivenServer, cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    let tasks = format!("/proc/{}/task", server.server.pid());
    for task in std::fs::read_dir(tasks).expect("it runs").flatten() {
        let tid = task.file_name().to_str().and_then(|name| name.parse().ok());
        let pid = tid.and_then(Pid::from_raw).expect("a number");
        // One that has just ended needs none.
        let _ = sched_setaffinity(Some(pid), &set);
    }
}

/// CPU time of processes so far. Unit: seconds.
fn cpu_s(pids: &[u32]) -> f64 {
    let of = |pid: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("it runs");
        text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds") / 1e9
    };
    pids.iter().map(of).sum()
}

/// A server that always wants a CPU waits while others have it.
#[test]
fn busy_processes_on_the_server_s_cpu_are_the_run_queue() {
    let _alone = run_waits::FIRST_CPU.lock().unwrap_or_else(PoisonError::into_inner);
    let cpu = run_waits::first_cpu();
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        pin(&server, cpu);
        // Tenths of a second of CPU: each of the others has several slices meanwhile.
        let query = match product {
            Product::Postgres => {
                "SELECT count(*) FROM generate_series(1, 4000) AS a, generate_series(1, 1000) AS b"
            }
            _ => "SELECT BENCHMARK(300000, MD5('a'))",
        };
        let load = "--connections 1 --time 5s";
        let line = format!("--query \"{query}\" --target '{}' {load}", server.target());
        is_found(|| {
            let sandbox = Sandbox::new();
            let hogs = NamedHog::start_some(&sandbox, cpu);
            let pids: Vec<u32> = hogs.iter().map(NamedHog::pid).collect();
            let mut per_s = 0.0;
            let with = ExplainedRun::of_in(&sandbox, &line, |dbtime| {
                driven::wait_for_thread(dbtime, "load");
                std::thread::sleep(Duration::from_millis(500));
                let (begin, before) = (Instant::now(), cpu_s(&pids));
                std::thread::sleep(Duration::from_millis(4_000));
                per_s = (cpu_s(&pids) - before) / begin.elapsed().as_secs_f64();
            })?;
            with.advises("foreign_cpu", &["hog had the CPU in", "stop hog"]);
            let rows = with.record["cpu_holders"].as_array().expect("a list");
            let hogs = rows.iter().filter(|row| row["process"] == "hog");
            let found: f64 = hogs.filter_map(|row| row["wait_s"].as_f64()).sum();
            let runq = ["runq_preempted", "runq_woken"]
                .map(|part| run_waits::part_s(&with.record, part))
                .iter()
                .sum::<f64>();
            assert!(found <= 1.01 * runq, "{found} of {runq}");
            // The transactions of the window, which neither begin nor end with it.
            let spent_us = with.part_us("total") * number(&with.record, "/counts/completed");
            Some(with.if_first("hog had the CPUs", (found, per_s * spent_us / 1e6)))
        });
    }
}

#[test]
fn a_missing_index_is_the_cpu() {
    for product in PRODUCTS {
        let server = GivenServer::start(product, &[]);
        let series = match product {
            Product::Postgres => "SELECT x, x FROM generate_series(1, 50000) AS x",
            _ => "SELECT seq, seq FROM seq_1_to_50000",
        };
        server.sql("CREATE TABLE l (id INT PRIMARY KEY, n INT)");
        server.sql(&format!("INSERT INTO l {series}"));
        let [analyze, drop] = match product {
            Product::Postgres => ["VACUUM ANALYZE l", "DROP INDEX by_n"],
            _ => ["ANALYZE TABLE l", "DROP INDEX by_n ON l"],
        };
        let line = format!(
            "--query 'SELECT id FROM l WHERE n = 4711' --target '{}' --connections 1 --time 2s",
            server.target()
        );
        is_found(|| {
            server.sql("CREATE INDEX by_n ON l (n)");
            server.sql(analyze);
            let without = ExplainedRun::of(&line)?;
            server.sql(drop);
            let with = ExplainedRun::of(&line)?;
            with.advises("server_cpu", &["index", "rows"]);
            let found = growth(&without, &with, &["cpu"]);
            Some(with.if_first("as without an index", found))
        });
    }
}
