//! The options that dbtime itself acts upon, with types, and within their limits.

use super::CompatMode;
use dbtime_model::named_variants;

/// How the run goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneralOptions {
    /// Clients at work at the same time; at least one.
    pub threads: u32,
    /// End after that many events; 0: no limit.
    pub events: u64,
    /// End after that many seconds; 0: no limit.
    pub time: u32,
    /// Seconds of load before anything is counted.
    pub warmup_time: u32,
    /// Seconds after `time` when the run is broken off.
    pub forced_shutdown: Option<u32>,
    /// Events per second; 0: as fast as they go.
    pub rate: u64,
    /// With it events are steady and not random; 0: a tenth of the period. Unit: microseconds.
    pub tx_jitter: Option<u64>,
    /// Whether events come at a steady rate: asked for by its own names, `--tx-rate` and
    /// `--tx-jitter`. Else they come at random.
    pub is_steady: bool,
    /// Seconds between two lines of figures; 0: none.
    pub report_interval: u32,
    /// Seconds after the start when a full report is given.
    pub report_checkpoints: Vec<u32>,
    /// Say more about what is done.
    pub debug: bool,
    /// Check results where the script can.
    pub validate: bool,
    /// Show the help text.
    pub help: bool,
    /// Show the version.
    pub version: bool,
    /// From 0 (what ends a run) to 5 (everything); 5 with `debug`.
    pub verbosity: u32,
    /// The percentile that is reported, 1 to 100; 0: none.
    pub percentile: u32,
    /// Whether a histogram is printed.
    pub histogram: bool,
    /// Of random numbers; 0: from the clock.
    pub seed: i64,
}

impl GeneralOptions {
    /// Seconds after the start when the run is broken off.
    pub(crate) fn shutdown_s(&self) -> Option<u64> {
        let after = self.forced_shutdown.filter(|_| self.time > 0)?;
        Some(u64::from(self.time) + u64::from(after))
    }
}

named_variants! {
    /// Distributions of random numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RandomType {
        /// All alike.
        Uniform = "uniform",
        /// A bell.
        Gaussian = "gaussian",
        /// A bell over everything, and most in a small part of the middle.
        Special = "special",
        /// Pareto's.
        Pareto = "pareto",
        /// Zipf's.
        Zipfian = "zipfian",
    }
}

impl RandomType {
    /// By the name that `--rand-type` gives it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Which database, and how to get there. It holds passwords, and so cannot be shown as a whole.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseOptions {
    /// `mysql`, `pgsql`, `sqlite`, or `help`.
    pub driver: String,
    /// Say more about what the database is asked.
    pub debug: bool,
    /// MySQL and MariaDB.
    pub mysql: MysqlOptions,
    /// PostgreSQL.
    pub pgsql: PgsqlOptions,
    /// The file of an SQLite database.
    pub sqlite_db: String,
}

/// How to get to MySQL.
#[derive(Clone, PartialEq, Eq)]
pub struct MysqlOptions {
    /// In turn for each connection.
    pub hosts: Vec<String>,
    /// In turn for each connection; empty: 3306.
    pub ports: Vec<u16>,
    /// In place of host and port, in turn for each connection.
    pub sockets: Vec<String>,
    /// User.
    pub user: String,
    /// Password.
    pub password: String,
    /// Database.
    pub db: String,
    /// TLS.
    pub ssl: SslMode,
    /// File of the client's key.
    pub ssl_key: String,
    /// File of the authority's certificate.
    pub ssl_ca: String,
    /// File of the client's certificate.
    pub ssl_cert: String,
    /// Ciphers; empty: the usual.
    pub ssl_cipher: String,
    /// Compress the protocol.
    pub compression: bool,
    /// Trace the protocol.
    pub debug: bool,
    /// Send nothing, and take every statement for done.
    pub dry_run: bool,
}

/// Errors that do not end a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoredErrors {
    /// None of them does.
    All,
    /// Those with these numbers.
    Codes(Vec<u32>),
}

named_variants! {
    /// Whether a connection to MySQL is encrypted, and what is checked. The names are those that
    /// MySQL's own programs have.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SslMode {
        /// Never.
        Disabled = "disabled",
        /// Where the server can.
        Preferred = "preferred",
        /// Always.
        Required = "required",
        /// And its certificate is from a known authority.
        VerifyCa = "verify_ca",
        /// And names the server.
        VerifyIdentity = "verify_identity",
    }
}

/// How to get to PostgreSQL.
#[derive(Clone, PartialEq, Eq)]
pub struct PgsqlOptions {
    /// Server, or the folder of its socket.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// User.
    pub user: String,
    /// Password.
    pub password: String,
    /// Database.
    pub db: String,
    /// As libpq names it.
    pub sslmode: String,
}

/// What sysbench does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SysbenchExtras {
    /// The database, in place of the driver and its options.
    pub target: Option<String>,
    /// Which sysbench the run is like.
    pub compat: CompatMode,
    /// Measure and report as sysbench does, and no more.
    pub classic: bool,
    /// A system's thread for each client.
    pub lua_threads: bool,
    /// Threads of the load engine.
    pub shards: Option<u32>,
    /// The folder for the run's record.
    pub out: Option<String>,
    /// Print one JSON document.
    pub json: bool,
}
