//! Creating, loading and checking a workload's tables on a server.
//!
//! A row in the table `dbtime_load` says that a load has begun, and is completed last: without that
//! the data does not count.

use super::admin_session::AdminSession;
use super::dialect::ServerDialect;
use super::engine::Server;
use super::error::ServerError;
use crate::load_marker::{LoadMarker, LoadedContent, ReplaceScope};
use crate::socket::{ExchangeBound, Protocol, QueryTable as Rows, SocketClient};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::workload::{TableData, Workload, WorkloadTable};
use dbtime_model::MonoNanos;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A connection that blocks its caller, for whatever is not the load. No exchange over it goes
/// beyond the [`ExchangeBound`] that it was made with.
pub trait AdminConnection {
    /// Executes a statement; returns its rows, and how many it returned or changed.
    ///
    /// # Errors
    /// What the server says, when the connection is lost, and when the bound ends it.
    fn query(&mut self, sql: &str) -> Result<(Rows, u64), Box<DatabaseFailure>>;

    /// Executes a statement that builds or moves data: it may take as long as it takes. Returns how
    /// many rows it changed.
    ///
    /// # Errors
    /// As [`Self::query`].
    fn build(&mut self, sql: &str) -> Result<u64, Box<DatabaseFailure>>;

    /// The number that the connection was given when it was let in; `None`: none.
    fn number(&self) -> Option<u32> {
        None
    }

    /// What the connection is encrypted by: `off`, or the version of TLS and the cipher suite.
    fn encryption(&self) -> String;

    /// Sends a statement and does not wait; nothing else may be under way.
    fn send(&mut self, sql: &str);

    /// The answer to what was sent, waited for until then: where that is over, only looked for.
    ///
    /// # Errors
    /// As [`Self::query`].
    fn answer_by(&mut self, until: MonoNanos) -> Option<Result<(Rows, u64), Box<DatabaseFailure>>>;

    /// Loads rows of a table the fastest ordinary way, as long as it takes. `fill` replaces its
    /// buffer by the values of a row, for the columns that the database does not assign; `progress`
    /// hears how many more rows have been loaded and says whether to go on.
    ///
    /// # Errors
    /// As [`Self::query`].
    fn load_rows(
        &mut self,
        table: &WorkloadTable,
        rows: Range<u64>,
        fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Box<DatabaseFailure>>;
}

/// A product's way to take many rows.
pub(crate) trait RowLoader: Protocol {
    /// As [`AdminConnection::load_rows`].
    fn load_rows(
        client: &mut SocketClient<Self>,
        table: &WorkloadTable,
        rows: Range<u64>,
        fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Box<DatabaseFailure>>;
}

impl<P: RowLoader> AdminConnection for SocketClient<P> {
    fn query(&mut self, sql: &str) -> Result<(Rows, u64), Box<DatabaseFailure>> {
        Self::query(self, sql)
    }

    fn build(&mut self, sql: &str) -> Result<u64, Box<DatabaseFailure>> {
        Self::build(self, sql)
    }

    fn number(&self) -> Option<u32> {
        self.protocol().number()
    }

    fn encryption(&self) -> String {
        Self::encryption(self)
    }

    fn send(&mut self, sql: &str) {
        Self::send(self, sql);
    }

    fn answer_by(&mut self, until: MonoNanos) -> Option<Result<(Rows, u64), Box<DatabaseFailure>>> {
        Self::answer_by(self, until)
    }

