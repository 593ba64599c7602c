//! One worker's connection: executes statements, measures where their time went.
//!
//! A measured statement's wall time is that of SQLite's own code and of the calls it makes:
//!
//! ```text
//!   sent                                                        done
//!    │ SQLite's code │ VFS write │ … │ VFS sync │ SQLite's code │
//!    │  cpu  runq    │ io_write  │   │   sync   │  cpu  runq    │
//! ```
//!
//! Where the thread kept the CPU, all of it is CPU time. Where it lost it, the kernel tells how
//! long it waited for a CPU; in calls on files and in naps for a lock what is left was spent
//! blocked and goes to the part of that call. Blocked time in SQLite's own code (page faults) is
//! nobody's, and stays unexplained.

use super::adhoc::SqliteAdHocSession;
use super::context::ConnectionContext;
use super::database::{MeasureLevel, SqliteDatabase};
use super::error::SqliteError;
use super::failure::DatabaseFailure;
use super::ffi::{SqliteHandle, SqlitePrepared, c_path};
use super::figures::{CacheFigures, WorkerFigures};
use super::target::SqliteTarget;
use super::vfs;
use dbtime_load::program::SqlValue;
use dbtime_load::workload::placeholders;
use dbtime_machine::switch_clock::OffCpuTime;
use dbtime_machine::thread_clock::ThreadClock;
use dbtime_model::PartSet;
use dbtime_model::{MonoNanos, Part, Parts, StatementId};
use rusqlite::ffi;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// When a measured statement ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementTiming {
    /// When it began.
    pub sent: MonoNanos,
    /// When it ended.
    pub done: MonoNanos,
}

/// One worker's connection. It stays on the thread that opened it.
pub struct SqliteConnection {
    // Dropped before the connection they belong to.
    prepared: Vec<Option<SqlitePrepared>>,
    pub(super) adhoc: SqliteAdHocSession,
    pub(super) db: SqliteHandle,
    context: Rc<ConnectionContext>,
    sql: Arc<[String]>,
    first_row: Vec<SqlValue>,
    settings: BTreeMap<String, String>,
    cache_mark: [u64; 4],
    measure: MeasureLevel,
}

/// Parts that are measured from inside a connection with [`MeasureLevel::Budget`].
const MEASURED: PartSet = PartSet::of(&[
    Part::Cpu,
    Part::Runq,
    Part::Lock,
    Part::IoRead,
    Part::IoWrite,
    Part::Sync,
    Part::Other,
]);

/// [`MEASURED`] where the kernel keeps no run delay.
const MEASURED_WITHOUT_RUNQ: PartSet =
    PartSet::of(&[Part::Cpu, Part::Lock, Part::IoRead, Part::IoWrite, Part::Sync, Part::Other]);

/// What SQLite counts of the pages of a connection.
pub(super) const CACHE_COUNTERS: [i32; 4] = [
    ffi::SQLITE_DBSTATUS_CACHE_HIT,
    ffi::SQLITE_DBSTATUS_CACHE_MISS,
    ffi::SQLITE_DBSTATUS_CACHE_WRITE,
    ffi::SQLITE_DBSTATUS_CACHE_SPILL,
];

impl SqliteConnection {
    pub(super) fn open(database: &SqliteDatabase, worker: usize) -> Result<Self, SqliteError> {
        let target = &database.target;
        let registry = Arc::clone(&database.registry);
        let context = Rc::new(ConnectionContext::new(target.path.clone(), registry, worker));
        let db = open_file(target, ffi::SQLITE_OPEN_READWRITE, database.measure, &context)?;
        let settings = apply_settings(&db, target)?;
        Ok(Self {
            prepared: database.sql.iter().map(|_| None).collect(),
            adhoc: SqliteAdHocSession::default(),
            db,
            context,
            sql: Arc::clone(&database.sql),
            first_row: Vec::new(),
            settings,
            cache_mark: [0; 4],
            measure: database.measure,
        })
    }

    /// Executes a statement of the workload, preparing it on first use. Rows are read to the end;
    /// the first one is kept where it is wanted. Returns how many were returned, or changed where
    /// none are returned. A COMMIT that fails with SQLITE_BUSY leaves the transaction open: the
    /// caller rolls back.
    ///
    /// Nothing is allocated once the statement is prepared, except for a failure.
    #[inline]
    pub fn execute(
        &mut self,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
    ) -> Result<u64, DatabaseFailure> {
        self.enter(statement);
        let index = usize::from(statement.0);
        let prepared = match self.prepared.get_mut(index) {
            Some(Some(prepared)) => prepared,
            _ => prepare(&self.db, &self.sql, &mut self.prepared, index)?,
        };
        let first = if needs_row { Some(&mut self.first_row) } else { None };
        let ran = prepared.run(parameters, first);
        self.left();
        let rows = ran.map_err(|code| self.db.failure_of_run(code))?;
        self.count_rows(rows);
        Ok(rows)
    }

