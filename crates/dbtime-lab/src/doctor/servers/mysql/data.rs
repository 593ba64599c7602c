//! Tables: their keys, and what the optimiser knows of them.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck, listed};
use super::super::examined::ExaminedServer;
use super::lacked;
use dbtime_model::doctor::FindingScope;
use std::collections::BTreeSet;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "primary_keys",
        scope: FindingScope::Data,
        expected: "every table has a primary key",
        source: "information_schema.tables, information_schema.statistics",
        rule: primary_keys,
    },
    ServerCheck {
        id: "table_statistics",
        scope: FindingScope::Data,
        expected: "no table has changed by a fifth, or for a day, since its statistics",
        source: "mysql.innodb_table_stats, information_schema.tables, \
                 information_schema.innodb_tablestats or innodb_sys_tablestats",
        rule: table_statistics,
    },
];

/// Bytes of all tables but the server's own.
pub(super) const SIZE: &str = "SELECT COALESCE(SUM(data_length + index_length), 0) FROM \
    information_schema.tables WHERE table_schema NOT IN ('mysql', 'information_schema', \
    'performance_schema', 'sys')";

pub(super) const KEYLESS: &str = "SELECT CONCAT(t.table_schema, '.', t.table_name) FROM \
    information_schema.tables t LEFT JOIN information_schema.statistics s ON \
    s.table_schema = t.table_schema AND s.table_name = t.table_name AND s.index_name = 'PRIMARY' \
    WHERE t.table_type = 'BASE TABLE' AND s.index_name IS NULL AND t.table_schema NOT IN ('mysql', \
    'information_schema', 'performance_schema', 'sys') LIMIT 6";

pub(super) const OLD_STATISTICS: &str = "SELECT CONCAT(t.table_schema, '.', t.table_name) FROM \
    mysql.innodb_table_stats s JOIN information_schema.tables t ON \
    t.table_schema = s.database_name AND t.table_name = s.table_name WHERE \
    t.update_time > s.last_update + INTERVAL 1 DAY LIMIT 6";

/// Tables whose number of rows is not what their statistics have: the names of two queries, for
/// MySQL from 8.0 on, and for all others.
pub(super) const CHANGED: [&str; 2] =
    ["tables with another number of rows", "tables with another number of rows before 8.0"];

pub(super) const CHANGED_SINCE: &str = "SELECT CONCAT(s.database_name, '.', s.table_name) FROM \
    mysql.innodb_table_stats s JOIN information_schema.innodb_tablestats t ON \
    t.name = CONCAT(s.database_name, '/', s.table_name) WHERE ABS(CAST(t.num_rows AS SIGNED) - \
    CAST(s.n_rows AS SIGNED)) > 1000 + 0.2 * s.n_rows LIMIT 6";

pub(super) const CHANGED_SINCE_BEFORE_8: &str = "SELECT CONCAT(s.database_name, '.', \
    s.table_name) FROM mysql.innodb_table_stats s JOIN information_schema.innodb_sys_tablestats t \
    ON t.name = CONCAT(s.database_name, '/', s.table_name) WHERE ABS(CAST(t.num_rows AS SIGNED) - \
    CAST(s.n_rows AS SIGNED)) > 1000 + 0.2 * s.n_rows LIMIT 6";

fn primary_keys(server: &ExaminedServer) -> RuleResult {
    let names = server.names("tables without primary key")?;
    if names.is_empty() {
        return match lacked(server, "SELECT") {
            None => Ok(CheckVerdict::good("all have one", "rows are found by their key")),
            Some(right) => {
                Err(format!("all that this user sees have one: {right} on *.* shows the others"))
            }
        };
    }
    let because = "InnoDB numbers rows of such tables by one counter, and replicas search them";
    let costs = "Not measured here. Replicas may read a whole table for each changed row (MariaDB \
                 manual, \"Row-based Replication With No Primary Key\")";
    Ok(CheckVerdict::note(listed(&names), because, costs).mended(
        "ALTER TABLE … ADD PRIMARY KEY, which copies the table",
        "ALTER TABLE … DROP PRIMARY KEY",
    ))
}

fn table_statistics(server: &ExaminedServer) -> RuleResult {
    let changed = CHANGED.into_iter().find(|query| server.answers.contains_key(query));
    let changed = server.names(changed.unwrap_or(CHANGED[1]));
    let aged = server.names("tables with old statistics");
    // What one query finds is found, whatever became of the other.
    let found = [&changed, &aged].into_iter().flatten().flatten().copied();
    let names: Vec<&str> = found.collect::<BTreeSet<&str>>().into_iter().collect();
    if names.is_empty() {
        changed.and(aged)?;
        return Ok(CheckVerdict::good("none is old", "plans go by what the tables hold"));
    }
    let because = "plans go by statistics from before the last changes";
    let costs = "Not measured here. Another plan may take a multiple of the time: `dbtime compare` \
                 runs before and after (MySQL manual, \"Configuring Persistent Optimizer \
                 Statistics\")";
    let verdict = CheckVerdict::note(listed(&names), because, costs);
    Ok(verdict.mended("ANALYZE TABLE for each of them", "none is needed"))
}
