//! Errors with which servers end connections: of requests, and of clients that have asked for
//! nothing.

use super::*;
use crate::given_server::PRODUCTS;
use crate::raw_postgres::RawPostgres;

/// What the server said to each request with this text.
fn errors<'a>(seen: &'a Seen, text: &str) -> Vec<&'a Value> {
    let with_text = seen.requests.iter().filter(|request| request["text"] == text);
    with_text.map(|request| &request["error"]).collect()
}

/// Nothing was lost, and everything that began has ended.
fn ends_well(tracer: Tracer<'_>) -> Seen {
    let seen = tracer.end();
    assert_eq!(seen.code, Some(0), "{}", seen.ledger);
    seen.is_clean();
    seen
}

#[test]
fn who_ends_the_own_connection_is_told_so_in_a_line() {
    for product in PRODUCTS {
        let (_certificates, server) = encrypted::start(product);
        let (texts, error) = match product {
            Product::Postgres => (
                [
                    "SELECT pg_terminate_backend(pg_backend_pid())",
                    "SELECT pg_terminate_backend(pg_backend_pid()) AS plain",
                ],
                Value::from("57P01"),
            ),
            _ => (["KILL CONNECTION_ID()", "KILL CONNECTION CONNECTION_ID()"], Value::from(1927)),
        };
        let sandbox = Sandbox::new();
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        for (sql, is_encrypted) in texts.into_iter().zip([true, false]) {
            let line = format!(
                "run --query '{sql}' --transactions 3 --connections 1 --protocol text \
                 --target '{}' --no-record",
                encrypted::target(product, &server, is_encrypted)
            );
            sandbox.run(&line);
        }
        let seen = ends_well(tracer);
        for sql in texts {
            let found = errors(&seen, sql);
            assert!(!found.is_empty(), "{sql}: {:?}", seen.requests);
            assert!(found.iter().all(|found| **found == error), "{sql}: {found:?}");
        }
    }
}

#[test]
fn who_is_ended_at_work_has_an_error_and_who_is_idle_is_counted() {
    let (sandbox, server) =
        (Sandbox::new(), GivenServer::start(Product::Postgres, &postgres::SETTINGS));
    let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
    let mut clients = [0, 1, 2].map(|_| RawPostgres::connect(&server));
    let [busy, idle, slow] = &mut clients;
    busy.ask("SELECT pg_sleep(4711)");
    idle.query("SELECT 4712");
    slow.query("SET idle_in_transaction_session_timeout = 1");
    slow.query("BEGIN");
    slow.until(b'E');
    until_at_rest(server.server.pid());
    server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE query LIKE 'SELECT%471%' AND pid <> pg_backend_pid()",
    );
    busy.until(b'E');
    idle.until(b'E');
    let seen = ends_well(tracer);
    assert_eq!(errors(&seen, "SELECT pg_sleep(4711)"), ["57P01"]);
    assert_eq!(errors(&seen, "SELECT 4712"), [&Value::Null]);
    assert_eq!(errors(&seen, "BEGIN"), [&Value::Null]);
    assert_eq!(seen.counted("connection_errors"), 2, "{}", seen.ledger);
}

#[test]
fn logins_that_are_refused_are_counted() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, &[]));
        let Some(tracer) = Tracer::attach(&sandbox, &server, "--strict") else { return };
        let stranger = server.target_as("nobody-here", ":secret", "d");
        let elsewhere = server.target_as(server.server.user(), "", "no_such_database");
        for target in [stranger, elsewhere] {
            sandbox.run(&format!("run --query 'SELECT 1' --target '{target}' --no-record"));
        }
        let seen = ends_well(tracer);
        assert!(seen.counted("connection_errors") >= 2, "{product:?}: {}", seen.ledger);
    }
}
