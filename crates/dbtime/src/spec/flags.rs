//! From flags to the written form of a run.

use super::RunSecrets;
use crate::cli::RunArgs;
use crate::exit::CommandFailure;
use dbtime_model::spec::{
    Arrivals, BudgetChoice, LoadSpec, RunSpec, TargetSpec, WindowSpec, WorkloadSpec,
};
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
        limits: args.limits.clone(),
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
        protocol: args.protocol,
        pipeline: args.pipeline,
        reconnect: args.reconnect,
        statement_timeout: args.statement_timeout,
        network_delay: args.network_delay,
        network_rate: args.network_rate,
        server_set: pairs(&args.server_set),
        server_env: variables.map(|pair| secrets.take_from_variable(pair)).collect(),
        server_cpus: args.server_cpus.clone(),
        server_data: args.server_data.as_deref().map(path_text).transpose()?,
    })
}

fn load(args: &RunArgs) -> LoadSpec {
    LoadSpec {
        rate: args.rate.clone(),
        flat_out: None,
        arrivals: Some(args.arrivals).filter(|arrivals| *arrivals != Arrivals::default()),
        jitter: args.jitter,
        connections: args.connections,
        workers: args.workers,
        think: args.think,
        on_backlog: Some(args.on_backlog),
        shards: args.shards,
        client_cpus: args.client_cpus.clone(),
    }
}

fn budget(args: &RunArgs) -> Option<BudgetChoice> {
    match args.no_budget {
        true => Some(BudgetChoice::Off),
        false => args.budget_every.map(BudgetChoice::Every),
    }
}

fn pairs(pairs: &[(String, String)]) -> Vec<String> {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

fn path_text(path: &Path) -> Result<String, CommandFailure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandFailure::usage(format!("`{}` is no text in UTF-8", path.display())))
}
