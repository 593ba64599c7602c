//! Errors that do not begin an answer: behind columns and rows, and in a piece of their own.

use super::conversation::{Conversation, ConversationTurn};
use super::postgres::{asks, complete, description, done, message, query, ready, rows};
use super::server::WatchedServer;
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

/// As PostgreSQL says it: with the function that reports it.
fn report(tag: u8, state: &str, text: &str) -> Vec<u8> {
    let code = format!("C{state}");
    let text = format!("M{text}");
    let fields = ["SERROR", "VERROR", &code, &text, "Fint.c", "L846", "Rint4div", "", ""];
    message(tag, fields.join("\0").as_bytes())
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
    let prepared = [b'3', b'3', backend::PARSE_COMPLETE, backend::NO_DATA].map(done);
    let bound = done(backend::BIND_COMPLETE);
    let (first, rest) = long.split_at(8_187);
    let pieces = [&prepared[..], &[bound, first.to_vec()], &[rest.to_vec()], &[ready(b'I')]];
    assert_eq!(postgres_error(&pieces).as_deref(), Some("P0001"));
}

#[test]
fn what_only_looks_like_an_error_of_postgresql_is_none() {
    let (failed, ended) =
        (report(backend::ERROR, "22012", "division by zero"), [complete("SELECT 3"), ready(b'I')]);
    let notice = report(backend::NOTICE, "01000", "a notice");
    assert_eq!(postgres_error(&[&[description(), rows(3, 4), notice], &ended]), None);
    // A row ends so where the server's buffer was full.
    let width = (failed.len() as u32).to_be_bytes();
    let row = message(backend::DATA_ROW, &[&[0, 1], &width[..], &failed].concat());
    let more = [rows(2, 4), complete("SELECT 3"), ready(b'I')];
    assert_eq!(postgres_error(&[&[description(), row], &more]), None);
}

pub(crate) const COLUMN: &[u8] =
    b"\x03def\x00\x01t\x01t\x01a\x01a\x0c\x21\0\x0b\0\0\0\x03\0\0\0\0\0";
const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];
const ROW: &[u8] = b"\x05value";
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
