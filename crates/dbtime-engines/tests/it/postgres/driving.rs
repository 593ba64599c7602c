//! Driving a plan in a test.

use crate::postgres::private::{settings, superuser};
use dbtime_engines::databases::postgres::{PostgresProtocol, PostgresShared};
use dbtime_engines::drive::observer::NoObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::{ServerAddress, SocketSettings, drive};
use dbtime_load::pipelining::Pipelining;
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use std::path::Path;
use std::sync::Arc;

/// Nobody looks at the seconds.
/// So many connections that ask for so many transactions.
pub(crate) fn plan(workload: Workload, connections: u32, transactions: u64) -> LoadPlan {
    LoadPlan {
        workload: Arc::new(workload),
        scale: 1,
        seed: 1,
        first: 0,
        demand: LoadDemand::Closed { clients: connections, think: None },
        backlog: Backlog::Wait,
        concurrency: connections,
        warmup: Nanos::ZERO,
        measure: None,
        transactions: Some(transactions),
        rundown: Nanos::ZERO,
        late_start: Nanos::ZERO,
        budget_every: 1,
        shards: connections.clamp(1, 2),
        pipelining: Pipelining::Off,
    }
}

/// A workload written in a test: operations behind a name.
pub(crate) fn workload(text: &str) -> Workload {
    let text = format!("name = \"test\"\ndescription = \"a test\"\n{text}");
    Workload::parse(&text, Path::new("test.toml")).expect("a workload")
}

/// An operation of one statement.
pub(crate) fn statement(sql: &str) -> String {
    format!("[[operation]]\nname = \"o\"\n[[operation.statement]]\nsql = \"{sql}\"\n")
}

/// Drives with the superuser.
pub(crate) fn run(
    plan: &LoadPlan,
    settings: SocketSettings,
    protocol: StatementProtocol,
) -> LoadResult {
    let statements = &plan.workload.statements;
    let shared = Arc::new(PostgresShared::of_workload(superuser(), statements, protocol));
    drive_with(plan, &shared, settings)
}

pub(crate) fn drive_with(
    plan: &LoadPlan,
    shared: &Arc<PostgresShared>,
    settings: SocketSettings,
) -> LoadResult {
    let stop = RunStop::default();
    drive::<PostgresProtocol>(plan, shared, &Arc::new(settings), &NoObserver, &stop)
        .expect("connected")
}

/// One connection that runs a workload's text once by both protocols; returns what came of it.
pub(crate) fn once(address: &ServerAddress, text: &str) -> [LoadResult; 2] {
    [StatementProtocol::Text, StatementProtocol::Prepared].map(|protocol| {
        let plan = LoadPlan { shards: 1, ..plan(workload(text), 1, 1) };
        let driven = run(&plan, settings(address.clone()), protocol);
        assert!(driven.recorder.counts().add_up());
        driven
    })
}
