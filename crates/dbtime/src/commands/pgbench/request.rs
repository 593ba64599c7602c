//! From pgbench's options to what is asked of the lab.

use super::preflight::DatabaseFacts;
use super::watch::PgbenchWatch;
use super::{PgbenchJob, command, init};
use crate::exit::CommandFailure;
use crate::foreign::{NO_TIMEOUT, is_unread};
use crate::screen;
use dbtime_engines::server::StatementProtocol;
use dbtime_lab::{RunRequest, operation};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Operation;
use dbtime_model::plain_text::plain_lines;
use dbtime_model::spec::RateChoice;
use dbtime_model::{Nanos, bounded_file};
use dbtime_script::pgbench::options::{
    BenchmarkOptions, RunLength, ScriptChoice, ScriptSource, SeedChoice,
};
use dbtime_script::pgbench::{
    NoticeListener, PgbenchNotice, PgbenchScript, PgbenchScripts, PgbenchSettings, QueryMode,
    TransactionObserver, seed_named,
};
use std::io::Read;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Reads the scripts of a run.
fn scripts(job: &PgbenchJob, what: &BenchmarkOptions) -> Result<PgbenchScripts, CommandFailure> {
    let mut scripts = PgbenchScripts::default();
    for choice in &what.scripts {
        let added = match &choice.source {
            ScriptSource::Builtin(script) => {
                scripts.add_builtin(*script, choice.weight, job.place.dialect)
            }
            ScriptSource::File(path) => scripts.add(path, &text_of(path)?, choice.weight),
        };
        added.map_err(CommandFailure::usage)?;
    }
    scripts.check(what.protocol, job.place.dialect).map_err(CommandFailure::usage)?;
    Ok(scripts)
}

fn text_of(path: &str) -> Result<String, CommandFailure> {
    let read = match path {
        "-" => bounded_file::text_from(std::io::stdin()),
        path => bounded_file::written_text(path.as_ref()),
    };
    read.map_err(|error| {
        let error = error.to_string();
        let error = error.split(" (os error").next().unwrap_or_default();
        CommandFailure::usage(format!("could not open file \"{path}\": {error}"))
    })
}

/// Where random numbers begin, and the scripts of a run. Seeds that somebody has chosen are told,
/// that of the environment first, and that of the command line where it stands.
pub(super) fn seed_and_scripts(
    job: &PgbenchJob,
    what: &BenchmarkOptions,
) -> Result<(u64, PgbenchScripts), CommandFailure> {
    let usual = seed_of_environment()?;
    let seed = || match (what.seed, usual) {
        (Some(SeedChoice::Number(number)), _) => Ok(print_seed(number)),
        (Some(SeedChoice::Time), _) => Ok(print_seed(clock())),
        (Some(SeedChoice::Rand), _) => random().map(print_seed),
        (None, usual) => Ok(usual.unwrap_or_else(clock)),
    };
    if what.is_seed_behind_script {
        let scripts = scripts(job, what)?;
        return Ok((seed()?, scripts));
    }
    Ok((seed()?, scripts(job, what)?))
}

fn seed_of_environment() -> Result<Option<u64>, CommandFailure> {
    let Ok(option) = std::env::var("PGBENCH_RANDOM_SEED") else { return Ok(None) };
    let named = seed_named(&option, clock(), random()?).map_err(|error| {
        CommandFailure::usage(format!(
            "{error}\nerror: error while setting random seed from PGBENCH_RANDOM_SEED environment \
             variable"
        ))
    })?;
    Ok(Some(print_seed(named)))
}

fn print_seed(seed: u64) -> u64 {
    screen::note(&format!("pgbench: setting random seed to {seed}"));
    seed
}

/// Microseconds since 1970.
fn clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

/// Random bits of the system.
fn random() -> Result<u64, CommandFailure> {
    let mut bytes = [0; 8];
    let source = std::fs::File::open("/dev/urandom");
    let read = source.and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| {
        CommandFailure::environment(format!("could not generate random seed: {error}"))
    })?;
    Ok(u64::from_ne_bytes(bytes))
}

/// What was read and chosen before a run.
pub(super) struct ScriptInputs<'a> {
    pub(super) scripts: PgbenchScripts,
    pub(super) seed: u64,
    /// Sees transactions, where progress or a log is to be written.
    pub(super) watch: Option<&'a Arc<PgbenchWatch>>,
}

