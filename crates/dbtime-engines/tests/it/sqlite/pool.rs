//! Workers of a pool on one file.

use super::atm::Bank;
use dbtime_engines::databases::sqlite::MeasureLevel;
use dbtime_engines::databases::sqlite::SqlitePool;
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, RunStop};
use dbtime_engines::drive::pool;
use dbtime_load::pipelining::Pipelining;
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use std::sync::Arc;

const WORKERS: u32 = 8;

fn plan() -> LoadPlan {
    LoadPlan {
        workload: Arc::new(Workload::from_sql("SELECT count(*) FROM account").expect("SQL")),
        scale: 1,
        seed: 1,
        first: 0,
        demand: LoadDemand::Closed { clients: WORKERS, think: None },
        backlog: Backlog::Wait,
        concurrency: WORKERS,
        warmup: Nanos::ZERO,
        measure: None,
        transactions: Some(64),
        rundown: Nanos::ZERO,
        late_start: Nanos::ZERO,
        budget_every: 1,
        shards: 1,
        pipelining: Pipelining::Off,
    }
}

/// SQLite removes its log as the last connection closes; all of them close at the end of the load.
#[test]
fn a_load_leaves_no_log_of_the_database() {
    let bank = Bank::new(&[]);
    for round in 0..200 {
        let plan = plan();
        let statements = &plan.workload.statements;
        let database =
            SqlitePool::new(bank.target.clone(), statements, WORKERS, MeasureLevel::Budget);
        pool::drive(&plan, &database, &NoObserver, &RunStop::default()).expect("driven");
        let log = bank.target.path.with_extension("db-wal");
        assert!(!log.exists(), "round {round}: {}", log.display());
    }
}
