//! What connections are at, and requests whose threads have left: on kernels that find a thread by
//! its number, and on those that take a walk over all threads for it.

use super::conversation::ConversationTurn;
use super::hostile::earnest;
use super::mysql::{answers, asks};
use super::server::{WatchedServer, streamed};
use dbtime_kernel_tests::KernelAge;
use dbtime_model::traced_live::ConnectionActivity;
use dbtime_model::{Part, WireProtocol};
use dbtime_observe::trace::fuzzing::connections;

const COM_QUERY: u8 = 3;
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
/// A thread that sleeps.
const INTERRUPTIBLE: u32 = 1;

const AGES: [KernelAge; 3] = [KernelAge::Present, KernelAge::Older, KernelAge::Newer];

/// A server of MariaDB's kind that has a client.
fn greeted(age: KernelAge) -> WatchedServer {
    let mut server = WatchedServer::on(age, WireProtocol::Mysql, &streamed());
    greet(&mut server);
    server
}

fn greet(server: &mut WatchedServer) {
    let begin = earnest(WireProtocol::Mysql).turns.into_iter().take(3);
    begin.for_each(|turn| happens(server, turn));
}

/// The same, that has read a statement.
fn asked(age: KernelAge) -> WatchedServer {
    let mut server = greeted(age);
    happens(&mut server, asks(COM_QUERY, b"SELECT 1"));
    server
}

fn happens(server: &mut WatchedServer, turn: ConversationTurn) {
    match turn {
        ConversationTurn::Client(bytes) => server.reads(&bytes),
        ConversationTurn::Server(bytes) => server.sends(&bytes),
    }
}

/// What its only connection is at, by a walk over threads that was before that or just now.
fn activity(server: &mut WatchedServer) -> ConnectionActivity {
    let before = server.machine.records();
    server.keep(before);
    server.capture.snapshot(&mut server.machine, server.socket);
    let said = server.machine.records().concat();
    connections(&said).pop().expect("it is there").activity
}

#[test]
fn what_a_request_is_at_is_seen_on_each_kernel() {
    for age in AGES {
        let mut server = asked(age);
        server.passes(1000);
        server.capture.walk_threads(&mut server.machine);
        assert_eq!(activity(&mut server), ConnectionActivity::In(Part::Cpu), "{age:?}");
        let threads = (server.task, server.idle);
        server.capture.switch(&mut server.machine, threads, INTERRUPTIBLE, false);
        server.passes(1000);
        server.capture.walk_threads(&mut server.machine);
        let seen = activity(&mut server);
        assert!(!matches!(seen, ConnectionActivity::In(Part::Cpu)), "{age:?}: {seen:?}");
        assert!(seen != ConnectionActivity::AtWork, "{age:?}");
    }
}

#[test]
fn of_what_has_begun_since_the_walk_nothing_is_said() {
    let mut server = greeted(KernelAge::Older);
    server.capture.walk_threads(&mut server.machine);
    server.passes(1000);
    happens(&mut server, asks(COM_QUERY, b"SELECT 1"));
    happens(&mut server, answers(&[OK]));
    assert_eq!(activity(&mut server), ConnectionActivity::AtWork);
    // Its thread is at it, which that walk has not seen.
    server.capture.close_answered(&mut server.machine, server.socket);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn an_answered_request_is_over_once_its_thread_has_left() {
    for age in AGES {
        let mut server = asked(age);
        happens(&mut server, answers(&[OK]));
        for (is_gone, requests) in [(false, 0), (true, 1)] {
            if is_gone {
                // It serves another connection from here on.
                let other = server.machine.socket(5000, 40_001);
                let first = std::mem::replace(&mut server.socket, other);
                greet(&mut server);
                happens(&mut server, asks(COM_QUERY, b"SELECT 2"));
                server.socket = first;
            }
            server.passes(1000);
            server.capture.walk_threads(&mut server.machine);
            server.capture.close_answered(&mut server.machine, server.socket);
            assert_eq!(server.requests().len(), requests, "{age:?} {is_gone}");
        }
        assert_eq!(server.ledger().vanished(), 1, "the other is under way");
    }
}
