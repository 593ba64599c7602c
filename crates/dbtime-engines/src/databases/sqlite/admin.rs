//! Creating, loading and checking a database.
//!
//! A new database is loaded under another name, without journal or syncs, and gets its own name
//! once it is whole and on disk; one that exists is loaded in place with the target's settings. In
//! both cases a row in the table `dbtime_load` is written last: without it the data does not count.

use super::connection::{apply_settings, open_file};
use super::context::ConnectionContext;
use super::database::MeasureLevel;
use super::error::SqliteError;
use super::ffi::{SqliteHandle, text_of};
use super::file_locks::beside;
use super::lock::LockRegistry;
use super::schema;
use super::target::SqliteTarget;
use crate::load_marker::{LoadMarker, LoadedContent, ReplaceScope};
use dbtime_load::program::SqlValue;
use dbtime_load::workload::WorkloadTable;
use rusqlite::ffi;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Rows per transaction while loading: enough to make its end cheap, few enough for the progress
/// shown to move.
const ROWS_PER_TRANSACTION: u64 = 10_000;

const MARKER_TABLE: &str = "CREATE TABLE IF NOT EXISTS dbtime_load (workload TEXT PRIMARY KEY, \
     scale INTEGER NOT NULL, seed INTEGER NOT NULL, loaded_at TEXT NOT NULL, version TEXT NOT NULL)";

/// Of a load that was finished, and of one that was only begun.
const FINISHED: &str = "loaded_at <> ''";
const BEGUN: &str = "loaded_at = ''";

/// How far loading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadProgress<'a> {
    /// The table.
    pub table: &'a str,
    /// Rows it has.
    pub done: u64,
    /// Rows it will have.
    pub total: u64,
}

/// A connection that creates and loads. Tables first, then rows, then indexes, then
/// [`SqliteAdmin::finish`].
pub struct SqliteAdmin {
    /// The target itself, or what stands in for it until it is whole.
    file: OpenedFile,
    /// Where a new database goes in the end.
    new: Option<SqliteTarget>,
    /// Takes the file of a new database away again, unless it was renamed.
    _unfinished: UnfinishedFile,
}

