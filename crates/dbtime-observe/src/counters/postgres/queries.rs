//! What to ask a server of each version.

use crate::counters::query::{CounterQuery, ServerVersion};

/// The group of what is known of the server itself. Its `uptime` goes to the sample's own field.
pub(in crate::counters) const SERVER: &str = "server";

const UPTIME: &str = "\
SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS uptime";

/// Views with one row, and the first version that has them.
const VIEWS: [(u32, &str); 3] =
    [(9, "pg_stat_bgwriter"), (17, "pg_stat_checkpointer"), (14, "pg_stat_wal")];

/// What to ask a server of that version.
pub(in crate::counters) fn queries(version: ServerVersion) -> Vec<CounterQuery> {
    let query = |group, sql: &str| CounterQuery { group, sql: sql.to_owned(), is_optional: false };
    let mut queries = vec![
        query(SERVER, UPTIME),
        query(
            "pg_stat_database",
            "SELECT * FROM pg_stat_database WHERE datname = current_database()",
        ),
    ];
    let views = VIEWS.iter().filter(|(since, _)| version.major >= *since);
    queries.extend(views.map(|(_, view)| query(view, &format!("SELECT * FROM {view}"))));
    if version.major >= 16 {
        queries.push(query("pg_stat_io", "SELECT * FROM pg_stat_io"));
    }
    queries.extend(statements(version));
    queries
}

/// The sums over all statements of the database, and those that took most time in all.
///
/// The extension may be absent, not preloaded, or older than the server.
fn statements(version: ServerVersion) -> [CounterQuery; 2] {
    // Version 1.8 of the extension, which came with 13, has more columns and other names.
    let (time, sums, columns) = match version.major {
        13.. => ("total_exec_time", ", sum(wal_bytes) AS wal_bytes", ", wal_bytes"),
        _ => ("total_time", "", ""),
    };
    let sums = format!(
        "SELECT count(*) AS statements, sum(calls) AS calls, sum({time}) AS total_exec_time, \
         sum(rows) AS rows, sum(shared_blks_hit) AS shared_blks_hit, \
         sum(shared_blks_read) AS shared_blks_read, \
         sum(shared_blks_dirtied) AS shared_blks_dirtied, \
         sum(shared_blks_written) AS shared_blks_written, \
         sum(temp_blks_written) AS temp_blks_written{sums} \
         FROM pg_stat_statements(false) WHERE {OF_DATABASE}"
    );
    // Texts are normalised, but those of utility statements may hold a password. Statements that
    // look at statistics, such as these, are left out.
    let top = format!(
        "SELECT queryid, CASE WHEN query ~* 'passw|secret' THEN '(may hold a password)' \
         ELSE left(regexp_replace(query, '\\s+', ' ', 'g'), 60) END AS query, \
         calls, {time} AS total_exec_time, rows, shared_blks_hit, shared_blks_read{columns} \
         FROM pg_stat_statements WHERE {OF_DATABASE} AND query !~ 'pg_(stat|postmaster)' \
         ORDER BY {time} DESC LIMIT 20"
    );
    [sums, top].map(|sql| CounterQuery { group: "pg_stat_statements", sql, is_optional: true })
}

const OF_DATABASE: &str = "dbid = (SELECT oid FROM pg_database WHERE datname = current_database())";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_versions_have_more_views_and_other_columns() {
        let of = |major| queries(ServerVersion { major, minor: 0 });
        let has = |major, group| of(major).iter().any(|query| query.group == group);
        assert_eq!((of(9).len(), of(99).len()), (5, 8));
        assert!(!has(13, "pg_stat_wal") && has(14, "pg_stat_wal"));
        assert!(!has(15, "pg_stat_io") && has(16, "pg_stat_io"));
        assert!(!has(16, "pg_stat_checkpointer") && has(17, "pg_stat_checkpointer"));
        let names = |major, name| of(major).iter().any(|query| query.sql.contains(name));
        assert!(names(12, " total_time ") && !names(12, "wal_bytes"));
        assert!(!names(13, " total_time ") && names(13, "wal_bytes"));
        assert!(of(9).iter().all(|q| q.is_optional == (q.group == "pg_stat_statements")));
    }
}
