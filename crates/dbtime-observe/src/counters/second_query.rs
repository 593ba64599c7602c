//! What is asked of a server every second of a run: the few counters that say what it did beside
//! its clients, in one statement that costs little.
//!
//! Sources: the manuals' "Server Status Variables" (MariaDB, MySQL) and "The Cumulative Statistics
//! System" (PostgreSQL).

use super::query::ServerVersion;
use super::rows::CounterCell;
use dbtime_model::counters::CounterKind::{self, Counter, Gauge};
use dbtime_model::record::CounterUnit::{self, Bytes, Count};
use dbtime_model::record::SampledCounter;
use dbtime_model::{Product, SqlDialect};

/// A statement for each second, and what it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondQuery {
    /// Read-only, in auto-commit.
    pub sql: String,
    /// What is in its answer.
    pub counters: Vec<SampledCounter>,
}

/// Name, kind, unit, meaning.
type KnownCounter = (&'static str, CounterKind, CounterUnit, &'static str);

/// Of MariaDB and MySQL; a server leaves out those that it does not have.
const GLOBAL_STATUS: [KnownCounter; 8] = [
    ("Innodb_os_log_fsyncs", Counter, Count, "syncs of the log"),
    ("Innodb_data_fsyncs", Counter, Count, "syncs of all files of InnoDB"),
    ("Innodb_log_writes", Counter, Count, "writes to the log"),
    ("Innodb_os_log_written", Counter, Bytes, "written to the log"),
    ("Innodb_buffer_pool_pages_flushed", Counter, Count, "pages flushed"),
    ("Innodb_buffer_pool_pages_dirty", Gauge, Count, "dirty pages"),
    ("Innodb_checkpoint_age", Gauge, Bytes, "checkpoint age"),
    ("Innodb_history_list_length", Gauge, Count, "history to be purged"),
];

/// An expression of PostgreSQL from a version on and before another.
type VersionedColumn = (u32, u32, &'static str, KnownCounter);

const POSTGRES: [VersionedColumn; 11] = [
    (10, LATER, "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')", WAL_BYTES),
    (14, 18, "(SELECT wal_sync FROM pg_stat_wal)", WAL_SYNC),
    (14, 18, "(SELECT wal_write FROM pg_stat_wal)", WAL_WRITE),
    (18, LATER, "(SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')", WAL_SYNC),
    (10, 17, "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)", CHECKPOINTS),
    (17, LATER, "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)", CHECKPOINTS),
    (10, 17, "(SELECT buffers_checkpoint FROM pg_stat_bgwriter)", BY_CHECKPOINTS),
    (17, LATER, "(SELECT buffers_written FROM pg_stat_checkpointer)", BY_CHECKPOINTS),
    (10, 17, "(SELECT buffers_backend FROM pg_stat_bgwriter)", BY_BACKENDS),
    (10, LATER, "(SELECT buffers_clean FROM pg_stat_bgwriter)", BY_WRITER),
    (10, LATER, VACUUMING, ("autovacuum_workers", Gauge, Count, "autovacuum workers at work")),
];

/// Before no version that there is.
const LATER: u32 = u32::MAX;

const WAL_BYTES: KnownCounter = ("wal_bytes", Counter, Bytes, "written to the WAL");
const WAL_SYNC: KnownCounter = ("wal_sync", Counter, Count, "syncs of the WAL");
const WAL_WRITE: KnownCounter = ("wal_write", Counter, Count, "writes to the WAL");
const CHECKPOINTS: KnownCounter = ("checkpoints", Counter, Count, "checkpoints");
const BY_CHECKPOINTS: KnownCounter =
    ("buffers_checkpoint", Counter, Count, "buffers written by checkpoints");
const BY_BACKENDS: KnownCounter =
    ("buffers_backend", Counter, Count, "buffers written by backends");
const BY_WRITER: KnownCounter =
    ("buffers_clean", Counter, Count, "buffers written by the background writer");
const VACUUMING: &str =
    "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker')";

/// What to ask a server of that product and version every second; `None`: nothing.
pub fn second_query(product: Product, version: ServerVersion) -> Option<SecondQuery> {
    match product.dialect() {
        SqlDialect::Mysql => Some(global_status()),
        SqlDialect::Postgres => postgres(version),
        SqlDialect::Sqlite => None,
    }
}

fn global_status() -> SecondQuery {
    let names: Vec<_> = GLOBAL_STATUS.iter().map(|known| format!("'{}'", known.0)).collect();
    let sql = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", "));
    SecondQuery { sql, counters: GLOBAL_STATUS.iter().map(sampled).collect() }
}

