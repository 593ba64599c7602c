//! What the driver itself costs, on a database that does nothing. `cargo bench -p dbtime-engines --bench null`
//!
//! Budgets: 300 ns per closed-loop transaction on one core, recording included; with 10,000
//! connections and 20,000 Poisson arrivals a second on one shard a lag of at most 50 µs at the
//! 99th percentile and 150 µs at the 99.9th on a quiet machine, in under 150 MB.
//! Each figure is printed as median, best and worst of several short runs: look at the best to see
//! the code, at the spread to see the machine.

#![allow(clippy::print_stdout)]

use dbtime_engines::databases::null::{self, NullTarget};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::pipelining::Pipelining;
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use std::sync::Arc;

const RUNS: usize = 7;

fn drive(demand: LoadDemand, servers: u32, budget_every: u32, service: Option<&str>) -> LoadResult {
    let plan = LoadPlan {
        workload: Arc::new(Workload::find("values1").expect("shipped")),
        scale: 1,
        seed: 1,
        first: 0,
        demand,
        backlog: Backlog::Wait,
        concurrency: servers,
        warmup: Nanos::from_millis(500),
        measure: Some(Nanos::from_secs(2)),
        transactions: None,
        rundown: Nanos::from_secs(1),
        late_start: Nanos::from_secs(1),
        budget_every,
        shards: 1,
        pipelining: Pipelining::Off,
    };
    let service = service.map(|text| text.parse().expect("a think time"));
    null::drive(&plan, NullTarget { service }, &NoObserver, &RunStop::default()).expect("driven")
}

/// Prints median, best and worst of a figure over several runs.
fn show(name: &str, unit: &str, mut figures: Vec<f64>) {
    figures.sort_by(f64::total_cmp);
    let (best, worst) = (figures[0], figures[figures.len() - 1]);
    let median = figures[figures.len() / 2];
    println!("{name:60} median {median:9.1}  best {best:9.1}  worst {worst:9.1}  {unit}");
}

fn closed(name: &str, connections: u32, budget_every: u32) {
    let cost = |_| {
        let closed = LoadDemand::Closed { clients: connections, think: None };
        let driven = drive(closed, connections, budget_every, None);
        2e9 / driven.recorder.counts().completed as f64
    };
    show(name, "ns per transaction", (0..RUNS).map(cost).collect());
}

fn open(connections: u32, rate: f64) {
    let runs: Vec<LoadResult> = (0..RUNS)
        .map(|_| {
            let open = LoadDemand::Open { rate: Rate::Constant(rate), arrivals: Arrivals::Poisson };
            drive(open, connections, 0, Some("exp:1ms"))
        })
        .collect();
    for (name, q) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        let lag =
            |run: &LoadResult| run.recorder.operations[0].latencies.lag.quantile(q).as_micros();
        let name = format!("{rate} arrivals/s, {connections} connections: lag {name}");
        show(&name, "µs", runs.iter().map(lag).collect());
    }
}

/// Largest resident size of this process so far, in MB.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kb.unwrap_or(f64::NAN) * 1024.0 / 1e6
}

fn main() {
    // `cargo test` runs benches too; then one look is enough to see that they still work.
    if !std::env::args().any(|argument| argument == "--bench") {
        assert!(
            drive(LoadDemand::Closed { clients: 1, think: None }, 1, 1, None)
                .recorder
                .counts()
                .add_up()
        );
        return;
    }
    closed("closed loop, 1 connection, no budget", 1, 0);
    closed("closed loop, 1 connection, budget of every transaction", 1, 1);
    closed("closed loop, 64 connections, no budget", 64, 0);
    open(10_000, 20_000.0);
    println!("{:60} {:.1} MB", "largest resident size, 10,000 connections", peak_mb());
}
