//! From flags to the written form of a run. What is in a flag's notation there is so here.

use super::RunSecrets;
use crate::cli::RunArgs;
use crate::exit::CommandFailure;
use dbtime_load::arrivals::Arrivals;
use dbtime_model::record::{LoadSpec, RunSpec, TargetSpec, WindowSpec, WorkloadSpec};
use std::fmt::Display;
use std::path::Path;

/// The written form of what the flags say, and the passwords that it leaves out.
///
/// Errors: a path that is no text, and a password file that cannot be read.
pub(crate) fn of_flags(args: &RunArgs) -> Result<(RunSpec, RunSecrets), CommandFailure> {
    let mut secrets = RunSecrets::of_surroundings(args.password_file.as_deref())?;
    let spec = RunSpec {
        workload: workload(args, &mut secrets)?,
        target: target(args, &mut secrets)?,
        load: load(args),
        window: WindowSpec {
            warmup: args.warmup,
            time: args.time,
            transactions: args.transactions,
            budget: budget(args),
            trace: args.trace,
            statements: args.statements,
            stacks: args.stacks,
        },
        limits: args.limits.iter().map(ToString::to_string).collect(),
        seed: args.seed,
        ..RunSpec::default()
    };
    Ok((spec, secrets))
}

fn workload(args: &RunArgs, secrets: &mut RunSecrets) -> Result<WorkloadSpec, CommandFailure> {
    let options = args.script_set.iter();
    Ok(WorkloadSpec {
        name: args.workload.clone(),
        query: args.query.as_deref().map(|sql| secrets.take_from_query(sql)),
        script: args.script.as_deref().map(path_text).transpose()?,
        script_set: options.map(|pair| secrets.take_from_option(pair)).collect(),
        scale: args.scale,
        data_seed: args.data_seed,
        sha256: None,
    })
}

fn target(args: &RunArgs, secrets: &mut RunSecrets) -> Result<TargetSpec, CommandFailure> {
    let variables = args.server_env.iter();
    Ok(TargetSpec {
        url: secrets.take_from_url(&args.target),
        protocol: text(args.protocol.as_ref()),
        pipeline: args.pipeline,
        reconnect: text(args.reconnect.as_ref()),
        statement_timeout: args.statement_timeout,
        network_delay: args.network_delay,
        network_rate: args.network_rate,
        server_set: pairs(&args.server_set),
        server_env: variables.map(|pair| secrets.take_from_variable(pair)).collect(),
        server_cpus: text(args.server_cpus.as_ref()),
        server_data: args.server_data.as_deref().map(path_text).transpose()?,
    })
}

fn load(args: &RunArgs) -> LoadSpec {
    let arrivals = (args.arrivals != Arrivals::default()).then(|| args.arrivals.to_string());
    LoadSpec {
        rate: text(args.rate.as_ref()),
        flat_out: None,
        arrivals,
        jitter: args.jitter,
        connections: args.connections,
        workers: args.workers,
        think: text(args.think.as_ref()),
        on_backlog: Some(args.on_backlog.to_string()),
        shards: args.shards,
        client_cpus: text(args.client_cpus.as_ref()),
    }
}

fn budget(args: &RunArgs) -> Option<String> {
    if args.no_budget { Some("off".to_owned()) } else { text(args.budget_every.as_ref()) }
}

fn text(value: Option<&impl Display>) -> Option<String> {
    value.map(ToString::to_string)
}

fn pairs(pairs: &[(String, String)]) -> Vec<String> {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

fn path_text(path: &Path) -> Result<String, CommandFailure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandFailure::usage(format!("`{}` is no text in UTF-8", path.display())))
}
