//! MySQL and MariaDB: `SHOW GLOBAL STATUS`.
//!
//! The server does not say which of its variables count and which do not, so the ones that do not
//! are listed here, by why they do not. Everything else that is a number counts: most do, and those
//! of plug-ins that nobody here has heard of nearly always.
//! Sources: the MySQL 5.5 to 9.7 and MariaDB 10.2 to 11.8 manuals, "Server Status Variables", and
//! what such servers print.

use super::dialect::{CounterDialect, KeyCounter, PageCounters, is_like};
use super::query::CounterQuery;
use dbtime_model::counters::CounterSample;
use dbtime_model::record::CounterUnit::{self, Bytes, Count, Ms};

/// The group of a sample that holds the variables.
pub(super) const GROUP: &str = "global_status";

/// The columns of `SHOW GLOBAL STATUS`.
pub(super) const COLUMNS: [&str; 2] = ["Variable_name", "Value"];

pub(super) const DIALECT: CounterDialect = CounterDialect {
    is_gauge,
    family,
    // COMMIT and ROLLBACK are counted as statements: those of auto-commit are not among them, and
    // a server that saw none of either takes each statement of a client for a transaction.
    transactions: &[
        ("*", &["Com_commit", "Com_rollback", "Com_xa_commit", "Com_xa_rollback"]),
        ("*", &["Questions"]),
    ],
    // `ulong` counters, where that has 32 bits.
    wraps: true,
    restart_resets: true,
    key_counters: KEY_COUNTERS,
    pages: Some(PageCounters {
        group: "*",
        accesses: &["Innodb_buffer_pool_read_requests"],
        reads: "Innodb_buffer_pool_reads",
    }),
};

/// What to ask a server.
pub(super) fn query() -> CounterQuery {
    CounterQuery { group: GROUP, sql: "SHOW GLOBAL STATUS".to_owned(), is_optional: false }
}

/// Variables that do not count, by why.
const GAUGES: &[&str] = &[
    // How many or how much there is now:
    "Acl_*",
    "Aria_pagecache_blocks_*",
    "Delayed_insert_threads",
    "Error_log_buffered_*",
    "Global_connection_memory",
    "Innodb_adaptive_hash_cells",
    "Innodb_adaptive_hash_heap_buffers",
    "Innodb_async_reads_pending",
    "Innodb_async_reads_queue_size",
    "Innodb_async_reads_tasks_running",
    "Innodb_async_writes_pending",
    "Innodb_async_writes_queue_size",
    "Innodb_async_writes_tasks_running",
    "Innodb_available_undo_logs",
    "Innodb_buffer_pool_bytes_*",
    "Innodb_buffer_pool_pages_LRU",
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_latched",
    "Innodb_buffer_pool_pages_misc",
    "Innodb_buffer_pool_pages_old",
    "Innodb_buffer_pool_pages_total",
    "Innodb_buffer_pool_resize_status_*",
    "Innodb_checkpoint_age",
    "Innodb_current_row_locks",
    "Innodb_data_pending_*",
    "Innodb_descriptors_memory",
    "Innodb_history_list_length",
    "Innodb_ibuf_free_list",
    "Innodb_ibuf_segment_size",
    "Innodb_ibuf_size",
    "Innodb_mem_*",
    "Innodb_num_open_files",
    "Innodb_onlineddl_*",
    "Innodb_os_log_pending_*",
    "Innodb_read_views_memory",
    "Innodb_redo_log_logical_size",
    "Innodb_redo_log_physical_size",
    "Innodb_row_lock_current_waits",
    "Innodb_undo_tablespaces_*",
    "Key_blocks_not_flushed",
    "Key_blocks_unused",
    "Key_blocks_warm",
    "Memory_used",
    "Mysqlx_sessions",
    "Mysqlx_worker_threads*",
    "Ndb_number_of_*",
    "Not_flushed_delayed_rows",
    "Ongoing_*",
    "Open_*",
    "Prepared_stmt_count",
    "Qcache_free_*",
    "Qcache_queries_in_cache",
    "Qcache_total_blocks",
    "Replica_open_temp_tables",
    "Rpl_semi_sync_*_clients",
    "Rpl_semi_sync_*_wait_sessions",
    "Slave_open_temp_tables",
    "Slaves_connected",
    "Slaves_running",
    "Ssl_used_session_cache_entries",
    "Table_open_cache_active_instances",
    "Threadpool_idle_threads",
    "Threadpool_threads",
    "Threads_cached",
    "Threads_connected",
    "Threads_running",
    "Tmp_space_used",
    // The most there ever was:
    "Innodb_row_lock_time_max",
    "Key_blocks_used",
    "Max_memory_used",
    "Max_tmp_space_used",
    "Max_used_*",
    "Performance_schema_session_connect_attrs_longest_seen",
    "Tc_log_max_pages_used",
    // A mean, an estimate, or only the last one:
    "Innodb_encryption_rotation_estimated_iops",
    "Innodb_row_lock_time_avg",
    "Last_query_cost",
    "Last_query_partial_plans",
    "Rpl_semi_sync_*_avg_wait_time",
    "Stack_usage",
    // A setting, or of this connection alone:
    "Innodb_checkpoint_max_age",
    "Innodb_checkpoint_target_age",
    "Innodb_page_size",
    "Innodb_redo_log_capacity_resized",
    "Memory_used_initial",
    "Mysqlx_port",
    "Mysqlx_ssl_ctx_verify_*",
    "Mysqlx_ssl_verify_*",
    "Ndb_cluster_node_id",
    "Ndb_config_from_port",
    "Slave_heartbeat_period",
    "Ssl_ctx_verify_*",
    "Ssl_default_timeout",
    "Ssl_session_cache_size",
    "Ssl_session_cache_timeout",
    "Ssl_sessions_reused",
    "Ssl_verify_*",
    "Tc_log_page_size",
    // A clock, a position in a file, or an identity:
    "*_last_timestamp",
    "Binlog_snapshot_position",
    "Error_log_latest_write",
    "Innodb_oldest_view_low_limit_trx_id",
    "Innodb_purge_trx_id",
    "Innodb_purge_undo_no",
    "Innodb_redo_log_uuid",
    "Uptime",
    "Uptime_since_flush_status",
];

