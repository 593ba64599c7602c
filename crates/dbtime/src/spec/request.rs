//! From the written form of a run to a request: everything that can be refused without touching a
//! machine is refused here.

use super::RunSecrets;
use crate::exit::CommandFailure;
use crate::foreign::{self, ScriptFile};
use crate::pipes;
use crate::secrets::in_complaint;
use dbtime_engines::server::ServerOptions;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_engines::socket::SimulatedNetwork;
use dbtime_lab::{LoadRequest, PrivateOptions, RecordDetail, RunRequest, Target};
use dbtime_load::workload::Workload;
use dbtime_machine::cpus::usable_cpus;
use dbtime_model::Nanos;
use dbtime_model::secret_text::is_secret_setting;
use dbtime_model::spec::{
    AUTO_SHARE_PCT, Arrivals, Backlog, BitRate, BudgetChoice, LoadSpec, RateChoice,
    ReconnectPolicy, RunSpec, TargetSpec, WindowSpec,
};
use sha2::{Digest, Sha256};
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Window and warm-up when neither they nor a number of transactions are given.
const TIME: Nanos = Nanos::from_secs(20);
const WARMUP: Nanos = Nanos::from_secs(3);

/// The most connections of an open loop when none are given.
const CONNECTIONS: u32 = 8;

/// The workload when none is named.
const WORKLOAD: &str = "atm";

/// What belongs to a run beside its written form.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunContext {
    /// Its passwords.
    pub(crate) secrets: RunSecrets,
    /// The command that repeats it.
    pub(crate) command: String,
    /// Where its record goes.
    pub(crate) out: Option<PathBuf>,
    /// Where data are restored from.
    pub(crate) snapshots: Option<PathBuf>,
}

/// The request that a written form makes; with it goes that form, in which nothing is left out.
pub(crate) fn request(spec: &RunSpec, context: &RunContext) -> Result<RunRequest, CommandFailure> {
    let target: Target = context.secrets.put_into_url(&spec.target.url).parse()?;
    let load = load(spec, &target)?;
    for_servers(spec, &target)?;
    let server = server(&spec.target);
    let (workload, sha256) = workload(spec, &load, &server, &context.secrets)?;
    let WindowSpec { transactions, .. } = &spec.window;
    let (warmup, time) = window(&spec.window)?;
    let mut spec = RunSpec { window: spec.window.clone(), ..spec.clone() };
    complete(&mut spec, &load, &server, target.is_server());
    spec.workload.sha256 = sha256;
    (spec.window.warmup, spec.window.time) = (Some(warmup), time);
    Ok(RunRequest {
        workload,
        workload_given: name(&spec).to_owned(),
        scale: spec.workload.scale,
        target,
        load,
        server,
        private: private(&spec.target, &context.secrets)?,
        client_cpus: spec.load.client_cpus.clone(),
        warmup,
        time,
        transactions: *transactions,
        rundown: None,
        budget: budget_choice(&spec.window)?,
        trace: spec.window.trace,
        statements: spec.window.statements,
        stacks: stacks(&spec.window)?,
        limits: spec.limits.clone(),
        seed: spec.seed,
        data_seed: spec.workload.data_seed,
        snapshots: context.snapshots.clone(),
        detail: RecordDetail::Full,
        out: context.out.clone(),
        command: context.command.clone(),
        spec: Some(spec),
        note: crate::screen::note,
    })
}

/// Writes down what was left out, so that a later dbtime with other defaults makes the same run.
fn complete(spec: &mut RunSpec, load: &LoadRequest, server: &ServerOptions, is_server: bool) {
    if is_unnamed(spec) {
        spec.workload.name = Some(WORKLOAD.to_owned());
    }
    if is_server {
        spec.target.protocol = Some(server.protocol);
        spec.target.reconnect = Some(server.reconnect);
    }
    spec.load.rate = load.rate.clone();
    // Their jitter has a field of its own.
    spec.load.arrivals.get_or_insert_default();
    spec.load.on_backlog = Some(load.backlog);
    spec.load.connections = Some(load.connections);
    spec.window.budget.get_or_insert_default();
}

