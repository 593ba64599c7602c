//! Errors with which servers end connections: nothing is read behind them, which would say that a
//! request is over.

use super::conversation::{ConversationTurn, PAUSE};
use super::late_errors::{COLUMN, EOF, ROW, row_of, told};
use super::postgres::{answers, asks, complete, description, message, query, ready, rows};
use super::server::{WatchedServer, streamed};
use super::{mysql, postgres};
use dbtime_model::WireProtocol;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_wire::mysql::command;
use dbtime_wire::postgres::{backend, frontend};

/// What was said so far, and nothing since.
pub(crate) fn watched(protocol: WireProtocol, turns: &[ConversationTurn]) -> WatchedServer {
    let mut server = WatchedServer::new(protocol, &streamed());
    for turn in turns {
        server.passes(PAUSE);
        match turn {
            ConversationTurn::Client(bytes) => server.reads(bytes),
            ConversationTurn::Server(bytes) => server.sends(bytes),
        }
    }
    server
}

/// The errors of the requests that are over.
fn errors(server: &mut WatchedServer) -> Vec<Option<String>> {
    let requests = server.requests();
    requests.iter().map(|one| one.error.as_ref().map(ToString::to_string)).collect()
}

/// Requests that began, that are over, of which nothing is known; errors outside of them; times
/// that the connection was lost track of.
fn counts(ledger: &TraceLedger) -> [i64; 5] {
    let of = u64::cast_signed;
    let [started, ended] = [ledger.started, ledger.ended].map(of);
    [started, ended, ledger.vanished(), of(ledger.connection_errors), of(ledger.resync)]
}

pub(crate) fn fatal(state: &str) -> Vec<u8> {
    told(backend::ERROR, ["FATAL", state, "terminating connection", "ProcessInterrupts"])
}

/// PostgreSQL's answer to a query, in these pieces.
pub(crate) fn answered(pieces: &[&[Vec<u8>]]) -> WatchedServer {
    let login = &postgres::everything().turns[..2];
    let pieces: Vec<_> = pieces.iter().map(|piece| answers(piece)).collect();
    let turns = [login, &[asks(&[query("SELECT a FROM t")])], &pieces].concat();
    watched(WireProtocol::Postgres, &turns)
}

#[test]
fn a_fatal_error_of_postgresql_is_its_requests_and_ends_it() {
    let (ended, few) = (fatal("57P01"), rows(3, 4));
    let whole: [&[&[Vec<u8>]]; 4] = [
        &[std::slice::from_ref(&ended)],
        &[&[description(), ended.clone()]],
        &[&[description(), few.clone(), ended.clone()]],
        &[&[description(), few], std::slice::from_ref(&ended)],
    ];
    for pieces in whole {
        let mut server = answered(pieces);
        assert_eq!(errors(&mut server), [Some("57P01".to_owned())], "{pieces:?}");
        assert_eq!(counts(&server.ledger()), [1, 1, 0, 0, 0], "{pieces:?}");
    }
}

#[test]
fn a_server_that_ends_at_once_says_so_in_a_warning() {
    let warning = |function| {
        told(backend::NOTICE, ["WARNING", "57P02", "another server process has crashed", function])
    };
    let mut server = answered(&[&[description(), rows(3, 4), warning("quickdie")]]);
    assert_eq!(errors(&mut server), [Some("57P02".to_owned())]);
    assert_eq!(counts(&server.ledger()), [1, 1, 0, 0, 0]);
    drop(server);
    let mut server = answered(&[&[warning("quickdie")]]);
    assert_eq!(errors(&mut server), [Some("57P02".to_owned())]);
    drop(server);
    // What SQL raises is of another function.
    let server = answered(&[&[warning("exec_stmt_raise")]]);
    assert_eq!(counts(&server.ledger()), [1, 0, 1, 0, 0]);
}

#[test]
fn behind_an_error_of_the_request_the_last_is_the_connections() {
    let failed = told(backend::ERROR, ["ERROR", "22012", "division by zero", "int4div"]);
    for first in [vec![failed.clone()], vec![description(), rows(3, 4), failed]] {
        let server = answered(&[&first]);
        assert_eq!(counts(&server.ledger()), [1, 0, 1, 0, 0], "it goes on");
        drop(server);
        let mut server = answered(&[&first, &[fatal("57P01")]]);
        assert_eq!(errors(&mut server), [Some("22012".to_owned())]);
        assert_eq!(counts(&server.ledger()), [1, 1, 0, 1, 0]);
    }
}

