//! Tables: what vacuum is about to do to them, and what the planner knows of them.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use dbtime_model::doctor::FindingScope;
use dbtime_model::units::counted;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "autovacuum",
        scope: FindingScope::Data,
        expected: "none is running or due soon",
        source: "pg_stat_progress_vacuum, pg_stat_user_tables",
        rule: autovacuum,
    },
    ServerCheck {
        id: "table_statistics",
        scope: FindingScope::Data,
        expected: "every table is analysed, at most 10 % of its rows changed since",
        source: "pg_stat_user_tables",
        rule: table_statistics,
    },
    ServerCheck {
        id: "collation_version",
        scope: FindingScope::Data,
        expected: "the version that indexes were built with",
        source: "pg_database.datcollversion, pg_database_collation_actual_version()",
        rule: collation_version,
    },
];

/// Tables whose dead rows have reached 80 % of the threshold of autovacuum.
pub(super) const DUE: &str = "SELECT s.schemaname || '.' || s.relname FROM \
    pg_catalog.pg_stat_user_tables s JOIN pg_catalog.pg_class c ON c.oid = s.relid WHERE \
    s.n_dead_tup > 0.8 * (pg_catalog.current_setting('autovacuum_vacuum_threshold')::float8 + \
    pg_catalog.current_setting('autovacuum_vacuum_scale_factor')::float8 * \
    greatest(c.reltuples, 0)) ORDER BY s.n_dead_tup DESC LIMIT 5";

pub(super) const VACUUMS: &str = "SELECT count(*) FROM pg_catalog.pg_stat_progress_vacuum";

pub(super) const OLD_STATISTICS: &str = "SELECT schemaname || '.' || relname FROM \
    pg_catalog.pg_stat_user_tables WHERE n_live_tup > 0 AND (coalesce(last_analyze, \
    last_autoanalyze) IS NULL OR n_mod_since_analyze > 0.1 * n_live_tup) ORDER BY n_live_tup DESC \
    LIMIT 5";

pub(super) const COLLATIONS: &str = "SELECT datname FROM pg_catalog.pg_database WHERE \
    datname = pg_catalog.current_database() AND datcollversion IS DISTINCT FROM \
    pg_catalog.pg_database_collation_actual_version(oid)";

fn autovacuum(server: &ExaminedServer) -> RuleResult {
    let running = server.figure("running vacuums", 0)?;
    let due = server.names("tables due for vacuum")?;
    if running == 0 && due.is_empty() {
        return Ok(CheckVerdict::good("none", "dead rows are below 80 % of the threshold"));
    }
    let value = match due.is_empty() {
        true => format!("{running} running"),
        false => format!("{running} running, due for {}", due.join(", ")),
    };
    let because = "vacuum reads and writes beside the load, in some runs and not in others";
    let costs = "Not measured here (PostgreSQL manual, \"The Autovacuum Daemon\")";
    let fix = "VACUUM (ANALYZE) these tables before the run, and wait for those that run";
    Ok(CheckVerdict::mind(value, because, costs).mended(fix, "none is needed"))
}

fn table_statistics(server: &ExaminedServer) -> RuleResult {
    let names = server.names("tables with old statistics")?;
    if names.is_empty() {
        return Ok(CheckVerdict::good("all are recent", "plans go by what the tables hold"));
    }
    let because = "never analysed, or more than 10 % of the rows have changed since: plans may \
                   change when autovacuum analyses them";
    let costs = "Not measured here. Another plan may take a multiple of the time: `dbtime compare` \
                 runs before and after (PostgreSQL manual, \"Updating Planner Statistics\")";
    let verdict = CheckVerdict::mind(names.join(", "), because, costs);
    Ok(verdict.mended("ANALYZE each of them before the run", "none is needed"))
}

fn collation_version(server: &ExaminedServer) -> RuleResult {
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
