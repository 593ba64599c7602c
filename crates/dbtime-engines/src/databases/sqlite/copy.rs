//! A private copy of a database, made while others use it.

use super::admin::OpenedFile;
use super::error::SqliteError;
use super::failure::DatabaseFailure;
use super::ffi::{DatabaseBackup, SqliteHandle};
use super::target::SqliteTarget;
use crate::drive::plan::RunStop;
use dbtime_machine::now;
use dbtime_model::ErrorClass;
use rusqlite::ffi;
use std::path::Path;

/// Pages of a step: 4 MB as a rule, between which writers may go on and the copy may be ended.
const PAGES_PER_STEP: i32 = 1_000;

/// How often writers may make the copy start over before they have to wait for it.
const MOST_RESTARTS: u32 = 3;

impl SqliteTarget {
    /// Copies the database to `path`, where nothing may be yet. Returns the copy, with the same
    /// settings. `progress` hears of pages that are done, and of how many. In WAL mode writers go
    /// on meanwhile; without, they wait for a step, and for all of it should they make it start
    /// over for ever.
    ///
    /// # Errors
    /// There is no such database, it stays locked, there is no room, or `stop` has come.
    pub fn copy_to(
        &self,
        path: &Path,
        stop: &RunStop,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, SqliteError> {
        let copy = Self { path: path.to_owned(), settings: self.settings.clone() };
        let from = OpenedFile::open(self, ffi::SQLITE_OPEN_READWRITE)?;
        let into = OpenedFile::open(&copy, ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE)?;
        // After a crash it is made anew.
        into.run("PRAGMA synchronous=off")?;
        let copied = copy_pages(&from.db, &into.db, stop, progress);
        copied.map_err(|failure| {
            let what = format!("cannot copy {}", self.path.display());
            // It is the copy that there is no room for.
            let target = if failure.class == ErrorClass::Full { &copy } else { self };
            SqliteError::of_statement(what, "", target, failure)
        })?;
        Ok(copy)
    }
}

fn copy_pages(
    from: &SqliteHandle,
    into: &SqliteHandle,
    stop: &RunStop,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), DatabaseFailure> {
    if from.query_text("PRAGMA journal_mode")?.as_deref() == Some("wal") {
        hold(from)?;
    }
    let mut backup = DatabaseBackup::begin(from, into)?;
    let (mut least_left, mut restarts) = (u64::MAX, 0);
    loop {
        let code = backup.step(PAGES_PER_STEP);
        let (left, all) = backup.pages();
        progress(all.saturating_sub(left), all);
        match code {
            ffi::SQLITE_DONE => return Ok(()),
            ffi::SQLITE_OK if stop.has_come(now()) => return Err(interrupted()),
            ffi::SQLITE_OK if left >= least_left => {
                restarts += 1;
                if restarts == MOST_RESTARTS {
                    hold(from)?;
                }
            }
            ffi::SQLITE_OK => {}
            code => return Err(into.failure(code)),
        }
        least_left = left;
    }
}

/// Begins a transaction that sees one state of the database until its connection is closed.
fn hold(db: &SqliteHandle) -> Result<(), DatabaseFailure> {
    db.query_text("BEGIN")?;
    db.query_text("SELECT count(*) FROM sqlite_schema").map(drop)
}

fn interrupted() -> DatabaseFailure {
    let text = "dbtime no longer waits for the copy";
    let plain = DatabaseFailure::connection("interrupted", text);
    DatabaseFailure { class: ErrorClass::Interrupted, ..plain }
}