#[test]
fn an_error_that_nobody_asked_postgresql_for_is_the_connections() {
    let done = [description(), rows(1, 4), complete("SELECT 1"), ready(b'T')];
    for finds_nothing in [true, false] {
        let mut server = answered(&[&done]);
        if finds_nothing {
            server.finds_nothing();
        }
        server.sends(&fatal("25P03"));
        assert_eq!(errors(&mut server), [None], "{finds_nothing}");
        assert_eq!(counts(&server.ledger()), [1, 1, 0, 1, 0], "{finds_nothing}");
    }
    let let_in = message(backend::AUTHENTICATION, &[0, 0, 0, 0]);
    let startup = postgres::everything().turns[0].clone();
    let said = |turns: &[ConversationTurn]| watched(WireProtocol::Postgres, turns).ledger();
    let refused = said(&[startup, answers(&[let_in, fatal("3D000")])]);
    assert_eq!(counts(&refused), [0, 0, 0, 1, 0]);
    // Of a server that does not know what is asked for: encryption by GSS.
    let asks_gss = ConversationTurn::Client(vec![0, 0, 0, 8, 4, 0xd2, 0x16, 0x30]);
    let unknown = said(&[asks_gss, answers(&[fatal("0A000")])]);
    assert_eq!((counts(&unknown), unknown.gss), ([0, 0, 0, 1, 0], 0));
    // The first that is seen of a connection from before.
    let before = said(&[answers(&[fatal("57P05")])]);
    assert_eq!((counts(&before), before.partial), ([0, 0, 0, 1, 0], 0));
}

#[test]
fn what_only_looks_like_the_end_of_a_connection_is_told_of() {
    let row = row_of(&fatal("57P01"));
    let server = answered(&[&[description(), row], &[rows(2, 4), ready(b'I')]]);
    let ledger = server.ledger();
    assert_eq!((ledger.resync, ledger.is_whole()), (1, false));
}

/// What the server sends of the rest comes behind the Sync that it reads first.
#[test]
fn postgresql_that_reads_on_had_not_said_its_last_word() {
    let row = row_of(&fatal("57P01"));
    let mut server = answered(&[&[description(), row]]);
    server.reads(&message(frontend::SYNC, &[]));
    server.sends(&[complete("SELECT 1"), ready(b'I')].concat());
    let ledger = server.ledger();
    assert_eq!((ledger.resync, ledger.is_whole()), (1, false));
}

/// Before PostgreSQL 9.6 the session's language is all there is.
#[test]
fn an_error_of_postgresql_in_german_is_not_its_last_word() {
    let body = b"SFEHLER\0C22012\0MDivision durch Null\0Fint.c\0L846\0Rint4div\0\0";
    let failed = message(backend::ERROR, body);
    let mut server = answered(&[&[description(), rows(3, 4), failed], &[ready(b'I')]]);
    server.finds_nothing();
    assert_eq!(errors(&mut server), [Some("22012".to_owned())]);
    assert_eq!(counts(&server.ledger()), [1, 1, 0, 0, 0]);
}

