//! SQLite behind the worker pool: a connection per worker, and what they counted, gathered.

use super::{
    MeasureLevel, SqliteConnection, SqliteDatabase, SqliteError, SqliteTarget, WorkerFigures,
};
use crate::drive::pool::{PoolConnection, PoolDatabase};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_load::statement::Statement;
use dbtime_machine::switch_clock::OffCpuTime;
use dbtime_machine::thread_clock::ThreadTotals;
use dbtime_model::PartSet;
use dbtime_model::{MonoNanos, Nanos, Parts, StatementId};
use std::sync::{Mutex, PoisonError};

/// An SQLite database for a pool of workers.
pub struct SqlitePool {
    database: SqliteDatabase,
    figures: Mutex<WorkerFigures>,
}

impl SqlitePool {
    /// For so many workers that execute these statements.
    pub fn new(
        target: SqliteTarget,
        statements: &[Statement],
        workers: u32,
        measure: MeasureLevel,
    ) -> Self {
        let database = SqliteDatabase::new(target, statements, workers as usize, measure);
        Self { database, figures: Mutex::default() }
    }

    /// What all workers together counted in the window, once they have ended.
    pub fn into_figures(self) -> WorkerFigures {
        self.figures.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One worker's connection.
pub struct PooledConnection {
    connection: SqliteConnection,
    begun: ThreadTotals,
    figures: WorkerFigures,
}

impl PoolDatabase for SqlitePool {
    type Connection = PooledConnection;
    type Error = SqliteError;

    fn connect(&self, worker: u32) -> Result<PooledConnection, SqliteError> {
        let connection = self.database.connect(worker as usize)?;
        let begun = ThreadTotals::default();
        let figures = WorkerFigures::default();
        Ok(PooledConnection { connection, begun, figures })
    }

    fn interrupt(&self) {
        self.database.interrupt();
    }

    fn disconnect(&self, _: u32, connection: PooledConnection) {
        let mut all = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
        all.merge(&connection.figures);
        // One behind the other: whoever closes last removes the write-ahead log, and of several
        // that close at once none is the last.
        drop(connection);
    }
}

impl PoolConnection for PooledConnection {
    fn measured(&self) -> PartSet {
        self.connection.measured()
    }

    #[inline]
    fn execute(
        &mut self,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
    ) -> Result<u64, DatabaseFailure> {
        self.connection.execute(statement, parameters, needs_row)
    }

    fn execute_measured(
        &mut self,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
        parts: &mut Parts,
    ) -> (Result<u64, DatabaseFailure>, MonoNanos, MonoNanos) {
        let (result, timing) =
            self.connection.execute_measured(statement, parameters, needs_row, parts);
        (result, timing.sent, timing.done)
    }

    #[inline]
    fn perform(
        &mut self,
        op: ConnectionOp<'_>,
        statement: Option<StatementId>,
    ) -> Result<u64, DatabaseFailure> {
        self.connection.perform(op, statement)
    }

    fn perform_measured(
        &mut self,
        op: ConnectionOp<'_>,
        statement: Option<StatementId>,
        parts: &mut Parts,
    ) -> (Result<u64, DatabaseFailure>, MonoNanos, MonoNanos) {
        let (result, timing) = self.connection.perform_measured(op, statement, parts);
        (result, timing.sent, timing.done)
    }

    fn is_disturbed(&self) -> bool {
        !self.connection.sees_switches()
    }

    #[inline]
    fn settle(&mut self) -> Option<OffCpuTime> {
        self.connection.settle()
    }

    fn results(&mut self) -> &mut ResultSets {
        self.connection.results()
    }

    fn first_row(&self) -> &[SqlValue] {
        self.connection.first_row()
    }

    fn window_begins(&mut self) {
        self.connection.start_figures();
        self.begun = self.connection.clock().thread_totals();
    }

    fn window_ended(&mut self) -> (Nanos, Option<Nanos>) {
        self.figures = self.connection.figures();
        let used = self.connection.clock().thread_totals().since(self.begun);
        (used.cpu, used.runq)
    }
}
