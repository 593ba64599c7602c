//! How the options that dbtime acts upon are read, with their limits.

use super::OptionValues;
use super::error::OptionError;
use super::typed::{
    DatabaseOptions, GeneralOptions, MysqlOptions, PgsqlOptions, RandomType, SslMode,
    SysbenchExtras,
};
use super::value::{double, integer, list, size};

impl OptionValues<'_> {
    pub(super) fn general(&self) -> Result<GeneralOptions, OptionError> {
        Ok(GeneralOptions {
            threads: self.whole("threads", "a whole number from 1 up, such as 8", 1)?,
            events: self.count("events")?,
            time: self.seconds("time")?,
            warmup_time: self.seconds("warmup-time")?,
            forced_shutdown: self.forced_shutdown()?,
            rate: {
                // Checked in their place, though nothing comes of them.
                self.choice("thread-stack-size", "a size above 0, such as 64K", |text| {
                    size(text).filter(|bytes| *bytes > 0)
                })?;
                self.seconds("thread-init-timeout")?;
                self.count("rate")?
            },
            is_steady: ["tx-rate", "tx-jitter"].iter().any(|n| self.assigned.contains_key(n)),
            tx_jitter: match self.assigned.get("tx-jitter") {
                Some(_) => Some(self.count("tx-jitter")?),
                None => None,
            },
            report_interval: self.seconds("report-interval")?,
            report_checkpoints: self.checkpoints()?,
            debug: self.flag("debug")?,
            validate: self.flag("validate")?,
            help: self.flag("help")?,
            version: self.flag("version")?,
            verbosity: self.verbosity()?,
            percentile: self.choice("percentile", "a whole number from 0 to 100", up_to(100))?,
            histogram: self.flag("histogram")?,
            seed: self.seed()?,
        })
    }

    /// Whoever debugs hears everything.
    pub(super) fn verbosity(&self) -> Result<u32, OptionError> {
        let verbosity = self.choice("verbosity", "a whole number from 0 to 5", up_to(5))?;
        Ok(if self.flag("debug")? { 5 } else { verbosity })
    }

    /// What else is said of random numbers is checked here, and read from what scripts see.
    fn seed(&self) -> Result<i64, OptionError> {
        const NUMBER: &str = "a number from 0 up, such as 0.5";
        const PERCENT: &str = "a whole number from 0 to 100";
        const TYPES: &str = "uniform, gaussian, special, pareto or zipfian";
        let number = |text: &str| double(text).filter(|number| *number >= 0.0);
        self.choice("rand-type", TYPES, RandomType::named)?;
        self.whole("rand-spec-iter", "a whole number from 1 up, such as 12", 1)?;
        self.choice("rand-spec-pct", PERCENT, up_to(100))?;
        self.choice("rand-spec-res", PERCENT, up_to(100))?;
        let seed = self.choice("rand-seed", "a whole number, such as 1", integer)?;
        self.choice("rand-pareto-h", NUMBER, number)?;
        self.choice("rand-zipfian-exp", NUMBER, number)?;
        Ok(seed)
    }

    pub(super) fn database(&self) -> Result<DatabaseOptions, OptionError> {
        let prepared = |text: &str| matches!(text, "auto" | "disable").then_some(());
        let drivers = |text: &str| {
            matches!(text, "mysql" | "pgsql" | "sqlite" | "help").then(|| text.to_owned())
        };
        Ok(DatabaseOptions {
            driver: self.choice("db-driver", "mysql, pgsql, sqlite or help", drivers)?,
            debug: {
                self.choice("db-ps-mode", "auto or disable", prepared)?;
                self.flag("db-debug")?
            },
            mysql: self.mysql()?,
            pgsql: self.pgsql()?,
            sqlite_db: self.string("sqlite-db"),
        })
    }

    fn mysql(&self) -> Result<MysqlOptions, OptionError> {
        let ports = |text: &str| list(text).iter().map(|port| port.parse().ok()).collect();
        // Checked here; what a script ignores is read from its own options when it runs.
        self.choice("mysql-ignore-errors", "numbers, such as 1213,1205, or all", ignorable)?;
        Ok(MysqlOptions {
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
            debug: self.flag("mysql-debug")?,
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

    fn pgsql(&self) -> Result<PgsqlOptions, OptionError> {
        Ok(PgsqlOptions {
            host: self.string("pgsql-host"),
            port: self.choice("pgsql-port", "a port, such as 5432", |text| match text {
                "" => Some(5432),
                _ => text.parse().ok(),
            })?,
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

    pub(super) fn own(&self) -> Result<SysbenchExtras, OptionError> {
        let shards: u32 = self.whole("shards", "a whole number, such as 2", 0)?;
        Ok(SysbenchExtras {
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

/// Whether these are errors that can be ignored.
fn ignorable(text: &str) -> Option<()> {
    let codes = list(text);
    let is_code = |code: &String| code.parse::<u32>().is_ok();
    (codes.iter().any(|code| code == "all") || codes.iter().all(is_code)).then_some(())
}

fn ssl_mode(text: &str) -> Option<SslMode> {
    match text.to_ascii_lowercase().as_str() {
        "off" | "false" | "0" => Some(SslMode::Disabled),
        "on" | "true" | "1" => Some(SslMode::Required),
        name => SslMode::ALL.into_iter().find(|mode| mode.name() == name),
    }
}

fn sslmode(text: &str) -> Option<String> {
    const MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
    MODES.contains(&text).then(|| text.to_owned())
}