/// Which transactions have their parts measured: in a traced run all of them.
fn budget_choice(window: &WindowSpec) -> Result<BudgetChoice, CommandFailure> {
    let choice = window.budget.unwrap_or_default();
    let (field, run) = match window {
        WindowSpec { trace: true, statements: true, .. } => {
            let text = "a traced run has both sides already: leave out `statements` or `trace`";
            return Err(CommandFailure::usage(text));
        }
        WindowSpec { trace: true, .. } => ("trace", "a traced run"),
        WindowSpec { statements: true, .. } => ("statements", "a run that is to be joined"),
        _ => return Ok(choice),
    };
    if choice != BudgetChoice::Auto {
        return Err(CommandFailure::usage(format!(
            "{run} has the parts of all transactions: leave out `budget` or `{field}`"
        )));
    }
    Ok(choice)
}

/// Whether stacks are traced, which the tracer sees alone.
fn stacks(window: &WindowSpec) -> Result<bool, CommandFailure> {
    if window.stacks && !window.trace {
        let text = "stacks come of the tracer: add `--trace`, or `trace` beside `stacks`";
        return Err(CommandFailure::usage(text));
    }
    Ok(window.stacks)
}

fn named(flag: &str, error: &dyn Display) -> CommandFailure {
    CommandFailure::usage(format!("{flag}: {error}"))
}

fn window(window: &WindowSpec) -> Result<(Nanos, Option<Nanos>), CommandFailure> {
    let is_counted = window.transactions.is_some();
    let time = window.time.or((!is_counted).then_some(TIME));
    if time == Some(Nanos::ZERO) {
        return Err(CommandFailure::usage(
            "--time 0 measures nothing: give it a length such as 30s",
        ));
    }
    let warmup = if is_counted { Nanos::ZERO } else { WARMUP };
    Ok((window.warmup.unwrap_or(warmup), time))
}

fn server(target: &TargetSpec) -> ServerOptions {
    ServerOptions {
        protocol: target.protocol.unwrap_or_default(),
        reconnect: target.reconnect.unwrap_or_default(),
        statement_timeout: target.statement_timeout,
        network: SimulatedNetwork {
            delay: target.network_delay.filter(|delay| *delay > Nanos::ZERO),
            rate: target.network_rate.filter(|rate| *rate > BitRate(0)),
        },
        pipeline: target.pipeline,
    }
}

fn private(target: &TargetSpec, secrets: &RunSecrets) -> Result<PrivateOptions, CommandFailure> {
    let variable = |text: &String| {
        let (name, value) = match text.contains('=') {
            true => pair("--server-env", text)?,
            false => (text.clone(), secrets.variable(text)?),
        };
        Ok::<_, CommandFailure>((name, ServerSecret::new(value)))
    };
    Ok(PrivateOptions {
        settings: target.server_set.iter().map(|text| setting(text)).collect::<Result<_, _>>()?,
        environment: target.server_env.iter().map(variable).collect::<Result<_, _>>()?,
        cpus: target.server_cpus.clone(),
        data: target.server_data.as_ref().map(PathBuf::from),
    })
}

/// A setting of the private server. Nobody reads one that is a secret from where it is safe.
fn setting(text: &str) -> Result<(String, String), CommandFailure> {
    let flag = "--server-set";
    let (name, value) = pair(flag, text)?;
    match is_secret_setting(&name, &value) {
        false => Ok((name, value)),
        true => Err(named(
            flag,
            &format!(
                "the value of `{name}` may be a secret, which the server's command line would show \
                 to everybody, and the record keep: leave it out, or set it in a server that runs, \
                 and name that one as --target"
            ),
        )),
    }
}

fn pair(flag: &str, text: &str) -> Result<(String, String), CommandFailure> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(named(flag, &format!("`{}` has no value: write NAME=VALUE", in_complaint(text)))),
    }
}