/// What counts of Galera; the many others are states, sizes and means.
const WSREP_COUNTERS: &[&str] = &[
    "wsrep_causal_reads",
    "wsrep_commit_window_waits",
    "wsrep_flow_control_paused_ns",
    "wsrep_flow_control_recv",
    "wsrep_flow_control_sent",
    "wsrep_last_committed",
    "wsrep_local_bf_aborts",
    "wsrep_local_cert_failures",
    "wsrep_local_commits",
    "wsrep_local_replays",
    "wsrep_received",
    "wsrep_received_bytes",
    "wsrep_repl_*",
    "wsrep_replicated",
    "wsrep_replicated_bytes",
    "wsrep_rollbacker_retries",
];

fn is_gauge(name: &str) -> bool {
    let is_among = |patterns: &[&str]| patterns.iter().any(|pattern| is_like(name, pattern));
    if name.starts_with("wsrep_") {
        return !is_among(WSREP_COUNTERS);
    }
    is_among(GAUGES)
}

/// Whether a sample that does not say so is of MariaDB: by variables that only it has.
pub(super) fn is_of_mariadb(sample: &CounterSample) -> bool {
    let marks = ["Aria_pagecache_reads", "Rows_tmp_read", "Feature_json", "Memory_used_initial"];
    marks.iter().any(|name| sample.get(GROUP, name).is_some())
}

/// Prefixes that many variables share.
const FAMILIES: [&str; 17] = [
    "Acl",
    "Aria",
    "Binlog",
    "Com",
    "Connection_errors",
    "Feature",
    "Handler",
    "Innodb",
    "Key",
    "Mysqlx",
    "Performance_schema",
    "Qcache",
    "Rpl_semi_sync",
    "Select",
    "Sort",
    "Ssl",
    "wsrep",
];

fn family(_group: &str, name: &str) -> String {
    let is_of = |family: &&&str| name.strip_prefix(**family).is_some_and(|n| n.starts_with('_'));
    FAMILIES.iter().find(is_of).map_or("Server", |family| family).to_owned()
}

const MYSQL: &str = "MySQL manual, Server Status Variables";
const MARIADB: &str = "MariaDB manual, Server Status Variables";

const fn key(
    counter: &'static str,
    unit: CounterUnit,
    meaning: &'static str,
    source: &'static str,
) -> KeyCounter {
    KeyCounter { group: "*", counter, label: None, unit, meaning, source }
}

