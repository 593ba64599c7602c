//! What other sessions hold back, and since when counters count.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck, listed};
use super::super::examined::ExaminedServer;
use crate::targets::megabytes;
use dbtime_model::doctor::FindingScope;
use dbtime_model::units::counted;

pub(super) const CHECKS: &[ServerCheck] = &[
    ServerCheck {
        id: "idle_transactions",
        scope: FindingScope::Server,
        expected: "none is idle for a minute",
        source: "pg_stat_activity",
        rule: idle_transactions,
    },
    ServerCheck {
        id: "oldest_snapshot",
        scope: FindingScope::Data,
        expected: "at most 1,000,000 transactions old",
        source: "pg_stat_activity.backend_xmin",
        rule: oldest_snapshot,
    },
    ServerCheck {
        id: "prepared_transactions",
        scope: FindingScope::Data,
        expected: "none",
        source: "pg_prepared_xacts",
        rule: prepared_transactions,
    },
    ServerCheck {
        id: "inactive_slots",
        scope: FindingScope::Data,
        expected: "none",
        source: "pg_replication_slots",
        rule: inactive_slots,
    },
    ServerCheck {
        id: "statistics_reset",
        scope: FindingScope::Data,
        expected: "counters that count for an hour or longer, or since the start",
        source: "pg_stat_database.stats_reset",
        rule: statistics_reset,
    },
    ServerCheck {
        id: "temporary_files",
        scope: FindingScope::Data,
        expected: "less than 1 GB since the counters were reset",
        source: "pg_stat_database.temp_files, temp_bytes",
        rule: temporary_files,
    },
];

pub(super) const IDLE: &str = "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE \
    state LIKE 'idle in transaction%' AND state_change < now() - interval '1 minute'";

/// Sessions whose state this login may not see, and those that do not show it; without processes of
/// the server itself.
pub(super) const HIDDEN: &str = "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE \
    datname IS NOT NULL AND (query = '<insufficient privilege>' OR state = 'disabled')";

pub(super) const SNAPSHOT: &str =
    "SELECT coalesce(max(age(backend_xmin)), 0) FROM pg_catalog.pg_stat_activity";

pub(super) const PREPARED: &str = "SELECT count(*) FROM pg_catalog.pg_prepared_xacts";

pub(super) const SLOTS: &str =
    "SELECT slot_name FROM pg_catalog.pg_replication_slots WHERE NOT active ORDER BY 1 LIMIT 6";

/// Seconds since the counters were reset, or since the start where they never were; files and bytes
/// since then; seconds since the start.
pub(super) const DATABASE: &str = "SELECT coalesce(floor(extract(epoch FROM now() - stats_reset)), \
    up)::bigint, temp_files, temp_bytes, up FROM pg_catalog.pg_stat_database, LATERAL (SELECT \
    floor(extract(epoch FROM now() - pg_catalog.pg_postmaster_start_time()))::bigint AS up) s \
    WHERE datname = pg_catalog.current_database()";

/// Without the login that looks; and whether that is a superuser's.
pub(super) const CONNECTIONS: &str = "SELECT count(*), (SELECT rolsuper::int FROM \
    pg_catalog.pg_roles WHERE rolname = current_user) FROM pg_catalog.pg_stat_activity WHERE \
    datname IS NOT NULL AND pid <> pg_catalog.pg_backend_pid()";

/// What keeps vacuum from its work, in the words of the manual.
const KEPT: &str = "Not measured here. Dead rows pile up, and reads pass them (PostgreSQL manual, \
                    \"Routine Vacuuming\")";

