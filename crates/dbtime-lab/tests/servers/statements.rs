//! Statements whose rows are looked at as they come, on MariaDB; PostgreSQL's have their tests
//! beside the engine.

use crate::listed_rows::{CountedRows, ListedRows};
use crate::live::{start, with};
use dbtime_engines::drive::plan::RunStop;
use dbtime_engines::server::{StatementBound, StatementConnection};
use dbtime_engines::socket::ExchangeBound;
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_load::program::SqlValue;
use dbtime_model::{Nanos, Product};
use std::time::Duration;

/// As long as anything in a test may take.
const PATIENCE: Nanos = Nanos::from_secs(900);

/// A value of each kind, the first of which is a parameter.
const KINDS: &str = "SELECT CAST(? AS SIGNED) AS a, 18446744073709551615 AS b, 1.50 AS c, \
                     1.5e0 AS d, 'é' AS e, x'00ff' AS f, NULL AS g, DATE '2024-02-29' AS h, \
                     TIME '26:03:04' AS i";

fn connection(server: &PrivateServer) -> Box<dyn StatementConnection> {
    let bound = StatementBound { limit: PATIENCE, stop: RunStop::default() };
    server.server().statements(&bound).expect("let in")
}

#[test]
fn texts_and_prepared_statements_show_the_same_values() {
    let server = start(&ServerRequest::new(Product::Mariadb));
    let mut connection = connection(&server);
    let form = connection.prepare(KINDS).expect("prepared");
    assert_eq!((form.parameters, form.columns.join("")), (Some(1), "abcdefghi".to_owned()));
    let expected = [
        "begin a,b,c,d,e,f,g,h,i",
        "integer 5",
        "unsigned 18446744073709551615",
        "decimal 1.50",
        "real 1.5",
        r"text \xc3\xa9",
        r"bytes \x00\xff",
        "null",
        "text 2024-02-29",
        "text 26:03:04",
        "end",
    ];
    let mut prepared = ListedRows::default();
    let key = [SqlValue::Integer(5)];
    let instants = connection.execute(&form, &key, &mut prepared).expect("a row");
    assert_eq!((instants.rows, instants.unlisted_rows, prepared.0.len()), (1, 0, 11));
    assert_eq!(prepared.0, expected);
    let mut text = ListedRows::default();
    connection.run_text(&KINDS.replace('?', "5"), &mut text).expect("a row");
    assert_eq!(text.0, expected);
    connection.forget(form);
    let failed = connection.prepare("SELECT nothing FROM nowhere.at_all").expect_err("no table");
    assert!(["1049", "1146"].contains(&&*failed.code), "{failed:?}");
    assert_eq!(connection.table("SELECT 1").expect("a row").value(), Some("1"));
}

#[test]
fn a_result_of_any_length_takes_little_memory() {
    let request = with(Product::Mariadb, "max_allowed_packet", "67108864");
    let server = start(&request);
    let mut connection = connection(&server);
    let sql = "WITH d AS (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 \
               UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 \
               UNION ALL SELECT 8 UNION ALL SELECT 9) \
               SELECT REPEAT('x', 4000) FROM d a, d b, d c, d e, d f";
    let form = connection.prepare(sql).expect("prepared");
    let mut counted = CountedRows::default();
    let instants = connection.execute(&form, &[], &mut counted).expect("rows");
    assert_eq!((instants.rows, counted.rows), (100_000, 100_000));
    assert!(instants.bytes > 400_000_000 && counted.grown < 200 << 20, "{counted:?}");
    // A row that is too long is counted, and the one behind it is seen.
    let mut seen = ListedRows::default();
    let sql = "SELECT REPEAT('x', 17 * 1024 * 1024) AS r UNION ALL SELECT 'y'";
    let instants = connection.run_text(sql, &mut seen).expect("rows");
    assert_eq!((instants.rows, instants.unlisted_rows), (2, 1));
    assert_eq!(seen.0, ["begin r", "text y", "end"]);
}

#[test]
fn a_statement_is_ended_over_another_connection() {
    let server = start(&ServerRequest::new(Product::Mariadb));
    let mut connection = connection(&server);
    let number = connection.number().expect("the server tells");
    let other = server.server();
    let ending = std::thread::spawn(move || {
        let mut admin = other.connect(&ExchangeBound::within(PATIENCE)).expect("let in");
        let active = format!(
            "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {number} AND INFO LIKE \
             '%SLEEP%'"
        );
        while admin.query(&active).expect("an answer").0.rows.is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        admin.query(&other.end_statement(number)).expect("ended");
    });
    // Some versions have a SLEEP that is ended return 1.
    if let Err(failure) = connection.run_text("SELECT SLEEP(600)", &mut ()) {
        assert_eq!(failure.code, "1317", "{failure:?}");
    }
    ending.join().expect("it ends the statement");
    assert!(!connection.is_given_up());
    assert_eq!(connection.run_text("SELECT 1", &mut ()).expect("a row").rows, 1);
}
