//! One statement, both protocols, many connections.

use crate::private::{Server, is_there, settings, superuser};
use dbtime_engines::plan::{Demand, Driven, Plan, SecondSink, Stop, Watcher};
use dbtime_engines::postgres::{PostgresProtocol, PostgresShared};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::{SocketSettings, drive};
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use dbtime_model::series::Second;
use std::sync::Arc;

/// Nobody looks at the seconds.
pub(crate) struct Forget;

impl SecondSink for Forget {
    fn swap(&mut self, mut full: Box<Second>) -> Box<Second> {
        full.reset(0);
        full
    }
}

/// So many connections that ask for so many transactions.
pub(crate) fn plan(workload: Workload, connections: u32, transactions: u64) -> Plan {
    Plan {
        workload: Arc::new(workload),
        scale: 1,
        seed: 1,
        first: 0,
        demand: Demand::Closed { clients: connections, think: None },
        backlog: Backlog::Wait,
        servers: connections,
        warmup: Nanos::ZERO,
        measure: None,
        transactions: Some(transactions),
        rundown: Nanos::ZERO,
        budget_every: 1,
        shards: 2,
    }
}

pub(crate) fn run(plan: &Plan, settings: SocketSettings, protocol: StatementProtocol) -> Driven {
    let statements = &plan.workload.statements;
    let shared = Arc::new(PostgresShared::of_workload(superuser(), statements, protocol));
    let sink = |_| -> Box<dyn SecondSink> { Box::new(Forget) };
    let watcher = Watcher { sink: &sink, ready: &|| {}, started: &|_| {} };
    drive::<PostgresProtocol>(plan, &shared, &Arc::new(settings), watcher, &Stop::default())
        .expect("connected")
}

#[test]
fn one_row_by_both_protocols_over_both_sockets() {
    if !is_there() {
        return;
    }
    let server = Server::start_with(&[], "local all all trust\nhost all all 127.0.0.1/32 trust\n");
    let (table, rows) = server.client().query("SELECT 1 AS one, NULL, 'ä'").expect("answered");
    assert_eq!((table.columns[0].as_str(), rows), ("one", 1));
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(table.rows, [[text("1"), None, text("ä")]]);
    for address in [server.unix(), server.tcp()] {
        for protocol in [StatementProtocol::Text, StatementProtocol::Prepared] {
            let plan = plan(Workload::find("values1").expect("shipped"), 8, 5000);
            let driven = run(&plan, settings(address.clone()), protocol);
            let counts = driven.recorder.counts();
            assert_eq!((counts.completed, counts.add_up()), (5000, true), "{counts:?}");
            let statement = &driven.recorder.statements[0];
            assert_eq!((statement.rows, statement.round_trips), (5000, 5000));
        }
    }
}