/// A file that counts for nothing until it is whole.
struct UnfinishedFile(Option<PathBuf>);

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // After a rename there is nothing under this name.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl SqliteAdmin {
    /// Opens the target for loading, and creates it where it does not exist.
    pub fn create(target: &SqliteTarget) -> Result<Self, SqliteError> {
        let is_empty = std::fs::metadata(&target.path).map_or(true, |file| file.len() == 0);
        if !is_empty {
            let file = OpenedFile::open_for_use(target)?;
            return Ok(Self { file, new: None, _unfinished: UnfinishedFile(None) });
        }
        let stand_in = stand_in(target)?;
        let unfinished = UnfinishedFile(Some(stand_in.path.clone()));
        let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE;
        let file = OpenedFile::open(&stand_in, flags)?;
        if let Some(page_size) = target.settings.get("page_size") {
            file.run(&format!("PRAGMA page_size={page_size}"))?;
        }
        // Nobody else knows the file, and a crash leaves it without its name.
        for pragma in ["journal_mode=off", "synchronous=off", "cache_size=-65536"] {
            file.run(&format!("PRAGMA {pragma}"))?;
        }
        file.run("PRAGMA locking_mode=exclusive")?;
        Ok(Self { file, new: Some(target.clone()), _unfinished: unfinished })
    }

    /// Removes the tables of an earlier load, so that they can be created again, and notes that a
    /// load has begun. Returns what is replaced, in words; `None`: nothing was there.
    ///
    /// Errors: [`crate::load_marker::LoadError`] for what may not be replaced.
    pub fn drop_tables(
        &self,
        tables: &[WorkloadTable],
        marker: &LoadMarker,
        replacing: ReplaceScope,
    ) -> Result<Option<String>, SqliteError> {
        let found = self.file.look(&marker.workload, tables)?;
        let place = self.file.target.path.display().to_string();
        let replaced = found.replaced(place, "file", marker, replacing)?;
        self.file.run(MARKER_TABLE)?;
        for other in found.forgotten(replacing) {
            let forget = "DELETE FROM dbtime_load WHERE workload = ?1";
            self.file.query(forget, &[SqlValue::Text(other.clone())])?;
        }
        let name = [SqlValue::Text(marker.workload.clone())];
        let begin = "INSERT OR REPLACE INTO dbtime_load (workload, scale, seed, loaded_at, version) \
                     VALUES (?1, 0, 0, '', '')";
        self.file.query(begin, &name)?;
        for table in tables {
            self.file.run(&format!("DROP TABLE IF EXISTS {}", schema::quoted(&table.name)))?;
        }
        Ok(replaced)
    }

    /// Creates the tables, empty.
    pub fn create_tables(&self, tables: &[WorkloadTable]) -> Result<(), SqliteError> {
        tables.iter().try_for_each(|table| self.file.run(&schema::create_table(table)))
    }

    /// Fills a table: `fill` replaces its buffer by the values of row 0, 1, … for the columns that
    /// the database does not assign, as [`dbtime_load::workload::TableData::fill_row`] does.
    /// `progress` says whether to go on; loading stops where it does not.
    pub fn load(
        &self,
        table: &WorkloadTable,
        rows: u64,
        mut fill: impl FnMut(u64, &mut Vec<SqlValue>),
        mut progress: impl FnMut(LoadProgress<'_>) -> bool,
    ) -> Result<(), SqliteError> {
        let sql = schema::insert_row(table);
        let what = || format!("cannot load table {}", table.name);
        let OpenedFile { db, target } = &self.file;
        let refuse = |failure| SqliteError::of_statement(what(), &sql, target, failure);
        let mut insert = db.prepare(&sql).map_err(refuse)?;
        let mut row = Vec::new();
        let mut done = 0;
        while done < rows {
            self.file.run("BEGIN IMMEDIATE")?;
            let end = rows.min(done + ROWS_PER_TRANSACTION);
            for index in done..end {
                fill(index, &mut row);
                insert.run(&row, None).map_err(|code| refuse(db.failure_of_run(code)))?;
            }
            self.file.run("COMMIT")?;
            done = end;
            if !progress(LoadProgress { table: &table.name, done, total: rows }) {
                break;
            }
        }
        Ok(())
    }

    /// Creates the secondary indexes.
    pub fn create_indexes(&self, tables: &[WorkloadTable]) -> Result<(), SqliteError> {
        let indexes = tables.iter().flat_map(schema::create_indexes);
        indexes.into_iter().try_for_each(|sql| self.file.run(&sql))
    }

    /// Brings everything to disk, gives a new database its name and its settings, and writes the
    /// marker.
    pub fn finish(self, marker: &LoadMarker) -> Result<(), SqliteError> {
        let Self { file, new, _unfinished } = self;
        let Some(new) = new else { return file.write_marker(marker) };
        let OpenedFile { db, target } = file;
        drop(db);
        settle(&target.path, &new).map_err(|source| SqliteError::System {
            what: format!("cannot bring {} to disk", new.path.display()),
            source,
        })?;
        let file = OpenedFile::open_for_use(&new)?;
        file.write_marker(marker)
    }
}

/// Looks whether the target holds the workload's data, whole and at the wanted scale.
///
/// Errors: each names the command that helps.
pub fn check(
    target: &SqliteTarget,
    workload: &str,
    tables: &[WorkloadTable],
    scale: Option<u64>,
) -> Result<LoadMarker, SqliteError> {
    let file =
        OpenedFile::open(target, ffi::SQLITE_OPEN_READWRITE).map_err(|error| match error {
            SqliteError::Missing { path, target, .. } => {
                SqliteError::Missing { path, target, workload: Some(workload.to_owned()) }
            }
            other => other,
        })?;
    Ok(file.look(workload, tables)?.check(target.to_string(), scale)?)
}

/// The target under which a new database is loaded, with an empty file that can be written.
fn stand_in(target: &SqliteTarget) -> Result<SqliteTarget, SqliteError> {
    let path = beside(&target.path, ".loading");
    let refuse = |error: io::Error| SqliteError::Folder {
        path: target.folder().to_owned(),
        reason: error.to_string(),
    };
    // What is renamed onto a device or a pipe would take its place.
    if std::fs::metadata(&target.path).is_ok_and(|found| !found.is_file()) {
        return Err(SqliteError::NoRegularFile { path: target.path.clone() });
    }
    if path.exists() {
        std::fs::remove_file(&path).map_err(refuse)?;
    }
    std::fs::File::create(&path).map_err(refuse)?;
    Ok(SqliteTarget { path, settings: target.settings.clone() })
}

