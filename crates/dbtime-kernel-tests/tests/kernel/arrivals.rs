//! When requests came to the server's sockets, also where the event comes late: who sends may lose
//! the CPU within it.

use super::parts::{ANSWER, QUERY};
use super::server::{WatchedServer, streamed};
use dbtime_model::{Nanos, WireProtocol};

/// A server whose connection is known by a request before: its first read makes it known.
fn known() -> WatchedServer {
    let mut server = WatchedServer::new(WireProtocol::Postgres, &streamed());
    serves(&mut server, 1);
    server.passes(1_000);
    server
}

/// A request comes, and is read and answered so much later each. The server has read all then.
fn serves(server: &mut WatchedServer, read_after: u64) {
    server.capture.data_ready(&mut server.machine, server.socket, 1);
    server.passes(read_after);
    server.machine.set_unread(server.socket, 0);
    server.reads(QUERY);
    server.passes(10);
    server.sends(ANSWER);
}

/// How long each request waited to be read, but the one that made the connection known.
fn queues(server: &mut WatchedServer) -> Vec<Option<Nanos>> {
    server.finds_nothing();
    server.requests().iter().skip(1).map(|request| request.server_queue).collect()
}

#[test]
fn a_request_waits_from_its_arrival_on() {
    let mut server = known();
    for read_after in [30, 70, 500] {
        serves(&mut server, read_after);
        server.passes(1_000);
    }
    assert_eq!(queues(&mut server), [Some(Nanos(30)), Some(Nanos(70)), Some(Nanos(500))]);
}

#[test]
fn an_event_that_was_overtaken_is_not_the_arrival_of_the_next_request() {
    let mut server = known();
    let arrived = server.machine.clock();
    serves(&mut server, 100);
    // It had read the clock, and found the bytes, before the server took them.
    server.machine.set_clock(arrived + 50);
    server.capture.data_ready(&mut server.machine, server.socket, 1);
    server.machine.set_clock(arrived + 1_000);
    serves(&mut server, 70);
    // The same, and the server is quicker than the next event too.
    server.machine.set_clock(arrived + 1_050);
    server.capture.data_ready(&mut server.machine, server.socket, 1);
    server.machine.set_clock(arrived + 2_000);
    server.machine.set_unread(server.socket, 0);
    server.reads(QUERY);
    server.passes(10);
    server.sends(ANSWER);
    assert_eq!(queues(&mut server), [Some(Nanos(100)), Some(Nanos(70)), None]);
}

#[test]
fn what_lies_there_without_its_event_came_at_no_time_that_is_known() {
    let mut server = known();
    serves(&mut server, 100);
    server.passes(1_000);
    // The server is quicker than the event, and of two packets takes one.
    server.machine.set_unread(server.socket, 1);
    server.reads(QUERY);
    server.passes(10);
    server.sends(ANSWER);
    server.passes(1_000);
    server.machine.set_unread(server.socket, 0);
    server.reads(QUERY);
    server.passes(10);
    server.sends(ANSWER);
    assert_eq!(queues(&mut server), [Some(Nanos(100)), None, None]);
}
