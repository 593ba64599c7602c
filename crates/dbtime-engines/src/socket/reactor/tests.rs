//! Waits, and sockets that others still hold.

use super::*;
use crate::databases::postgres::{PostgresIdentity, PostgresProtocol, PostgresShared};
use crate::server::StatementProtocol;
use crate::socket::{ServerAddress, TcpKeepalive};
use dbtime_model::LoginCount;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// With one connection to a PostgreSQL, not made yet.
pub(super) fn reactor_at(path: &Path) -> SocketReactor<PostgresProtocol> {
    reactor_within(path, None)
}

/// The same, whose statements may take so long.
fn reactor_within(
    path: &Path,
    statement_timeout: Option<Nanos>,
) -> SocketReactor<PostgresProtocol> {
    let shared =
        PostgresShared::of_workload(PostgresIdentity::default(), &[], StatementProtocol::Text);
    let settings = SocketSettings {
        address: ServerAddress::unix(path).expect("a path"),
        keepalive: TcpKeepalive::default(),
        connect_timeout: Nanos::from_secs(5),
        statement_timeout,
        network: SimulatedNetwork::default(),
        reconnect: ReconnectPolicy::WhenLost,
        tls: None,
    };
    SocketReactor::new(shared.into(), settings.into(), 1).expect("epoll")
}

#[test]
fn a_wait_without_a_time_out_ends_with_the_next_tick_and_not_before_its_time() {
    let mut reactor = reactor_at(Path::new("/nowhere"));
    assert!(reactor.ticks.is_some());
    let mut events = Vec::new();
    for _ in 0..5 {
        let until = now() + Nanos::from_millis(10);
        reactor.wait(until, false, &mut events);
        assert!(now() >= until);
    }
    assert!(events.is_empty());
}

#[test]
fn a_login_that_waits_is_counted_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).expect("a free name");
    let (counted, is_counted) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        is_counted.recv().expect("a count");
        client.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").expect("somebody listens");
        client
    });
    let mut reactor = reactor_at(&path);
    let mut counts = Vec::new();
    let (up, failure) = reactor.connect_counted(
        || false,
        |count| {
            if counts.is_empty() {
                counted.send(()).expect("a server");
            }
            counts.push(count);
        },
    );
    assert!(up == 1 && failure.is_none(), "{failure:?}");
    let waits = LoginCount { up: 0, refused: 0, all: 1 };
    assert_eq!((counts[0], counts[0].waiting()), (waits, 1));
    assert_eq!(counts.last(), Some(&LoginCount { up: 1, ..waits }));
    server.join().expect("no panic");
}

#[test]
fn a_server_that_sends_without_end_is_given_up_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).expect("a free name");
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        let mut heard = [0; 4096];
        assert!(client.read(&mut heard).expect("who wants in") > 0);
        client.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").expect("somebody listens");
        assert!(client.read(&mut heard).expect("a question") > 0);
        let rows = b"D\0\0\0\x06\0\0".repeat(40_000);
        // Until it is given up.
        while client.write_all(&rows).is_ok() {}
    });
    let mut reactor = reactor_within(&path, Some(Nanos::from_millis(50)));
    assert_eq!(reactor.connect_all(|| false).0, 1);
    reactor.query(0, "SELECT");
    let mut events = Vec::new();
    while events.is_empty() {
        reactor.wait(now() + Nanos::from_secs(1), false, &mut events);
    }
    let kind = events.pop().expect("not empty").kind;
    let CompletionKind::Answered(answer) = kind else { panic!("{kind:?}") };
    assert_eq!(answer.rows.expect_err("no end").code, "timeout");
    server.join().expect("no panic");
}

#[test]
fn what_others_still_hold_of_a_closed_socket_says_nothing_of_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).expect("a free name");
    // Lets nobody in.
    let server = std::thread::spawn(move || {
        (0..2).for_each(|_| drop(listener.accept().expect("a client")));
    });
    let mut reactor = reactor_at(&path);
    let mut codes = Vec::new();
    let mut copies = Vec::new();
    for _ in 0..2 {
        assert_eq!(reactor.perform(0, ConnectionOp::Connect), None);
        // As a process has them that was forked a moment ago.
        copies.extend(reactor.conns[0].socket().map(|one| one.try_clone().expect("a copy")));
        let mut events = Vec::new();
        reactor.wait(now() + Nanos::from_secs(5), false, &mut events);
        let Some(Completion { kind: CompletionKind::Answered(answer), .. }) = events.pop() else {
            panic!("no answer")
        };
        codes.push(answer.rows.expect_err("refused").code.clone());
    }
    assert_eq!(copies.len(), 1, "the second waits for its turn");
    assert!(codes.iter().all(|code| !code.starts_with("errno")), "{codes:?}");
    server.join().expect("two clients came");
}
