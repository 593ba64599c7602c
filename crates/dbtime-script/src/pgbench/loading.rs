//! `-i` as a script: one client walks the steps in one transaction of the engine's, and tells how
//! far it is.
//!
//! Rows go to PostgreSQL by COPY and to the others by INSERTs of many rows. Nothing here prints or
//! reads a clock: whoever starts it listens.

use super::answers::message;
use super::init::{InitStep, PgbenchTables, StepWork};
use super::rows::ResultTable;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::Ticket;
use dbtime_load::results::ResultSets;
use dbtime_load::script::{ProgramFactory, Script, ScriptEvent, ScriptProgram, ScriptProgramStep};
use dbtime_model::SqlDialect;
use std::fmt;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of an INSERT: about 64 KB of accounts.
const INSERT_ROWS: usize = 4_000;

/// Rows of a COPY.
const COPY_ROWS: usize = 20_000;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadingProgress<'a> {
    /// A step begins.
    Begins(&'a InitStep),
    /// So many rows of a table are there.
    Loaded {
        /// Which table.
        table: ResultTable,
        /// Rows so far.
        done: u64,
        /// Rows in all.
        total: u64,
    },
    /// A step has ended.
    Ended(&'a InitStep),
}

/// Who is told how far it is.
type LoadingListener = dyn Fn(LoadingProgress<'_>) + Send + Sync;

/// The steps that make the standard tables, as a script of one client and one transaction.
pub struct LoadingScript(Arc<LoadingJob>);

struct LoadingJob {
    steps: Vec<InitStep>,
    scale: u64,
    dialect: SqlDialect,
    /// Its names stay in errors.
    target: String,
    is_frozen: bool,
    listener: Box<LoadingListener>,
    stop_reason: Mutex<Option<String>>,
}

impl LoadingScript {
    /// These steps of [`super::init::init_steps`]; `what` is what they were made from. `target`:
    /// without its password; its names stay in errors.
    pub fn new(
        steps: Vec<InitStep>,
        what: &PgbenchTables,
        target: &str,
        listener: impl Fn(LoadingProgress<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(LoadingJob {
            steps,
            scale: what.scale,
            dialect: what.dialect,
            target: target.to_owned(),
            // Rows of a table that was emptied by the same transaction need no freezing later; a
            // partitioned table does not take them so.
            is_frozen: what.partitions.is_none(),
            listener: Box::new(listener),
            stop_reason: Mutex::default(),
        }))
    }
}

impl fmt::Debug for LoadingScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loading").field(&self.0.steps).finish()
    }
}

impl Script for LoadingScript {
    fn factory_for_thread(&self, _thread: u32) -> Result<Box<dyn ProgramFactory>, String> {
        Ok(Box::new(LoadingProgramFactory(Arc::clone(&self.0))))
    }

    fn stop_reason(&self) -> Option<String> {
        self.0.stop_reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct LoadingProgramFactory(Arc<LoadingJob>);

impl ProgramFactory for LoadingProgramFactory {
    fn program(&mut self, _client: u32) -> Result<Box<dyn ScriptProgram>, String> {
        Ok(Box::new(PgbenchLoader {
            job: Arc::clone(&self.0),
            step: 0,
            work: 0,
            row: 0,
            sql: String::new(),
            data: Vec::new(),
        }))
    }
}

/// Walks the steps.
struct PgbenchLoader {
    job: Arc<LoadingJob>,
    step: usize,
    /// Which part of the step is next, or under way.
    work: usize,
    /// Rows of a table that are there.
    row: usize,
    sql: String,
    data: Vec<u8>,
}

impl PgbenchLoader {
    /// The next statement; the one before it has been executed.
    fn next(&mut self) -> ScriptProgramStep<'_> {
        let job = Arc::clone(&self.job);
        while let Some(step) = job.steps.get(self.step) {
            if self.work == 0 && self.row == 0 {
                (job.listener)(LoadingProgress::Begins(step));
            }
            match step.work.get(self.work) {
                Some(StepWork::Sql(sql)) => {
                    self.work += 1;
                    self.sql.clone_from(sql);
                    return self.perform(false);
                }
                Some(StepWork::Load(table)) if self.row < table.count(job.scale) as usize => {
                    let copies = job.dialect == SqlDialect::Postgres;
                    if copies {
                        self.copy(*table)
                    } else {
                        self.insert(*table)
                    }
                    return self.perform(copies);
                }
                Some(StepWork::Load(_)) => (self.work, self.row) = (self.work + 1, 0),
                None => {
                    (job.listener)(LoadingProgress::Ended(step));
                    (self.step, self.work) = (self.step + 1, 0);
                }
            }
        }
        ScriptProgramStep::Done
    }

    fn perform(&self, copies: bool) -> ScriptProgramStep<'_> {
        let sql = &self.sql;
        let op = match copies {
            true => ConnectionOp::Copy { sql, data: &self.data },
            false => ConnectionOp::Query(sql),
        };
        ScriptProgramStep::Perform { op, statement: None, connection: 0 }
    }

    fn copy(&mut self, table: ResultTable) {
        let how =
            if table == ResultTable::Accounts && self.job.is_frozen { " (freeze)" } else { "" };
        self.sql.clear();
        self.data.clear();
        // Writing into a `String` cannot fail.
        let _ = write!(self.sql, "copy {} from stdin{how}", table.name());
        let rows = table.rows(self.job.scale).skip(self.row).take(COPY_ROWS);
        self.row += rows.len();
        rows.for_each(|row| row.write_copy(&mut self.data));
    }

    fn insert(&mut self, table: ResultTable) {
        self.sql.clear();
        let columns = table.columns().join(",");
        let _ = write!(self.sql, "insert into {}({columns}) values ", table.name());
        let rows = table.rows(self.job.scale).skip(self.row).take(INSERT_ROWS);
        self.row += rows.len();
        for (index, row) in rows.enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let branch = row.branch.map_or(String::new(), |branch| format!(",{branch}"));
            let filler = if row.has_filler { "''" } else { "null" };
            let _ = write!(self.sql, "{comma}({}{branch},0,{filler})", row.id);
        }
    }

    /// Tells of rows that have been loaded.
    fn report_rows(&self) {
        let step = self.job.steps.get(self.step);
        if let Some(StepWork::Load(table)) = step.and_then(|step| step.work.get(self.work))
            && self.row > 0
        {
            let total = table.count(self.job.scale);
            (self.job.listener)(LoadingProgress::Loaded {
                table: *table,
                done: self.row as u64,
                total,
            });
        }
    }
}

impl ScriptProgram for PgbenchLoader {
    fn start(&mut self, _ticket: &Ticket) {
        (self.step, self.work, self.row) = (0, 0, 0);
    }

    fn resume(&mut self, _event: ScriptEvent) -> ScriptProgramStep<'_> {
        self.next()
    }

    fn replied(
        &mut self,
        reply: Result<&mut ResultSets, &DatabaseFailure>,
    ) -> ScriptProgramStep<'_> {
        match reply {
            Ok(_) => {
                self.report_rows();
                self.next()
            }
            Err(failure) => {
                let start: String = self.sql.chars().take(200).collect();
                let words = message(failure, self.job.dialect, Some(&self.sql), &self.job.target);
                let text = format!("query failed: {words}\ndetail: Query was: {start}");
                *self.job.stop_reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                ScriptProgramStep::Quit { failed: Some(failure.class), all: true }
            }
        }
    }
}

#[cfg(test)]
mod tests;
