//! One run from request to record.

use crate::error::LabError;
use crate::measurement::Measurement;
use crate::monitor::{Monitor, ServerEyes, Watched, log_heading, seconds};
use crate::once;
use crate::progress::Progress;
use crate::request::{Detail, Load, RateChoice, RunRequest};
use crate::servers::check_online;
use crate::settle;
use crate::store::Store;
use crate::stuck::watched;
use crate::targets::{Facts, Prepared};
use dbtime_engines::plan::{Demand, Driven, Plan, Stop, Watcher};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::pipelining::Pipelining;
use dbtime_load::think::Think;
use dbtime_machine::cpus::usable_cpus;
use dbtime_machine::wait::{TimerTest, precise_timers, test_timers};
use dbtime_machine::{CpuList, PinnedThread};
use dbtime_model::record::{AutoRate, CheckOutcome, Run, file};
use dbtime_model::{MonoNanos, Nanos};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::SystemTime;

/// When a run was interrupted, where there is nothing to report.
pub(crate) const BEFORE_WINDOW: &str = "before the window began: nothing was measured";

/// How long waiting transactions are still served after the window, at most.
const RUNDOWN: Nanos = Nanos::from_secs(5);

/// Flat out means without the think times of a workload.
pub(crate) const NO_THINK: Think = Think::Fixed(Nanos::ZERO);

/// A finished run.
pub struct Finished {
    /// The run.
    pub run: Run,
    /// Where its record is, if it has one.
    pub folder: Option<PathBuf>,
    /// Why it has none, where it was to have one.
    pub unrecorded: Option<LabError>,
    /// How the limits came out, the worst of all: missed before undecided.
    pub limits: CheckOutcome,
}

/// Makes one run. Blocks until it has ended; `stop` ends it early.
///
/// Errors: [`LabError`]; then nothing was measured, and no record was written. A record that cannot
/// be written in the end is no error: [`Finished`] has the run, and why it has no record.
pub fn run(
    request: &RunRequest,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<Finished, LabError> {
    let store = request.out.as_deref().map(Store::create).transpose()?;
    run_into(store, request, progress, stop)
}

/// The same where the record's folder was reserved before.
pub fn run_into(
    store: Option<Store>,
    request: &RunRequest,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<Finished, LabError> {
    let _pinned = request.client_cpus.as_ref().map(keep_to).transpose()?;
    precise_timers();
    let prepared = request.target.prepare(request, progress, stop)?;
    once::prepare(request, &*prepared, progress, stop)?;
    let mut plan = new_plan(request, prepared.scale());
    let (timers, facts) = look(request, &plan, &*prepared)?;
    let auto = settle::rate(request, &mut plan, &*prepared, progress, stop)?;
    settle::budget(request, &mut plan, &*prepared, stop)?;
    let cost = settle::cost(request, &plan, &*prepared, stop)?;

    let started = SystemTime::now();
    let log: Box<dyn Write + Send> = match &store {
        Some(store) => {
            let mut log = store.open(file::LATENCY)?;
            // A full disk shows again, with the path, when the log is flushed.
            let _ = log.write_all(log_heading(started).as_bytes());
            Box::new(log)
        }
        None => Box::new(io::sink()),
    };
    let (driven, mut watched) = drive(&plan, &*prepared, log, progress, stop)?;
    if let Some(trouble) = plan.script_trouble() {
        return Err(LabError::Script(trouble.to_string()));
    }
    if stop.instant() <= plan.window(driven.start).start {
        return Err(LabError::Interrupted(BEFORE_WINDOW));
    }
    let log_error = watched.log_error.take();
    let measurement =
        Measurement { request, plan: &plan, prepared: &*prepared, stop, timers, started, cost };
    let run = measurement.record(driven, watched, facts, auto);
    let limits = run.record.limits_outcome().unwrap_or(CheckOutcome::Passed);
    let record = store.map(|store| record(store, log_error, &*prepared, &run)).transpose();
    let (folder, unrecorded) = record.map_or_else(|e| (None, Some(e)), |folder| (folder, None));
    Ok(Finished { run, folder, unrecorded, limits })
}

/// Looks at the target, and meanwhile tests how late this machine wakes sleepers: a look is mostly
/// waiting for answers, and what makes and fills a target is over by now.
fn look(
    request: &RunRequest,
    plan: &Plan,
    prepared: &dyn Prepared,
) -> Result<(TimerTest, Facts), LabError> {
    if request.detail == Detail::Load {
        return Ok((TimerTest::default(), Facts::default()));
    }
    let is_looking = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let test = || test_timers(|| is_looking.load(Ordering::Relaxed));
        let testing = std::thread::Builder::new().name("timer test".to_owned());
        let testing = testing.spawn_scoped(scope, test).map_err(no_thread)?;
        let facts = prepared.facts(plan);
        is_looking.store(false, Ordering::Relaxed);
        let timers = testing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((timers, facts?))
    })
}

/// The system refuses a thread.
fn no_thread(error: io::Error) -> LabError {
    LabError::Target(format!("no thread can be started: {error}"))
}

/// Writes the record of a run, whose interval log was written meanwhile.
fn record(
    store: Store,
    log_error: Option<io::Error>,
    prepared: &dyn Prepared,
    run: &Run,
) -> Result<PathBuf, LabError> {
    store.keep(|folder| log_error.map_or_else(|| prepared.keep_log(folder), Err))?;
    store.commit(run)
}

