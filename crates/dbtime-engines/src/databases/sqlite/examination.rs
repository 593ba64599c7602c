//! A look at a database that leaves no trace: neither a lock that stays nor a file beside it.
//!
//! Opening a database in WAL mode makes its log and the log's index where they are missing. A file
//! that no process has open is therefore read as one that cannot change (`immutable`, SQLite
//! manual, "Uniform Resource Identifiers"), which takes no lock either.

use super::context::ConnectionContext;
use super::facts::file_system;
use super::failure::DatabaseFailure;
use super::ffi::{self, SqliteHandle, c_path};
use super::file_locks::{self, beside};
use super::lock::LockRegistry;
use super::schema::quoted;
use super::settings::SETTINGS;
use super::target::SqliteTarget;
use dbtime_machine::now;
use dbtime_model::{Nanos, percent};
use rusqlite::ffi::{SQLITE_OPEN_READONLY, SQLITE_OPEN_URI};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// What a database, its settings and its surroundings are, before a connection is made to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqliteExamination {
    /// The settings that a connection to the target has; without those of the database itself where
    /// that cannot be read.
    pub settings: BTreeMap<String, String>,
    /// Options the library was built with, such as `THREADSAFE=1`.
    pub compile_options: Vec<String>,
    /// The database file. Unit: bytes.
    pub file_bytes: u64,
    /// Its log. Unit: bytes.
    pub wal_bytes: u64,
    /// What the folder lies on: `ext4`, `tmpfs`, …
    pub file_system: String,
    /// Another process that holds a lock on it; `None`: none, or it is not seen.
    pub holder: Option<String>,
    /// Whether ANALYZE has ever left statistics in it.
    pub has_statistics: bool,
    /// The first six tables with more than [`LARGE_ROWS`] rows of which ANALYZE has left none.
    pub large_tables: Vec<String>,
    /// Whether there are tables that were not looked at: for their number, or for want of time.
    pub is_partial: bool,
    /// Whether its log has content, and no process has it open.
    pub is_log_left: bool,
    /// Why the database itself was not read.
    pub refusal: Option<String>,
}

/// Rows beyond which a table is large: the planner's guess without statistics is far off.
pub const LARGE_ROWS: u64 = 1_000;

/// How long a lock of another process is waited for.
const LOCK_TIMEOUT: Nanos = Nanos::from_millis(500);

/// How long looking at tables may take: the first rows of wide ones are megabytes of a cold disk.
const LOOK_LIMIT: Nanos = Nanos::from_millis(300);

/// Names of tables that are looked at, and of those that are shown.
const MOST_TABLES: usize = 200;
const MOST_NAMES: usize = 6;

impl SqliteExamination {
    /// Looks at a database that is there.
    pub fn of(target: &SqliteTarget) -> Self {
        let path = &target.path;
        let mut examination = Self {
            compile_options: ffi::compile_options(),
            file_bytes: file_bytes(path),
            wal_bytes: file_bytes(&beside(path, "-wal")),
            file_system: file_system(target),
            holder: file_locks::holder(path, true).map(|by| by.describe(|_| String::new())),
            is_log_left: is_log_left(path),
            ..Self::default()
        };
        for setting in SETTINGS {
            if let Some(value) = target.settings.get(setting.name) {
                examination.settings.insert(setting.name.to_owned(), value.to_owned());
            }
        }
        let read = open(path).and_then(|db| {
            examination.read(&db).map_err(|failure| format!("cannot be read: {}", failure.message))
        });
        examination.refusal = read.err().map(|why| format!("{} {why}", path.display()));
        examination
    }

    /// What only the database knows.
    fn read(&mut self, db: &SqliteHandle) -> Result<(), DatabaseFailure> {
        for setting in SETTINGS.iter().filter(|setting| setting.is_pragma) {
            if !self.settings.contains_key(setting.name)
                && let Some(answer) = db.query_text(&format!("PRAGMA {}", setting.name))?
            {
                self.settings.insert(setting.name.to_owned(), setting.normalise(&answer));
            }
        }
        let statistics = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'";
        self.has_statistics = db.query_text(statistics)?.is_some_and(|count| count != "0");
        self.look_at_tables(db)
    }

    /// Which tables are large and without statistics.
    fn look_at_tables(&mut self, db: &SqliteHandle) -> Result<(), DatabaseFailure> {
        let has_statistics = self.has_statistics;
        let names = db.query_text(&table_names(MOST_TABLES + 1))?.unwrap_or_default();
        let until = now() + LOOK_LIMIT;
        self.is_partial = names.lines().count() > MOST_TABLES;
        let names = names.lines().take(MOST_TABLES);
        let names = names.take_while(|_| {
            let has_time = now() < until;
            self.is_partial |= !has_time;
            has_time
        });
        let is_known = |name: &str| {
            let name = name.replace('\'', "''");
            let rows = format!("SELECT count(*) FROM sqlite_stat1 WHERE tbl = '{name}'");
            has_statistics && db.query_text(&rows).is_ok_and(|count| count != Some("0".into()))
        };
        let is_large = |name: &&str| {
            let (name, most) = (quoted(name), LARGE_ROWS + 1);
            let rows = format!("SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {most})");
            // A line of a name of several lines is the name of no table.
            db.query_text(&rows).is_ok_and(|count| count == Some(most.to_string()))
        };
        let large = names.filter(is_large).filter(|name| !is_known(name)).take(MOST_NAMES);
        self.large_tables = large.map(str::to_owned).collect();
        Ok(())
    }
}

