//! What a sysbench script is run with.

use super::options::{Compat, OptionValue};
use super::random::{Kind, Shape};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The options as the script sees them, all with underscores in their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOptions {
    /// `sysbench.opt`: general ones, those of the database and of the script.
    pub values: BTreeMap<String, OptionValue>,
    /// Given, but not declared by a script that declares none: scripts for 0.5 read them as
    /// globals.
    pub globals: BTreeMap<String, String>,
}

impl ScriptOptions {
    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name)? {
            OptionValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.values.get(name)? {
            OptionValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The shape of random numbers; what is not given is as sysbench has it.
    pub(super) fn shape(&self, compat: Compat) -> Shape {
        let plain = Shape::default();
        let kind = match compat {
            Compat::V1_0 => Kind::Special,
            Compat::V1_1 => Kind::Uniform,
        };
        Shape {
            kind: self.text("rand_type").and_then(Kind::named).unwrap_or(kind),
            iterations: self.number("rand_spec_iter").map_or(plain.iterations, |n| n as u32),
            special_percent: self.number("rand_spec_pct").unwrap_or(plain.special_percent),
            special_share: self.number("rand_spec_res").unwrap_or(plain.special_share),
            pareto_h: self.number("rand_pareto_h").unwrap_or(plain.pareto_h),
            zipfian_exponent: self.number("rand_zipfian_exp").unwrap_or(plain.zipfian_exponent),
        }
    }
}

/// The database that the script talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// MySQL or MariaDB.
    Mysql,
    /// PostgreSQL.
    Pgsql,
    /// SQLite, which scripts take for MySQL (see [`super::sqlite`]).
    Sqlite,
}

impl Driver {
    /// What a script is told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mysql | Self::Sqlite => "mysql",
            Self::Pgsql => "pgsql",
        }
    }
}

/// What the script is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `thread_init`, `event` again and again, `thread_done`.
    Run,
    /// One function, as each client's only transaction: a command of the script's, or a global
    /// function such as `prepare`, `cleanup`, `help`, `init` or `done`.
    Named {
        /// Its name.
        name: String,
        /// Whether every client runs it; else there is to be one client.
        is_parallel: bool,
    },
}

impl Command {
    /// `run`, or the name of the command.
    pub fn name(&self) -> &str {
        match self {
            Self::Run => "run",
            Self::Named { name, .. } => name,
        }
    }
}

/// Where everything goes that a script prints. It may come in pieces of lines, and from any thread.
#[derive(Clone)]
pub struct Output(Arc<dyn Fn(&str) + Send + Sync>);

impl Output {
    /// Hands texts to a function.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Hands it a text.
    pub fn write(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Output")
    }
}

/// All of it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The script: a file, or the name of one that comes with sysbench, such as `oltp_read_write`.
    pub path: String,
    /// What it is to do.
    pub command: Command,
    /// Its options.
    pub options: ScriptOptions,
    /// The database.
    pub driver: Driver,
    /// How many clients there are in all; report hooks see it as their number.
    pub threads: u32,
    /// Where all random numbers come from; 0: from the time.
    pub seed: u64,
    /// Whose behaviour the script sees.
    pub compat: Compat,
    /// Most bytes that the Lua state of a thread may take; 0: no limit.
    pub memory_limit: usize,
    /// `sysbench.cmdline.argv`, the program's name first.
    pub argv: Vec<String>,
    /// Where the scripts lie that come with sysbench.
    pub data_dir: PathBuf,
    /// Where everything goes that the script prints.
    pub output: Output,
}

impl Settings {
    /// What sysbench does without options; what is printed is dropped.
    pub fn new(path: impl Into<String>, driver: Driver) -> Self {
        Self {
            path: path.into(),
            command: Command::Run,
            options: ScriptOptions::default(),
            driver,
            threads: 1,
            seed: 0,
            compat: Compat::default(),
            memory_limit: 0,
            argv: vec!["sysbench".to_owned()],
            data_dir: PathBuf::from("/usr/share/sysbench"),
            output: Output::new(|_| {}),
        }
    }
}
