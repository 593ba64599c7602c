//! Errors whose message is cut in two where a server's buffer is full: what is sent at once begins
//! and ends anywhere in them.

use super::*;
use crate::raw_postgres::RawPostgres;
use std::ops::Range;

/// Widths of a row, some of which leave the buffer room for a part of the error behind it. The step
/// is shorter than the header of either protocol: some leave room for a part of that.
fn widths(range: Range<usize>) -> impl Iterator<Item = usize> {
    range.step_by(3)
}

/// Each of these texts was answered with this error.
fn each_has_failed(seen: &Seen, texts: &[String], error: &Value) {
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    let unseen: Vec<_> = texts.iter().filter(|text| seen.one(text)["error"] != *error).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn errors_of_postgresql_are_seen_wherever_they_are_cut() {
    let (sandbox, server) =
        (Sandbox::new(), GivenServer::start(Product::Postgres, &postgres::SETTINGS));
    let mut client = RawPostgres::connect(&server);
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let text = |width: usize| {
        format!("SELECT repeat('x', {width}), 9 / (2 - g) FROM generate_series(1, 9) g")
    };
    let texts: Vec<String> = widths(7_900..8_192).map(text).collect();
    texts.iter().for_each(|text| assert_eq!(client.query(text), "TDEZ"));
    each_has_failed(&tracer.end(), &texts, &Value::from("22012"));
}

#[test]
fn errors_of_mariadb_are_seen_wherever_they_are_cut() {
    let (sandbox, server) = (Sandbox::new(), GivenServer::start(Product::Mariadb, &[]));
    server.sql("CREATE TABLE m (a INT PRIMARY KEY)");
    server.sql("INSERT INTO m VALUES (0), (1)");
    let mut client = RawClient::connect(&server);
    client.query("USE d");
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let text = |width: usize| format!("SELECT REPEAT('x', {width}), ~0 + a FROM m");
    let texts: Vec<String> = widths(16_000..16_384).map(text).collect();
    texts.iter().for_each(|text| client.fails_at_last(text));
    each_has_failed(&tracer.end(), &texts, &Value::from(1690));
}
