//! One statement, both protocols, many connections.

use crate::postgres::driving::{plan, run};
use crate::postgres::private::{Server, is_there, settings};
use dbtime_engines::server::StatementProtocol;
use dbtime_load::workload::Workload;

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