/// What scripts are run with.
pub(super) fn settings(
    job: &PgbenchJob,
    what: &BenchmarkOptions,
    known: &DatabaseFacts,
    inputs: ScriptInputs<'_>,
) -> Result<PgbenchSettings, CommandFailure> {
    let ScriptInputs { scripts, seed, watch } = inputs;
    let scale = known.scale.unwrap_or_else(|| what.scale.unwrap_or(1).into());
    let needs_tables = what.scripts.iter().any(|choice| match &choice.source {
        ScriptSource::Builtin(_) => true,
        ScriptSource::File(path) => text_of_file(path).contains("pgbench_"),
    });
    let preparation = match !job.place.is_given && needs_tables {
        true => Some(Arc::new(init::of_run(&job.place, scale)?)),
        false => None,
    };
    Ok(PgbenchSettings {
        scripts,
        mode: what.protocol,
        dialect: job.place.dialect,
        target: job.place.database.clone(),
        clients: what.clients,
        threads: what.jobs,
        seed,
        scale: scale as i64,
        variables: what.defines.clone(),
        max_tries: what.max_tries,
        latency_limit: limit(what),
        allow_shell: what.common.own.allow_shell,
        reconnects: what.is_reconnecting,
        is_paced: what.rate.is_some(),
        times_commands: what.is_reported_per_command,
        verbose_errors: what.is_error_verbose,
        traces: what.common.debug,
        listener: NoticeListener::new(print_notice),
        observer: watch.map_or_else(TransactionObserver::default, PgbenchWatch::observer),
        preparation,
    })
}

/// The text of a file that was read before; nothing of what cannot be read twice.
fn text_of_file(path: &str) -> String {
    match path {
        "-" => String::new(),
        path => bounded_file::written_text(path.as_ref()).unwrap_or_default(),
    }
}

fn limit(what: &BenchmarkOptions) -> Option<Nanos> {
    what.latency_limit_ms.map(|ms| Nanos::from_secs_f64(ms / 1e3))
}

/// What clients have to say.
fn print_notice(notice: PgbenchNotice) {
    screen::to_stderr(&match notice {
        PgbenchNotice::Error(text) => super::as_error(&text),
        PgbenchNotice::Info(text) => format!("pgbench: {}\n", plain_lines(&text)),
        PgbenchNotice::Line(text) => format!("{}\n", plain_lines(&text)),
    });
}

/// The run.
pub(super) fn run(
    job: &PgbenchJob,
    what: &BenchmarkOptions,
    script: Arc<PgbenchScript>,
) -> Result<RunRequest, CommandFailure> {
    let seed = script.settings().seed;
    let name = match &what.scripts[..] {
        [only] => short(&only.source),
        _ => "pgbench".to_owned(),
    };
    let mut request = job.request(&name, script)?;
    request.spec.seed = seed;
    if !matches!(what.seed, Some(SeedChoice::Number(_))) {
        // The same again takes the seed that it was.
        request.command = command(&job.words, Some(seed));
    }
    let weighted = |choice: &ScriptChoice| Operation {
        // One that never runs has a weight too small to be seen.
        weight: f64::from(choice.weight).max(1e-9),
        ..operation(&short(&choice.source))
    };
    request.workload.operations = what.scripts.iter().map(weighted).collect();
    let load = &mut request.spec.load;
    load.connections = Some(what.clients);
    load.shards = what.common.own.shards.map(|shards| shards.min(what.clients));
    if let Some(rate) = what.rate {
        load.rate = Some(RateChoice::Given(Rate::Constant(rate)));
        load.arrivals = Some(Arrivals::Poisson);
        load.on_backlog = limit(what).map(Backlog::Deadline);
    }
    let window = &mut request.spec.window;
    match what.length {
        RunLength::Transactions(each) => {
            window.transactions = Some(u64::from(each) * u64::from(what.clients));
        }
        RunLength::Seconds(seconds) => window.time = Some(Nanos::from_secs(seconds.into())),
    }
    request.spec.target.protocol = Some(match what.protocol {
        QueryMode::Prepared => StatementProtocol::Prepared,
        QueryMode::Simple | QueryMode::Extended => StatementProtocol::Text,
    });
    request.rundown = Some(NO_TIMEOUT);
    let own = &what.common.own;
    request.out = own.out.as_ref().map(Into::into);
    if is_unread(own.classic, own.json, &request) {
        request.load_only();
    }
    Ok(request)
}

/// A script's name in dbtime's own report.
fn short(source: &ScriptSource) -> String {
    match source {
        ScriptSource::Builtin(script) => script.name.to_owned(),
        ScriptSource::File(path) => {
            let stem = std::path::Path::new(path).file_stem();
            stem.map_or_else(|| path.clone(), |stem| stem.to_string_lossy().into_owned())
        }
    }
}
