//! From sysbench's options to what is asked of the lab.

use super::{SysbenchJob, target};
use crate::exit::CommandFailure;
use crate::foreign::{self, NO_TIMEOUT};
use crate::{interrupt, secrets};
use dbtime_lab::{RunRequest, Target, operation};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::workload::Workload;
use dbtime_model::spec::{LoadSpec, RateChoice};
use dbtime_model::{Nanos, SqlDialect};
use dbtime_script::sysbench::options::{
    GeneralOptions, OptionValue, SysbenchOptions, is_of_dbtime,
};
use dbtime_script::sysbench::{
    ScriptOptions, SysbenchCommand, SysbenchExit, SysbenchScript, SysbenchSettings, driver_name,
};
use std::path::Path;
use std::sync::Arc;

/// The database that a script is told of.
fn driver(options: &SysbenchOptions) -> SqlDialect {
    foreign::driver(options.own.target.as_deref().unwrap_or(&options.database.driver))
}

/// The options as a script sees them.
pub(super) fn script_options(options: &SysbenchOptions) -> ScriptOptions {
    let name = OptionValue::Text(driver_name(driver(options)).to_owned());
    let mut values = options.exported.clone();
    values.insert("db_driver".to_owned(), name);
    ScriptOptions { values, are_globals: options.are_globals }
}

/// What a script is run with.
pub(super) fn settings(job: &SysbenchJob, command: SysbenchCommand) -> SysbenchSettings {
    // What sysbench does not know its scripts do not see.
    let words = job.words.iter().filter(|word| !is_of_dbtime(word)).cloned();
    SysbenchSettings {
        driver: driver(&job.options),
        options: script_options(&job.options),
        argv: std::iter::once("sysbench".to_owned()).chain(words).collect(),
        server: target::shown(&job.options),
        target: target::names(&job.options),
        unreachable: Arc::clone(&job.destination.unreachable),
        output: job.output.clone(),
        exit: Some(SysbenchExit::new(|status| interrupt::end_with_files(status as u8))),
        ..foreign::settings(&job.script.path, &job.options, command)
    }
}

/// A command of a script, run once by each of so many clients.
pub(super) fn command(
    job: &SysbenchJob,
    script: Arc<SysbenchScript>,
    threads: u32,
) -> Result<RunRequest, CommandFailure> {
    let mut request = plain(job, script)?;
    request.spec.load.connections = Some(threads);
    request.spec.load.shards = shards(job, threads);
    Ok(request)
}

/// A run.
pub(super) fn run(
    job: &SysbenchJob,
    script: Arc<SysbenchScript>,
) -> Result<RunRequest, CommandFailure> {
    let general = &job.options.general;
    let mut request = plain(job, script)?;
    request.spec.load = LoadSpec {
        connections: Some(general.threads),
        shards: shards(job, general.threads),
        rate: rate(general).map(RateChoice::Given),
        arrivals: Some(arrivals(general)),
        ..LoadSpec::default()
    };
    let window = &mut request.spec.window;
    window.warmup = Some(Nanos::from_secs(general.warmup_time.into()));
    window.time = (general.time > 0).then(|| Nanos::from_secs(general.time.into()));
    window.transactions = (general.events > 0).then_some(general.events);
    if window.time.is_none() && window.transactions.is_none() {
        // Until Ctrl-C, as long as a clock of seconds goes.
        window.time = Some(Nanos::from_secs(u32::MAX.into()));
    }
    request.out = job.options.own.out.as_ref().map(Into::into);
    if foreign::is_unread(job.options.own.classic, job.options.own.json, &request) {
        request.load_only();
    }
    let patience = general.forced_shutdown.map_or(NO_TIMEOUT, |s| Nanos::from_secs(s.into()));
    request.rundown = Some(patience);
    Ok(request)
}

/// The rate of an open loop.
pub(super) fn rate(general: &GeneralOptions) -> Option<Rate> {
    (general.rate > 0).then_some(Rate::Constant(general.rate as f64))
}

/// How events fall around the rate.
pub(super) fn arrivals(general: &GeneralOptions) -> Arrivals {
    match (general.rate, general.is_steady, general.tx_jitter) {
        (0, ..) => Arrivals::default(),
        (_, false, _) => Arrivals::Poisson,
        (_, true, None | Some(0)) => Arrivals::Steady { jitter: None },
        (_, true, Some(us)) => Arrivals::Steady { jitter: Some(Nanos::from_micros(us)) },
    }
}

fn shards(job: &SysbenchJob, threads: u32) -> Option<u32> {
    match job.options.own.lua_threads {
        true => Some(threads),
        false => job.options.own.shards.map(|shards| shards.min(threads)),
    }
}

fn plain(job: &SysbenchJob, script: Arc<SysbenchScript>) -> Result<RunRequest, CommandFailure> {
    let seed = script.seed();
    let workload = Workload::from_script(name(&job.script.path), vec![operation("event")], script);
    // Without a word about a database a script is not to wait for one.
    let target: Target = match job.declared.names_sql {
        true => job.destination.target(&job.options)?,
        false => "null".parse()?,
    };
    let mut request = RunRequest::new(workload, target);
    request.spec.seed = seed;
    let mut words: Vec<String> =
        ["dbtime", "sysbench"].into_iter().map(str::to_owned).chain(job.words.clone()).collect();
    if job.options.general.seed == 0 {
        // The same again takes the seed that it was.
        words.push(format!("--rand-seed={seed}"));
    }
    request.command = secrets::command_line(&words);
    Ok(request)
}

/// A script's name without folder and suffix.
pub(super) fn name(script: &str) -> String {
    let stem = Path::new(script).file_stem();
    stem.map_or_else(|| script.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
