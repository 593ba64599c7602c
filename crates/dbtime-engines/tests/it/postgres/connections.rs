//! Many connections, and connections made anew for each transaction.

use crate::postgres::driving::{plan, run};
use crate::postgres::private::{Server, is_there, settings, superuser};
use dbtime_engines::databases::postgres::{PostgresProtocol, PostgresShared, PostgresTarget};
use dbtime_engines::drive::plan::LoadPlan;
use dbtime_engines::drive::shard::Reactor;
use dbtime_engines::server::StatementProtocol;
use dbtime_engines::socket::{ReconnectPolicy, SocketReactor, SocketSettings};
use dbtime_load::workload::Workload;
use dbtime_machine::now;
use dbtime_model::Nanos;
use dbtime_model::recorder::ConnectionRecorder;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

/// ReadyForQuery, outside of a transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";

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

/// One of the six places may still be that of a connection that looked whether the server is there.
/// A place is free when the window is over, and one thread has one window: of two, the later one
/// would find the places that the earlier one left.
#[test]
fn connections_that_could_not_be_made_are_counted_once() {
    if !is_there() {
        return;
    }
    let settings_of_six =
        ["max_connections=6", "superuser_reserved_connections=0", "max_wal_senders=0"];
    let server = Server::start(&settings_of_six);
    let counted = plan(Workload::find("values1").expect("shipped"), 10, 0);
    let measure = Some(Nanos::from_secs(1));
    let plan = LoadPlan { measure, transactions: None, shards: 1, ..counted };
    let driven = run(&plan, settings(server.unix()), StatementProtocol::Prepared);
    let ConnectionRecorder { times, failed, lost, never_made, .. } = &driven.recorder.connections;
    let made = times.count();
    let of = format!("{made} made, {failed} failed, {lost} lost, {never_made} never made");
    assert!((4..=5).contains(never_made) && made + never_made == 10, "{of}");
}

#[test]
fn a_connection_is_there_when_the_server_says_so() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let connect = || {
        let begun = now();
        drop(server.client());
        now() - begun
    };
    // Both by turns, so that what else runs meets both, and for longer where that is much. A
    // backend is there in 2 to 5 ms; who waits for a tick or a look first takes 10 or 50 ms more.
    let (mut ours, mut bare) = (Nanos(u64::MAX), Nanos(u64::MAX));
    for turn in 1..=400 {
        ours = ours.min(connect());
        bare = bare.min(login_without_client(&server));
        if turn >= 20 && ours < bare + Nanos::from_millis(8) {
            return;
        }
    }
    panic!("{ours}, without a client {bare}");
}

/// How long the server takes to let in who only waits for its answer.
fn login_without_client(server: &Server) -> Nanos {
    let begun = now();
    let mut socket = server.bare();
    // The length, the version 3.0, and who it is.
    let login = b"user\0postgres\0database\0postgres\0\0";
    let length = (8 + login.len() as u32).to_be_bytes();
    let message = [&length[..], &[0, 3, 0, 0], login].concat();
    socket.write_all(&message).expect("sent");
    let mut told: Vec<u8> = Vec::new();
    let mut piece = [0; 4096];
    while !told.windows(READY.len()).any(|bytes| bytes == READY) {
        let length = socket.read(&mut piece).expect("an answer");
        assert!(length > 0, "{told:?}");
        told.extend(&piece[..length]);
    }
    now() - begun
}

#[test]
fn a_server_that_lets_nobody_in_is_given_up_before_everybody_has_tried() {
    // It takes connections from the kernel's queue, at best, and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("bound").port();
    let target = format!("postgres://u@127.0.0.1:{port}/d?connect_timeout=300ms&sslmode=disable");
    let target = PostgresTarget::parse(&target, &|_| None).expect("a target");
    let shared = Arc::new(PostgresShared::new(superuser()));
    let sockets = Arc::new(target.sockets(ReconnectPolicy::WhenLost, None).expect("no TLS"));
    let mut reactor = SocketReactor::<PostgresProtocol>::new(shared, sockets, 1000).expect("epoll");
    let (up, failure) = reactor.connect_all(|| false);
    assert_eq!((up, failure.expect("why").code.as_str()), (0, "connect timeout"));
    let ConnectionRecorder { failed, never_made, .. } = reactor.connections();
    assert!((64..200).contains(&failed), "{failed} of 1000 were tried");
    assert_eq!(never_made, failed);
}

#[test]
fn a_connection_for_each_transaction_prepares_again() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let plan = plan(Workload::find("values1").expect("shipped"), 4, 200);
    let sockets =
        SocketSettings { reconnect: ReconnectPolicy::EveryTransaction, ..settings(server.unix()) };
    let driven = run(&plan, sockets, StatementProtocol::Prepared);
    let counts = driven.recorder.counts();
    assert_eq!((counts.completed, counts.failed), (200, 0), "{:?}", driven.recorder.errors);
    assert!(driven.recorder.connections.times.count() >= 200);
    assert_eq!(driven.recorder.connections.lost, 0);
}