const KEY_COUNTERS: &[KeyCounter] = &[
    key("Questions", Count, "statements that clients sent", MYSQL),
    key("Com_commit", Count, "COMMIT statements", MYSQL),
    key("Com_rollback", Count, "ROLLBACK statements", MYSQL),
    key("Com_select", Count, "SELECT statements that were executed", MYSQL),
    key("Com_insert", Count, "INSERT statements", MYSQL),
    key("Com_update", Count, "UPDATE statements", MYSQL),
    key("Com_delete", Count, "DELETE statements", MYSQL),
    key("Com_stmt_execute", Count, "executions of prepared statements", MYSQL),
    key("Com_stmt_prepare", Count, "statements prepared", MYSQL),
    key("Qcache_hits", Count, "answers from the query cache", MARIADB),
    key("Rows_read", Count, "rows read by any engine", MARIADB),
    key("Innodb_rows_read", Count, "rows read by InnoDB", MYSQL),
    key("Handler_read_key", Count, "rows looked up by a key", MYSQL),
    key("Handler_read_next", Count, "rows read on, in the order of a key", MYSQL),
    key("Handler_read_prev", Count, "rows read back, in the order of a key", MYSQL),
    key("Handler_read_first", Count, "reads of the first entry of an index", MYSQL),
    key("Handler_read_last", Count, "reads of the last entry of an index", MYSQL),
    key("Handler_read_rnd", Count, "rows read by position: sorts that come back for them", MYSQL),
    key("Handler_read_rnd_next", Count, "rows read by table scans", MYSQL),
    key("Handler_write", Count, "rows inserted", MYSQL),
    key("Handler_update", Count, "rows updated", MYSQL),
    key("Handler_delete", Count, "rows deleted", MYSQL),
    key("Innodb_buffer_pool_read_requests", Count, "pages asked of the buffer pool", MYSQL),
    key("Innodb_buffer_pool_reads", Count, "pages it did not have and read from disk", MYSQL),
    key("Innodb_buffer_pool_wait_free", Count, "waits for a free page in it", MYSQL),
    key("Innodb_data_fsyncs", Count, "fsyncs of InnoDB", MYSQL),
    key("Innodb_os_log_fsyncs", Count, "fsyncs of the redo log", MYSQL),
    key("Innodb_os_log_written", Bytes, "written to the redo log", MYSQL),
    key("Innodb_data_written", Bytes, "written by InnoDB", MYSQL),
    key("Innodb_log_waits", Count, "waits because the log buffer was too small", MYSQL),
    key("Innodb_row_lock_waits", Count, "waits for row locks", MYSQL),
    key("Innodb_row_lock_time", Ms, "waited for row locks", MYSQL),
    key("Innodb_deadlocks", Count, "deadlocks", MARIADB),
    key("Table_locks_waited", Count, "waits for table locks", MYSQL),
    key("Created_tmp_tables", Count, "temporary tables", MYSQL),
    key("Created_tmp_disk_tables", Count, "temporary tables on disk", MYSQL),
    key("Sort_merge_passes", Count, "merges of sorts that did not fit the sort buffer", MYSQL),
    key("Select_full_join", Count, "joins that scan a table for want of an index", MYSQL),
    key("Binlog_cache_disk_use", Count, "transactions too large for the binlog cache", MYSQL),
    key("Threads_created", Count, "threads created for connections", MYSQL),
    key("Aborted_clients", Count, "connections that ended without saying so", MYSQL),
    key("Bytes_received", Bytes, "received from clients", MYSQL),
    key("Bytes_sent", Bytes, "sent to clients", MYSQL),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn gauges(names: &str) -> Vec<&str> {
        names.split_whitespace().filter(|name| is_gauge(name)).collect()
    }

    #[test]
    fn neighbours_of_gauges_count() {
        let counters = "Threads_created Opened_tables Opened_files Key_reads Qcache_hits \
            Innodb_buffer_pool_pages_flushed Innodb_buffer_pool_read_requests \
            Innodb_buffer_pool_wait_free Innodb_row_lock_time Innodb_row_lock_waits \
            Innodb_lsn_current Innodb_max_trx_id Innodb_ibuf_merges Max_execution_time_exceeded \
            Max_statement_time_exceeded Memory_used_by_nobody Performance_schema_users_lost \
            Slave_retried_transactions Rpl_semi_sync_master_tx_waits Ssl_accepts \
            Ssl_session_cache_hits Tc_log_page_waits wsrep_received_bytes wsrep_local_commits \
            Com_select Delayed_writes Deprecated_use_i_s_processlist_count Busy_time Queries";
        assert_eq!(gauges(counters), Vec::<&str>::new());
    }

    #[test]
    fn what_only_looks_like_a_counter_is_a_gauge() {
        let names = "Threads_running Open_tables Key_blocks_used Qcache_free_memory Uptime \
            Innodb_buffer_pool_pages_free Innodb_row_lock_time_avg Innodb_row_lock_time_max \
            Max_used_connections Rpl_semi_sync_source_tx_avg_wait_time Ssl_verify_mode \
            wsrep_local_recv_queue_avg wsrep_cluster_size Last_query_cost Threadpool_threads \
            Deprecated_use_i_s_processlist_last_timestamp Innodb_history_list_length";
        assert_eq!(gauges(names), names.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn no_key_counter_is_a_gauge() {
        assert!(KEY_COUNTERS.iter().all(|key| !is_gauge(key.counter)));
    }

    #[test]
    fn families_are_whole_prefixes() {
        let shown = ["Com_select", "Compression", "Key_reads", "Uptime", "wsrep_ready"];
        assert_eq!(
            shown.map(|name| family(GROUP, name)),
            ["Com", "Server", "Key", "Server", "wsrep"]
        );
    }
}
