//! The options that dbtime itself acts upon, with types, and within their limits.

use super::error::OptionError;
use super::value::{double, integer, list, size};
use super::{Compat, Values};

/// How the run goes.
#[derive(Clone, Debug, PartialEq)]
pub struct General {
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
    /// Unit: bytes.
    pub thread_stack_size: u64,
    /// Seconds that threads may take to get ready.
    pub thread_init_timeout: u32,
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
    /// For LuaJIT, as behind its `-j`.
    pub luajit_cmd: Option<String>,
    /// From 0 (what ends a run) to 5 (everything).
    pub verbosity: u32,
    /// The percentile that is reported, 1 to 100; 0: none.
    pub percentile: u32,
    /// Whether a histogram is printed.
    pub histogram: bool,
    /// Random numbers.
    pub random: Random,
}

impl General {
    /// Seconds after the start when the run is broken off.
    pub fn shutdown_s(&self) -> Option<u64> {
        let after = self.forced_shutdown.filter(|_| self.time > 0)?;
        Some(u64::from(self.time) + u64::from(after))
    }
}

/// How random numbers are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Random {
    /// The default distribution.
    pub kind: RandomType,
    /// Numbers that a gaussian or special one is the mean of.
    pub spec_iter: u32,
    /// Unit: percent.
    pub spec_pct: u32,
    /// Unit: percent.
    pub spec_res: u32,
    /// 0: from the clock.
    pub seed: i64,
    /// Pareto's h.
    pub pareto_h: f64,
    /// Zipf's exponent.
    pub zipfian_exp: f64,
}

/// Distributions of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomType {
    /// All alike.
    Uniform,
    /// A bell.
    Gaussian,
    /// A bell over everything, and most in a small part of the middle.
    Special,
    /// Pareto's.
    Pareto,
    /// Zipf's.
    Zipfian,
}

/// Which database, and how to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// `mysql`, `pgsql`, `sqlite`, or `help`.
    pub driver: String,
    /// Whether statements are prepared.
    pub is_prepared: bool,
    /// Say more about what the database is asked.
    pub debug: bool,
    /// MySQL and MariaDB.
    pub mysql: Mysql,
    /// PostgreSQL.
    pub pgsql: Pgsql,
    /// The file of an SQLite database.
    pub sqlite_db: String,
}

/// How to get to MySQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mysql {
    /// In turn for each connection.
    pub hosts: Vec<String>,
    /// In turn for each connection.
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
    /// How to compress it.
    pub compression_algorithms: String,
    /// Trace the protocol.
    pub debug: bool,
    /// Errors that do not end a run.
    pub ignored_errors: IgnoredErrors,
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

/// Whether a connection to MySQL is encrypted, and what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Never.
    Disabled,
    /// Where the server can.
    Preferred,
    /// Always.
    Required,
    /// And its certificate is from a known authority.
    VerifyCa,
    /// And names the server.
    VerifyIdentity,
}

/// How to get to PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pgsql {
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
pub struct Own {
    /// The database, in place of the driver and its options.
    pub target: Option<String>,
    /// Which sysbench the run is like.
    pub compat: Compat,
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

impl Values<'_> {
    pub(super) fn general(&self) -> Result<General, OptionError> {
        Ok(General {
            threads: self.whole("threads", "a whole number from 1 up, such as 8", 1)?,
            events: self.count("events")?,
            time: self.seconds("time")?,
            warmup_time: self.seconds("warmup-time")?,
            forced_shutdown: self.forced_shutdown()?,
            thread_stack_size: self.choice(
                "thread-stack-size",
                "a size above 0, such as 64K",
                |text| size(text).filter(|bytes| *bytes > 0),
            )?,
            thread_init_timeout: self.seconds("thread-init-timeout")?,
            rate: self.count("rate")?,
            is_steady: ["tx-rate", "tx-jitter"].iter().any(|n| self.given.contains_key(n)),
            tx_jitter: match self.given.get("tx-jitter") {
                Some(_) => Some(self.count("tx-jitter")?),
                None => None,
            },
            report_interval: self.seconds("report-interval")?,
            report_checkpoints: self.checkpoints()?,
            debug: self.flag("debug")?,
            validate: self.flag("validate")?,
            help: self.flag("help")?,
            version: self.flag("version")?,
            luajit_cmd: self.filled("luajit-cmd"),
            verbosity: self.choice("verbosity", "a whole number from 0 to 5", up_to(5))?,
            percentile: self.choice("percentile", "a whole number from 0 to 100", up_to(100))?,
            histogram: self.flag("histogram")?,
            random: self.random()?,
        })
    }

