//! PostgreSQL 9.6 and later: `pg_locks`, `pg_blocking_pids`, `pg_stat_activity`.

use super::source::{LockSource, RowKind};
use crate::counters::ServerVersion;

/// What a login says of itself, and how long it may wait: it must not hold up what it looks at.
pub(super) fn settings(version: ServerVersion) -> Vec<&'static str> {
    let mut settings = vec![
        "SET application_name = 'dbtime'",
        "SET statement_timeout = '1s'",
        "SET lock_timeout = '500ms'",
        "SET default_transaction_read_only = on",
    ];
    // Nothing is asked for hours where nobody waits.
    if version.major >= 14 {
        settings.push("SET idle_session_timeout = 0");
    }
    settings
}

pub(super) fn sources(version: ServerVersion) -> Vec<LockSource> {
    let claims = if version.major >= 14 { CLAIMS } else { CLAIMS_BEFORE_14 };
    let sessions = if version.major >= 10 { SESSIONS } else { SESSIONS_BEFORE_10 };
    let of = |brings, sql, lacks| LockSource { brings, sql, instead: None, lacks };
    vec![
        of(RowKind::Claims, claims, "who waits for whom is not known"),
        of(RowKind::Sessions, sessions, "whose sessions these are is not known"),
    ]
}

/// What stands where the statement of another user would, without the right to see it.
pub(super) const HIDDEN: &str = "<insufficient privilege>";

/// What gives that right.
pub(super) const REMEDY: &str = "states and statements of other users are hidden from this login: GRANT pg_read_all_stats to it";

/// `pg_locks` once: with many locks it is what takes the time. A waiter for a row waits for the
/// transaction that has it, and has the row's place itself.
macro_rules! claims {
    ($since:literal, $joined:literal) => {
        concat!(
            "WITH all_locks AS (SELECT l.* FROM pg_locks l), ",
            "waits AS (SELECT DISTINCT ON (l.pid) l.pid, l.locktype, l.database, l.relation, ",
            $since,
            " AS since FROM all_locks l ",
            $joined,
            "WHERE NOT l.granted AND l.pid IS NOT NULL), ",
            "longest AS (SELECT * FROM waits ORDER BY since NULLS LAST LIMIT 100), ",
            "placed AS (SELECT w.pid, w.locktype, w.since, coalesce(w.database, t.database) ",
            "AS database, coalesce(w.relation, t.relation) AS relation FROM longest w ",
            "LEFT JOIN (SELECT DISTINCT ON (pid) pid, database, relation FROM all_locks ",
            "WHERE locktype = 'tuple' AND granted) t ON t.pid = w.pid) ",
            "SELECT w.pid AS waiter, h.pid AS holder, ",
            "CASE WHEN w.relation IS NOT NULL AND w.locktype IN ('transactionid', 'tuple') ",
            "THEN 'row lock' ELSE w.locktype END AS lock, ",
            "CASE WHEN w.database = (SELECT oid FROM pg_database WHERE datname = ",
            "current_database()) THEN w.relation::regclass::text ELSE 'table ' || w.relation::text || ' of ' || ",
            "(SELECT datname FROM pg_database WHERE oid = w.database) END ",
            "AS object, extract(epoch FROM clock_timestamp() - w.since) AS waited ",
            "FROM placed w LEFT JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS h(pid) ON true ",
            "ORDER BY w.since NULLS LAST LIMIT 1000"
        )
    };
}

const CLAIMS: &str = claims!("l.waitstart", "");

/// Older versions know only since when the statement goes on.
const CLAIMS_BEFORE_14: &str =
    claims!("a.query_start", "LEFT JOIN pg_stat_activity a ON a.pid = l.pid ");

/// A holder without a session is a prepared transaction, which `pg_blocking_pids` has as 0.
macro_rules! sessions {
    ($user:literal, $state:literal, $which:literal) => {
        concat!(
            "SELECT a.pid AS id, ",
            $user,
            " AS user, CASE WHEN a.client_port = -1 THEN 'local' ",
            "ELSE host(a.client_addr) || ':' || a.client_port END AS address, ",
            "a.datname AS database, ",
            $state,
            " AS state, ",
            "extract(epoch FROM clock_timestamp() - a.state_change) AS in_state, ",
            "extract(epoch FROM clock_timestamp() - a.xact_start) AS in_transaction, ",
            "left(a.query, 1000) AS statement, a.pid AS thread ",
            "FROM pg_stat_activity a WHERE ",
            $which
        )
    };
}

const SESSIONS: &str =
    sessions!("coalesce(a.usename, a.backend_type)", "a.state", "a.pid IN ({ids})");

const SESSIONS_BEFORE_10: &str = sessions!("a.usename", "a.state", "a.pid IN ({ids})");

/// All sessions of clients.
pub(super) const ALL_SESSIONS: &str = sessions!(
    "a.usename",
    "CASE WHEN a.state = 'active' AND a.wait_event_type = 'Lock' \
     THEN 'Waiting for ' || a.wait_event ELSE a.state END",
    "a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()"
);

/// The same of those that know no other kinds.
pub(super) const ALL_SESSIONS_BEFORE_10: &str = sessions!(
    "a.usename",
    "CASE WHEN a.state = 'active' AND a.wait_event_type = 'Lock' \
     THEN 'Waiting for ' || a.wait_event ELSE a.state END",
    "a.client_port IS NOT NULL AND a.pid <> pg_backend_pid()"
);
