//! What goes together, and what is meant by what was not given.

use super::error::{UsageError, quoted};
use super::requested::{RequestedOptions, RunOptions, TableOptions};
use super::script::{ScriptChoice, ScriptSource};
use super::{
    BenchmarkOptions, CommonOptions, InitOptions, LogDetail, LogOptions, PgbenchCommand, RunLength,
    VacuumChoice,
};
use crate::pgbench::builtin::BuiltinScript;
use crate::pgbench::init::{DEFAULT_STEPS, PartitionScheme};

/// What the log files' names begin with where nothing else is given.
const LOG_PREFIX: &str = "pgbench_log";

fn refuse<T>(message: &str) -> Result<T, UsageError> {
    Err(UsageError::new(message))
}

impl RequestedOptions {
    /// What all switches together ask for. Checks come in pgbench's order, so that the first
    /// complaint is the same.
    pub(super) fn finish(mut self, operands: Vec<String>) -> Result<PgbenchCommand, UsageError> {
        self.run.choose()?;
        let mut operands = operands.into_iter();
        if let Some(dbname) = operands.next() {
            self.common.connection.dbname = Some(dbname);
        }
        if let Some(second) = operands.next() {
            let second = quoted(&second);
            let text = format!("too many command-line arguments (first is \"{second}\")");
            return Err(UsageError::hinted(text));
        }
        if self.is_initialize && self.has_run_switch {
            return refuse(
                "some of the specified options cannot be used in initialization (-i) mode",
            );
        }
        if !self.is_initialize && self.has_table_switch {
            return refuse("some of the specified options cannot be used in benchmarking mode");
        }
        if self.is_initialize && self.common.own.json {
            return refuse("--json prints the record of a run, and -i makes none: leave it out");
        }
        let Self { common, scale, no_vacuum, tables, run, .. } = self;
        if self.is_initialize {
            tables.finish(common, scale, no_vacuum).map(Box::new).map(PgbenchCommand::Initialize)
        } else {
            run.finish(common, scale, no_vacuum).map(Box::new).map(PgbenchCommand::Benchmark)
        }
    }
}

impl TableOptions {
    fn finish(
        self,
        common: CommonOptions,
        scale: Option<u32>,
        no_vacuum: bool,
    ) -> Result<InitOptions, UsageError> {
        if self.partitions == 0 && self.method.is_some() {
            return refuse("--partition-method requires greater than zero --partitions");
        }
        let mut steps = self.steps.unwrap_or_else(|| DEFAULT_STEPS.to_owned());
        if no_vacuum {
            steps.retain(|step| step != 'v');
        }
        if self.has_foreign_keys && !steps.contains('f') {
            steps.push('f');
        }
        let cut_up = self.method.unwrap_or(PartitionScheme::Range);
        Ok(InitOptions {
            common,
            steps,
            scale: scale.unwrap_or(1),
            partitions: (self.partitions > 0).then(|| cut_up(self.partitions)),
            ..self.given
        })
    }
}

impl RunOptions {
    /// Without a script there is the first built-in one.
    fn choose(&mut self) -> Result<(), UsageError> {
        let scripts = &mut self.given.scripts;
        if scripts.is_empty() {
            let source = ScriptSource::Builtin(BuiltinScript::TPCB_LIKE);
            scripts.push(ScriptChoice { source, weight: 1 });
        }
        if scripts.iter().all(|choice| choice.weight == 0) {
            return refuse("total script weight must not be zero");
        }
        Ok(())
    }

    fn finish(
        self,
        common: CommonOptions,
        scale: Option<u32>,
        no_vacuum: bool,
    ) -> Result<BenchmarkOptions, UsageError> {
        let length = self.length()?;
        let log = self.logging(length)?;
        if self.given.is_progress_timestamped && self.given.progress.is_none() {
            return refuse("--progress-timestamp is allowed only under --progress");
        }
        let max_tries = self.max_tries.unwrap_or(1);
        if max_tries == 0 && self.given.latency_limit_ms.is_none() && self.seconds.is_none() {
            return refuse(
                "an unlimited number of transaction tries can only be used with --latency-limit \
                 or a duration (-T)",
            );
        }
        let clients = self.given.clients.max(1);
        Ok(BenchmarkOptions {
            common,
            clients,
            jobs: self.given.jobs.clamp(1, clients),
            length,
            scale,
            vacuum: vacuum(no_vacuum, self.vacuum_all),
            max_tries,
            log,
            ..self.given
        })
    }

    fn length(&self) -> Result<RunLength, UsageError> {
        match (self.transactions, self.seconds) {
            (Some(_), Some(_)) => {
                refuse("specify either a number of transactions (-t) or a duration (-T), not both")
            }
            (None, Some(seconds)) => Ok(RunLength::Seconds(seconds)),
            (Some(transactions), None) => Ok(RunLength::Transactions(transactions)),
            (None, None) => Ok(RunLength::default()),
        }
    }

    fn logging(&self, length: RunLength) -> Result<Option<LogOptions>, UsageError> {
        if self.sampling.is_some() && !self.has_log {
            return refuse(
                "log sampling (--sampling-rate) is allowed only when logging transactions (-l)",
            );
        }
        if self.sampling.is_some() && self.aggregate.is_some() {
            return refuse(
                "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be \
                 used at the same time",
            );
        }
        if self.aggregate.is_some() && !self.has_log {
            return refuse("log aggregation is allowed only when actually logging transactions");
        }
        if self.log_prefix.is_some() && !self.has_log {
            return refuse(
                "log file prefix (--log-prefix) is allowed only when logging transactions (-l)",
            );
        }
        if let (Some(interval), RunLength::Seconds(seconds)) = (self.aggregate, length) {
            fits(interval, seconds)?;
        }
        let detail = match (self.sampling, self.aggregate) {
            (Some(share), _) => LogDetail::Sampled(share),
            (None, Some(seconds)) => LogDetail::Aggregated(seconds),
            (None, None) => LogDetail::Every,
        };
        let prefix = self.log_prefix.clone().unwrap_or_else(|| LOG_PREFIX.to_owned());
        Ok(self.has_log.then_some(LogOptions { prefix, detail }))
    }
}

/// Whether a run is made of whole intervals.
fn fits(interval: u32, seconds: u32) -> Result<(), UsageError> {
    if interval > seconds {
        return refuse(&format!(
            "number of seconds for aggregation ({interval}) must not be higher than test duration \
             ({seconds})"
        ));
    }
    if !seconds.is_multiple_of(interval) {
        return refuse(&format!(
            "duration ({seconds}) must be a multiple of aggregation interval ({interval})"
        ));
    }
    Ok(())
}

fn vacuum(none: bool, all: bool) -> VacuumChoice {
    match (none, all) {
        (true, _) => VacuumChoice::None,
        (false, true) => VacuumChoice::All,
        (false, false) => VacuumChoice::Some,
    }
}
