//! Tables: what vacuum is about to do to them, and what the planner knows of them.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck, listed};
use super::super::examined::ExaminedServer;
use super::alter_system;
use dbtime_model::doctor::FindingScope;
use dbtime_model::units::counted;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "autovacuum",
        scope: FindingScope::Data,
        expected: "none is running or due soon",
        source: "autovacuum, track_counts, pg_stat_progress_vacuum, pg_stat_user_tables, options \
                 of tables",
        rule: autovacuum,
    },
    ServerCheck {
        id: "table_statistics",
        scope: FindingScope::Data,
        expected: "every table of more than a few rows is analysed, at most 10 % changed since",
        source: "pg_stat_user_tables",
        rule: table_statistics,
    },
    ServerCheck {
        id: "unlogged_tables",
        scope: FindingScope::Data,
        expected: "none, or those of production",
        source: "pg_class.relpersistence",
        rule: unlogged_tables,
    },
    ServerCheck {
        id: "collation_version",
        scope: FindingScope::Data,
        expected: "the version that indexes were built with",
        source: "pg_database.datcollversion, pg_database_collation_actual_version()",
        rule: collation_version,
    },
];

/// What counts rows and their changes, by table.
const COUNTS: &str = "track_counts";

/// Tables whose dead rows have reached 80 % of the threshold of autovacuum; a table may have one of
/// its own.
pub(super) const DUE: &str = "SELECT s.schemaname || '.' || s.relname FROM \
    pg_catalog.pg_stat_user_tables s JOIN pg_catalog.pg_class c ON c.oid = s.relid CROSS JOIN \
    LATERAL (SELECT bool_and(option_value::bool) FILTER (WHERE option_name = \
    'autovacuum_enabled') AS is_on, max(option_value) FILTER (WHERE option_name = \
    'autovacuum_vacuum_threshold')::float8 AS base, max(option_value) FILTER (WHERE \
    option_name = 'autovacuum_vacuum_scale_factor')::float8 AS share FROM \
    pg_catalog.pg_options_to_table(c.reloptions)) o WHERE coalesce(o.is_on, true) AND \
    s.n_dead_tup > 0.8 * (coalesce(o.base, \
    pg_catalog.current_setting('autovacuum_vacuum_threshold')::float8) + coalesce(o.share, \
    pg_catalog.current_setting('autovacuum_vacuum_scale_factor')::float8) * \
    greatest(c.reltuples, 0)) ORDER BY s.n_dead_tup DESC LIMIT 6";

/// The same for new rows, from PostgreSQL 13 on: a table that was just loaded.
pub(super) const DUE_BY_NEW_ROWS: &str = "SELECT s.schemaname || '.' || s.relname FROM \
    pg_catalog.pg_stat_user_tables s JOIN pg_catalog.pg_class c ON c.oid = s.relid CROSS JOIN \
    LATERAL (SELECT bool_and(option_value::bool) FILTER (WHERE option_name = \
    'autovacuum_enabled') AS is_on FROM pg_catalog.pg_options_to_table(c.reloptions)) o WHERE \
    coalesce(o.is_on, true) AND \
    pg_catalog.current_setting('autovacuum_vacuum_insert_threshold')::float8 >= 0 AND \
    s.n_ins_since_vacuum > 0.8 * \
    (pg_catalog.current_setting('autovacuum_vacuum_insert_threshold')::float8 + \
    pg_catalog.current_setting('autovacuum_vacuum_insert_scale_factor')::float8 * \
    greatest(c.reltuples, 0)) ORDER BY s.n_ins_since_vacuum DESC LIMIT 6";

pub(super) const VACUUMS: &str = "SELECT count(*) FROM pg_catalog.pg_stat_progress_vacuum";

/// Without tables that are too small for autovacuum to analyse them ever.
pub(super) const OLD_STATISTICS: &str = "SELECT schemaname || '.' || relname FROM \
    pg_catalog.pg_stat_user_tables CROSS JOIN LATERAL (SELECT \
    pg_catalog.current_setting('autovacuum_analyze_threshold')::float8 AS least) a WHERE \
    n_live_tup > least AND (coalesce(last_analyze, last_autoanalyze) IS NULL OR \
    n_mod_since_analyze > least + 0.1 * n_live_tup) ORDER BY n_live_tup DESC LIMIT 6";

pub(super) const UNLOGGED: &str = "SELECT n.nspname || '.' || c.relname FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relpersistence = 'u' AND \
    c.relkind IN ('r', 'm') ORDER BY 1 LIMIT 6";

