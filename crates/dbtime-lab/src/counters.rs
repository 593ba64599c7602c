//! Sampling status counters of a target, and what a run records of them.
//!
//! A [`CounterSampler`] reads the counters of a target. Those of a server come over a login: give
//! [`ServerSampler`] anything that executes a statement and returns its rows ([`CounterLogin`]). An
//! SQLite database has no server; its files hold what another process can know of it.
//! What was read is told apart and subtracted in `dbtime_observe::counters`.

use crate::error::LabError;
use dbtime_engines::databases::sqlite::beside;
use dbtime_engines::server::{AdminConnection, AdminSession, Server};
use dbtime_engines::socket::{ExchangeBound, QueryTable};
use dbtime_machine::now;
use dbtime_model::counters::{
    CounterDelta, CounterNote, CounterReport, CounterSample, CounterSource, SampleInstant,
};
use dbtime_model::plain_text::legible;
use dbtime_model::record::CountersInfo;
use dbtime_model::{MonoNanos, Nanos, Product};
use dbtime_observe::counters::{
    CounterQuery, ServerVersion, SqliteHeaders, add_rows, key_counters, per_transaction_of, queries,
};
pub use dbtime_observe::counters::{DifferenceError, FileError, difference, read};
use dbtime_observe::process::boot_id;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Asks a target for its counters, again and again.
pub trait CounterSampler {
    /// The counters now.
    fn sample(&mut self) -> Result<CounterSample, LabError>;
}

/// The sampler of an SQLite database that is there.
///
/// Errors: [`LabError::Target`] for one that cannot be read.
pub(crate) fn of_sqlite(path: &Path, url: &str) -> Result<Box<dyn CounterSampler>, LabError> {
    let mut sampler = SqliteSampler { path: path.to_owned(), url: url.to_owned() };
    // A file that is none is known at once.
    sampler.sample()?;
    Ok(Box::new(sampler))
}

/// The sampler of a server, over a connection of its own.
///
/// Errors: [`LabError::Target`] when it cannot be reached, or its version cannot be read.
pub(crate) fn of_server(server: &dyn Server) -> Result<Box<dyn CounterSampler>, LabError> {
    let admin = server.connect(&ExchangeBound::within(SAMPLE_TIMEOUT))?;
    let mut login = AdminLogin { admin, target: server.to_string() };
    let version = login.query(server.dialect().version_query())?;
    let version = version.value().unwrap_or_default().to_owned();
    let (product, url) = (server.wire_protocol().product(&version), Some(server.url()));
    let source = CounterSource { product, version: Some(version), url };
    Ok(Box::new(ServerSampler::new(login, source)?))
}

/// How long a server is waited for: one that does not answer must not hold a run up.
const SAMPLE_TIMEOUT: Nanos = Nanos::from_secs(3);

/// A connection for looking, as a login.
struct AdminLogin {
    admin: Box<dyn AdminConnection>,
    target: String,
}

impl CounterLogin for AdminLogin {
    fn query(&mut self, sql: &str) -> Result<QueryTable, LabError> {
        let mut session = AdminSession { target: &self.target, admin: &mut *self.admin };
        Ok(session.query(sql)?)
    }
}

/// A connection that somebody has made.
pub(crate) trait CounterLogin {
    /// Executes a statement in auto-commit and returns what it answers.
    ///
    /// Errors: [`LabError::Target`], also for a statement that the server refuses.
    fn query(&mut self, sql: &str) -> Result<QueryTable, LabError>;
}

/// Samples a server over a login.
#[derive(Debug)]
pub(crate) struct ServerSampler<L> {
    login: L,
    source: CounterSource,
    queries: Vec<CounterQuery>,
}

impl<L: CounterLogin> ServerSampler<L> {
    /// A sampler of the server that a login belongs to. `source.version` is what it says of itself.
    ///
    /// Errors: [`LabError::Target`] where that is no version.
    pub(crate) fn new(login: L, source: CounterSource) -> Result<Self, LabError> {
        let text = source.version.as_deref().unwrap_or_default();
        let version = ServerVersion::parse(text);
        let version = version.ok_or_else(|| unreadable_version(text, source.product))?;
        let queries = queries(source.product, version);
        Ok(Self { login, source, queries })
    }
}

/// What is said of a server that names such a version, or none.
pub(crate) fn unreadable_version(text: &str, product: Product) -> LabError {
    let (text, product) = (legible(text), product.title());
    LabError::Target(match text.is_empty() {
        true => format!(
            "the server named no version of {product}: is something else between, or in its place?"
        ),
        false => format!("`{text}` is no version of {product} that dbtime can read"),
    })
}