    fn random(&self) -> Result<Random, OptionError> {
        const NUMBER: &str = "a number from 0 up, such as 0.5";
        const PERCENT: &str = "a whole number from 0 to 100";
        const TYPES: &str = "uniform, gaussian, special, pareto or zipfian";
        let number = |text: &str| double(text).filter(|number| *number >= 0.0);
        Ok(Random {
            kind: self.choice("rand-type", TYPES, random_type)?,
            spec_iter: self.whole("rand-spec-iter", "a whole number from 1 up, such as 12", 1)?,
            spec_pct: self.choice("rand-spec-pct", PERCENT, up_to(100))?,
            spec_res: self.choice("rand-spec-res", PERCENT, up_to(100))?,
            seed: self.choice("rand-seed", "a whole number, such as 1", integer)?,
            pareto_h: self.choice("rand-pareto-h", NUMBER, number)?,
            zipfian_exp: self.choice("rand-zipfian-exp", NUMBER, number)?,
        })
    }

    pub(super) fn database(&self) -> Result<Database, OptionError> {
        let prepared = |text: &str| match text {
            "auto" => Some(true),
            "disable" => Some(false),
            _ => None,
        };
        let drivers = |text: &str| {
            matches!(text, "mysql" | "pgsql" | "sqlite" | "help").then(|| text.to_owned())
        };
        Ok(Database {
            driver: self.choice("db-driver", "mysql, pgsql, sqlite or help", drivers)?,
            is_prepared: self.choice("db-ps-mode", "auto or disable", prepared)?,
            debug: self.flag("db-debug")?,
            mysql: self.mysql()?,
            pgsql: self.pgsql()?,
            sqlite_db: self.string("sqlite-db"),
        })
    }

    fn mysql(&self) -> Result<Mysql, OptionError> {
        let ports = |text: &str| list(text).iter().map(|port| port.parse().ok()).collect();
        Ok(Mysql {
            hosts: list(&self.string("mysql-host")),
            ports: self.choice("mysql-port", "ports, such as 3306,3307", ports)?,
            sockets: list(&self.string("mysql-socket")),
            user: self.string("mysql-user"),
            password: self.string("mysql-password"),
            db: self.string("mysql-db"),
            ssl: self.ssl()?,
            ssl_key: self.string("mysql-ssl-key"),
            ssl_ca: self.string("mysql-ssl-ca"),
            ssl_cert: self.string("mysql-ssl-cert"),
            ssl_cipher: self.string("mysql-ssl-cipher"),
            compression: self.flag("mysql-compression")?,
            compression_algorithms: self.string("mysql-compression-algorithms"),
            debug: self.flag("mysql-debug")?,
            ignored_errors: self.choice(
                "mysql-ignore-errors",
                "numbers, such as 1213,1205, or all",
                ignored,
            )?,
            dry_run: self.flag("mysql-dry-run")?,
        })
    }

    pub(super) fn ssl(&self) -> Result<SslMode, OptionError> {
        const FORM: &str = "on, off, disabled, preferred, required, verify_ca or verify_identity";
        match self.text("mysql-ssl") {
            None => Ok(SslMode::Required),
            Some(_) => self.choice("mysql-ssl", FORM, ssl_mode),
        }
    }