/// Syncs a loaded file, renames it, and syncs its folder. No connection may be open on it.
fn settle(loaded: &Path, target: &SqliteTarget) -> io::Result<()> {
    std::fs::File::open(loaded)?.sync_all()?;
    // Logs of a database that is gone would be replayed onto the new one.
    for stale in ["-wal", "-shm", "-journal"] {
        match std::fs::remove_file(beside(&target.path, stale)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::rename(loaded, &target.path)?;
    std::fs::File::open(target.folder())?.sync_all()
}

/// A database by its target.
pub(super) struct OpenedFile {
    pub(super) db: SqliteHandle,
    target: SqliteTarget,
}

impl OpenedFile {
    pub(super) fn open(target: &SqliteTarget, flags: i32) -> Result<Self, SqliteError> {
        Self::open_at(target, flags, MeasureLevel::Nothing)
    }

    fn open_at(
        target: &SqliteTarget,
        flags: i32,
        measure: MeasureLevel,
    ) -> Result<Self, SqliteError> {
        let registry = Arc::new(LockRegistry::new(0));
        let context = Rc::new(ConnectionContext::new(target.path.clone(), registry, 0));
        let db = open_file(target, flags, measure, &context)?;
        Ok(Self { db, target: target.clone() })
    }

    /// Opens a database that is there, with the target's settings.
    fn open_for_use(target: &SqliteTarget) -> Result<Self, SqliteError> {
        Self::open_measured(target, MeasureLevel::Nothing)
    }

    /// The same, where so much is measured.
    pub(super) fn open_measured(
        target: &SqliteTarget,
        measure: MeasureLevel,
    ) -> Result<Self, SqliteError> {
        let file = Self::open_at(target, ffi::SQLITE_OPEN_READWRITE, measure)?;
        apply_settings(&file.db, target)?;
        Ok(file)
    }

    /// What is there of a workload.
    fn look<'a>(
        &self,
        workload: &'a str,
        tables: &'a [WorkloadTable],
    ) -> Result<LoadedContent<'a>, SqliteError> {
        let mut found = LoadedContent::look(workload, tables, |name| self.has_table(name))?;
        if found.has_loads {
            found.finished = self.read_marker(workload)?;
            found.all_finished = self.workloads(FINISHED)?;
            found.all_begun = self.workloads(BEGUN)?;
        }
        Ok(found)
    }

    fn write_marker(&self, marker: &LoadMarker) -> Result<(), SqliteError> {
        // The marker must not survive a crash that its data does not.
        let synchronous = self.target.settings.get("synchronous").unwrap_or("normal");
        self.run("PRAGMA synchronous=full")?;
        self.run(MARKER_TABLE)?;
        let values = [
            SqlValue::Text(marker.workload.clone()),
            SqlValue::Integer(marker.scale.cast_signed()),
            SqlValue::Integer(marker.seed.cast_signed()),
            SqlValue::Text(marker.version.clone()),
        ];
        let sql = "INSERT OR REPLACE INTO dbtime_load (workload, scale, seed, loaded_at, version) \
                   VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?4)";
        self.query(sql, &values)?;
        self.run(&format!("PRAGMA synchronous={synchronous}"))
    }

    fn read_marker(&self, workload: &str) -> Result<Option<LoadMarker>, SqliteError> {
        let sql =
            "SELECT scale, seed, version FROM dbtime_load WHERE workload = ?1 AND loaded_at <> ''";
        let row = self.query(sql, &[SqlValue::Text(workload.to_owned())])?;
        Ok(match row.as_slice() {
            [SqlValue::Integer(scale), SqlValue::Integer(seed), version] => Some(LoadMarker {
                workload: workload.to_owned(),
                scale: scale.cast_unsigned(),
                seed: seed.cast_unsigned(),
                version: text_of(version),
            }),
            _ => None,
        })
    }

    /// The workloads of which the marker is so.
    fn workloads(&self, marker: &str) -> Result<Vec<String>, SqliteError> {
        let list = "SELECT group_concat(workload, char(10)) FROM dbtime_load";
        Ok(match self.query(&format!("{list} WHERE {marker}"), &[])?.first() {
            Some(SqlValue::Text(names)) => names.lines().map(str::to_owned).collect(),
            _ => Vec::new(),
        })
    }

    fn has_table(&self, name: &str) -> Result<bool, SqliteError> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE";
        Ok(!self.query(sql, &[SqlValue::Text(name.to_owned())])?.is_empty())
    }

    pub(super) fn run(&self, sql: &str) -> Result<(), SqliteError> {
        self.query(sql, &[]).map(drop)
    }

    /// The first row; empty where there is none.
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Vec<SqlValue>, SqliteError> {
        let mut row = Vec::new();
        match self.db.query_row(sql, parameters, &mut row) {
            Ok(_) => Ok(row),
            Err(failure) => {
                let what = format!("`{sql}` failed");
                Err(SqliteError::of_statement(what, sql, &self.target, failure))
            }
        }
    }
}
