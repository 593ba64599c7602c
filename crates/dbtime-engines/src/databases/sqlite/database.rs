//! The database of a run: what all its connections share.

use super::connection::SqliteConnection;
use super::error::SqliteError;
use super::lock::LockRegistry;
use super::target::SqliteTarget;
use dbtime_load::statement::{Statement, StatementKind};
use std::sync::Arc;

/// How much a connection measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureLevel {
    /// Calls on files go through the timing VFS; statements can be sampled.
    Budget,
    /// SQLite's own VFS, and nothing in between.
    Nothing,
}

/// One database, shared by the workers of a run.
#[derive(Clone, Debug)]
pub struct SqliteDatabase {
    pub(super) target: SqliteTarget,
    pub(super) measure: MeasureLevel,
    pub(super) registry: Arc<LockRegistry>,
    /// The SQL of each statement, by [`dbtime_model::StatementId`].
    pub(super) sql: Arc<[String]>,
}

impl SqliteDatabase {
    /// A database for so many workers that execute these statements.
    pub fn new(
        target: SqliteTarget,
        statements: &[Statement],
        workers: usize,
        measure: MeasureLevel,
    ) -> Self {
        let is_immediate = target.settings.is_immediate();
        let sql = statements.iter().map(|s| sql_of(&s.kind, is_immediate).to_owned()).collect();
        let registry = Arc::new(LockRegistry::new(workers));
        Self { target, measure, registry, sql }
    }

    /// Ends every statement that is under way and takes long, on all connections, from now on.
    pub(crate) fn interrupt(&self) {
        self.registry.open.interrupt();
    }

    /// Opens a connection for the calling thread, which must be the only one to use it.
    ///
    /// Errors: the file is missing (nothing is created), damaged, locked or not writable, or a
    /// setting was refused.
    pub fn connect(&self, worker: usize) -> Result<SqliteConnection, SqliteError> {
        SqliteConnection::open(self, worker)
    }
}

/// How SQLite writes the boundaries of transactions.
fn sql_of(kind: &StatementKind, is_immediate: bool) -> &str {
    match kind {
        StatementKind::Begin { write: true } if is_immediate => "BEGIN IMMEDIATE",
        _ => kind.text(),
    }
}