    fn load_rows(
        &mut self,
        table: &WorkloadTable,
        rows: Range<u64>,
        fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Box<DatabaseFailure>> {
        P::load_rows(self, table, rows, fill, progress)
    }
}

/// Rows that one connection loads at a time.
const ROWS_PER_CALL: u64 = 25_000;

/// Loads a workload: [`TableLoader::load`].
pub struct TableLoader<'a> {
    /// As `--target` takes it.
    pub target: &'a str,
    /// How the server writes SQL.
    pub dialect: &'a dyn ServerDialect,
    /// The server.
    pub server: &'a dyn Server,
    /// How many connections load at once.
    pub connections: usize,
    /// What a load may replace.
    pub replacing: ReplaceScope,
    /// How long the server is waited for.
    pub bound: ExchangeBound,
}

/// What a load is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadStep<'a> {
    /// Rows are being loaded.
    Rows {
        /// Into which table.
        table: &'a str,
        /// Rows done.
        done: u64,
        /// Rows in all.
        total: u64,
    },
    /// The server executes a statement that may take as long as it takes: its first words.
    Statement(&'a str),
}

/// Who hears what a load is at, and says whether it goes on.
pub(crate) type LoadListener<'a> = &'a (dyn Fn(LoadStep<'_>) -> bool + Sync);

/// Executes a statement that may take long, after saying so. What `progress` wants then is heard by
/// the bound of the connection.
fn build(
    session: &mut AdminSession<'_>,
    sql: &str,
    progress: LoadListener<'_>,
) -> Result<(), ServerError> {
    let words = sql.split('(').next().unwrap_or(sql).trim_end();
    progress(LoadStep::Statement(words));
    session.build(sql)
}

/// What a load has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedRows {
    /// Rows of all tables.
    pub rows: u64,
    /// What they stand in the place of, in words; `None`: of nothing.
    pub replaced: Option<String>,
}

impl TableLoader<'_> {
    /// Creates the tables of a workload anew, fills them, creates their indexes, and marks them as
    /// whole. `progress` hears of each step, and says whether to go on. Returns what it has done,
    /// or `None` when it was told to stop.
    ///
    /// # Errors
    /// [`crate::load_marker::LoadError`] for what it may not replace; else what the server refuses.
    pub fn load(
        &self,
        workload: &Workload,
        marker: &LoadMarker,
        progress: LoadListener<'_>,
    ) -> Result<Option<LoadedRows>, ServerError> {
        let mut admin = self.server.connect(&self.bound)?;
        let session = &mut self.session(&mut *admin);
        let replaced = self.begin(session, &workload.tables, marker, progress)?;
        for table in &workload.tables {
            build(session, &self.dialect.create_table(table), progress)?;
        }
        let mut rows = 0;
        for (index, table) in workload.tables.iter().enumerate() {
            let data = workload.table_data(index, marker.scale, marker.seed);
            if !self.fill(table, &data, progress)? {
                return Ok(None);
            }
            rows += data.row_count();
        }
        for table in &workload.tables {
            let mut statements = self.dialect.create_indexes(table);
            statements.push(self.dialect.analyze(&self.dialect.quoted(&table.name)));
            for sql in statements {
                build(session, &sql, progress)?;
            }
        }
        self.write_marker(session, marker)?;
        Ok(Some(LoadedRows { rows, replaced }))
    }

    fn begin(
        &self,
        session: &mut AdminSession<'_>,
        tables: &[WorkloadTable],
        marker: &LoadMarker,
        progress: LoadListener<'_>,
    ) -> Result<Option<String>, ServerError> {
        let dialect = self.dialect;
        let found = self.look(session, &marker.workload, tables)?;
        let place = self.target.to_owned();
        let replaced = found.replaced(place, "database", marker, self.replacing)?;
        let name = dialect.text(&marker.workload);
        if !found.has_loads {
            let options = dialect.table_options();
            session.build(&format!(
                "CREATE TABLE dbtime_load (workload VARCHAR(200) NOT NULL PRIMARY KEY, \
                 scale BIGINT NOT NULL, seed BIGINT NOT NULL, loaded_at VARCHAR(40) NOT NULL, \
                 version VARCHAR(40) NOT NULL){options}"
            ))?;
        }
        for other in found.forgotten(self.replacing) {
            let other = dialect.text(other);
            session.build(&format!("DELETE FROM dbtime_load WHERE workload = {other}"))?;
        }
        session.build(&format!("DELETE FROM dbtime_load WHERE workload = {name}"))?;
        session.build(&format!("INSERT INTO dbtime_load VALUES ({name}, 0, 0, '', '')"))?;
        for table in tables {
            let name = dialect.quoted(&table.name);
            build(session, &format!("DROP TABLE IF EXISTS {name}"), progress)?;
        }
        Ok(replaced)
    }

    fn write_marker(
        &self,
        session: &mut AdminSession<'_>,
        marker: &LoadMarker,
    ) -> Result<(), ServerError> {
        let LoadMarker { workload, scale, seed, version } = marker;
        let workload = self.dialect.text(workload);
        let version = self.dialect.text(version);
        let seed = seed.cast_signed();
        let sql = format!(
            "UPDATE dbtime_load SET scale = {scale}, seed = {seed}, version = {version}, \
             loaded_at = CURRENT_TIMESTAMP WHERE workload = {workload}"
        );
        session.build(&sql)
    }

    /// Fills a table over several connections. Returns whether it was not told to stop.
    fn fill(
        &self,
        table: &WorkloadTable,
        data: &TableData,
        progress: LoadListener<'_>,
    ) -> Result<bool, ServerError> {
        let total = data.row_count();
        let next = AtomicU64::new(0);
        let done = AtomicU64::new(0);
        let goes_on = AtomicBool::new(true);
        let failed = Mutex::new(None);
        let threads = self.connections.min(total.div_ceil(ROWS_PER_CALL) as usize).max(1);
        let work = || -> Result<(), ServerError> {
            let mut admin = self.server.connect(&self.bound)?;
            let session = self.session(&mut *admin);
            let mut fill = |row: u64, values: &mut Vec<SqlValue>| data.fill_row(row, values);
            while goes_on.load(Ordering::Relaxed) {
                let from = next.fetch_add(ROWS_PER_CALL, Ordering::Relaxed);
                if from >= total {
                    break;
                }
                let part = from..total.min(from + ROWS_PER_CALL);
                let mut report = |more: u64| {
                    let done = done.fetch_add(more, Ordering::Relaxed) + more;
                    let continues = progress(LoadStep::Rows { table: &table.name, done, total });
                    goes_on.fetch_and(continues, Ordering::Relaxed) && continues
                };
                let loaded = session.admin.load_rows(table, part, &mut fill, &mut report);
                loaded.map_err(|failure| session.not_loaded(table, failure))?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    if let Err(error) = work() {
                        goes_on.store(false, Ordering::Relaxed);
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                });
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(goes_on.into_inner()),
        }
    }

    fn session<'a>(&'a self, admin: &'a mut dyn AdminConnection) -> AdminSession<'a> {
        AdminSession { target: self.target, admin }
    }

    fn has_table(&self, session: &mut AdminSession<'_>, name: &str) -> Result<bool, ServerError> {
        let sql = format!("SELECT {}", self.dialect.count_tables(&self.dialect.text(name)));
        Ok(session.query(&sql)?.value() != Some("0"))
    }

    /// Looks whether the workload's data is there, whole and at the wanted scale.
    ///
    /// # Errors
    /// Each names the command that helps.
    pub fn check(
        &self,
        admin: &mut dyn AdminConnection,
        workload: &str,
        tables: &[WorkloadTable],
        scale: Option<u64>,
    ) -> Result<LoadMarker, ServerError> {
        let session = &mut self.session(admin);
        Ok(self.look(session, workload, tables)?.check(self.target.to_owned(), scale)?)
    }

    /// What is there of a workload.
    fn look<'a>(
        &self,
        session: &mut AdminSession<'_>,
        workload: &'a str,
        tables: &'a [WorkloadTable],
    ) -> Result<LoadedContent<'a>, ServerError> {
        let mut found =
            LoadedContent::look(workload, tables, |name| self.has_table(session, name))?;
        if !found.has_loads {
            return Ok(found);
        }
        let sql = "SELECT workload, scale, seed, version, loaded_at FROM dbtime_load";
        for row in session.query(sql)?.rows {
            let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
            let number = |at: usize| text(at).parse::<i64>().unwrap_or_default().cast_unsigned();
            if text(4).is_empty() {
                found.all_begun.push(text(0));
                continue;
            }
            if text(0) == workload {
                let scale = number(1);
                let seed = number(2);
                let workload = text(0);
                let version = text(3);
                found.finished = Some(LoadMarker { workload, scale, seed, version });
            }
            found.all_finished.push(text(0));
        }
        Ok(found)
    }
}