pub(super) const COLLATIONS: &str = "SELECT datname FROM pg_catalog.pg_database WHERE \
    datname = pg_catalog.current_database() AND datcollversion IS DISTINCT FROM \
    pg_catalog.pg_database_collation_actual_version(oid)";

fn autovacuum(server: &ExaminedServer) -> RuleResult {
    // Without counts of rows it begins for no table.
    for name in ["autovacuum", COUNTS] {
        if !server.is_on(name)? {
            return Ok(turned_off(server, name));
        }
    }
    let running = server.figure("running vacuums", 0)?;
    let mut due = server.names("tables due for vacuum")?;
    // Before PostgreSQL 13 new rows alone bring no vacuum.
    if server.setting("autovacuum_vacuum_insert_threshold").is_ok() {
        due.extend(server.names("tables due for vacuum by new rows")?);
        due.sort_unstable();
        due.dedup();
    }
    if running == 0 && due.is_empty() {
        return Ok(CheckVerdict::good("none", "dead and new rows are below 80 % of thresholds"));
    }
    let value = match due.is_empty() {
        true => format!("{running} running"),
        false => format!("{running} running, due for {}", listed(&due)),
    };
    let because = "vacuum reads and writes beside the load, in some runs and not in others";
    let costs = "Not measured here (PostgreSQL manual, \"The Autovacuum Daemon\")";
    let fix = "VACUUM (ANALYZE) these tables before the run, and wait for those that run";
    Ok(CheckVerdict::note(value, because, costs).mended(fix, "none is needed"))
}

/// That this setting is off, without which there is no vacuum.
fn turned_off(server: &ExaminedServer, name: &str) -> CheckVerdict {
    let because = "dead rows stay: tables and indexes grow from run to run, and reads pass them";
    let costs = "Not measured here. With it vacuum reads and writes beside the load (PostgreSQL \
                 manual, \"The Autovacuum Daemon\")";
    let set = |value| alter_system(server, &[(name, value)]);
    CheckVerdict::note(format!("{name}=off"), because, costs).mended(set("on"), set("off"))
}

fn table_statistics(server: &ExaminedServer) -> RuleResult {
    if !server.is_on(COUNTS)? {
        return Err("track_counts is off, so that changes of rows are not counted".to_owned());
    }
    let names = server.names("tables with old statistics")?;
    if names.is_empty() {
        return Ok(CheckVerdict::good("all are recent", "plans go by what the tables hold"));
    }
    let because = "never analysed, or more than 10 % of the rows have changed since: plans may \
                   change when autovacuum analyses them";
    let costs = "Not measured here. Another plan may take a multiple of the time: `dbtime compare` \
                 runs before and after (PostgreSQL manual, \"Updating Planner Statistics\")";
    let verdict = CheckVerdict::note(listed(&names), because, costs);
    Ok(verdict.mended("ANALYZE each of them before the run", "none is needed"))
}

fn unlogged_tables(server: &ExaminedServer) -> RuleResult {
    let names = server.names("unlogged tables")?;
    if names.is_empty() {
        return Ok(CheckVerdict::good("none", "every table is in the WAL"));
    }
    let because = "they are empty after a crash, and replicas have none of their rows";
    let costs = "Not measured here. Changes of them write no WAL, so they are faster than those of \
                 other tables (PostgreSQL manual, \"CREATE TABLE\", UNLOGGED)";
    Ok(CheckVerdict::note(listed(&names), because, costs).mended(
        "ALTER TABLE … SET LOGGED, which writes the whole table to the WAL",
        "ALTER TABLE … SET UNLOGGED",
    ))
}

fn collation_version(server: &ExaminedServer) -> RuleResult {
    if server.amount("server_version_num").is_ok_and(|number| number < 150_000) {
        return Err("before PostgreSQL 15 a database keeps no version of its collation".to_owned());
    }
    let names = server.names("changed collations")?;
    if names.is_empty() {
        return Ok(CheckVerdict::good("unchanged", "indexes of texts are in the order of now"));
    }
    let value = format!("{} with another version", counted(names.len() as u64, "database"));
    let because = "the library that orders texts has changed since: indexes may miss rows";
    let costs = "Not measured here. Wrong answers, not slow ones (PostgreSQL manual, \"ALTER \
                 COLLATION\", notes)";
    let fix = "REINDEX DATABASE, then ALTER DATABASE … REFRESH COLLATION VERSION";
    Ok(CheckVerdict::bad(value, because, costs).mended(fix, "none is possible"))
}
