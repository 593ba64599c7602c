//! What the switches say, one after the other, before it is known whether it goes together.

use super::error::UsageError;
use super::number::{MAX_INTEGER, real, tries, whole};
use super::script::{ScriptChoice, ScriptSource, weighted};
use super::{BenchmarkOptions, CommonOptions, InitOptions, PgbenchCommand, SeedChoice};
use crate::pgbench::builtin::BuiltinScript;
use crate::pgbench::dialect::QueryMode;
use crate::pgbench::init::{PartitionScheme, STEPS};

/// How many scripts a run may choose from.
const MAX_SCRIPTS: usize = 128;

/// Everything given so far.
#[derive(Debug, Default)]
pub(super) struct RequestedOptions {
    pub(super) common: CommonOptions,
    pub(super) is_initialize: bool,
    /// Whether something was given that only a run has.
    pub(super) has_run_switch: bool,
    /// Whether something was given that only making tables has.
    pub(super) has_table_switch: bool,
    pub(super) scale: Option<u32>,
    pub(super) no_vacuum: bool,
    pub(super) tables: TableOptions,
    pub(super) run: RunOptions,
}

/// What only making tables has.
#[derive(Debug, Default)]
pub(super) struct TableOptions {
    /// What is meant as it is given.
    pub(super) given: InitOptions,
    pub(super) steps: Option<String>,
    pub(super) has_foreign_keys: bool,
    pub(super) partitions: u32,
    pub(super) method: Option<fn(u32) -> PartitionScheme>,
}

/// What only a run has.
#[derive(Debug, Default)]
pub(super) struct RunOptions {
    /// What is meant as it is given; no clients and no threads where nothing is.
    pub(super) given: BenchmarkOptions,
    pub(super) transactions: Option<u32>,
    pub(super) seconds: Option<u32>,
    pub(super) vacuum_all: bool,
    pub(super) max_tries: Option<u32>,
    pub(super) has_log: bool,
    pub(super) log_prefix: Option<String>,
    pub(super) sampling: Option<f64>,
    pub(super) aggregate: Option<u32>,
}

impl RequestedOptions {
    /// Takes a switch; `Some`: nothing else counts any more.
    pub(super) fn take(
        &mut self,
        name: &'static str,
        value: String,
    ) -> Result<Option<PgbenchCommand>, UsageError> {
        match name {
            "help" => return Ok(Some(PgbenchCommand::Help)),
            "version" => return Ok(Some(PgbenchCommand::Version)),
            "builtin" if value == "list" => return Ok(Some(PgbenchCommand::ListBuiltins)),
            "show-script" => return builtin(&value).map(PgbenchCommand::ShowScript).map(Some),
            _ => {}
        }
        let taken = self.common(name, &value)? || self.tables(name, &value)?;
        if !taken {
            self.run(name, &value)?;
            self.has_run_switch = true;
        }
        Ok(None)
    }

