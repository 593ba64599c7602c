//! From the written form of a run to a request: everything that can be refused without touching a
//! machine is refused here.

use super::RunSecrets;
use crate::exit::CommandFailure;
use crate::foreign::{self, ScriptFile};
use crate::pipes;
use crate::secrets::in_complaint;
use dbtime_engines::server::secret::ServerSecret;
use dbtime_lab::{RunRequest, Target};
use dbtime_load::workload::Workload;
use dbtime_machine::cpus::usable_cpus;
use dbtime_model::Nanos;
use dbtime_model::secret_text::is_secret_setting;
use dbtime_model::spec::{
    AUTO_SHARE_PCT, Arrivals, Backlog, BudgetChoice, LoadSpec, RateChoice, ReconnectPolicy,
    RunSpec, TargetSpec, WindowSpec, WorkloadSpec,
};
use dbtime_sql::without_passwords;
use sha2::{Digest, Sha256};
use std::fmt::Display;
use std::path::Path;

/// Window and warm-up when neither they nor a number of transactions are given.
const TIME: Nanos = Nanos::from_secs(20);
const WARMUP: Nanos = Nanos::from_secs(3);

/// The most connections of an open loop when none are given.
const CONNECTIONS: u32 = 8;

/// The workload when none is named.
const WORKLOAD: &str = "atm";

/// The request that a written form makes, in which nothing is left out any more, so that a later
/// dbtime with other defaults makes the same run of it. Data are restored from `snapshots`. Its
/// record goes nowhere yet.
pub(crate) fn request(
    spec: &RunSpec,
    secrets: &RunSecrets,
    snapshots: Option<&Path>,
) -> Result<RunRequest, CommandFailure> {
    let target: Target = secrets.put_into_url(&spec.target.url).parse()?;
    let mut spec = spec.clone();
    fill_load(&mut spec, &target)?;
    for_servers(&spec, &target)?;
    let (workload, sha256) = workload(&spec, secrets)?;
    spec.workload.sha256 = sha256;
    if is_unnamed(&spec.workload) {
        spec.workload.name = Some(WORKLOAD.to_owned());
    }
    fill_window(&mut spec.window)?;
    if target.is_server() {
        spec.target.protocol.get_or_insert_default();
        spec.target.reconnect.get_or_insert_default();
    }
    spec.target.server_set.iter().try_for_each(|text| check_setting(text))?;
    let environment = environment(&spec.target, secrets)?;
    check_measuring(&spec.window)?;
    let request = RunRequest {
        spec,
        is_described: true,
        environment,
        snapshots: snapshots.map(Path::to_owned),
        note: |text| crate::screen::note(&format!("dbtime: {text}")),
        ..RunRequest::new(workload, target)
    };
    request.check()?;
    Ok(request)
}

/// Refuses what cannot be measured together: a traced run has the parts of all transactions, and
/// the tracer alone sees stacks.
fn check_measuring(window: &WindowSpec) -> Result<(), CommandFailure> {
    let all_parts = match window {
        WindowSpec { trace: true, statements: true, .. } => {
            let text = "a traced run has both sides already: leave out `statements` or `trace`";
            return Err(CommandFailure::usage(text));
        }
        WindowSpec { trace: true, .. } => Some(("trace", "a traced run")),
        WindowSpec { statements: true, .. } => Some(("statements", "a run recorded for a join")),
        _ => None,
    };
    let is_chosen = window.budget.is_some_and(|choice| choice != BudgetChoice::Auto);
    if let Some((field, run)) = all_parts.filter(|_| is_chosen) {
        return Err(CommandFailure::usage(format!(
            "{run} has the parts of all transactions: leave out `budget` or `{field}`"
        )));
    }
    if window.stacks && !window.trace {
        let text = "stacks need the tracer: add `--trace`, or `trace` next to `stacks`";
        return Err(CommandFailure::usage(text));
    }
    Ok(())
}

fn named(flag: &str, error: &dyn Display) -> CommandFailure {
    CommandFailure::usage(format!("{flag}: {error}"))
}

/// What is measured where that is left out.
fn fill_window(window: &mut WindowSpec) -> Result<(), CommandFailure> {
    let is_counted = window.transactions.is_some();
    window.time = window.time.or((!is_counted).then_some(TIME));
    if window.time == Some(Nanos::ZERO) {
        return Err(CommandFailure::usage(
            "--time 0 measures nothing: give it a length such as 30s",
        ));
    }
    window.warmup.get_or_insert(if is_counted { Nanos::ZERO } else { WARMUP });
    window.budget.get_or_insert_default();
    Ok(())
}

/// The environment of a private server, with its secrets.
fn environment(
    target: &TargetSpec,
    secrets: &RunSecrets,
) -> Result<Vec<(String, ServerSecret)>, CommandFailure> {
    let variable = |text: &String| {
        let (name, value) = match text.contains('=') {
            true => pair("--server-env", text)?,
            false => (text.clone(), secrets.variable(text)?),
        };
        Ok::<_, CommandFailure>((name, ServerSecret::new(value)))
    };
    target.server_env.iter().map(variable).collect()
}