    /// Executes a statement and adds where its time went to `parts`: everything but `unexplained`,
    /// which the caller closes against `done − sent`, alone or for the whole transaction.
    pub fn execute_measured(
        &mut self,
        statement: StatementId,
        parameters: &[SqlValue],
        needs_row: bool,
        parts: &mut Parts,
    ) -> (Result<u64, DatabaseFailure>, StatementTiming) {
        self.measuring(parts, |connection| connection.execute(statement, parameters, needs_row))
    }

    /// Does something and adds where its time went to `parts`.
    #[inline]
    pub(super) fn measuring<T>(
        &mut self,
        parts: &mut Parts,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, StatementTiming) {
        let sent = self.context.begin_measuring();
        let result = work(self);
        let done = self.context.end_measuring(parts);
        (result, StatementTiming { sent, done })
    }

    /// Whether every statement can be measured without disturbing it, because the thread sees when
    /// it was switched out.
    pub(crate) fn sees_switches(&self) -> bool {
        self.context.sees_switches()
    }

    /// Brings the thread's accounts up to date before a statement, where that is due, and returns
    /// what was added.
    #[inline]
    pub(crate) fn settle(&self) -> Option<OffCpuTime> {
        self.context.settle()
    }

    /// A statement is next on this thread: whoever waits for a lock finds it.
    #[inline]
    pub(super) fn enter(&self, statement: StatementId) {
        let context = &*self.context;
        context.enter();
        context.statement.set(statement);
        context.registry.publish(context.worker, statement);
        context.statements.set(context.statements.get() + 1);
    }

    /// It is over: the worker is the client's.
    #[inline]
    pub(super) fn left(&self) {
        self.context.ended();
    }

    /// Counts rows that were returned or changed.
    #[inline]
    pub(super) fn count_rows(&self, rows: u64) {
        self.context.rows.set(self.context.rows.get() + rows);
    }

    /// The first row of the last statement that wanted one; empty when it had none.
    #[inline]
    pub fn first_row(&self) -> &[SqlValue] {
        &self.first_row
    }

    /// Prepares every statement, so that the first transactions need not. Stops at the first one
    /// SQLite refuses, which is also returned.
    pub fn prepare_all(&mut self) -> Result<(), (StatementId, DatabaseFailure)> {
        for index in 0..self.sql.len() {
            if self.prepared[index].is_none() {
                prepare(&self.db, &self.sql, &mut self.prepared, index)
                    .map_err(|failure| (StatementId(index as u16), failure))?;
            }
        }
        Ok(())
    }

    /// The thread's clock. Where switches cannot be seen, restart it before a row of measured
    /// statements.
    pub fn clock(&self) -> &ThreadClock {
        &self.context.clock
    }

    /// Which parts this connection measures.
    pub fn measured(&self) -> PartSet {
        match self.measure {
            MeasureLevel::Nothing => PartSet::default(),
            MeasureLevel::Budget => measured_parts(&self.context),
        }
    }

    /// The settings as SQLite has them, by name.
    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Starts the window: figures count from here.
    pub fn start_figures(&mut self) {
        self.context.clear_figures();
        self.cache_mark = self.cache_counters();
    }

    /// What was counted since [`SqliteConnection::start_figures`].
    pub fn figures(&self) -> WorkerFigures {
        let now = self.cache_counters();
        // SQLite counts in 32 bits.
        let since = |i: usize| u64::from((now[i] as u32).wrapping_sub(self.cache_mark[i] as u32));
        let context = &*self.context;
        WorkerFigures {
            statements: context.statements.get(),
            rows: context.rows.get(),
            cache: CacheFigures {
                hits: since(0),
                misses: since(1),
                writes: since(2),
                spills: since(3),
            },
            io: context.io(),
            naps: context.naps.get(),
            nap_ns: context.nap_ns.get(),
            waits: context.waits.borrow().clone(),
            file_waits: context.file_waits.borrow().clone(),
        }
    }

    fn cache_counters(&self) -> [u64; 4] {
        CACHE_COUNTERS.map(|counter| self.db.status(counter))
    }
}

