//! `-i` as a script: one client walks the steps in one transaction of the engine's, and tells how
//! far it is.
//!
//! Rows go to PostgreSQL by COPY and to the others by INSERTs of many rows. Nothing here prints or
//! reads a clock: whoever starts it listens.

use super::answers::message;
use super::init::{InitStep, Initialization, Work};
use super::rows::Table;
use dbtime_load::failure::Failure;
use dbtime_load::program::{Event, Program, Step, Ticket};
use dbtime_load::request::Request;
use dbtime_load::results::Results;
use dbtime_load::script::{Crew, Script};
use dbtime_load::statement::Statement;
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
pub enum Told<'a> {
    /// A step begins.
    Begins(&'a InitStep),
    /// So many rows of a table are there.
    Loaded {
        /// Which table.
        table: Table,
        /// Rows so far.
        done: u64,
        /// Rows in all.
        total: u64,
    },
    /// A step has ended.
    Ended(&'a InitStep),
}

/// Who is told how far it is.
type Tell = dyn Fn(Told<'_>) + Send + Sync;

/// The steps that make the standard tables, as a script of one client and one transaction.
pub struct Loading(Arc<Job>);

struct Job {
    steps: Vec<InitStep>,
    scale: u64,
    dialect: SqlDialect,
    is_frozen: bool,
    tell: Box<Tell>,
    trouble: Mutex<Option<String>>,
}

impl Loading {
    /// These steps of [`super::init::steps`]; `what` is what they were made from.
    pub fn new(
        steps: Vec<InitStep>,
        what: &Initialization,
        tell: impl Fn(Told<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Job {
            steps,
            scale: what.scale,
            dialect: what.dialect,
            // Rows of a table that was emptied by the same transaction need no freezing later; a
            // partitioned table does not take them so.
            is_frozen: what.partitions.is_none(),
            tell: Box::new(tell),
            trouble: Mutex::default(),
        }))
    }
}

impl fmt::Debug for Loading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loading").field(&self.0.steps).finish()
    }
}

impl Script for Loading {
    fn crew(&self, _thread: u32) -> Result<Box<dyn Crew>, String> {
        Ok(Box::new(LoadingCrew(Arc::clone(&self.0))))
    }

    fn statements(&self) -> Vec<Statement> {
        Vec::new()
    }

    fn trouble(&self) -> Option<String> {
        self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct LoadingCrew(Arc<Job>);

impl Crew for LoadingCrew {
    fn program(&mut self, _client: u32) -> Result<Box<dyn Program>, String> {
        Ok(Box::new(Loader {
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
struct Loader {
    job: Arc<Job>,
    step: usize,
    /// Which part of the step is next, or under way.
    work: usize,
    /// Rows of a table that are there.
    row: usize,
    sql: String,
    data: Vec<u8>,
}

impl Loader {
    /// The next statement; the one before it has been executed.
    fn next(&mut self) -> Step<'_> {
        let job = Arc::clone(&self.job);
        while let Some(step) = job.steps.get(self.step) {
            if self.work == 0 && self.row == 0 {
                (job.tell)(Told::Begins(step));
            }
            match step.work.get(self.work) {
                Some(Work::Sql(sql)) => {
                    self.work += 1;
                    self.sql.clone_from(sql);
                    return self.ask(false);
                }
                Some(Work::Load(table)) if self.row < table.count(job.scale) as usize => {
                    let copies = job.dialect == SqlDialect::Postgres;
                    if copies {
                        self.copy(*table)
                    } else {
                        self.insert(*table)
                    }
                    return self.ask(copies);
                }
                Some(Work::Load(_)) => (self.work, self.row) = (self.work + 1, 0),
                None => {
                    (job.tell)(Told::Ended(step));
                    (self.step, self.work) = (self.step + 1, 0);
                }
            }
        }
        Step::Done
    }

    fn ask(&self, copies: bool) -> Step<'_> {
        let sql = &self.sql;
        let request = match copies {
            true => Request::Copy { sql, data: &self.data },
            false => Request::Query(sql),
        };
        Step::Ask { request, statement: None, connection: 0 }
    }

    fn copy(&mut self, table: Table) {
        let how = if table == Table::Accounts && self.job.is_frozen { " (freeze)" } else { "" };
        self.sql.clear();
        self.data.clear();
        // Writing into a `String` cannot fail.
        let _ = write!(self.sql, "copy {} from stdin{how}", table.name());
        let rows = table.rows(self.job.scale).skip(self.row).take(COPY_ROWS);
        self.row += rows.len();
        rows.for_each(|row| row.write_copy(&mut self.data));
    }

    fn insert(&mut self, table: Table) {
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
    fn tell_rows(&self) {
        let step = self.job.steps.get(self.step);
        if let Some(Work::Load(table)) = step.and_then(|step| step.work.get(self.work))
            && self.row > 0
        {
            let total = table.count(self.job.scale);
            (self.job.tell)(Told::Loaded { table: *table, done: self.row as u64, total });
        }
    }
}

impl Program for Loader {
    fn start(&mut self, _ticket: &Ticket) {
        (self.step, self.work, self.row) = (0, 0, 0);
    }

    fn resume(&mut self, _event: Event<'_>) -> Step<'_> {
        self.next()
    }

    fn replied(&mut self, reply: Result<&mut Results, &Failure>) -> Step<'_> {
        match reply {
            Ok(_) => {
                self.tell_rows();
                self.next()
            }
            Err(failure) => {
                let start: String = self.sql.chars().take(200).collect();
                let words = message(failure, self.job.dialect, Some(&self.sql));
                let text = format!("query failed: {words}\ndetail: Query was: {start}");
                *self.job.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                Step::Quit { failed: Some(failure.class), all: true }
            }
        }
    }
}

#[cfg(test)]
mod tests;
