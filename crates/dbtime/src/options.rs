//! From flags to a request: everything that can be refused without touching a machine is refused
//! here.

use crate::cli::{ReconnectWhen, RunArgs};
use crate::exit::Failure;
use crate::foreign;
use dbtime_engines::server::ServerOptions;
use dbtime_lab::{BudgetChoice, Load, PrivateOptions, RateChoice, RunRequest, Target};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Workload;
use dbtime_model::Nanos;
use std::path::PathBuf;

/// Window and warm-up when neither they nor a number of transactions are given.
const TIME: Nanos = Nanos::from_secs(20);
const WARMUP: Nanos = Nanos::from_secs(3);

/// Clients or connections when none are given.
const CONNECTIONS: u32 = 8;

/// The request that the flags make.
pub(crate) fn request(
    args: &RunArgs,
    command: String,
    out: Option<PathBuf>,
) -> Result<RunRequest, Failure> {
    let nothing_named = args.workload.is_none() && args.query.is_none() && args.script.is_none();
    let target: Target = args.target.parse()?;
    let load = load(args, nothing_named)?;
    let workload = workload(args, &load)?;
    let budget = match (args.no_budget, args.budget_every) {
        (true, _) => BudgetChoice::Off,
        (false, Some(every)) => BudgetChoice::Every(every),
        (false, None) => BudgetChoice::Auto,
    };
    let counted = args.transactions.is_some();
    let time = args.time.or((!counted).then_some(TIME));
    if time == Some(Nanos::ZERO) {
        return Err(Failure::usage("--time 0 measures nothing: give it a length such as 30s"));
    }
    let warmup = args.warmup.unwrap_or(if counted { Nanos::ZERO } else { WARMUP });
    Ok(RunRequest {
        workload,
        workload_given: given(args),
        scale: args.scale,
        target,
        load,
        server: ServerOptions {
            protocol: args.protocol,
            reconnect: args.reconnect.into(),
            statement_timeout: args.statement_timeout,
            pipeline: args.pipeline,
        },
        private: PrivateOptions {
            settings: args.server_set.clone(),
            environment: args.server_env.clone(),
            cpus: args.server_cpus.clone(),
            data: args.server_data.clone(),
        },
        client_cpus: args.client_cpus.clone(),
        warmup,
        time,
        transactions: args.transactions,
        rundown: None,
        budget,
        limits: args.limits.clone(),
        seed: args.seed,
        out,
        command,
    })
}

/// How the command line names what is run.
fn given(args: &RunArgs) -> String {
    let script = args.script.as_ref().map(|path| path.display().to_string());
    args.workload.clone().or(script).unwrap_or_else(|| "atm".to_owned())
}

fn workload(args: &RunArgs, load: &Load) -> Result<Workload, Failure> {
    if let Some(path) = &args.script {
        if matches!(args.reconnect, ReconnectWhen::EveryTransaction) {
            return Err(Failure::usage(
                "--reconnect every-transaction is not for scripts: a Lua script connects by \
                 itself, and dbtime pgbench has -C",
            ));
        }
        return foreign::workload(args, path, load);
    }
    match (&args.query, &args.workload) {
        (Some(sql), _) => Workload::from_sql(sql).map_err(Failure::usage),
        (None, Some(name)) => Workload::find(name).map_err(Failure::usage),
        (None, None) => Workload::find("atm").map_err(Failure::usage),
    }
}

fn load(args: &RunArgs, nothing_named: bool) -> Result<Load, Failure> {
    let at_once = args.arrivals == Arrivals::AtOnce;
    let rate = match &args.rate {
        Some(text) => Some(rate(text)?),
        None if nothing_named && args.think.is_none() && !at_once => Some(RateChoice::Auto(50.0)),
        None => None,
    };
    if at_once && args.transactions.is_none() {
        return Err(Failure::usage(
            "--arrivals at-once needs --transactions: how many are due at the start?",
        ));
    }
    if at_once && args.rate.is_some() {
        return Err(Failure::usage(
            "--arrivals at-once takes no --rate: all transactions are due at the start",
        ));
    }
    if rate.is_none() && !at_once && args.on_backlog != Backlog::Wait {
        return Err(Failure::usage(format!(
            "--on-backlog {} needs --rate: in a closed loop nothing piles up",
            args.on_backlog
        )));
    }
    if rate.is_none() && !at_once && args.arrivals != Arrivals::default() {
        return Err(Failure::usage(format!(
            "--arrivals {} needs --rate: a closed loop has no due instants",
            args.arrivals
        )));
    }
    if args.think.is_some() && (rate.is_some() || at_once) {
        return Err(Failure::usage(
            "--think belongs to a closed loop: with --rate the schedule says when transactions are due",
        ));
    }
    let arrivals = match (args.arrivals, args.jitter) {
        (arrivals, None) => arrivals,
        (Arrivals::Steady { .. }, jitter) if rate.is_some() => Arrivals::Steady { jitter },
        _ => return Err(Failure::usage("--jitter belongs to steady arrivals: it needs --rate")),
    };
    let connections = args.connections.or(args.workers).unwrap_or(match &rate {
        None if !at_once => 1,
        _ => CONNECTIONS,
    });
    Ok(Load {
        rate,
        arrivals,
        connections,
        workers: args.workers,
        think: args.think,
        backlog: args.on_backlog,
        shards: args.shards,
    })
}

fn rate(text: &str) -> Result<RateChoice, Failure> {
    let share = match text.strip_prefix("auto") {
        Some("") => Some(50.0),
        Some(share) => {
            let number = share.strip_prefix(':').and_then(|s| s.strip_suffix('%')?.parse().ok());
            let in_range = |share: &f64| *share > 0.0 && *share <= 10_000.0;
            let Some(number) = number.filter(in_range) else {
                return Err(Failure::usage(format!("`{text}` is no rate: write auto or auto:50%")));
            };
            Some(number)
        }
        None => None,
    };
    match share {
        Some(share) => Ok(RateChoice::Auto(share)),
        None => Ok(RateChoice::Given(text.parse::<Rate>().map_err(Failure::usage)?)),
    }
}