/// Measures what the target of a request carries flat out, for runs that share its rate; `None`
/// where the request does not ask for it. Blocks; `stop` ends it early.
///
/// Errors: [`LabError`].
pub fn find_rate(
    request: &RunRequest,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<Option<AutoRate>, LabError> {
    let _pinned = request.client_cpus.as_ref().map(keep_to).transpose()?;
    let prepared = request.target.prepare(request, progress, stop)?;
    once::prepare(request, &*prepared, progress, stop)?;
    let mut plan = new_plan(request, prepared.scale());
    settle::rate(request, &mut plan, &*prepared, progress, stop)
}

/// Keeps this thread, and all that it will start, to the CPUs of a run until that has ended.
pub(crate) fn keep_to(cpus: &CpuList) -> Result<PinnedThread, LabError> {
    check_online(cpus, "--client-cpus")?;
    PinnedThread::new(cpus).map_err(|error| {
        LabError::Target(format!("this process may not run on CPUs {cpus}: {error}"))
    })
}

pub(crate) fn new_plan(request: &RunRequest, scale: u64) -> Plan {
    let load = &request.load;
    let workers = load.workers.unwrap_or(load.connections);
    // In a closed loop more workers than clients would have nobody to serve.
    let is_closed = load.rate.is_none() && load.arrivals != Arrivals::AtOnce;
    let servers = if is_closed { workers.min(load.connections) } else { workers };
    let demand = match &load.rate {
        _ if load.arrivals == Arrivals::AtOnce => {
            // All are due at the start, whatever the rate.
            Demand::Open { rate: Rate::Constant(1.0), arrivals: load.arrivals }
        }
        None => Demand::Closed { clients: load.connections, think: load.think },
        Some(RateChoice::Given(rate)) => {
            Demand::Open { rate: rate.clone(), arrivals: load.arrivals }
        }
        // Flat out first; `settle::rate` knows more.
        Some(RateChoice::Auto(_) | RateChoice::Found(_)) => {
            Demand::Closed { clients: servers, think: Some(NO_THINK) }
        }
    };
    let shards = shards(load, &demand, servers);
    Plan {
        workload: Arc::new(request.workload.clone()),
        scale,
        seed: request.seed,
        first: 0,
        demand,
        backlog: load.backlog,
        servers,
        warmup: request.warmup,
        measure: request.time,
        transactions: request.transactions,
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
/// Source: `bench/few-connections.sh`, in docs/benchmarks.md.
pub(crate) fn shards(load: &Load, demand: &Demand, servers: u32) -> u32 {
    if let Some(shards) = load.shards {
        return shards.clamp(1, servers.max(1));
    }
    let cpus = usable_cpus();
    let is_tied = matches!(demand, Demand::Closed { clients, .. } if *clients == servers);
    if is_tied && servers <= FEW { servers.min(cpus).max(1) } else { 1 }
}

/// So few clients are divided among the CPUs.
const FEW: u32 = 8;

/// What the watching thread is told.
enum Told {
    /// Everything is there, and the load has not begun.
    Ready,
    /// The load starts at this instant.
    Started(MonoNanos),
}

/// Drives a load and watches it; blocks until all has ended.
pub(crate) fn drive(
    plan: &Plan,
    prepared: &dyn Prepared,
    log: Box<dyn Write + Send>,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<(Driven, Watched), LabError> {
    let threads = if prepared.is_sharded() { plan.shards } else { plan.servers };
    let (sinks, seconds) = seconds(threads);
    let (tell, hear) = channel::<Told>();
    let (answer, answered) = channel::<()>();
    let (look_back, looked_back) = channel::<()>();
    std::thread::scope(|scope| {
        let watch = move || {
            let mut eyes = ServerEyes::new(prepared.server_pid());
            let start = loop {
                match hear.recv().ok()? {
                    Told::Ready => {
                        // Only now, so as to take no connection from the load.
                        eyes = eyes.with_sampler(prepared.sampler());
                        if plan.warmup == Nanos::ZERO {
                            // The window begins with the load.
                            eyes.look(0);
                        }
                        // Nobody waits for it only when the load has failed.
                        let _ = answer.send(());
                    }
                    Told::Started(start) => break start,
                }
            };
            let monitor = Monitor::new(start, plan.window(start), log, progress);
            let (mut watched, eyes) = monitor.with_server(eyes).watch(seconds);
            // An embedded engine has nobody who waits for it.
            let _ = look_back.send(());
            // Nothing more is told; the channel closes when the load's connections have.
            let _ = hear.recv();
            eyes.sessions_ended(&mut watched);
            Some(watched)
        };
        let monitor = std::thread::Builder::new().name("monitor".to_owned());
        let monitor = monitor.spawn_scoped(scope, watch).map_err(no_thread)?;
        let watcher = Watcher {
            sink: &|id| sinks.take(id),
            ready: &|| {
                if tell.send(Told::Ready).is_ok() {
                    let _ = answered.recv();
                }
            },
            started: &|start| {
                progress(Progress::Started {
                    at: start,
                    warmup: plan.warmup,
                    measure: plan.measure,
                    transactions: plan.transactions,
                });
                // The monitor hears it unless it panicked; joining tells.
                let _ = tell.send(Told::Started(start));
            },
            // Every thread has handed over its last second: the monitor looks for the last time.
            ended: &|| {
                let _ = looked_back.recv();
            },
        };
        let driven = watched(plan, progress, || prepared.drive(plan, watcher, stop));
        drop(sinks);
        drop(tell);
        let watched = monitor.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((driven?, watched.expect("the load started, or it failed above")))
    })
}
