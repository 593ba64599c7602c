//! Statements whose rows are looked at as they come, from servers that say what a test wants.

use crate::listed_rows::{CountedRows, ListedRows};
use crate::mysql::packets::{RogueGreeting, error, one_column, packet, welcome};
use crate::mysql::rogue::RogueStep::{Flood, Send, Silence, Wait};
use crate::mysql::rogue::{RogueStep, rogue};
use dbtime_engines::databases;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{StatementBound, StatementConnection};
use dbtime_load::program::SqlValue;
use dbtime_machine::now;
use dbtime_model::exchange::ConnectionKey;
use dbtime_model::{ErrorClass, Nanos, Product};
use std::time::Duration;

/// As long as anything in a test may take.
const PATIENCE: Nanos = Nanos::from_secs(900);

/// Character sets: none; utf8mb4.
const BINARY: u8 = 63;
const UTF8: u8 = 45;

/// The end of a list.
const END: &[u8] = &[0xfe, 0, 0, 2, 0];

/// A payload that goes on in a second packet.
const LONG: usize = (16 << 20) + 10;

/// A connection to a server that lets it in and then does this.
fn connection(steps: Vec<RogueStep>, bound: &StatementBound) -> Box<dyn StatementConnection> {
    let greeting = RogueGreeting::of("mysql_native_password").packet();
    let begun = [Send(greeting), Wait, Send(packet(2, &welcome()))];
    let steps: Vec<RogueStep> = begun.into_iter().chain(steps).collect();
    let (port, _) = rogue(&steps);
    let url = format!("mysql://root:hush@127.0.0.1:{port}/d?connect-timeout=60s");
    let server = databases::server(Product::Mysql, &url, &|_| None).expect("a target");
    server.statements(bound).expect("let in")
}

fn within(limit: Nanos) -> StatementBound {
    StatementBound { limit, stop: RunStop::default() }
}

fn packets(payloads: &[&[u8]]) -> Vec<u8> {
    payloads.iter().flat_map(|payload| packet(1, payload)).collect()
}

/// The description of a column.
fn column(name: &str, kind: u8, set: u8, flags: u8) -> Vec<u8> {
    let mut payload = b"\x03def\0\0\0".to_vec();
    payload.push(name.len() as u8);
    payload.extend(name.as_bytes());
    payload.extend([0, 0x0c, set, 0, 0, 0, 0, 0, kind, flags, 0, 0, 0, 0]);
    payload
}

fn columns() -> Vec<Vec<u8>> {
    vec![
        column("id", 8, BINARY, 0x20),
        column("d", 246, BINARY, 0),
        column("t", 253, UTF8, 0),
        column("b", 252, BINARY, 0),
        column("at", 12, BINARY, 0),
    ]
}

/// The answer to a statement that is prepared, with these columns and one parameter.
fn prepared() -> Vec<u8> {
    let columns = columns();
    let parameter = column("?", 253, UTF8, 0);
    let head = [0, 7, 0, 0, 0, columns.len() as u8, 0, 1, 0, 0, 0, 0];
    let mut payloads: Vec<&[u8]> = vec![&head[..], &parameter, END];
    payloads.extend(columns.iter().map(Vec::as_slice));
    payloads.push(END);
    packets(&payloads)
}

/// A result of these rows, and how it ends.
fn result(rows: &[&[u8]], end: &[u8]) -> Vec<u8> {
    let columns = columns();
    let head = [columns.len() as u8];
    let mut payloads: Vec<&[u8]> = vec![&head[..]];
    payloads.extend(columns.iter().map(Vec::as_slice));
    payloads.push(END);
    payloads.extend(rows);
    payloads.push(end);
    packets(&payloads)
}