impl<L: CounterLogin> CounterSampler for ServerSampler<L> {
    fn sample(&mut self) -> Result<CounterSample, LabError> {
        let mut sample = CounterSample::new(self.source.clone());
        let begun = now();
        let (login, mut failed) = (&mut self.login, None);
        // What is optional and refused is not asked again: the server logs and counts each error.
        self.queries.retain(|query| {
            if failed.is_some() {
                return true;
            }
            match login.query(&query.sql) {
                Ok(QueryTable { columns, rows }) => {
                    add_rows(&mut sample, query.group, &columns, &rows)
                }
                Err(_) if query.is_optional => return false,
                Err(error) => failed = Some(error),
            }
            true
        });
        if let Some(error) = failed {
            return Err(error);
        }
        sample.taken = taken(begun, now());
        Ok(sample)
    }
}

/// Reads the headers of a database file, of its log and of the log's index.
///
/// Never within a process that has the database open itself: closing a file drops all locks of the
/// process on it (fcntl(2)).
#[derive(Debug)]
struct SqliteSampler {
    path: PathBuf,
    url: String,
}

/// How often the index of a log is read until it is not in the middle of a change.
const MAX_ATTEMPTS: u32 = 10;

impl CounterSampler for SqliteSampler {
    fn sample(&mut self) -> Result<CounterSample, LabError> {
        let (product, url) = (Product::Sqlite, Some(self.url.clone()));
        let mut sample = CounterSample::new(CounterSource { product, version: None, url });
        let begun = now();
        let file = head(&self.path, SqliteHeaders::FILE_BYTES).map_err(|error| {
            let hint =
                if error.kind() == io::ErrorKind::NotFound { ": name an existing one" } else { "" };
            LabError::Target(format!("cannot read {}: {error}{hint}", self.path.display()))
        })?;
        let (wal, shm) = (beside(&self.path, "-wal"), beside(&self.path, "-shm"));
        let wal_bytes = wal.metadata().map_or(0, |file| file.len());
        // Without a log, or one that nobody has open, there is nothing to read.
        let wal = head(&wal, SqliteHeaders::WAL_BYTES).unwrap_or_default();
        for attempt in 1..=MAX_ATTEMPTS {
            let shm = head(&shm, SqliteHeaders::SHM_BYTES).unwrap_or_default();
            let headers = SqliteHeaders { file: &file, wal: &wal, shm: &shm, wal_bytes };
            if attempt < MAX_ATTEMPTS && headers.is_amid_change() {
                continue;
            }
            if !headers.add_to(&mut sample) {
                let path = self.path.display();
                return Err(LabError::Target(format!("{path} is no SQLite database")));
            }
            break;
        }
        sample.taken = taken(begun, now());
        Ok(sample)
    }
}

