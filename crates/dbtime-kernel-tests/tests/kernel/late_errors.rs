//! Errors that do not begin an answer: behind columns and rows, and in a piece of their own.

use super::conversation::{Conversation, ConversationTurn};
use super::postgres::{asks, complete, description, done, message, query, ready, rows};
use super::server::{WatchedServer, streamed};
use super::{mysql, postgres};
use dbtime_model::WireProtocol;
use dbtime_observe::trace::CaptureConfig;
use dbtime_wire::postgres::backend;

/// What the last of these requests was answered with: an error, by its code.
fn error_of(protocol: WireProtocol, turns: &[ConversationTurn]) -> Option<String> {
    let (seen, ledger) = Conversation { protocol, turns: turns.to_vec() }.whole();
    assert_eq!((ledger.started, ledger.ended, ledger.resync), (1, 1, 0), "{ledger:?}");
    seen.last().expect("a request").error.as_ref().map(ToString::to_string)
}

/// As PostgreSQL says it: with its severity, and the function that reports it.
pub(crate) fn told(tag: u8, [severity, state, text, function]: [&str; 4]) -> Vec<u8> {
    let body =
        format!("S{severity}\0V{severity}\0C{state}\0M{text}\0Fint.c\0L846\0R{function}\0\0");
    message(tag, body.as_bytes())
}

fn report(tag: u8, state: &str, text: &str) -> Vec<u8> {
    told(tag, ["ERROR", state, text, "int4div"])
}

/// A row in which this is all there is.
pub(crate) fn row_of(value: &[u8]) -> Vec<u8> {
    let width = (value.len() as u32).to_be_bytes();
    message(backend::DATA_ROW, &[&[0, 1], &width[..], value].concat())
}

/// The error with which a query of PostgreSQL's is answered, in these pieces.
fn postgres_error(pieces: &[&[Vec<u8>]]) -> Option<String> {
    let login = &postgres::everything().turns[..2];
    let answer: Vec<_> = pieces.iter().map(|piece| postgres::answers(piece)).collect();
    error_of(
        WireProtocol::Postgres,
        &[login, &[asks(&[query("SELECT a FROM t")])], &answer].concat(),
    )
}

#[test]
fn an_error_of_postgresql_is_seen_wherever_it_stands() {
    let failed = report(backend::ERROR, "22012", "division by zero");
    let long = report(backend::ERROR, "57014", &"canceling statement ".repeat(100));
    let (ready, bound) = ([ready(b'I')], done(backend::BIND_COMPLETE));
    let setting = message(backend::PARAMETER_STATUS, b"TimeZone\0UTC\0");
    let some = Some("22012".to_owned());
    let (few, many) = (rows(3, 4), rows(200, 40));
    let piece = [description(), few, failed.clone()];
    assert_eq!(postgres_error(&[&piece, &ready]), some);
    let pieces = [&[description(), many.clone()][..], &[many.clone(), failed.clone()]];
    assert_eq!(postgres_error(&[pieces[0], pieces[1], &ready]), some);
    // By itself behind rows, and the transaction's settings are restored.
    assert_eq!(postgres_error(&[pieces[0], &[failed], &[setting, ready[0].clone()]]), some);
    let piece = [bound, many, long];
    assert_eq!(postgres_error(&[&piece, &ready]).as_deref(), Some("57014"));
}

#[test]
fn an_error_that_fills_the_buffer_is_seen_behind_what_was_prepared() {
    let long = report(backend::ERROR, "P0001", &"x".repeat(9_000));
    // Others were closed before.
    let closed = [b'3', b'3', backend::PARSE_COMPLETE, backend::NO_DATA].map(done).to_vec();
    let [parsed, empty] = [backend::PARSE_COMPLETE, backend::NO_DATA].map(done);
    let parameter = message(backend::PARAMETER_DESCRIPTION, &[0, 1, 0, 0, 0, 23]);
    let described = vec![parsed.clone(), parameter.clone(), empty];
    let with_columns = vec![parsed, parameter, description()];
    let bound = done(backend::BIND_COMPLETE);
    let (first, rest) = long.split_at(8_187);
    for prepared in [closed, described, with_columns] {
        let begins = [bound.clone(), first.to_vec()];
        let pieces = [&prepared[..], &begins, &[rest.to_vec()], &[ready(b'I')]];
        assert_eq!(postgres_error(&pieces).as_deref(), Some("P0001"), "{prepared:?}");
    }
}

/// The error of the only request behind these turns, which is answered by a buffer of so many
/// bytes, and in pieces of so many.
fn buffered_error(
    conversation: &Conversation,
    pieces: (usize, usize),
    answer: &[u8],
) -> Option<String> {
    let mut server = WatchedServer::new(conversation.protocol, &streamed());
    for turn in &conversation.turns {
        match turn {
            ConversationTurn::Client(bytes) => server.reads(bytes),
            ConversationTurn::Server(bytes) => server.sends(bytes),
        }
    }
    server.sends_buffered(pieces, answer);
    if conversation.protocol == WireProtocol::Postgres {
        server.sends(&ready(b'I'));
    }
    server.finds_nothing();
    let (requests, ledger) = (server.requests(), server.ledger());
    assert_eq!((ledger.started, ledger.ended, ledger.connection_errors), (1, 1, 0), "{ledger:?}");
    requests.last().expect("a request").error.as_ref().map(ToString::to_string)
}

