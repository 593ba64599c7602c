//! PostgreSQL 9.6 to 18: the `pg_stat_*` views.
//!
//! Views are read whole, so that a column that a later version adds is sampled too; which views
//! there are depends on the version. A view with several rows makes a group of each, named by its
//! key.
//! Source: the PostgreSQL manual, "The Cumulative Statistics System", and its release notes.

mod queries;

pub(super) use queries::{SERVER, queries};

use super::dialect::{CounterDialect, KeyCounter, PageCounters, is_like};
use dbtime_model::record::CounterUnit::{self, Bytes, Count, Ms};

pub(super) const DIALECT: CounterDialect = CounterDialect {
    is_gauge: |name| GAUGES.iter().any(|pattern| is_like(name, pattern)),
    family: |group, _| group.to_owned(),
    transactions: &[("pg_stat_database*", &["xact_commit", "xact_rollback"])],
    wraps: false,
    // Statistics outlive a restart; where they do not, the counters themselves tell.
    restart_resets: false,
    key_counters: KEY_COUNTERS,
    pages: Some(PageCounters {
        group: DATABASE,
        accesses: &["blks_hit", "blks_read"],
        reads: "blks_read",
    }),
};

/// Columns that do not count: present sizes, extremes, means and identities.
const GAUGES: &[&str] = &[
    "datid",
    "dbid",
    "indexrelid",
    "max_*_time",
    "max_time",
    "mean_*_time",
    "mean_time",
    "min_*_time",
    "min_time",
    "n_dead_tup",
    "n_ins_since_vacuum",
    "n_live_tup",
    "n_mod_since_analyze",
    "numbackends",
    "op_bytes",
    "queryid",
    "relid",
    "statements",
    "stddev_*_time",
    "stddev_time",
    "userid",
];

/// A view that counts.
pub(super) struct StatisticsView {
    /// Its name; of views that differ only in which tables they show, the one that shows all.
    pub(super) name: &'static str,
    /// Columns that no view further down in the list has.
    marks: &'static [&'static str],
    /// What tells its rows apart.
    pub(super) keys: &'static [&'static str],
}

const fn view(
    name: &'static str,
    marks: &'static [&'static str],
    keys: &'static [&'static str],
) -> StatisticsView {
    StatisticsView { name, marks, keys }
}

/// The views that are known by their columns.
const VIEWS: &[StatisticsView] = &[
    view("pg_stat_statements", &["calls", "query"], &["queryid", "query"]),
    view("pg_stat_statements", &["calls", "queryid"], &["queryid"]),
    view("pg_stat_statements", &["calls", "shared_blks_hit"], &[]),
    view("pg_stat_database", &["xact_commit", "datname"], &["datname"]),
    view("pg_stat_checkpointer", &["num_timed"], &[]),
    view("pg_stat_bgwriter", &["buffers_clean", "maxwritten_clean"], &[]),
    view("pg_stat_wal", &["wal_records", "wal_bytes"], &[]),
    view(
        "pg_stat_io",
        &["backend_type", "object", "context"],
        &["backend_type", "object", "context"],
    ),
    view("pg_stat_slru", &["blks_zeroed"], &["name"]),
    view("pg_stat_archiver", &["archived_count"], &[]),
    view("pg_stat_all_indexes", &["idx_scan", "indexrelname"], &["schemaname", "indexrelname"]),
    view("pg_stat_all_tables", &["seq_scan", "relname"], &["schemaname", "relname"]),
    view(
        "pg_statio_all_indexes",
        &["idx_blks_read", "indexrelname"],
        &["schemaname", "indexrelname"],
    ),
    view("pg_statio_all_tables", &["heap_blks_read", "relname"], &["schemaname", "relname"]),
];

/// The view that has such columns.
pub(super) fn view_of(columns: &[&str]) -> Option<&'static StatisticsView> {
    VIEWS.iter().find(|view| view.marks.iter().all(|mark| columns.contains(mark)))
}

const fn key(
    group: &'static str,
    counter: &'static str,
    unit: CounterUnit,
    meaning: &'static str,
) -> KeyCounter {
    KeyCounter { group, counter, label: None, unit, meaning, source: SOURCE }
}

const SOURCE: &str = "PostgreSQL manual, The Cumulative Statistics System";
const DATABASE: &str = "pg_stat_database*";
const SESSIONS: &str = "pg_stat_io (client backend, relation, *";
const WAL: &str = "pg_stat_io (*, wal, *";

const KEY_COUNTERS: &[KeyCounter] = &[
    key(DATABASE, "xact_commit", Count, "transactions committed, also those that only read"),
    key(DATABASE, "xact_rollback", Count, "transactions rolled back"),
    key(DATABASE, "blks_hit", Count, "blocks found in shared buffers"),
    key(DATABASE, "blks_read", Count, "blocks read from the kernel, which may have had them"),
    key(DATABASE, "tup_returned", Count, "rows and index entries that scans went over"),
    key(DATABASE, "tup_fetched", Count, "rows fetched through indexes"),
    key(DATABASE, "tup_inserted", Count, "rows inserted"),
    key(DATABASE, "tup_updated", Count, "rows updated"),
    key(DATABASE, "tup_deleted", Count, "rows deleted"),
    key(DATABASE, "temp_bytes", Bytes, "written to temporary files: sorts beyond work_mem"),
    key(DATABASE, "deadlocks", Count, "deadlocks"),
    key(DATABASE, "blk_read_time", Ms, "spent in reads of blocks (track_io_timing)"),
    key(DATABASE, "blk_write_time", Ms, "spent in writes of blocks (track_io_timing)"),
    key(DATABASE, "sessions", Count, "sessions begun"),
    key("pg_stat_wal", "wal_records", Count, "WAL records"),
    key("pg_stat_wal", "wal_fpi", Count, "whole pages in the WAL: first change after a checkpoint"),
    key("pg_stat_wal", "wal_bytes", Bytes, "of WAL"),
    key("pg_stat_wal", "wal_buffers_full", Count, "WAL writes because wal_buffers was full"),
    key("pg_stat_wal", "wal_sync", Count, "syncs of the WAL"),
    KeyCounter {
        label: Some("WAL fsyncs"),
        ..key(WAL, "fsyncs", Count, "syncs of the WAL, by any process")
    },
    KeyCounter {
        label: Some("reads by sessions"),
        ..key(SESSIONS, "reads", Count, "reads that sessions themselves made")
    },
    KeyCounter {
        label: Some("writes by sessions"),
        ..key(SESSIONS, "writes", Count, "writes that sessions had to make for room in the buffers")
    },
    KeyCounter {
        label: Some("extends by sessions"),
        ..key(SESSIONS, "extends", Count, "extensions of tables and indexes")
    },
    key("pg_stat_bgwriter", "buffers_backend", Count, "buffers that sessions wrote themselves"),
    key("pg_stat_bgwriter", "buffers_backend_fsync", Count, "syncs that sessions had to make"),
    key("pg_stat_bgwriter", "buffers_checkpoint", Count, "buffers that checkpoints wrote"),
    key("pg_stat_checkpointer", "buffers_written", Count, "buffers that checkpoints wrote"),
    key("pg_stat_bgwriter", "buffers_clean", Count, "buffers that the background writer wrote"),
    key("pg_stat_bgwriter", "checkpoints_req", Count, "checkpoints that came early: max_wal_size"),
    key(
        "pg_stat_checkpointer",
        "num_requested",
        Count,
        "checkpoints that came early: max_wal_size",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_counter_is_a_gauge() {
        assert!(KEY_COUNTERS.iter().all(|key| !(DIALECT.is_gauge)(key.counter)));
    }
}
