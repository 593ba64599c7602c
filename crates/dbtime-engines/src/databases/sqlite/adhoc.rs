//! What a script asks: texts of one statement or several, and statements that it prepares by
//! itself, with whole results.

use super::connection::SqliteConnection;
use super::failure::DatabaseFailure;
use super::ffi::SqlitePrepared;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_model::{Parts, StatementId};

/// A connection's side of what a script asks.
#[derive(Default)]
pub(super) struct SqliteAdHocSession {
    /// By their handles.
    prepared: Vec<Option<SqlitePrepared>>,
    results: ResultSets,
}

/// Handles are an index: more than this is a script's mistake.
const MAX_HANDLES: u32 = 1 << 20;

impl SqliteConnection {
    /// Does what a script asks, booked under `statement`. Connections are made and closed by the
    /// worker: here there is one, and a script that closes its own loses what it had prepared.
    ///
    /// # Errors
    /// What SQLite refuses.
    #[inline]
    pub(crate) fn perform(
        &mut self,
        op: ConnectionOp<'_>,
        statement: Option<StatementId>,
    ) -> Result<u64, DatabaseFailure> {
        self.enter(statement.unwrap_or_default());
        let result = self.perform_op(op);
        self.left();
        let rows = result.map(|()| self.adhoc.results.rows())?;
        self.count_rows(rows);
        Ok(rows)
    }

    fn perform_op(&mut self, op: ConnectionOp<'_>) -> Result<(), DatabaseFailure> {
        self.adhoc.results.clear();
        match op {
            ConnectionOp::Connect => {}
            ConnectionOp::Disconnect => {
                self.adhoc.prepared.clear();
                if !self.db.is_autocommit() {
                    self.query("ROLLBACK")?;
                }
            }
            ConnectionOp::Query(sql) => self.query(sql)?,
            ConnectionOp::QueryWith { sql, parameters } => {
                let mut prepared = self.db.prepare(sql)?;
                self.run(&mut prepared, parameters)?;
            }
            ConnectionOp::Prepare { handle, sql } => self.prepare(handle, sql)?,
            ConnectionOp::Execute { handle, parameters, .. } => {
                self.execute_own(handle, parameters)?
            }
            ConnectionOp::Close { handle } => {
                if let Some(place) = self.adhoc.prepared.get_mut(handle as usize) {
                    *place = None;
                }
            }
            ConnectionOp::Pipeline(_) => return Err(refused("SQLite has no pipelines")),
            ConnectionOp::Copy { .. } => return Err(refused("SQLite has no COPY: use INSERT")),
        }
        Ok(())
    }

    /// The same, and adds where its time went to `parts`, as [`Self::execute_measured`].
    pub(crate) fn perform_measured(
        &mut self,
        op: ConnectionOp<'_>,
        statement: Option<StatementId>,
        parts: &mut Parts,
    ) -> (Result<u64, DatabaseFailure>, super::StatementTiming) {
        self.measuring(parts, |connection| connection.perform(op, statement))
    }

    /// What the last [`Self::perform`] has brought back.
    pub(crate) fn results(&mut self) -> &mut ResultSets {
        &mut self.adhoc.results
    }

    fn query(&mut self, mut sql: &str) -> Result<(), DatabaseFailure> {
        loop {
            let (prepared, used) = self.db.prepare_first(sql)?;
            let Some(mut prepared) = prepared else {
                // Comments and blanks: an error only where there is nothing else.
                return if self.adhoc.results.is_empty() && sql.trim().is_empty() {
                    Err(refused("the statement is empty"))
                } else {
                    Ok(())
                };
            };
            self.run(&mut prepared, &[])?;
            sql = &sql[used..];
            if sql.trim().is_empty() {
                return Ok(());
            }
        }
    }

    fn prepare(&mut self, handle: u32, sql: &str) -> Result<(), DatabaseFailure> {
        if handle >= MAX_HANDLES {
            let text = format!("a script has at most {MAX_HANDLES} statements prepared");
            return Err(refused(&text));
        }
        let index = handle as usize;
        if index >= self.adhoc.prepared.len() {
            self.adhoc.prepared.resize_with(index + 1, || None);
        }
        self.adhoc.prepared[index] = Some(self.db.prepare(sql)?);
        Ok(())
    }

    #[inline]
    fn execute_own(&mut self, handle: u32, parameters: &[SqlValue]) -> Result<(), DatabaseFailure> {
        let SqliteAdHocSession { prepared, results } = &mut self.adhoc;
        let Some(Some(prepared)) = prepared.get_mut(handle as usize) else {
            return Err(refused(
                "the statement is not prepared: it was closed, or its connection was",
            ));
        };
        prepared.run_into(parameters, results).map_err(|code| self.db.failure_of_run(code))
    }

    fn run(
        &mut self,
        prepared: &mut SqlitePrepared,
        parameters: &[SqlValue],
    ) -> Result<(), DatabaseFailure> {
        let ran = prepared.run_into(parameters, &mut self.adhoc.results);
        ran.map_err(|code| self.db.failure_of_run(code))
    }
}

#[cold]
fn refused(message: &str) -> DatabaseFailure {
    DatabaseFailure::statement("SQLITE_MISUSE", "", message)
}