fn postgres(version: ServerVersion) -> Option<SecondQuery> {
    let has = |column: &&VersionedColumn| (column.0..column.1).contains(&version.major);
    let columns = || POSTGRES.iter().filter(has);
    let expressions: Vec<_> =
        columns().map(|(_, _, sql, known)| format!("{sql} AS {}", known.0)).collect();
    (!expressions.is_empty()).then(|| SecondQuery {
        sql: format!("SELECT {}", expressions.join(", ")),
        counters: columns().map(|column| sampled(&column.3)).collect(),
    })
}

fn sampled((name, kind, unit, meaning): &KnownCounter) -> SampledCounter {
    SampledCounter {
        name: (*name).to_owned(),
        kind: *kind,
        unit: *unit,
        meaning: (*meaning).to_owned(),
    }
}

impl SecondQuery {
    /// The value of each counter in an answer; `None` where it has none.
    pub fn values(&self, columns: &[String], rows: &[Vec<CounterCell>]) -> Vec<Option<f64>> {
        // A variable a row, or a counter a column.
        let by_row = columns.len() == 2 && columns[0].eq_ignore_ascii_case("Variable_name");
        let cell = |counter: &SampledCounter| -> Option<&CounterCell> {
            if by_row {
                let is_it = |row: &&Vec<CounterCell>| {
                    row.first().is_some_and(|name| name.as_deref() == Some(&counter.name))
                };
                return rows.iter().find(is_it)?.get(1);
            }
            let at = columns.iter().position(|column| *column == counter.name)?;
            rows.first()?.get(at)
        };
        let value =
            |counter| cell(counter)?.as_deref()?.parse().ok().filter(|v: &f64| v.is_finite());
        self.counters.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> Vec<CounterCell> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn variables_are_found_by_row_and_the_missing_stay_missing() {
        let query = second_query(Product::Mariadb, ServerVersion { major: 10, minor: 11 });
        let query = query.expect("InnoDB");
        assert!(query.sql.contains("'Innodb_checkpoint_age'"), "{}", query.sql);
        let columns = ["Variable_name", "Value"].map(str::to_owned);
        let rows = [cells(&["Innodb_data_fsyncs", "17"]), cells(&["Innodb_log_writes", "x"])];
        let values = query.values(&columns, &rows);
        assert_eq!(values.len(), query.counters.len());
        assert_eq!(values.iter().flatten().collect::<Vec<_>>(), [&17.0]);
        assert_eq!(values[1], Some(17.0));
    }

    #[test]
    fn postgres_has_a_column_for_each_counter_of_its_version() {
        for (major, checkpoints) in [(10, "bgwriter"), (15, "bgwriter"), (17, "checkpointer")] {
            let query = second_query(Product::Postgres, ServerVersion { major, minor: 0 });
            let query = query.expect("a query");
            assert!(query.sql.contains(&format!("FROM pg_stat_{checkpoints})")), "{}", query.sql);
            let mut names: Vec<_> = query.counters.iter().map(|c| c.name.clone()).collect();
            let values: Vec<_> = (0..names.len()).map(|n| n.to_string()).collect();
            let texts: Vec<&str> = values.iter().map(String::as_str).collect();
            let found = query.values(&names, &[cells(&texts)]);
            assert_eq!(found.last(), Some(&Some(names.len() as f64 - 1.0)));
            names.sort();
            names.dedup();
            assert_eq!(names.len(), query.counters.len(), "a name twice");
        }
        assert_eq!(second_query(Product::Postgres, ServerVersion { major: 9, minor: 6 }), None);
        assert_eq!(second_query(Product::Sqlite, ServerVersion::default()), None);
    }
}