/// Refuses what is said of a server where there is none.
fn for_servers(spec: &RunSpec, target: &Target) -> Result<(), CommandFailure> {
    let TargetSpec { pipeline, protocol, reconnect, statement_timeout, .. } = &spec.target;
    let is_script = spec.workload.script.is_some();
    let given = [
        ("--pipeline", *pipeline, "every statement is answered at once"),
        // A script has its own ways to prepare statements, which this chooses among.
        ("--protocol", protocol.is_some() && !is_script, "nothing is sent"),
        ("--reconnect", reconnect.is_some(), "no connection can be lost"),
        ("--statement-timeout", statement_timeout.is_some(), "no statement is ended"),
        ("--network-delay", spec.target.network_delay.is_some(), "nothing is sent"),
        ("--network-rate", spec.target.network_rate.is_some(), "nothing is sent"),
        ("--statements", spec.window.statements, "no statement goes to anybody"),
    ];
    let given = given.into_iter().find(|(_, is_given, _)| *is_given && !target.is_server());
    if let Some((flag, _, why)) = given {
        return Err(for_server(flag, why));
    }
    if spec.load.shards.is_some() && !target.has_shards() {
        return Err(CommandFailure::usage(
            "--shards is for servers and null: here each connection has a thread of its own; \
             leave it out, or use --workers",
        ));
    }
    Ok(())
}

/// That a flag is for servers only.
pub(crate) fn for_server(flag: &str, why: &str) -> CommandFailure {
    CommandFailure::usage(format!(
        "{flag} is for servers: here {why}; leave it out, or name a server as --target"
    ))
}

/// Whether nothing says what is run.
fn is_unnamed(spec: &RunSpec) -> bool {
    let workload = &spec.workload;
    workload.name.is_none() && workload.query.is_none() && workload.script.is_none()
}

/// How the command line names what is run.
fn name(spec: &RunSpec) -> &str {
    let workload = &spec.workload;
    workload.name.as_deref().or(workload.script.as_deref()).unwrap_or(WORKLOAD)
}

/// What is run, and the hash of its text.
fn workload(
    spec: &RunSpec,
    load: &LoadRequest,
    server: &ServerOptions,
    secrets: &RunSecrets,
) -> Result<(Workload, Option<String>), CommandFailure> {
    let what = &spec.workload;
    let named = [&what.name, &what.query, &what.script].into_iter().flatten().count();
    if named > 1 {
        return Err(CommandFailure::usage(
            "a workload has one of name, query and script: leave out the others",
        ));
    }
    if what.script.is_none() && !what.script_set.is_empty() {
        return Err(CommandFailure::usage(
            "--script-set is for scripts, and no script is run: name one by --script FILE in the \
             place of a workload or a --query, or leave --script-set out",
        ));
    }
    if let Some(sql) = &what.query {
        let sql = secrets.query(sql)?;
        return Ok((Workload::from_sql(&sql).map_err(CommandFailure::usage)?, None));
    }
    let (workload, text) = match &what.script {
        Some(path) => {
            let file = script_file(spec, Path::new(path), server, secrets)?;
            foreign::workload(&file, load)?
        }
        None => {
            let name = name(spec);
            let found = pipes::awaited(Path::new(name), || Workload::find(name));
            let workload = found.map_err(CommandFailure::usage)?;
            let text = workload.source.clone();
            (workload, text)
        }
    };
    let digest = Sha256::digest(text.as_bytes());
    let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    match &what.sha256 {
        Some(written) if *written != sha256 => Err(CommandFailure::usage(format!(
            "{} is not what the spec was written for: its SHA-256 is {sha256}, and the spec has \
             {written}; restore it, or leave sha256 out of the spec",
            name(spec)
        ))),
        _ => Ok((workload, Some(sha256))),
    }
}

