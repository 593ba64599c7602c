//! What a session is set to before its statements are measured: a bound in the server, and nothing
//! that answers in place of an execution.

use super::session::QuerySession;
use dbtime_engines::server::StatementAnswer;
use dbtime_model::{Nanos, Product};
use dbtime_observe::counters::ServerVersion;

/// How much longer than the server's own limit dbtime waits for an answer.
pub(super) const LIMIT_GRACE: Nanos = Nanos::from_secs(2);

/// Bounds executions in the server, and turns off what would answer without one. Returns sentences
/// on what could not be set.
///
/// # Errors
/// When the connection is lost.
pub(super) fn set_up(
    session: &mut QuerySession<'_>,
    timeout: Nanos,
) -> StatementAnswer<Vec<String>> {
    let mut notes = Vec::new();
    let Some(limit) = limit_statement(session.product, session.version, timeout) else {
        if session.product != Product::Sqlite {
            notes.push(format!(
                "{} has no limit for statements: after {} dbtime ends one by KILL QUERY, and the \
                 measurement with it",
                session.title,
                timeout + LIMIT_GRACE
            ));
        }
        return finish(session, notes);
    };
    if let Err(failure) = session.set(&limit) {
        if session.connection.is_given_up() {
            return Err(failure);
        }
        notes.push(format!("`{limit}` was refused ({}): dbtime ends statements", failure.message));
    }
    finish(session, notes)
}

/// The settings that every session has.
fn finish(session: &mut QuerySession<'_>, notes: Vec<String>) -> StatementAnswer<Vec<String>> {
    if has_query_cache(session.product, session.version) {
        // A server whose cache is off for good refuses that, which comes to the same.
        if let Err(failure) = session.set("SET SESSION query_cache_type = OFF")
            && session.connection.is_given_up()
        {
            return Err(failure);
        }
    }
    Ok(notes)
}

/// How a server is told to end statements after a time; `None`: it has no such setting.
fn limit_statement(product: Product, version: ServerVersion, timeout: Nanos) -> Option<String> {
    let milliseconds = (timeout.0 / 1_000_000).max(1);
    let at_least = |major, minor| version >= ServerVersion { major, minor };
    match product {
        Product::Postgres => Some(format!("SET statement_timeout = {milliseconds}")),
        Product::Mariadb if at_least(10, 1) => Some(format!(
            "SET SESSION max_statement_time = {}.{:03}",
            milliseconds / 1000,
            milliseconds % 1000
        )),
        // Of SELECT alone, and from 5.7.8 on.
        Product::Mysql if at_least(5, 7) => {
            Some(format!("SET SESSION max_execution_time = {milliseconds}"))
        }
        Product::Mariadb | Product::Mysql | Product::Sqlite => None,
    }
}

/// Whether the server may answer from a cache of results.
fn has_query_cache(product: Product, version: ServerVersion) -> bool {
    match product {
        Product::Mariadb => true,
        Product::Mysql => version.major < 8,
        Product::Postgres | Product::Sqlite => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_product_has_its_own_limit() {
        let timeout = Nanos::from_millis(1500);
        let of = |product, major, minor| {
            limit_statement(product, ServerVersion { major, minor }, timeout).unwrap_or_default()
        };
        assert_eq!(of(Product::Postgres, 9, 6), "SET statement_timeout = 1500");
        assert_eq!(of(Product::Mariadb, 10, 11), "SET SESSION max_statement_time = 1.500");
        assert_eq!(of(Product::Mysql, 8, 4), "SET SESSION max_execution_time = 1500");
        assert_eq!(of(Product::Mysql, 5, 5), "");
        assert_eq!(of(Product::Sqlite, 3, 50), "");
    }
}
