//! pgbench's command line: what was asked, with its types, and pgbench's errors for what does not
//! go together.
//!
//! ```text
//!   argv ──► switches (as getopt reads them) ──► RequestedOptions ──► PgbenchCommand
//! ```
//!
//! Options are those of pgbench 15, and dbtime's own. Nothing here reads the environment, opens a
//! file or prints.

mod check;
mod error;
mod help;
mod number;
mod requested;
mod script;
mod switches;

#[cfg(test)]
mod tests;

use super::builtin::BuiltinScript;
use super::dialect::QueryMode;
use super::init::PartitionScheme;
pub use error::{UsageError, list_builtins};
pub use help::HELP;
pub use script::{ScriptChoice, ScriptSource};

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum PgbenchCommand {
    /// The help text: [`HELP`].
    Help,
    /// The version.
    Version,
    /// The list of built-in scripts: [`list_builtins`].
    ListBuiltins,
    /// The text of a built-in script.
    ShowScript(BuiltinScript),
    /// Tables and their data.
    Initialize(Box<InitOptions>),
    /// A run.
    Benchmark(Box<BenchmarkOptions>),
}

/// Reads a command line, after `pgbench`.
///
/// # Errors
/// What is wrong with it, in pgbench's words.
pub fn read<T: Into<String>>(
    arguments: impl IntoIterator<Item = T>,
) -> Result<PgbenchCommand, UsageError> {
    let mut line = switches::CommandLine::new(arguments.into_iter().map(Into::into));
    let mut requested = requested::RequestedOptions::default();
    while let Some((name, value)) = line.next()? {
        if let Some(command) = requested.take(name, value)? {
            return Ok(command);
        }
    }
    requested.finish(line.operands)
}

/// What holds for tables and runs alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonOptions {
    /// Where the server is. What is not given is in the environment.
    pub connection: ConnectionOptions,
    /// Say more about what is done.
    pub debug: bool,
    /// What pgbench does not have.
    pub own: PgbenchExtras,
}

/// Where the server is, as far as the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionOptions {
    /// Host name, or the folder of a socket.
    pub host: Option<String>,
    /// Port, as it was written.
    pub port: Option<String>,
    /// User.
    pub user: Option<String>,
    /// The database, or a whole connection string.
    pub dbname: Option<String>,
}

/// What pgbench does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgbenchExtras {
    /// The database as dbtime names it, in place of the connection options.
    pub target: Option<String>,
    /// Let scripts run commands.
    pub allow_shell: bool,
    /// Measure and report as pgbench does, and no more.
    pub classic: bool,
    /// The folder for the run's record.
    pub out: Option<String>,
    /// Print one JSON document.
    pub json: bool,
    /// Threads of the load engine.
    pub shards: Option<u32>,
}

/// How tables are made: `-i`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitOptions {
    /// What holds for runs, too.
    pub common: CommonOptions,
    /// The letters of the steps in their order, with `-n` and `--foreign-keys` applied.
    pub steps: String,
    /// How many branches.
    pub scale: u32,
    /// Share of a page that is filled. Unit: percent.
    pub fillfactor: Option<u32>,
    /// Whether progress is told every five seconds only.
    pub is_quiet: bool,
    /// Where tables go.
    pub tablespace: Option<String>,
    /// Where indexes go.
    pub index_tablespace: Option<String>,
    /// Whether tables are left out of the write-ahead log.
    pub is_unlogged: bool,
    /// How the accounts are cut up.
    pub partitions: Option<PartitionScheme>,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BenchmarkOptions {
    /// What holds for tables, too.
    pub common: CommonOptions,
    /// The scripts to choose from; at least one, and one weight at least is not zero.
    pub scripts: Vec<ScriptChoice>,
    /// Clients at work at the same time.
    pub clients: u32,
    /// Threads; never more than clients.
    pub jobs: u32,
    /// When it ends.
    pub length: RunLength,
    /// How statements are sent.
    pub protocol: QueryMode,
    /// Whether every transaction makes a connection of its own.
    pub is_reconnecting: bool,
    /// Variables: names and values.
    pub defines: Vec<(String, String)>,
    /// The scaling factor, where the tables do not say.
    pub scale: Option<u32>,
    /// What is vacuumed before.
    pub vacuum: VacuumChoice,
    /// Transactions per second.
    pub rate: Option<f64>,
    /// Beyond it a transaction is late; with a rate it is not begun. Unit: milliseconds.
    pub latency_limit_ms: Option<f64>,
    /// Tries of a transaction; 0: as many as it takes.
    pub max_tries: u32,
    /// Seconds between two lines of progress.
    pub progress: Option<u32>,
    /// Whether progress tells the time of day.
    pub is_progress_timestamped: bool,
    /// The log of transactions.
    pub log: Option<LogOptions>,
    /// Whether the report has figures for every command.
    pub is_reported_per_command: bool,
    /// Whether failures are told by their kinds.
    pub is_failure_detailed: bool,
    /// Whether every error is told.
    pub is_error_verbose: bool,
    /// Where random numbers begin, if anybody says.
    pub seed: Option<SeedChoice>,
    /// Whether a script is named before the seed: then it is read before the seed is told.
    pub is_seed_behind_script: bool,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunLength {
    /// After that many transactions of every client.
    Transactions(u32),
    /// After that many seconds.
    Seconds(u32),
}

impl Default for RunLength {
    /// Where nothing else is said.
    fn default() -> Self {
        Self::Transactions(10)
    }
}

/// What is vacuumed before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VacuumChoice {
    /// All tables but the accounts.
    #[default]
    Some,
    /// `-v`: the accounts, too.
    All,
    /// `-n`: nothing.
    None,
}

/// The log of transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct LogOptions {
    /// What the files' names begin with.
    pub prefix: String,
    /// What is logged.
    pub detail: LogDetail,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogDetail {
    /// Every transaction.
    Every,
    /// A share of them, above 0 and up to 1.
    Sampled(f64),
    /// A line for so many seconds.
    Aggregated(u32),
}

/// Where random numbers begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedChoice {
    /// With the clock.
    Time,
    /// Anywhere: the system says.
    Rand,
    /// Here.
    Number(u64),
}
