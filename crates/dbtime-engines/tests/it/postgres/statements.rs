//! Statements whose rows are looked at as they come.

use crate::listed_rows::{CountedRows, ListedRows};
use crate::postgres::private::{Server, is_there, patient_bound};
use dbtime_engines::databases::postgres::PostgresServer;
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{Server as _, StatementBound, StatementConnection};
use dbtime_load::program::SqlValue;
use dbtime_model::{ErrorClass, Nanos};
use std::time::Duration;

/// As long as anything in a test may take.
const PATIENCE: Nanos = Nanos::from_secs(900);

fn connection(server: &Server, limit: Nanos) -> Box<dyn StatementConnection> {
    let bound = StatementBound { limit, stop: RunStop::default() };
    PostgresServer::new(server.target()).statements(&bound).expect("let in")
}

#[test]
fn values_of_all_kinds_are_seen() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut connection = connection(&server, PATIENCE);
    let sql = "SELECT $1::int AS a, $2::text AS b, 9223372036854775807 AS c, 1.50 AS d, \
               1.5::float8 AS e, '\\x00ff'::bytea AS f, true AS g, NULL::int AS h, \
               date '2024-02-29' AS i";
    let form = connection.prepare(sql).expect("prepared");
    assert_eq!((form.parameters, form.columns.join("")), (Some(2), "abcdefghi".to_owned()));
    let wrong = connection.execute(&form, &[], &mut ()).expect_err("no values");
    assert_eq!(wrong.code, "parameters", "{wrong:?}");
    for _ in 0..2 {
        let mut seen = ListedRows::default();
        let key = [SqlValue::Integer(-7), SqlValue::Text("it's".to_owned())];
        let instants = connection.execute(&form, &key, &mut seen).expect("a row");
        assert_eq!((instants.rows, instants.unlisted_rows), (1, 0));
        assert!(instants.done > instants.sent && instants.bytes > 50, "{instants:?}");
        let expected = [
            "begin a,b,c,d,e,f,g,h,i",
            "integer -7",
            r"text it\'s",
            "integer 9223372036854775807",
            "decimal 1.50",
            "real 1.5",
            r"bytes \\x00ff",
            "text t",
            "null",
            "text 2024-02-29",
            "end",
        ];
        assert_eq!(seen.0, expected);
    }
    // One that is forgotten makes room for another, which has its own columns.
    connection.forget(form);
    let form = connection.prepare("SELECT 1 AS other WHERE false").expect("prepared");
    let mut seen = ListedRows::default();
    assert_eq!(connection.execute(&form, &[], &mut seen).expect("no row").rows, 0);
    assert_eq!(seen.0, ["begin other"]);
}

#[test]
fn of_several_statements_each_result_begins_anew() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut connection = connection(&server, PATIENCE);
    let mut seen = ListedRows::default();
    let sql = "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); SELECT a FROM t ORDER BY a; \
               SELECT 5 AS b";
    let instants = connection.run_text(sql, &mut seen).expect("executed");
    assert_eq!(instants.unlisted_rows, 0);
    let expected =
        ["begin a", "integer 1", "end", "integer 2", "end", "begin b", "integer 5", "end"];
    assert_eq!(seen.0, expected);
    let form = connection.prepare("UPDATE t SET a = a + $1").expect("prepared");
    assert_eq!((form.parameters, form.columns.len()), (Some(1), 0));
    let mut seen = ListedRows::default();
    let changed = connection.execute(&form, &[SqlValue::Integer(1)], &mut seen).expect("changed");
    assert_eq!((changed.rows, changed.unlisted_rows, seen.0.len()), (2, 0, 0));
    assert_eq!(connection.table("SELECT sum(a) FROM t").expect("a sum").value(), Some("5"));
}

