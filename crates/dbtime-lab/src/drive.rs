//! The plan of a run's load, and how it is driven under its observers.

use crate::error::LabError;
use crate::observers::{
    IntervalLog, LoginWatch, PhaseLog, RunMonitor, RunObservation, RunObserver, ServerObserver,
    observer_thread,
};
use crate::progress::RunProgress;
use crate::request::RunRequest;
use crate::script_watchdog::{ScriptUse, ScriptWatchdog};
use crate::servers::check_online;
use crate::targets::PreparedTarget;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::pipelining::Pipelining;
use dbtime_load::think::ThinkTime;
use dbtime_machine::cpus::usable_cpus;
use dbtime_machine::{CpuList, PinnedThread};
use dbtime_model::Nanos;
use dbtime_model::spec::{LoadSpec, RateChoice};
use std::io;
use std::sync::Arc;

/// When a run was interrupted, where there is nothing to report.
pub(crate) const BEFORE_WINDOW: &str = "before the window began: nothing was measured";

/// How long waiting transactions are still served after the window, at most.
const RUNDOWN: Nanos = Nanos::from_secs(5);

/// Flat out means without the think times of a workload.
pub(crate) const NO_THINK: ThinkTime = ThinkTime::Fixed(Nanos::ZERO);

/// Keeps this thread, and all that it will start, to the CPUs of a run until that has ended.
pub(crate) fn keep_to(cpus: &CpuList) -> Result<PinnedThread, LabError> {
    check_online(cpus, "--client-cpus")?;
    PinnedThread::new(cpus).map_err(|error| {
        LabError::Target(format!("this process may not run on CPUs {cpus}: {error}"))
    })
}

pub(crate) fn new_plan(request: &RunRequest, scale: u64) -> LoadPlan {
    let (load, window) = (&request.spec.load, &request.spec.window);
    let (servers, arrivals) = (load.concurrency(), load.due());
    let demand = match &load.rate {
        _ if arrivals == Arrivals::AtOnce => {
            // All are due at the start, whatever the rate.
            LoadDemand::Open { rate: Rate::Constant(1.0), arrivals }
        }
        None => LoadDemand::Closed { clients: load.clients(), think: load.think },
        Some(RateChoice::Given(rate)) => LoadDemand::Open { rate: rate.clone(), arrivals },
        Some(RateChoice::Auto(_)) => {
            // Flat out first; `calibrate::rate` puts the open loop in its place.
            LoadDemand::Closed { clients: servers, think: Some(NO_THINK) }
        }
    };
    let shards = shards(load, &demand, servers);
    LoadPlan {
        workload: Arc::new(request.workload.clone()),
        scale,
        seed: request.spec.seed,
        first: 0,
        demand,
        backlog: load.on_backlog.unwrap_or_default(),
        concurrency: servers,
        warmup: window.warmup.unwrap_or_default(),
        measure: window.time,
        transactions: window.transactions,
        rundown: request.rundown.unwrap_or(RUNDOWN),
        // What a script has begun is waited for, and nothing else is begun, as its tool does it.
        late_start: if request.rundown.is_some() { Nanos::ZERO } else { RUNDOWN },
        budget_every: 0,
        shards,
        pipelining: Pipelining::Off,
    }
}

/// Few clients, each with a connection of its own, are best served by a thread for each CPU: their
/// server processes need not all wait for one. A thread for each client costs more switches than
/// that saves, and with more clients one thread finds several answers at each wake-up. Where
/// connections are shared, shards are not: a transaction could wait in one while a connection of
/// another is free.
///
/// Source: `bench/few-connections.sh`, in bench/results/peers.md.
pub(crate) fn shards(load: &LoadSpec, demand: &LoadDemand, servers: u32) -> u32 {
    if let Some(shards) = load.shards {
        return shards.clamp(1, servers.max(1));
    }
    let cpus = usable_cpus();
    let is_tied = matches!(demand, LoadDemand::Closed { clients, .. } if *clients == servers);
    if is_tied && servers <= MAX_AUTO_CONNECTIONS { servers.min(cpus).max(1) } else { 1 }
}

/// So few clients are divided among the CPUs.
const MAX_AUTO_CONNECTIONS: u32 = 8;

/// The system refuses a thread.
pub(crate) fn no_thread(error: io::Error) -> LabError {
    LabError::Target(format!("no thread can be started: {error}"))
}

/// Drives a load under the observers that each run has and these others; blocks until all has
/// ended.
///
/// Errors: the load could not be driven.
pub(crate) fn drive_observed(
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    log: IntervalLog<'_>,
    others: Vec<&mut dyn RunObserver>,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<(LoadResult, RunObservation), LabError> {
    let mut phases = PhaseLog::new(progress);
    let mut monitor = RunMonitor::new(plan, log, progress);
    let mut server = ServerObserver::new(plan, prepared);
    let mut observers: Vec<&mut dyn RunObserver> = vec![&mut phases, &mut monitor, &mut server];
    for other in others {
        observers.push(other);
    }
    let result = drive_under(plan, prepared, observers, progress, stop)?;
    if !stop.is_set() {
        server.look_when_idle();
    }
    let (instants, server) = (phases.into_instants(), server.into_observation());
    let observation = monitor.into_observation(result.start, instants, server);
    Ok((result, observation))
}

/// Drives a load on a thread of its own, and these observers on this one.
fn drive_under<'o>(
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    observers: Vec<&mut (dyn RunObserver + 'o)>,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<LoadResult, LabError> {
    let threads = if prepared.is_sharded() { plan.shards } else { plan.concurrency };
    let (handle, observers) = observer_thread(plan, threads, observers, stop);
    std::thread::scope(|scope| {
        // The load has the other thread: connections of observers stay on the one that made them.
        let load = move || {
            let handle = handle;
            let script_use = ScriptUse::Load;
            let watchdog = ScriptWatchdog { plan, script_use, stop, progress };
            let observer = LoginWatch::new(&handle, progress);
            watchdog.during(|| prepared.drive(plan, &observer, stop))
        };
        let builder = std::thread::Builder::new().name("load".to_owned());
        let load = builder.spawn_scoped(scope, load).map_err(no_thread)?;
        observers.run();
        load.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