/// Refuses a setting of the private server that is a secret: nothing reads one from where it is
/// safe.
fn check_setting(text: &str) -> Result<(), CommandFailure> {
    let flag = "--server-set";
    let (name, value) = pair(flag, text)?;
    // The value may be a statement, as of `init_connect`.
    match is_secret_setting(&name, &value) || without_passwords(&value) != value {
        false => Ok(()),
        true => Err(named(
            flag,
            &format!(
                "the value of `{name}` may be a secret, which the server's command line would show \
                 to all users, and the record would keep: leave it out, or set it in a running \
                 server, and name that server as --target"
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
        ("--statements", spec.window.statements, "no statement is sent"),
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
fn is_unnamed(workload: &WorkloadSpec) -> bool {
    workload.name.is_none() && workload.query.is_none() && workload.script.is_none()
}

/// What is run, and the hash of its text.
fn workload(
    spec: &RunSpec,
    secrets: &RunSecrets,
) -> Result<(Workload, Option<String>), CommandFailure> {
    let what = &spec.workload;
    let name = what.name.as_deref().or(what.script.as_deref()).unwrap_or(WORKLOAD);
    let named = [&what.name, &what.query, &what.script].into_iter().flatten().count();
    if named > 1 {
        return Err(CommandFailure::usage(
            "a workload has only one of name, query and script: leave out the others",
        ));
    }
    if what.script.is_none() && !what.script_set.is_empty() {
        return Err(CommandFailure::usage(
            "--script-set is for scripts, and no script is run: name one with --script FILE in \
             place of a workload or a --query, or leave --script-set out",
        ));
    }
    if let Some(sql) = &what.query {
        let sql = secrets.query(sql)?;
        return Ok((Workload::from_sql(&sql).map_err(CommandFailure::usage)?, None));
    }
    let (workload, text) = match &what.script {
        Some(path) => {
            let file = script_file(spec, Path::new(path), secrets)?;
            foreign::workload(&file)?
        }
        None => {
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
            "{name} has changed since the spec was written: its SHA-256 is {sha256}, and the spec \
             has {written}; restore it, or leave sha256 out of the spec"
        ))),
        _ => Ok((workload, Some(sha256))),
    }
}

/// A script, and what it is run with.
fn script_file<'a>(
    spec: &'a RunSpec,
    path: &'a Path,
    secrets: &RunSecrets,
) -> Result<ScriptFile<'a>, CommandFailure> {
    if spec.target.reconnect == Some(ReconnectPolicy::EveryTransaction) {
        return Err(CommandFailure::usage(
            "--reconnect every-transaction is not for scripts: let a Lua script connect itself, or \
             use `dbtime pgbench -C`",
        ));
    }
    let option = |text: &String| match text.contains('=') {
        true => pair("--script-set", text),
        false => Ok((text.clone(), secrets.option(text)?)),
    };
    let variables = spec.workload.script_set.iter().map(option).collect::<Result<_, _>>()?;
    Ok(ScriptFile { path, variables, spec })
}

/// How the load is made where that is left out.
fn fill_load(spec: &mut RunSpec, target: &Target) -> Result<(), CommandFailure> {
    let is_rate_given = spec.load.rate.is_some();
    let is_unnamed = is_unnamed(&spec.workload);
    let load = &mut spec.load;
    load.on_backlog.get_or_insert_default();
    // Their jitter has a field of its own.
    let arrivals = *load.arrivals.get_or_insert_default();
    if is_unnamed && load.think.is_none() && arrivals != Arrivals::AtOnce {
        load.rate.get_or_insert(RateChoice::Auto(AUTO_SHARE_PCT));
    }
    check_load(load, is_rate_given, spec.window.transactions.is_some())?;
    check_jitter(load)?;
    let clients = if load.is_closed() { 1 } else { usual(target) };
    load.connections = load.connections.or(load.workers).or(Some(clients));
    Ok(())
}

/// Refuses what is said of a schedule where there is none, and of clients where there is one.
fn check_load(
    load: &LoadSpec,
    is_rate_given: bool,
    is_counted: bool,
) -> Result<(), CommandFailure> {
    let arrivals = load.arrivals.unwrap_or_default();
    let backlog = load.on_backlog.unwrap_or_default();
    let (is_at_once, is_closed) = (arrivals == Arrivals::AtOnce, load.is_closed());
    for (is_wrong, why) in [
        (
            is_at_once && !is_counted,
            "--arrivals at-once needs --transactions: how many are due at the start?".to_owned(),
        ),
        (
            is_at_once && is_rate_given,
            "--arrivals at-once takes no --rate: all transactions are due at the start".to_owned(),
        ),
        (
            is_closed && backlog != Backlog::Wait,
            format!("--on-backlog {backlog} needs --rate: a closed loop has no backlog"),
        ),
        (
            is_closed && arrivals != Arrivals::default(),
            format!("--arrivals {arrivals} needs --rate: a closed loop has no due instants"),
        ),
        (
            load.think.is_some() && !is_closed,
            "--think is for a closed loop: with --rate the schedule sets when transactions are \
             due"
            .to_owned(),
        ),
    ] {
        if is_wrong {
            return Err(CommandFailure::usage(why));
        }
    }
    Ok(())
}

/// Connections of an open loop when none are given. Where each has a thread that executes its
/// statements too, more of them than CPUs wait for each other's: on two CPUs eight waited twice as
/// long as two for a CPU at the same rate, and had no more throughput.
fn usual(target: &Target) -> u32 {
    if target.has_shards() { CONNECTIONS } else { CONNECTIONS.min(usable_cpus()) }
}

/// Refuses a jitter that nothing has, or that is wider than a period.
fn check_jitter(load: &LoadSpec) -> Result<(), CommandFailure> {
    let due = load.due();
    let is_steady = matches!(due, Arrivals::Steady { .. });
    if load.jitter.is_some() && !is_steady {
        return Err(CommandFailure::usage(format!(
            "--jitter is for steady arrivals, and these are {due}: leave out --jitter or \
             --arrivals"
        )));
    }
    if load.jitter.is_some() && load.rate.is_none() {
        return Err(CommandFailure::usage(
            "--jitter needs --rate: a closed loop has no due instants; leave it out, or add --rate",
        ));
    }
    if let Some(RateChoice::Given(rate)) = &load.rate {
        due.check(rate).map_err(|why| named("--jitter", &why))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