/// The first bytes of a file, as many as it has.
fn head(path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(bytes);
    File::open(path)?.take(bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The middle between two instants, on all clocks.
fn taken(begun: MonoNanos, ended: MonoNanos) -> SampleInstant {
    let half = Nanos((ended - begun).0 / 2);
    let ago = jiff::SignedDuration::from_nanos(half.0.cast_signed());
    SampleInstant {
        at: jiff::Timestamp::now().checked_sub(ago).ok().map(|at| format!("{at:.6}")),
        mono_ns: Some((begun + half).0),
        boot: Some(boot_id()).filter(|id| !id.is_empty()),
    }
}

/// What a run records of two samples at the ends of its window, between which so many of its
/// transactions ended: what tells most, and all of it.
pub fn recorded(
    before: &CounterSample,
    after: &CounterSample,
    transactions: u64,
) -> Result<(CountersInfo, CounterReport), DifferenceError> {
    let report = difference(before, after)?;
    let report = per_transaction_of(report, transactions, "completed transactions of the run");
    let mut notes = report.notes.clone();
    notes.extend(reset(&report));
    let info = CountersInfo {
        interval_s: report.interval_s,
        transactions,
        key_counters: key_counters(&report),
        notes,
    };
    Ok((info, report))
}

/// That counters are not among the key counters though they may have counted, where nothing else
/// says so.
fn reset(report: &CounterReport) -> Option<String> {
    let is_reset = |delta: &&CounterDelta| delta.note == Some(CounterNote::Reset);
    let reset = report.counters.iter().filter(is_reset).count();
    (reset > 0 && report.notes.is_empty()).then(|| {
        format!(
            "counters left out because they fell or were set to zero between the samples: {reset}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::counters::CounterValue::{Float, Unsigned};
    use std::collections::VecDeque;

    /// A server that has these answers, in this order.
    struct CounterScript(VecDeque<(&'static str, Option<QueryTable>)>);

    impl CounterLogin for CounterScript {
        fn query(&mut self, sql: &str) -> Result<QueryTable, LabError> {
            let (expected, answer) = self.0.pop_front().expect("no further statement");
            assert!(sql.contains(expected), "{sql} has no {expected}");
            answer.ok_or_else(|| LabError::Target("does not exist".to_owned()))
        }
    }

    fn rows(columns: &[&str], cells: &[&str]) -> Option<QueryTable> {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Some(QueryTable {
            columns,
            rows: vec![cells.iter().map(|c| Some((*c).to_owned())).collect()],
        })
    }

    fn source(product: Product, version: &str) -> CounterSource {
        CounterSource { product, version: Some(version.to_owned()), url: None }
    }

    #[test]
    fn a_server_is_asked_and_what_it_lacks_is_asked_once() {
        let database = || rows(&["datname", "xact_commit", "blk_read_time"], &["app", "5", "1.5"]);
        let script = [
            ("pg_postmaster_start_time", rows(&["uptime"], &["12.5"])),
            ("pg_stat_database", database()),
            ("pg_stat_bgwriter", rows(&["buffers_alloc"], &["7"])),
            ("pg_stat_statements(false)", None),
            ("FROM pg_stat_statements WHERE", None),
            ("pg_postmaster_start_time", rows(&["uptime"], &["13.5"])),
            ("pg_stat_database", database()),
            ("pg_stat_bgwriter", None),
        ];
        let login = CounterScript(script.into());
        let source = source(Product::Postgres, "9.6.24");
        let mut sampler = ServerSampler::new(login, source).expect("a version");
        let sample = sampler.sample().expect("answered");
        assert_eq!(sample.uptime_s, Some(12.5));
        let app = "pg_stat_database (app)";
        assert_eq!(sample.get(app, "xact_commit"), Some(&Unsigned(5)));
        assert_eq!(sample.get(app, "blk_read_time"), Some(&Float(1.5)));
        assert!(sample.taken.at.is_some() && sample.taken.mono_ns.is_some());
        // What every server of that version has must be there.
        let error = sampler.sample().expect_err("refused").to_string();
        assert!(error.contains("does not exist"), "{error}");
    }

    #[test]
    fn a_server_without_version_is_refused() {
        let error = |version| {
            let login = CounterScript(VecDeque::new());
            let sampler = ServerSampler::new(login, source(Product::Mysql, version));
            sampler.err().expect("no version").to_string()
        };
        let other = error("devel");
        assert!(other.contains("`devel` is no version of MySQL"), "{other}");
        let none = error("");
        assert!(none.contains("the server named no version of MySQL"), "{none}");
    }

    #[test]
    fn a_run_records_what_tells_most_per_its_own_transactions() {
        let sample = |questions: u64, seconds: u64| {
            let mut sample = CounterSample::new(source(Product::Mariadb, "10.11.19"));
            let row = |name: &str, n: u64| vec![Some(name.to_owned()), Some(n.to_string())];
            let rows = [row("Questions", questions), row("Uptime", seconds)];
            add_rows(&mut sample, "global_status", &["Variable_name", "Value"], &rows);
            sample.taken = SampleInstant {
                mono_ns: Some(seconds * 1_000_000_000),
                boot: Some("x".to_owned()),
                at: None,
            };
            sample
        };
        let (info, report) = recorded(&sample(100, 50), &sample(700, 60), 150).expect("one server");
        assert_eq!((info.interval_s, info.transactions), (Some(10.0), 150));
        assert_eq!(info.key_counters.len(), 1);
        let counter = &info.key_counters[0];
        assert_eq!((counter.name.as_str(), counter.difference), ("Questions", 600.0));
        assert_eq!(counter.per_transaction, Some(4.0));
        assert_eq!(report.counters.len(), 2);
        let (idle, _) = recorded(&sample(100, 50), &sample(700, 60), 0).expect("one server");
        assert_eq!(idle.key_counters[0].per_transaction, None);
        // What was set to zero is no counter that counted nothing.
        assert!(info.notes.is_empty(), "{info:?}");
        let (reset, _) = recorded(&sample(700, 50), &sample(100, 60), 150).expect("one server");
        assert!(
            reset.key_counters.is_empty() && reset.notes[0].ends_with("samples: 1"),
            "{reset:?}"
        );
    }
}