#[test]
fn values_of_all_kinds_are_seen_and_nothing_of_a_row_that_is_too_long() {
    let full = [
        &[0u8, 0][..],
        &u64::MAX.to_le_bytes(),
        b"\x041.50\x02\xffx\x01\0",
        &[7, 0xe8, 0x07, 2, 29, 23, 5, 1],
    ]
    .concat();
    let nulls = [&[0u8, 0b0111_1000][..], &1u64.to_le_bytes()].concat();
    let long = vec![0; LONG];
    let cut_off: &[u8] = &[0, 0, 1];
    let rows: [&[u8]; 4] = [&full, &long, cut_off, &nulls];
    let failing = error(1317, b"Query execution was interrupted");
    let steps = vec![
        Wait,
        Send(prepared()),
        Wait,
        Send(result(&rows, END)),
        Wait,
        Send(result(&[&nulls], &failing)),
        Wait,
        Send(packet(1, &[0, 3, 0, 2, 0, 0, 0])),
        Silence,
    ];
    let mut connection = connection(steps, &within(PATIENCE));
    assert_eq!(connection.number(), Some(7));
    let form = connection.prepare("SELECT * FROM t WHERE id = ?").expect("prepared");
    assert_eq!((form.parameters, form.columns.join(",")), (Some(1), "id,d,t,b,at".to_owned()));
    let key = [SqlValue::Integer(5)];
    let wrong = connection.execute(&form, &[], &mut ()).expect_err("no value");
    assert_eq!(wrong.code, "parameters", "{wrong:?}");

    let mut seen = ListedRows::default();
    let instants = connection.execute(&form, &key, &mut seen).expect("rows");
    assert_eq!((instants.rows, instants.unlisted_rows), (4, 2));
    assert!(instants.done > instants.sent && instants.bytes > LONG as u64, "{instants:?}");
    let expected = [
        "begin id,d,t,b,at",
        "unsigned 18446744073709551615",
        "decimal 1.50",
        r"text \xffx",
        r"bytes \x00",
        "text 2024-02-29 23:05:01",
        "end",
        "integer 1",
        "null",
        "null",
        "null",
        "null",
        "end",
    ];
    assert_eq!(seen.0, expected);

    let mut seen = ListedRows::default();
    let failed = connection.execute(&form, &key, &mut seen).expect_err("interrupted");
    assert_eq!((&*failed.code, seen.0.len()), ("1317", 7), "{seen:?}");
    assert!(!connection.is_given_up(), "an error ends no connection");
    let mut seen = ListedRows::default();
    let changed = connection.run_text("UPDATE t SET d = 1", &mut seen).expect("changed");
    assert_eq!((changed.rows, changed.unlisted_rows, seen.0.len()), (3, 0, 0));
}

#[test]
fn an_answer_may_have_any_length_and_none_of_it_is_kept() {
    let row = [&[200u8][..], &[b'x'; 200]].concat();
    let many = packet(4, &row).repeat(1000);
    let steps = vec![Wait, Send(one_column(1)), Flood(many)];
    let mut connection = connection(steps, &within(PATIENCE));
    let mut counted = CountedRows::default();
    let failed = connection.run_text("SELECT * FROM t", &mut counted).expect_err("it goes");
    assert_eq!(failed.code, "closed", "{failed:?}");
    assert!(counted.rows * 200 > 60 << 20, "{counted:?}");
    assert!(counted.grown < 200 << 20, "{counted:?}");
    assert!(connection.is_given_up());
}

#[test]
fn behind_an_exchange_that_was_given_up_nothing_is_asked() {
    let limit = Nanos::from_millis(150);
    let mut connection = connection(vec![Silence], &within(limit));
    let key = connection.key();
    assert!(matches!(key, Some(ConnectionKey::Tcp(at)) if at.ip().is_loopback()), "{key:?}");
    let begun = now();
    let failed = connection.run_text("SELECT SLEEP(600)", &mut ()).expect_err("no answer");
    assert_eq!((&*failed.code, failed.class), ("timeout", ErrorClass::Timeout));
    assert!(now() - begun >= limit && connection.is_given_up());
    for again in [
        connection.table("SELECT 1").map(|_| ()),
        connection.prepare("SELECT 1").map(|_| ()),
        connection.run_text("SELECT 1", &mut ()).map(|_| ()),
    ] {
        assert_eq!(again.expect_err("given up").code, "timeout");
    }
    assert_eq!(connection.number(), Some(7), "what is to be ended there");
}

#[test]
fn the_end_of_a_run_ends_a_wait() {
    let bound = within(PATIENCE);
    let mut connection = connection(vec![Silence], &bound);
    let stop = bound.stop.clone();
    let stopping = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        stop.at(now());
    });
    let failed = connection.run_text("SELECT SLEEP(600)", &mut ()).expect_err("stopped");
    stopping.join().expect("it sleeps, and stops");
    assert_eq!(failed.class, ErrorClass::Interrupted);
    assert!(connection.is_given_up());
}