#[test]
fn a_fatal_error_that_is_cut_in_two_ends_its_request() {
    const ROOM: usize = 8192;
    let ended = fatal("57P01");
    // Behind a row, and behind what may precede an error at the beginning of an answer.
    let wide = |length: usize| message(backend::ROW_DESCRIPTION, &vec![b'c'; length]);
    for first in [20, 60] {
        let row = rows(1, ROOM - description().len() - rows(1, 0).len() - first);
        let columns = wide(ROOM - wide(0).len() - first);
        for before in [[description(), row].concat(), columns] {
            let mut server = answered(&[]);
            server.sends_buffered((ROOM, ROOM), &[&before[..], &ended].concat());
            assert_eq!(errors(&mut server), [Some("57P01".to_owned())], "{first}");
            assert_eq!(counts(&server.ledger()), [1, 1, 0, 0, 0], "{first}");
        }
    }
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const KILLED: &[u8] = b"\xff\x87\x07#70100Connection was killed";
const IDLE: &[u8] = b"\xff\xbf\x0f#HY000The client was disconnected because of inactivity";
const DENIED: &[u8] = b"\xff\x15\x04#28000Access denied for user";
pub(crate) const SYNTAX: &[u8] = b"\xff\x28\x04#42000You have an error";

/// What a server of MySQL's protocol says behind a login.
pub(crate) fn behind_login(turns: &[ConversationTurn]) -> WatchedServer {
    let login = &mysql::everything().turns[..3];
    watched(WireProtocol::Mysql, &[login, turns].concat())
}

#[test]
fn an_error_of_mysql_that_ends_the_connection_ends_its_request() {
    let asks_rows = mysql::asks_query("SELECT a FROM t");
    let first_and_last: [&[&[u8]]; 2] = [&[KILLED], &[&[1], COLUMN, EOF, ROW, KILLED]];
    for answer in first_and_last {
        let mut server = behind_login(&[asks_rows.clone(), mysql::answers(answer)]);
        assert_eq!(errors(&mut server), [Some("1927".to_owned())]);
        assert_eq!(counts(&server.ledger()), [1, 1, 0, 0, 0]);
    }
    let changes = mysql::asks(command::CHANGE_USER, b"root\0\0shop\0");
    let mut server = behind_login(&[changes, mysql::answers(&[DENIED])]);
    assert_eq!(errors(&mut server), [Some("1045".to_owned())]);
    drop(server);
    let server = behind_login(&[asks_rows, mysql::answers(&[SYNTAX])]);
    assert_eq!(counts(&server.ledger()), [1, 0, 1, 0, 0], "it goes on");
}

/// SIGNAL takes any number.
#[test]
fn a_connection_of_mysql_may_go_on_behind_such_an_error() {
    let asks = || mysql::asks_query("CALL p()");
    let turns = [asks(), mysql::answers(&[KILLED]), asks(), mysql::answers(&[OK])];
    let mut server = behind_login(&turns);
    server.finds_nothing();
    assert_eq!(errors(&mut server), [Some("1927".to_owned()), None]);
    assert_eq!(counts(&server.ledger()), [2, 2, 0, 0, 0]);
}

/// What comes behind it is of the same answer, also where that is an error.
#[test]
fn what_only_looks_like_the_end_of_a_connection_of_mysql_is_told_of() {
    let within = mysql::packets(9, &[KILLED]);
    let row = [&[within.len() as u8][..], &within].concat();
    let rows = mysql::answers(&[&[1], COLUMN, EOF, &row]);
    let failed = ConversationTurn::Server(mysql::packets(5, &[SYNTAX]));
    let server = behind_login(&[mysql::asks_query("SELECT a FROM t"), rows, failed]);
    assert_eq!(counts(&server.ledger()), [1, 1, 0, 0, 1]);
}

#[test]
fn an_error_that_nobody_asked_mysql_for_is_the_connections() {
    let mut server = behind_login(&[mysql::asks_query("SELECT 1"), mysql::answers(&[OK])]);
    server.finds_nothing();
    server.sends(&mysql::packets(0, &[IDLE]));
    assert_eq!(errors(&mut server), [None]);
    assert_eq!(counts(&server.ledger()), [1, 1, 0, 1, 0]);
    drop(server);
    let said = |turns: &[(bool, Vec<u8>)]| {
        let turn = |(is_server, bytes): &(bool, Vec<u8>)| match is_server {
            true => ConversationTurn::Server(bytes.clone()),
            false => ConversationTurn::Client(bytes.clone()),
        };
        watched(WireProtocol::Mysql, &turns.iter().map(turn).collect::<Vec<_>>()).ledger()
    };
    let denied = mysql::packets(2, &[DENIED]);
    let refused = said(&[(true, mysql::greeting()), (false, mysql::login()), (true, denied)]);
    assert_eq!(counts(&refused), [0, 0, 0, 1, 0]);
    // In place of the greeting; and a connection from before whose client has done nothing.
    let too_many = said(&[(true, mysql::packets(0, &[b"\xff\x10\x04Too many connections"]))]);
    let idle = said(&[(true, mysql::packets(1, &[IDLE]))]);
    for ledger in [too_many, idle] {
        assert_eq!((counts(&ledger), ledger.partial), ([0, 0, 0, 1, 0], 0));
    }
    // The answer to a request from before is no connection's.
    let before = said(&[(true, mysql::packets(1, &[SYNTAX]))]);
    assert_eq!((before.partial, before.connection_errors), (1, 0));
}

/// MySQL 9 says so to a client that has left without QUIT. MariaDB stops reading itself where it
/// ends a connection.
#[test]
fn what_is_sent_to_a_client_that_has_left_is_no_error_of_the_connection() {
    const NOT_READ: &[u8] = b"\xff\x86\x04#08S01Got an error reading communication packets";
    let cases = [(false, NOT_READ, 1), (true, NOT_READ, 0), (true, KILLED, 1)];
    for (is_at_end, error, expected) in cases {
        let mut server = behind_login(&[mysql::asks_query("SELECT 1"), mysql::answers(&[OK])]);
        if is_at_end {
            server.finds_the_end();
        } else {
            server.finds_nothing();
        }
        server.sends(&mysql::packets(0, &[error]));
        assert_eq!(counts(&server.ledger()), [1, 1, 0, expected, 0], "{error:?} {is_at_end}");
    }
    // Nor is it one of a connection that was set aside.
    let http = ConversationTurn::Client(b"GET / HTTP/1.1\r\n\r\n".to_vec());
    let greeting = ConversationTurn::Server(mysql::greeting());
    let mut aside = watched(WireProtocol::Mysql, &[greeting, http]);
    aside.finds_the_end();
    aside.sends(&mysql::packets(0, &[NOT_READ]));
    assert_eq!((aside.ledger().connection_errors, aside.ledger().other_protocol), (0, 1));
}