/// A script, and what it is run with.
fn script_file<'a>(
    spec: &'a RunSpec,
    path: &'a Path,
    server: &ServerOptions,
    secrets: &RunSecrets,
) -> Result<ScriptFile<'a>, CommandFailure> {
    if server.reconnect == ReconnectPolicy::EveryTransaction {
        return Err(CommandFailure::usage(
            "--reconnect every-transaction is not for scripts: a Lua script connects by itself, \
             and dbtime pgbench has -C",
        ));
    }
    let option = |text: &String| match text.contains('=') {
        true => pair("--script-set", text),
        false => Ok((text.clone(), secrets.option(text)?)),
    };
    Ok(ScriptFile {
        path,
        variables: spec.workload.script_set.iter().map(option).collect::<Result<_, _>>()?,
        target: &spec.target.url,
        scale: spec.workload.scale,
        protocol: server.protocol,
        seed: spec.seed,
    })
}

fn load(spec: &RunSpec, target: &Target) -> Result<LoadRequest, CommandFailure> {
    let LoadSpec { jitter, connections, workers, shards, think, .. } = spec.load;
    let arrivals = spec.load.arrivals.unwrap_or_default();
    let backlog = spec.load.on_backlog.unwrap_or_default();
    let is_at_once = arrivals == Arrivals::AtOnce;
    let (rate, flat_out) = (spec.load.rate.clone(), spec.load.flat_out.clone());
    let is_given = rate.is_some();
    let is_auto = is_unnamed(spec) && think.is_none() && !is_at_once;
    let rate = rate.or_else(|| is_auto.then_some(RateChoice::Auto(AUTO_SHARE_PCT)));
    let is_closed = rate.is_none() && !is_at_once;
    for (is_wrong, why) in [
        (
            is_at_once && spec.window.transactions.is_none(),
            "--arrivals at-once needs --transactions: how many are due at the start?".to_owned(),
        ),
        (
            is_at_once && is_given,
            "--arrivals at-once takes no --rate: all transactions are due at the start".to_owned(),
        ),
        (
            is_closed && backlog != Backlog::Wait,
            format!("--on-backlog {backlog} needs --rate: in a closed loop nothing piles up"),
        ),
        (
            is_closed && arrivals != Arrivals::default(),
            format!("--arrivals {arrivals} needs --rate: a closed loop has no due instants"),
        ),
        (
            think.is_some() && !is_closed,
            "--think belongs to a closed loop: with --rate the schedule sets when transactions are \
             due"
            .to_owned(),
        ),
    ] {
        if is_wrong {
            return Err(CommandFailure::usage(why));
        }
    }
    let arrivals = with_jitter(arrivals, jitter, rate.as_ref())?;
    let connections = connections.or(workers);
    let connections = connections.unwrap_or_else(|| if is_closed { 1 } else { usual(target) });
    Ok(LoadRequest { rate, flat_out, arrivals, connections, workers, think, backlog, shards })
}

/// Connections of an open loop when none are given. Where each has a thread that executes its
/// statements too, more of them than CPUs wait for each other's: on two CPUs eight had twice the
/// lag of two at the same rate, and no more throughput.
fn usual(target: &Target) -> u32 {
    if target.has_shards() { CONNECTIONS } else { CONNECTIONS.min(usable_cpus()) }
}

fn with_jitter(
    arrivals: Arrivals,
    jitter: Option<Nanos>,
    rate: Option<&RateChoice>,
) -> Result<Arrivals, CommandFailure> {
    let arrivals = match (arrivals, jitter) {
        (arrivals, None) => arrivals,
        (Arrivals::Steady { .. }, jitter) if rate.is_some() => Arrivals::Steady { jitter },
        _ => {
            return Err(CommandFailure::usage(
                "--jitter belongs to steady arrivals: it needs --rate",
            ));
        }
    };
    if let Some(RateChoice::Given(rate)) = rate {
        arrivals.check(rate).map_err(|why| named("--jitter", &why))?;
    }
    Ok(arrivals)
}

#[cfg(test)]
mod tests;
