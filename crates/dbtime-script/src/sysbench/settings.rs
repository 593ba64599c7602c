//! What a sysbench script is run with.

use super::options::{CompatMode, OptionValue, RandomType};
use super::output::ScriptOutput;
use super::random::RandomShape;
use crate::shared_call::SharedCall;
use dbtime_model::SqlDialect;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The options as the script sees them, all with underscores in their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptOptions {
    /// `sysbench.opt`: general ones, those of the database and of the script.
    pub values: BTreeMap<String, OptionValue>,
    /// Whether the script declares no options: it finds all of them as globals too, as scripts for
    /// 0.5 do.
    pub are_globals: bool,
}

impl ScriptOptions {
    /// A text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name)? {
            OptionValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        match self.values.get(name)? {
            OptionValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The shape of random numbers; what is not given is as sysbench has it.
    pub(super) fn shape(&self, compat: CompatMode) -> RandomShape {
        let plain = RandomShape::default();
        let kind = match compat {
            CompatMode::V1_0 => RandomType::Special,
            CompatMode::V1_1 => RandomType::Uniform,
        };
        RandomShape {
            kind: self.text("rand_type").and_then(RandomType::named).unwrap_or(kind),
            iterations: self.number("rand_spec_iter").map_or(plain.iterations, |n| n as u32),
            special_percent: self.number("rand_spec_pct").unwrap_or(plain.special_percent),
            special_share: self.number("rand_spec_res").unwrap_or(plain.special_share),
            pareto_h: self.number("rand_pareto_h").unwrap_or(plain.pareto_h),
            zipfian_exponent: self.number("rand_zipfian_exp").unwrap_or(plain.zipfian_exponent),
        }
    }
}

/// What a script is told of its driver. It takes SQLite for MySQL (see [`super::sqlite`]).
pub fn driver_name(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Mysql | SqlDialect::Sqlite => "mysql",
        SqlDialect::Postgres => "pgsql",
    }
}

/// What the script is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SysbenchCommand {
    /// `thread_init`, `event` again and again, `thread_done`.
    Run,
    /// One function, as each client's only transaction: a command of the script's, or a global
    /// function such as `prepare`, `cleanup`, `help`, `init` or `done`.
    Named {
        /// As the command line has it.
        name: String,
        /// Whether every client runs it; else there is to be one client.
        is_parallel: bool,
    },
}

impl SysbenchCommand {
    /// `run`, or the name of the command.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Run => "run",
            Self::Named { name, .. } => name,
        }
    }
}

/// What `os.exit()` does with its status, where a script may end the process. It is not to return.
pub type SysbenchExit = SharedCall<i32>;

/// All of it.
#[derive(Clone, Debug)]
pub struct SysbenchSettings {
    /// The script: a file, or the name of one that comes with sysbench, such as `oltp_read_write`.
    pub path: String,
    /// The script itself, where it is in no file.
    pub source: Option<Arc<str>>,
    /// What it is to do.
    pub command: SysbenchCommand,
    /// Its options.
    pub options: ScriptOptions,
    /// The database.
    pub driver: SqlDialect,
    /// The server as messages name it, such as `socket '/run/s'`; empty where nothing is known.
    pub server: String,
    /// The target without its password, or names of user and database: what messages may name.
    /// Empty where nothing is known.
    pub target: String,
    /// Why there is no way to the server, as soon as that is known: no connection is tried then.
    pub unreachable: Arc<OnceLock<String>>,
    /// How many clients there are in all; report hooks see it as their number.
    pub threads: u32,
    /// Where all random numbers come from; 0: from the time.
    pub seed: u64,
    /// Whose behaviour the script sees.
    pub compat: CompatMode,
    /// Most bytes that the Lua state of a thread may take; 0: no limit.
    pub memory_limit: usize,
    /// `sysbench.cmdline.argv`, the program's name first.
    pub argv: Vec<String>,
    /// Where the scripts lie that come with sysbench.
    pub data_dir: PathBuf,
    /// Where everything goes that the script prints.
    pub output: ScriptOutput,
    /// How a script ends the process; `None`: it is an error there.
    pub exit: Option<SysbenchExit>,
}

impl SysbenchSettings {
    /// The script's name in messages, without its folder.
    pub(crate) fn name(&self) -> &str {
        if self.source.is_some() {
            return "<stdin>";
        }
        let name = Path::new(&self.path).file_name().and_then(|name| name.to_str());
        name.unwrap_or(&self.path)
    }

    /// What sysbench does without options; what is printed is dropped.
    pub fn new(path: impl Into<String>, driver: SqlDialect) -> Self {
        Self {
            path: path.into(),
            source: None,
            command: SysbenchCommand::Run,
            options: ScriptOptions::default(),
            driver,
            server: String::new(),
            target: String::new(),
            unreachable: Arc::default(),
            threads: 1,
            seed: 0,
            compat: CompatMode::default(),
            memory_limit: 0,
            argv: vec!["sysbench".to_owned()],
            data_dir: PathBuf::from("/usr/share/sysbench"),
            output: ScriptOutput::new(|_| {}),
            exit: None,
        }
    }
}