/// What gives the names of so many tables, a line each.
fn table_names(most: usize) -> String {
    format!(
        "SELECT group_concat(name, char(10)) FROM (SELECT name FROM sqlite_schema WHERE type = \
         'table' AND rootpage > 0 AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name LIMIT {most})"
    )
}

fn file_bytes(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

/// Whether the log has content although the index is gone that every process needs which has it
/// open.
fn is_log_left(path: &Path) -> bool {
    file_bytes(&beside(path, "-wal")) > 0 && !beside(path, "-shm").exists()
}

/// Opens a database for reading, where that makes no file.
fn open(path: &Path) -> Result<SqliteHandle, String> {
    let is_in_use = beside(path, "-shm").exists();
    let mode = match (is_in_wal_mode(path)?, is_in_use) {
        (false, _) | (true, true) => "mode=ro",
        (true, false) if !is_log_left(path) => "immutable=1",
        (true, false) => return Err("has a log that no process has open: open it once".to_owned()),
    };
    let name = path.to_str().ok_or("has a name that is no text")?;
    let uri = PathBuf::from(format!("file:{}?{mode}", percent::encode(name)));
    let uri = c_path(&uri).ok_or("has a name that is no text")?;
    let registry = Arc::new(LockRegistry::new(0));
    let context = Rc::new(ConnectionContext::new(path.to_owned(), registry, 0));
    context.busy_timeout.set(LOCK_TIMEOUT);
    SqliteHandle::open(&uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, None, context)
        .map_err(|failure| format!("cannot be opened: {}", failure.message))
}

/// Whether readers need the log's index. Never within a process that has the database open:
/// closing a file drops all locks of the process on it (fcntl(2)).
///
/// Source: SQLite's file format, section 1.3.
fn is_in_wal_mode(path: &Path) -> Result<bool, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(20).read_to_end(&mut head)).map_err(cannot)?;
    match head.strip_prefix(b"SQLite format 3\0") {
        Some([_, _, _, version]) => Ok(*version == 2),
        _ => Err("is no SQLite database, or an empty one".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A database with 1,001 rows in `large` and one in `small`.
    fn database(folder: &Path, journal: &str) -> SqliteTarget {
        let target = SqliteTarget::new(folder.join("a 100%?.db"));
        let db = rusqlite::Connection::open(&target.path).expect("a database");
        let sql = format!(
            "PRAGMA journal_mode = {journal}; CREATE TABLE large (n); CREATE TABLE small (n); \
             INSERT INTO small VALUES (1); WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 \
             FROM r WHERE n < 1001) INSERT INTO large SELECT n FROM r;"
        );
        db.execute_batch(&sql).expect("two tables");
        target
    }

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).expect("a folder").count()
    }

    #[test]
    fn a_look_finds_large_tables_and_leaves_no_file() {
        for journal in ["wal", "delete"] {
            let folder = tempfile::tempdir().expect("a folder");
            let target = database(folder.path(), journal);
            assert_eq!(files(folder.path()), 1, "{journal}");
            let examination = SqliteExamination::of(&target);
            assert_eq!(examination.refusal, None, "{journal}");
            assert_eq!(examination.large_tables, ["large"], "{journal}");
            assert!(!examination.has_statistics && examination.file_bytes > 4_096);
            assert_eq!(examination.settings["page_size"], "4096");
            assert_eq!(files(folder.path()), 1, "{journal}");
        }
    }

    #[test]
    fn tables_beyond_the_first_two_hundred_are_known_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = SqliteTarget::new(folder.path().join("many.db"));
        let db = rusqlite::Connection::open(&target.path).expect("a database");
        let make = |count: usize| {
            let tables = (0..count).map(|n| format!("CREATE TABLE IF NOT EXISTS t{n} (n);"));
            db.execute_batch(&format!("BEGIN; {} COMMIT", tables.collect::<Vec<_>>().concat()))
                .expect("tables");
            SqliteExamination::of(&target).is_partial
        };
        assert_eq!([make(MOST_TABLES), make(MOST_TABLES + 1)], [false, true]);
    }

    #[test]
    fn a_database_in_use_is_read_with_its_log() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = database(folder.path(), "wal");
        let user = rusqlite::Connection::open(&target.path).expect("a database");
        user.execute_batch("ANALYZE").expect("statistics");
        let examination = SqliteExamination::of(&target);
        assert!(examination.has_statistics, "{examination:?}");
        assert!(examination.large_tables.is_empty(), "{examination:?}");
        assert!(examination.wal_bytes > 0 && !examination.is_log_left);
        let later = "CREATE TABLE later (n); INSERT INTO later SELECT n FROM large;";
        user.execute_batch(later).expect("a table");
        let examination = SqliteExamination::of(&target);
        assert_eq!(examination.large_tables, ["later"], "statistics of others are none of it");
    }

    #[test]
    fn what_is_no_database_is_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = SqliteTarget::new(folder.path().join("x"));
        let why = |target: &SqliteTarget| SqliteExamination::of(target).refusal.expect("a reason");
        assert!(why(&target).contains("cannot be read"));
        fs::write(&target.path, "").expect("a file");
        assert!(why(&target).contains("no SQLite database"));
        fs::write(&target.path, [0xff; 4_096]).expect("a file");
        assert!(why(&target).contains("no SQLite database"));
        let folder = SqliteTarget::new(folder.path());
        assert!(why(&folder).contains("not a regular file"));
    }
}