    /// Switches that both kinds of work have.
    fn common(&mut self, name: &str, value: &str) -> Result<bool, UsageError> {
        let text = || Some(value.to_owned());
        let CommonOptions { connection, debug, own } = &mut self.common;
        match name {
            "initialize" => self.is_initialize = true,
            "no-vacuum" => self.no_vacuum = true,
            "scale" => self.scale = Some(whole(value, "-s/--scale", 1, MAX_INTEGER)?),
            "debug" => *debug = true,
            "host" => connection.host = text(),
            "port" => connection.port = text(),
            "username" => connection.user = text(),
            "dbname" => connection.dbname = text(),
            "target" => own.target = text(),
            "out" => own.out = text(),
            "allow-shell" => own.allow_shell = true,
            "classic" => own.classic = true,
            "json" => own.json = true,
            "shards" => own.shards = Some(whole(value, "--shards", 1, MAX_INTEGER)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Switches that only making tables has.
    fn tables(&mut self, name: &str, value: &str) -> Result<bool, UsageError> {
        let tables = &mut self.tables;
        let given = &mut tables.given;
        match name {
            "init-steps" => tables.steps = Some(steps(value)?),
            "fillfactor" => given.fillfactor = Some(whole(value, "-F/--fillfactor", 10, 100)?),
            "quiet" => given.is_quiet = true,
            "foreign-keys" => tables.has_foreign_keys = true,
            "unlogged-tables" => given.is_unlogged = true,
            "tablespace" => given.tablespace = Some(value.to_owned()),
            "index-tablespace" => given.index_tablespace = Some(value.to_owned()),
            "partitions" => tables.partitions = whole(value, "--partitions", 0, MAX_INTEGER)?,
            "partition-method" => tables.method = Some(partition_method(value)?),
            _ => return Ok(false),
        }
        self.has_table_switch = true;
        Ok(true)
    }

    fn run(&mut self, name: &str, value: &str) -> Result<(), UsageError> {
        let run = &mut self.run;
        let given = &mut run.given;
        let number = |option: &str| whole(value, option, 1, MAX_INTEGER);
        match name {
            "builtin" => run.add_builtin(value)?,
            "select-only" => run.add(ScriptSource::Builtin(BuiltinScript::SELECT_ONLY), 1)?,
            "skip-some-updates" => {
                run.add(ScriptSource::Builtin(BuiltinScript::SIMPLE_UPDATE), 1)?
            }
            "file" => run.add_file(value)?,
            "client" => given.clients = number("-c/--clients")?,
            "jobs" => given.jobs = number("-j/--jobs")?,
            "transactions" => run.transactions = Some(number("-t/--transactions")?),
            "time" => run.seconds = Some(number("-T/--time")?),
            "protocol" => given.protocol = protocol(value)?,
            "connect" => given.is_reconnecting = true,
            "define" => given.defines.push(define(value)?),
            "vacuum-all" => run.vacuum_all = true,
            "rate" => given.rate = Some(real(value, "rate limit", f64::MAX)?),
            "latency-limit" => {
                given.latency_limit_ms = Some(real(value, "latency limit", f64::MAX)?);
            }
            "max-tries" => run.max_tries = Some(tries(value)?),
            "progress" => given.progress = Some(number("-P/--progress")?),
            "random-seed" => {
                given.is_seed_behind_script = !given.scripts.is_empty();
                given.seed = Some(seed(value)?);
            }
            _ => run.log(name, value)?,
        }
        Ok(())
    }
}

impl RunOptions {
    /// Switches about what is written.
    fn log(&mut self, name: &str, value: &str) -> Result<(), UsageError> {
        match name {
            "log" => self.has_log = true,
            "log-prefix" => self.log_prefix = Some(value.to_owned()),
            "sampling-rate" => self.sampling = Some(real(value, "sampling rate", 1.0)?),
            "aggregate-interval" => {
                self.aggregate = Some(whole(value, "--aggregate-interval", 1, MAX_INTEGER)?);
            }
            "progress-timestamp" => self.given.is_progress_timestamped = true,
            "report-per-command" => self.given.is_reported_per_command = true,
            "failures-detailed" => self.given.is_failure_detailed = true,
            "verbose-errors" => self.given.is_error_verbose = true,
            other => unreachable!("the switch --{other} is in the table and nowhere else"),
        }
        Ok(())
    }

    fn add_builtin(&mut self, value: &str) -> Result<(), UsageError> {
        let (name, weight) = weighted(value)?;
        self.add(ScriptSource::Builtin(builtin(name)?), weight)
    }

    fn add_file(&mut self, value: &str) -> Result<(), UsageError> {
        let (path, weight) = weighted(value)?;
        self.add(ScriptSource::File(path.to_owned()), weight)
    }

    fn add(&mut self, source: ScriptSource, weight: u32) -> Result<(), UsageError> {
        if self.given.scripts.len() == MAX_SCRIPTS {
            return Err(UsageError::new(format!("at most {MAX_SCRIPTS} SQL scripts are allowed")));
        }
        self.given.scripts.push(ScriptChoice { source, weight });
        Ok(())
    }
}

fn builtin(prefix: &str) -> Result<BuiltinScript, UsageError> {
    BuiltinScript::find(prefix).map_err(UsageError::of_builtin)
}

fn steps(text: &str) -> Result<String, UsageError> {
    if text.is_empty() {
        return Err(UsageError::new("no initialization steps specified"));
    }
    let steps = text.replace(' ', "");
    match steps.chars().find(|letter| !STEPS.contains(*letter)) {
        None => Ok(steps),
        Some(letter) => {
            let text = format!("unrecognized initialization step \"{letter}\"");
            let detail = "Allowed step characters are: \"dtgGvpf\".";
            Err(UsageError::detailed(text, detail))
        }
    }
}

fn partition_method(text: &str) -> Result<fn(u32) -> PartitionScheme, UsageError> {
    match text {
        "range" => Ok(PartitionScheme::Range),
        "hash" => Ok(PartitionScheme::Hash),
        _ => Err(UsageError::new(format!(
            "invalid partition method, expecting \"range\" or \"hash\", got: \"{text}\""
        ))),
    }
}

fn protocol(text: &str) -> Result<QueryMode, UsageError> {
    let found = QueryMode::ALL.into_iter().find(|mode| mode.name() == text);
    found.ok_or_else(|| UsageError::new(format!("invalid query mode (-M): \"{text}\"")))
}

fn define(text: &str) -> Result<(String, String), UsageError> {
    let invalid = || UsageError::new(format!("invalid variable definition: \"{text}\""));
    let (name, value) = text.split_once('=').ok_or_else(invalid)?;
    if name.is_empty() || value.is_empty() {
        return Err(invalid());
    }
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    let is_name =
        name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    if !is_name {
        return Err(UsageError::new(format!("option: invalid variable name: \"{name}\"")));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A number below zero counts down from the greatest, as in C.
fn number(text: &str) -> Option<u64> {
    let negative = || text.parse::<i64>().ok().map(i64::cast_unsigned);
    text.parse().ok().or_else(negative)
}

fn seed(text: &str) -> Result<SeedChoice, UsageError> {
    match text {
        "time" => Ok(SeedChoice::Time),
        "rand" => Ok(SeedChoice::Rand),
        _ => number(text.trim()).map(SeedChoice::Number).ok_or_else(|| {
            let detail = "Expecting an unsigned integer, \"time\" or \"rand\".\n\
                          error: error while setting random seed from --random-seed option";
            UsageError::detailed(format!("unrecognized random seed option \"{text}\""), detail)
        }),
    }
}
