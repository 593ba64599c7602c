//! What is shown of statements: all but their literals, as their server itself reads them.

use super::*;
use crate::raw_postgres::RawPostgres;

/// Statements, and what is shown of them.
const OF_MARIADB: [(&str, &str); 9] = [
    (
        r"SELECT n FROM d.2020_orders WHERE s = 'it\'s SECRET'",
        "SELECT n FROM d.2020_orders WHERE s = ?",
    ),
    (
        r#"SELECT n FROM d.2020_orders WHERE s = "SECRET""#,
        "SELECT n FROM d.2020_orders WHERE s = ?",
    ),
    ("SELECT 5--1, n FROM d.2020_orders # it's SECRET", "SELECT ?--?, n FROM d.2020_orders"),
    ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "SET sql_mode = ?"),
    (r"SELECT n FROM d.2020_orders WHERE s = 'C:\' AND s <> 'SECRET'", {
        "SELECT n FROM d.2020_orders WHERE s = ? AND s <> ?"
    }),
    ("SET sql_mode = 'ANSI_QUOTES'", "SET sql_mode = ?"),
    (r#"SELECT "n" FROM "d"."2020_orders" WHERE s = 'it\'s SECRET'"#, {
        r#"SELECT "n" FROM "d"."2020_orders" WHERE s = ?"#
    }),
    ("SAVEPOINT s17", "SAVEPOINT ?"),
    ("SAVEPOINT s18", "SAVEPOINT ?"),
];

/// The same of PostgreSQL, which tells of its sessions' rules at logins alone.
const OF_POSTGRES: [(&str, &str); 6] = [
    (r#"SELECT "n" FROM "orders" WHERE s = 'SECRET'"#, r#"SELECT "n" FROM "orders" WHERE s = ?"#),
    (r"SELECT n FROM orders WHERE s = 'C:\' AND s <> 'SECRET'", "SELECT n FROM orders WHERE s = ?"),
    ("SELECT n # 3 FROM orders WHERE s = $$SECRET$$ OR s = $t$it's$t$", {
        "SELECT n # ? FROM orders WHERE s = ? OR s = ?"
    }),
    (r"SELECT n FROM orders /* a /* b */ it's */ WHERE s = E'it\'s SECRET'", {
        "SELECT n FROM orders WHERE s = ?"
    }),
    ("SELECT n FROM orders WHERE s IN ('SECRET', 'b') -- it's SECRET", {
        "SELECT n FROM orders WHERE s IN (...)"
    }),
    ("DECLARE c17 CURSOR WITH HOLD FOR SELECT n FROM orders WHERE s = 'SECRET'", {
        "DECLARE ? CURSOR WITH HOLD FOR SELECT n FROM orders WHERE s = ?"
    }),
];

/// Each is shown as it is to be, and the secret nowhere.
fn are_shown(server: &GivenServer, texts: &[(&str, &str)], say: impl Fn()) {
    let sandbox = Sandbox::new();
    let Some(tracer) = Tracer::start(&sandbox, server, "--record it.trace") else { return };
    say();
    tracer.interrupt();
    let (_, told) = tracer.printed();
    assert!(!told.contains("SECRET"), "{told}");
    let lines = sandbox.run("trace it.trace --json").out;
    let recorded = std::fs::read(sandbox.path("it.trace")).expect("a recording");
    let Some(tracer) = Tracer::start(&sandbox, server, "--summary --json") else { return };
    say();
    tracer.interrupt();
    let (_, summary) = tracer.printed();
    assert!(!recorded.windows(6).any(|bytes| bytes == b"SECRET"), "it is in the recording");
    for out in [lines, summary] {
        assert!(!out.contains("SECRET"), "{out}");
        for (_, shown) in texts {
            let shown = Value::from(*shown).to_string();
            assert!(out.contains(&shown), "{shown}: {out}");
        }
        assert!(!out.contains("s17"), "{out}");
    }
}

#[test]
fn literals_of_mariadb_are_left_out_by_the_session_s_own_rules() {
    let server = GivenServer::start(Product::Mariadb, &[]);
    server.sql("CREATE TABLE d.2020_orders (n INT, s TEXT)");
    are_shown(&server, &OF_MARIADB, || {
        let mut client = RawClient::connect(&server);
        client.query("DO 1");
        for (text, _) in OF_MARIADB {
            match text.starts_with("SELECT") {
                true => client.select(text),
                false => client.query(text),
            }
        }
    });
}

#[test]
fn literals_of_postgresql_are_left_out_whatever_the_session_s_rules() {
    let server = GivenServer::start(Product::Postgres, &[]);
    let mut first = RawPostgres::connect(&server);
    first.query("CREATE TABLE orders (n INT, s TEXT)");
    are_shown(&server, &OF_POSTGRES, || {
        let mut client = RawPostgres::connect(&server);
        for (text, _) in OF_POSTGRES {
            let answer = client.query(text);
            assert!(!answer.contains('E'), "{text}: {answer}");
        }
    });
}