#[test]
fn an_error_of_postgresql_that_is_cut_in_two_is_seen() {
    const ROOM: usize = 8192;
    let mut turns = postgres::everything().turns[..2].to_vec();
    turns.push(asks(&[query("SELECT a FROM t")]));
    let conversation = Conversation { protocol: WireProtocol::Postgres, turns };
    let failed = report(backend::ERROR, "22012", "division by zero");
    let beside = description().len() + rows(1, 0).len();
    for first in 1..=failed.len() {
        let row = rows(1, ROOM - beside - first);
        let answer = [description(), row, failed.clone()].concat();
        let seen = buffered_error(&conversation, (ROOM, ROOM), &answer);
        assert_eq!(seen.as_deref(), Some("22012"), "{first} bytes of it in the first piece");
        // By a socket that has no room for all of it.
        let seen = buffered_error(&conversation, (2 * ROOM, ROOM), &answer);
        assert_eq!(seen.as_deref(), Some("22012"), "{first} bytes of it at first");
    }
}

#[test]
fn an_error_of_mysql_that_is_cut_in_two_is_seen() {
    const ROOM: usize = 16_384;
    let conversation = mysql_conversation(&[]);
    let beside = mysql::packets(1, &[&[1], COLUMN, EOF, b"\xfc\0\0"]).len();
    for first in 1..=mysql::packets(5, &[EXCEEDED]).len() {
        let width = ROOM - beside - first;
        let length = (width as u16).to_le_bytes();
        let row = [&[0xfc][..], &length, &vec![b'w'; width]].concat();
        let answer = mysql::packets(1, &[&[1], COLUMN, EOF, &row, EXCEEDED]);
        for pieces in [(ROOM, ROOM), (2 * ROOM, ROOM)] {
            let seen = buffered_error(&conversation, pieces, &answer);
            assert_eq!(seen.as_deref(), Some("1969"), "{first} bytes of it first: {pieces:?}");
        }
    }
}

#[test]
fn what_only_looks_like_an_error_of_postgresql_is_none() {
    let (failed, ended) =
        (report(backend::ERROR, "22012", "division by zero"), [complete("SELECT 3"), ready(b'I')]);
    let notice = report(backend::NOTICE, "01000", "a notice");
    assert_eq!(postgres_error(&[&[description(), rows(3, 4), notice], &ended]), None);
    // A row ends so where the server's buffer was full.
    let row = row_of(&failed);
    let more = [rows(2, 4), complete("SELECT 3"), ready(b'I')];
    assert_eq!(postgres_error(&[&[description(), row], &more]), None);
}

pub(crate) const COLUMN: &[u8] =
    b"\x03def\x00\x01t\x01t\x01a\x01a\x0c\x21\0\x0b\0\0\0\x03\0\0\0\0\0";
pub(crate) const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];
pub(crate) const ROW: &[u8] = b"\x05value";
const EXCEEDED: &[u8] = b"\xff\xb1\x07#70100Query execution was interrupted";

/// A query of MySQL's that is answered in these pieces, each of so many packets.
fn mysql_conversation(pieces: &[&[&[u8]]]) -> Conversation {
    let mut turns = mysql::everything().turns[..3].to_vec();
    turns.push(mysql::asks_query("SELECT a FROM t"));
    let mut number = 1;
    for payloads in pieces {
        turns.push(ConversationTurn::Server(mysql::packets(number, payloads)));
        number += payloads.len() as u8;
    }
    Conversation { protocol: WireProtocol::Mysql, turns }
}

fn mysql_error(pieces: &[&[&[u8]]]) -> Option<String> {
    error_of(WireProtocol::Mysql, &mysql_conversation(pieces).turns)
}

#[test]
fn an_error_of_mysql_is_seen_wherever_it_stands() {
    let some = Some("1969".to_owned());
    assert_eq!(mysql_error(&[&[&[1], COLUMN, EOF, EXCEEDED]]), some);
    assert_eq!(mysql_error(&[&[&[1], COLUMN, EOF, ROW, ROW, EXCEEDED]]), some);
    let first: &[&[u8]] = &[&[1], COLUMN, EOF, ROW, ROW];
    assert_eq!(mysql_error(&[first, &[EXCEEDED]]), some);
    let wide = [&[0xfc, 0x20, 0x03][..], &[b'w'; 800]].concat();
    assert_eq!(mysql_error(&[first, &[&wide, &wide, EXCEEDED]]), some);
    // Sums know no rows.
    let sums = CaptureConfig { adds_up: true, ..CaptureConfig::default() };
    let mut server = WatchedServer::new(WireProtocol::Mysql, &sums);
    mysql_conversation(&[&[&[1], COLUMN, EOF, ROW, EXCEEDED]])
        .play(&mut server, &mut |_, _| vec![]);
    let statements = server.statements();
    assert_eq!(statements.iter().map(|(_, totals)| totals.errors).sum::<u64>(), 1);
}

#[test]
fn what_only_looks_like_an_error_of_mysql_is_none() {
    let within = mysql::packets(9, &[EXCEEDED]);
    let row = [&[within.len() as u8][..], &within].concat();
    let first: &[&[u8]] = &[&[1], COLUMN, EOF, &row];
    assert_eq!(mysql_error(&[first, &[ROW, EOF]]), None);
    assert_eq!(mysql_error(&[&[&[1], COLUMN, EOF, &row, EOF]]), None);
}
