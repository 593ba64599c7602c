//! Connections that are refused or set aside, and what is left of requests from before: what is
//! said of those whose requests are not followed.

use super::conversation::ConversationTurn;
use super::last_words::{fatal, watched};
use super::openings::{client, ended, opening, server};
use super::{mysql, postgres};
use dbtime_model::WireProtocol;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_wire::postgres::backend;

/// Errors outside of requests, connections of clients that were refused, and of unknown users.
fn errors(protocol: WireProtocol, turns: &[ConversationTurn]) -> [u64; 3] {
    let ledger = ended(protocol, turns);
    [ledger.connection_errors, ledger.refused, ledger.unknown_users()]
}

#[test]
fn an_error_that_ends_a_connection_which_was_set_aside_is_counted() {
    let (greeting, ok) = (server(&mysql::greeting()), server(&mysql::packets(2, &[mysql::OK])));
    let http = client(b"GET / HTTP/1.1\r\nHost: db\r\n\r\n");
    let refusal = server(&mysql::packets(1, &[b"\xff\x13\x04#08S01Bad handshake"]));
    let turns = [greeting.clone(), http, refusal];
    assert_eq!(errors(WireProtocol::Mysql, &turns), [1, 0, 0]);
    let dump = mysql::asks(0x12, b"\x04\0\0\0\0\0\x07\0\0\0bin.000001");
    let event = server(&mysql::packets(1, &[b"\0events"]));
    let purged = server(&mysql::packets(2, &[b"\xff\xd4\x04#HY000Could not find first log file"]));
    let login = client(&mysql::login());
    let turns = [greeting, login, ok, dump, event.clone(), event, purged];
    assert_eq!(errors(WireProtocol::Mysql, &turns), [1, 0, 0]);
    let replica = opening([3, 0], b"user\0app\0replication\0true\0\0");
    let let_in = postgres::answers(&[
        postgres::message(backend::AUTHENTICATION, &[0; 4]),
        postgres::ready(b'I'),
    ]);
    let changes = postgres::answers(&[postgres::message(b'd', &[b'w'; 300])]);
    let turns = [replica, let_in, changes, postgres::answers(&[fatal("57P01")])];
    assert_eq!(errors(WireProtocol::Postgres, &turns), [1, 0, 0]);
}

#[test]
fn a_client_that_is_refused_before_it_says_who_it_is_is_no_unknown_user() {
    let too_many = server(&mysql::packets(0, &[b"\xff\x10\x04Too many connections"]));
    assert_eq!(errors(WireProtocol::Mysql, &[too_many]), [1, 1, 0]);
    // One from before that was idle for too long.
    let idle = server(&mysql::packets(0, &[b"\xff\xbf\x0f#HY000The client was disconnected"]));
    assert_eq!(errors(WireProtocol::Mysql, &[idle]), [1, 0, 1]);
    let error = |state| postgres::answers(&[fatal(state)]);
    let found = |turns: &[ConversationTurn]| errors(WireProtocol::Postgres, turns);
    // By a server that does not know what is asked for: encryption by GSS.
    assert_eq!(found(&[opening([1234, 5680], b""), error("0A000")]), [1, 1, 0]);
    assert_eq!(found(&[opening([3, 0], b"database\0shop\0\0"), error("28000")]), [1, 1, 0]);
    // Who has said who it is has a login; of who was there before nothing is known.
    assert_eq!(found(&[client(&postgres::startup()), error("3D000")]), [1, 0, 0]);
    assert_eq!(found(&[error("57P05")]), [1, 0, 1]);
    // Nor where the rest of its request was seen.
    let rest = client(b"ECT a FROM t WHERE b = 1\0");
    let done = postgres::answers(&[postgres::complete("SELECT 3"), postgres::ready(b'I')]);
    assert_eq!(found(&[rest, done, error("57P05")]), [1, 0, 1]);
}

/// The rest of a COPY, or of a long statement, is answered like any request of which the beginning
/// was not seen.
#[test]
fn the_rest_of_a_request_of_postgresql_from_before_is_partial() {
    let done = |tag| postgres::answers(&[postgres::complete(tag), postgres::ready(b'I')]);
    let copies = [
        client(&postgres::message(b'd', b"1\t2\n")),
        client(&postgres::message(b'c', b"")),
        done("COPY 1"),
    ];
    let selects = [
        client(b"ECT a FROM t WHERE b = 1\0"),
        postgres::answers(&[postgres::description(), postgres::rows(3, 4)]),
        done("SELECT 3"),
    ];
    let counts = |ledger: &TraceLedger| [ledger.started, ledger.partial, ledger.unparsed];
    for turns in [copies, selects] {
        let ledger = ended(WireProtocol::Postgres, &turns);
        assert_eq!((counts(&ledger), ledger.is_whole()), ([1, 1, 0], true), "{ledger:?}");
        let next = [postgres::asks(&[postgres::query("SELECT 2")]), done("SELECT 1")];
        let ledger = ended(WireProtocol::Postgres, &[&turns[..], &next].concat());
        assert_eq!(counts(&ledger), [2, 1, 0], "{ledger:?}");
    }
    // A login is no request.
    let rest = client(&postgres::startup()[20..]);
    let let_in = postgres::everything().turns[1].clone();
    let ledger = watched(WireProtocol::Postgres, &[rest, let_in]).ledger();
    assert_eq!(counts(&ledger), [0, 0, 0], "{ledger:?}");
}

/// Values of a COPY in binary may begin as a startup packet does: an instant, a number, bytes that
/// go on behind what was read.
#[test]
fn what_only_begins_as_a_startup_packet_does_is_none() {
    let instant = [0, 0, 0, 8, 0, 3, 4, 0x25, 9, 9, 9, 9];
    let number = [0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 2, 0, 12, 0x0d, 0x80, 0x1e, 0x78];
    let bytes = [&[0, 0, 0x0f, 0, 0, 3, 1, 1][..], &[b'x'; 100]].concat();
    let done = |tag| postgres::answers(&[postgres::complete(tag), postgres::ready(b'I')]);
    for value in [&instant[..], &number, &bytes] {
        let asks = postgres::asks(&[postgres::query("SELECT 2")]);
        let turns = [client(value), done("COPY 1"), asks, done("SELECT 1")];
        let ledger = ended(WireProtocol::Postgres, &turns);
        let counts = [ledger.started, ledger.ended, ledger.partial, ledger.logins];
        assert_eq!((counts, ledger.is_whole()), ([2, 1, 1, 0], true), "{value:?}: {ledger:?}");
    }
}