fn idle_transactions(server: &ExaminedServer) -> RuleResult {
    let idle = server.figure("idle transactions", 0)?;
    let hidden = server.figure("hidden sessions", 0)?;
    if idle == 0 && hidden > 0 {
        let sessions = counted(hidden, "session");
        return Err(format!(
            "the state of {sessions} is hidden from this user: the role pg_read_all_stats shows it"
        ));
    }
    if idle == 0 {
        return Ok(CheckVerdict::good("none", "no transaction holds its locks for nothing"));
    }
    let value = format!("{} idle for more than a minute", counted(idle, "transaction"));
    let because = "they hold locks, and keep vacuum from removing rows";
    let fix = "end them by pg_terminate_backend(pid), where their owners agree";
    Ok(CheckVerdict::bad(value, because, KEPT).mended(fix, "none is possible"))
}

fn oldest_snapshot(server: &ExaminedServer) -> RuleResult {
    let age = server.figure("oldest snapshot", 0)?;
    let value = format!("{} old", counted(age, "transaction"));
    if age <= 1_000_000 {
        return Ok(CheckVerdict::good(value, "vacuum can remove what is dead"));
    }
    let fix = "end the session of the oldest backend_xmin, where its owner agrees";
    let verdict = CheckVerdict::note(value, "vacuum keeps all rows that died since", KEPT);
    Ok(verdict.mended(fix, "none is possible"))
}

fn prepared_transactions(server: &ExaminedServer) -> RuleResult {
    let prepared = server.figure("prepared transactions", 0)?;
    if prepared == 0 {
        return Ok(CheckVerdict::good("none", "no transaction waits for its second phase"));
    }
    let because = "they hold locks and keep vacuum from removing rows, also after a restart";
    let verdict = CheckVerdict::note(counted(prepared, "transaction"), because, KEPT);
    let fix = "COMMIT PREPARED or ROLLBACK PREPARED, as their transaction manager has decided";
    Ok(verdict.mended(fix, "none is possible"))
}

fn inactive_slots(server: &ExaminedServer) -> RuleResult {
    let slots = server.names("inactive slots")?;
    if slots.is_empty() {
        return Ok(CheckVerdict::good("none", "no WAL is kept for a replica that is gone"));
    }
    let because = "WAL is kept until their replicas come back, and fills the disk";
    let costs = "Not measured here. max_slot_wal_keep_size bounds it (PostgreSQL manual, \
                 \"Replication Slots\")";
    let fix = "SELECT pg_drop_replication_slot(NAME), where its replica is gone for good";
    Ok(CheckVerdict::note(listed(&slots), because, costs).mended(fix, "none is possible"))
}

/// Unit: seconds.
const HOUR_S: u64 = 3_600;

fn statistics_reset(server: &ExaminedServer) -> RuleResult {
    let seconds = server.figure("database counters", 0)?;
    let value = format!("{} ago", counted(seconds / 60, "minute"));
    if seconds >= HOUR_S {
        return Ok(CheckVerdict::good(value, "counters show the usual use"));
    }
    if server.figure("database counters", 3)? < HOUR_S {
        return Ok(CheckVerdict::good(value, "the server has not run for longer either"));
    }
    let because = "counters of tables and indexes show no more than this time";
    let costs = "Nothing by itself (PostgreSQL manual, \"The Cumulative Statistics System\")";
    Ok(CheckVerdict::note(value, because, costs))
}

/// Unit: bytes.
const MUCH_TEMPORARY: u64 = 1_000_000_000;

fn temporary_files(server: &ExaminedServer) -> RuleResult {
    let files = server.figure("database counters", 1)?;
    let bytes = server.figure("database counters", 2)?;
    let value = format!("{} with {}", counted(files, "file"), megabytes(bytes));
    if bytes < MUCH_TEMPORARY {
        return Ok(CheckVerdict::good(value, "sorts and hashes stay in memory"));
    }
    let because = "sorts and hashes of some statements go to the disk";
    let costs = "Not measured here: log_temp_files = 0 names the statements (PostgreSQL manual, \
                 \"work_mem\")";
    let fix = "SET work_mem for these statements alone, up to the memory that is free divided by \
               the planned connections";
    Ok(CheckVerdict::note(value, because, costs).mended(fix, "RESET work_mem"))
}
