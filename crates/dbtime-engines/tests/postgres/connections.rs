//! Many connections, and connections made anew for each transaction.

use crate::driving::{plan, run};
use crate::private::{Server, is_there, settings, superuser};
use dbtime_engines::postgres::{PostgresProtocol, PostgresShared, PostgresTarget};
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::shard::Reactor;
use dbtime_engines::socket::{Reconnect, SocketReactor, SocketSettings};
use dbtime_load::workload::Workload;
use std::net::TcpListener;
use std::sync::Arc;

#[test]
fn five_hundred_connections_work_at_once() {
    if !is_there() {
        return;
    }
    let server = Server::start(&["max_connections=520"]);
    let plan = plan(Workload::find("values1").expect("shipped"), 500, 5000);
    let driven = run(&plan, settings(server.unix()), StatementProtocol::Prepared);
    let counts = driven.recorder.counts();
    assert_eq!((counts.completed, counts.failed), (5000, 0), "{:?}", driven.recorder.errors);
    let connections = &driven.recorder.connections;
    assert_eq!((connections.times.count(), connections.failed, connections.lost), (500, 0, 0));
    // Each is made in its own time: of 250 on a shard 64 are at once, the others wait unmeasured.
    let mean = connections.times.mean_ns();
    assert!(mean < 0.45 * connections.opening.0 as f64, "{mean} of {:?}", connections.opening);
}

#[test]
fn a_server_that_lets_nobody_in_is_given_up_before_everybody_has_tried() {
    // It takes connections from the kernel's queue, at best, and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("bound").port();
    let target = format!("postgres://u@127.0.0.1:{port}/d?connect_timeout=300ms&sslmode=disable");
    let target = PostgresTarget::parse(&target, &|_| None).expect("a target");
    let shared = Arc::new(PostgresShared::new(superuser()));
    let sockets = Arc::new(target.sockets(Reconnect::WhenLost, None).expect("no TLS"));
    let mut reactor = SocketReactor::<PostgresProtocol>::new(shared, sockets, 1000).expect("epoll");
    let (up, failure) = reactor.connect_all(|| false);
    assert_eq!((up, failure.expect("why").code.as_str()), (0, "connect timeout"));
    let failed = reactor.connections().failed;
    assert!((64..200).contains(&failed), "{failed} of 1000 were tried");
}

#[test]
fn a_connection_for_each_transaction_prepares_again() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let plan = plan(Workload::find("values1").expect("shipped"), 4, 200);
    let sockets =
        SocketSettings { reconnect: Reconnect::EveryTransaction, ..settings(server.unix()) };
    let driven = run(&plan, sockets, StatementProtocol::Prepared);
    let counts = driven.recorder.counts();
    assert_eq!((counts.completed, counts.failed), (200, 0), "{:?}", driven.recorder.errors);
    assert!(driven.recorder.connections.times.count() >= 200);
    assert_eq!(driven.recorder.connections.lost, 0);
}