/// Which parts a connection with [`MeasureLevel::Budget`] measures.
pub(super) fn measured_parts(context: &ConnectionContext) -> PartSet {
    match context.sees_switches() || context.clock.knows_runq() {
        true => MEASURED,
        false => MEASURED_WITHOUT_RUNQ,
    }
}

/// Prepares a statement into its place.
#[cold]
fn prepare<'a>(
    db: &SqliteHandle,
    sql: &[String],
    prepared: &'a mut [Option<SqlitePrepared>],
    index: usize,
) -> Result<&'a mut SqlitePrepared, DatabaseFailure> {
    let (Some(sql), Some(place)) = (sql.get(index), prepared.get_mut(index)) else {
        let text = format!("the workload has no statement {index}");
        let plain = DatabaseFailure::statement("SQLITE_MISUSE", "", text);
        return Err(DatabaseFailure { undone: db.is_autocommit(), ..plain });
    };
    let statement = db.prepare(sql)?;
    let counted = statement.parameters();
    let given = placeholders(sql);
    if counted != given {
        return Err(DatabaseFailure::parameters("SQLITE_RANGE", "", counted, given));
    }
    Ok(place.insert(statement))
}

/// Opens the target's file with the busy handler in place, before any setting is made.
pub(super) fn open_file(
    target: &SqliteTarget,
    flags: i32,
    measure: MeasureLevel,
    context: &Rc<ConnectionContext>,
) -> Result<SqliteHandle, SqliteError> {
    context.busy_timeout.set(target.settings.busy_timeout());
    context.is_wal.set(target.settings.get("journal_mode") == Some("wal"));
    let vfs = match measure {
        MeasureLevel::Budget => {
            vfs::register().map_err(SqliteError::Vfs)?;
            Some(vfs::NAME)
        }
        MeasureLevel::Nothing => None,
    };
    let what = format!("cannot open {}", target.path.display());
    let look = "PRAGMA schema_version";
    let refuse = |failure| SqliteError::of_statement(what.clone(), look, target, failure);
    let path = c_path(&target.path).ok_or_else(|| SqliteError::System {
        what: what.clone(),
        source: std::io::ErrorKind::InvalidFilename.into(),
    })?;
    let db = SqliteHandle::open(&path, flags, vfs, Rc::clone(context)).map_err(refuse)?;
    // Opening reads nothing yet; this finds a file that is no database, or is locked.
    db.query_text(look).map_err(refuse)?;
    Ok(db)
}

/// Makes the target's settings and reads all of them back.
pub(super) fn apply_settings(
    db: &SqliteHandle,
    target: &SqliteTarget,
) -> Result<BTreeMap<String, String>, SqliteError> {
    for (setting, requested) in target.settings.pragmas() {
        let name = setting.name;
        let what = format!("cannot set {name}");
        let refuse = |failure| SqliteError::of_statement(what.clone(), name, target, failure);
        db.query_text(&format!("PRAGMA {name}={requested}")).map_err(refuse)?;
        let answer = db.query_text(&format!("PRAGMA {name}")).map_err(refuse)?.unwrap_or_default();
        let got = setting.normalise(&answer);
        if got != requested {
            let requested = requested.to_owned();
            let why = why_refused(name);
            return Err(SqliteError::Setting { name, requested, got, why });
        }
    }
    read_settings(db, target)
}

fn why_refused(name: &str) -> &'static str {
    match name {
        "journal_mode" => {
            "WAL needs a file system with shared memory; a database that others use keeps its mode"
        }
        "page_size" => {
            "the page size is fixed once a database has tables; give it to `dbtime init`"
        }
        "mmap_size" => "the build or the system limits memory maps",
        _ => "the build or the database does not allow it",
    }
}

fn read_settings(
    db: &SqliteHandle,
    target: &SqliteTarget,
) -> Result<BTreeMap<String, String>, SqliteError> {
    let read = |setting: &'static super::settings::SqliteSetting| {
        let value = match setting.is_pragma {
            true => db.query_text(&format!("PRAGMA {}", setting.name))?.unwrap_or_default(),
            false => target.settings.get(setting.name).unwrap_or_default().to_owned(),
        };
        Ok((setting.name.to_owned(), setting.normalise(&value)))
    };
    let all: Result<_, DatabaseFailure> = super::settings::SETTINGS.iter().map(read).collect();
    let what = "cannot read the settings";
    all.map_err(|failure| SqliteError::of_statement(what, "PRAGMA", target, failure))
}