#[test]
fn a_result_of_any_length_takes_little_memory() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut connection = connection(&server, PATIENCE);
    let mut counted = CountedRows::default();
    let sql = "SELECT repeat('x', 2000) FROM generate_series(1, 200000)";
    let instants = connection.run_text(sql, &mut counted).expect("rows");
    assert_eq!((instants.rows, counted.rows), (200_000, 200_000));
    assert!(instants.bytes > 400_000_000 && counted.grown < 200 << 20, "{counted:?}");
    // A row that is too long is counted, and those behind it are seen.
    let mut seen = ListedRows::default();
    let sql = "SELECT repeat('x', 17 * 1024 * 1024) UNION ALL SELECT 'y'";
    let form = connection.prepare(sql).expect("prepared");
    for _ in 0..2 {
        let instants = connection.execute(&form, &[], &mut seen).expect("rows");
        assert_eq!((instants.rows, instants.unlisted_rows), (2, 1));
        assert_eq!(std::mem::take(&mut seen.0)[1..], ["text y", "end"]);
    }
}

#[test]
fn an_error_behind_rows_ends_no_connection() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut connection = connection(&server, PATIENCE);
    let mut seen = ListedRows::default();
    let sql = "SELECT 1 / (5 - x) FROM generate_series(1, 10) x";
    let failed = connection.run_text(sql, &mut seen).expect_err("a division by zero");
    assert_eq!((&*failed.code, seen.0.len()), ("22012", 9), "{seen:?}");
    connection.table("SET statement_timeout = 500").expect("set");
    let failed = connection.run_text("SELECT pg_sleep(600)", &mut ()).expect_err("cancelled");
    assert_eq!(failed.code, "57014", "{failed:?}");
    connection.table("SET statement_timeout = 0").expect("set");
    let failed = connection.prepare("SELECT nothing FROM nowhere").expect_err("no table");
    assert_eq!(failed.code, "42P01", "{failed:?}");
    assert!(!connection.is_given_up());
    assert_eq!(connection.run_text("SELECT 1", &mut ()).expect("a row").rows, 1);
}

#[test]
fn a_statement_is_ended_over_another_connection() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut connection = connection(&server, PATIENCE);
    let number = connection.number().expect("the server tells");
    let other = PostgresServer::new(server.target());
    let ending = std::thread::spawn(move || {
        let mut admin = other.connect(&patient_bound()).expect("let in");
        let active = format!(
            "SELECT 1 FROM pg_stat_activity WHERE pid = {number} AND query LIKE '%pg_sleep%'"
        );
        while admin.query(&active).expect("an answer").0.rows.is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        admin.query(&other.end_statement(number)).expect("ended");
    });
    let failed = connection.run_text("SELECT pg_sleep(600)", &mut ()).expect_err("cancelled");
    ending.join().expect("it ends the statement");
    assert_eq!((&*failed.code, connection.is_given_up()), ("57014", false), "{failed:?}");
    assert_eq!(connection.run_text("SELECT 1", &mut ()).expect("a row").rows, 1);
}

#[test]
fn behind_an_exchange_that_was_given_up_nothing_is_asked() {
    if !is_there() {
        return;
    }
    let server = Server::start(&[]);
    let mut late = connection(&server, Nanos::from_millis(200));
    let failed = late.run_text("SELECT pg_sleep(600)", &mut ()).expect_err("it sleeps");
    assert_eq!((&*failed.code, failed.class), ("timeout", ErrorClass::Timeout));
    assert!(late.is_given_up());
    assert_eq!(late.table("SELECT 1").expect_err("given up").code, "timeout");
    let number = late.number().expect("the server has told");
    let end = PostgresServer::new(server.target()).end_statement(number);
    server.client().query(&end).expect("ended");
    let mut lost = connection(&server, PATIENCE);
    assert_eq!(lost.run_text("SELECT 1", &mut ()).expect("a row").rows, 1);
    let thrown_out = "SELECT pg_terminate_backend(pg_backend_pid())";
    let failed = lost.run_text(thrown_out, &mut ()).expect_err("it ends itself");
    assert_eq!((&*failed.code, lost.is_given_up()), ("57P01", true), "{failed:?}");
    // On another connection what was set for the session would be gone.
    assert_eq!(lost.prepare("SELECT 1").expect_err("not connected to again").code, "57P01");
}