    fn pgsql(&self) -> Result<Pgsql, OptionError> {
        Ok(Pgsql {
            host: self.string("pgsql-host"),
            port: self.choice("pgsql-port", "a port, such as 5432", |text| text.parse().ok())?,
            user: self.string("pgsql-user"),
            password: self.string("pgsql-password"),
            db: self.string("pgsql-db"),
            sslmode: self.choice(
                "pgsql-sslmode",
                "disable, allow, prefer, require, verify-ca or verify-full",
                sslmode,
            )?,
        })
    }

    pub(super) fn own(&self) -> Result<Own, OptionError> {
        let shards: u32 = self.whole("shards", "a whole number, such as 2", 0)?;
        Ok(Own {
            target: self.filled("target"),
            compat: self.compat,
            classic: self.flag("classic")?,
            lua_threads: self.flag("lua-threads")?,
            shards: (shards > 0).then_some(shards),
            out: self.filled("out"),
            json: self.flag("json")?,
        })
    }

    fn whole(&self, name: &str, form: &'static str, least: u32) -> Result<u32, OptionError> {
        let number = |text: &str| u32::try_from(integer(text)?).ok();
        self.choice(name, form, |text| number(text).filter(|number| *number >= least))
    }

    fn seconds(&self, name: &str) -> Result<u32, OptionError> {
        self.whole(name, "a whole number of seconds, such as 60", 0)
    }

    fn count(&self, name: &str) -> Result<u64, OptionError> {
        let number = |text: &str| u64::try_from(integer(text)?).ok();
        self.choice(name, "a whole number from 0 up, such as 100", number)
    }

    fn string(&self, name: &str) -> String {
        self.text(name).unwrap_or("").to_owned()
    }

    /// A text that says something.
    fn filled(&self, name: &str) -> Option<String> {
        Some(self.string(name)).filter(|text| !text.is_empty())
    }

    fn forced_shutdown(&self) -> Result<Option<u32>, OptionError> {
        self.choice("forced-shutdown", "a whole number of seconds, or off", |text| match text {
            "off" => Some(None),
            _ => u32::try_from(integer(text)?).ok().map(Some),
        })
    }

    fn checkpoints(&self) -> Result<Vec<u32>, OptionError> {
        let seconds = |text: &str| list(text).iter().map(|item| item.parse().ok()).collect();
        self.choice("report-checkpoints", "seconds, such as 10,20", seconds)
    }
}

fn up_to(most: u32) -> impl Fn(&str) -> Option<u32> {
    move |text| u32::try_from(integer(text)?).ok().filter(|number| *number <= most)
}

fn random_type(text: &str) -> Option<RandomType> {
    Some(match text {
        "uniform" => RandomType::Uniform,
        "gaussian" => RandomType::Gaussian,
        "special" => RandomType::Special,
        "pareto" => RandomType::Pareto,
        "zipfian" => RandomType::Zipfian,
        _ => return None,
    })
}

fn ignored(text: &str) -> Option<IgnoredErrors> {
    if text == "all" {
        return Some(IgnoredErrors::All);
    }
    list(text).iter().map(|code| code.parse().ok()).collect::<Option<_>>().map(IgnoredErrors::Codes)
}

fn ssl_mode(text: &str) -> Option<SslMode> {
    Some(match text.to_ascii_lowercase().as_str() {
        "off" | "false" | "0" | "disabled" => SslMode::Disabled,
        "preferred" => SslMode::Preferred,
        "on" | "true" | "1" | "required" => SslMode::Required,
        "verify_ca" => SslMode::VerifyCa,
        "verify_identity" => SslMode::VerifyIdentity,
        _ => return None,
    })
}

fn sslmode(text: &str) -> Option<String> {
    const MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
    MODES.contains(&text).then(|| text.to_owned())
}
