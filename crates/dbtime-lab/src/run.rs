//! One run from request to record.

use crate::checks;
use crate::error::LabError;
use crate::judge::judge;
use crate::monitor::{Monitor, Watched, log_heading, seconds};
use crate::progress::Progress;
use crate::request::{BudgetChoice, RateChoice, RunRequest};
use crate::store::Store;
use crate::summary::Summary;
use crate::target::{Facts, Prepared};
use dbtime_engines::plan::{Demand, Driven, Plan, Stop};
use dbtime_engines::wait::{TimerTest, test_timers};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_model::record::{
    AutoRate, Basis, BudgetInfo, BudgetUs, ClientInfo, Environment, LoadInfo, Run, RunRecord,
    SCHEMA, WindowInfo, WorkloadInfo, file,
};
use dbtime_model::recorder::{Latencies, StatementRecorder};
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::machine;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::SystemTime;

/// How long the flat-out rate is measured, and how long the load runs up before.
const FLAT_OUT: Nanos = Nanos::from_secs(3);
const FLAT_OUT_WARMUP: Nanos = Nanos::from_secs(1);

/// How long waiting transactions are still served after the window, at most.
const RUNDOWN: Nanos = Nanos::from_secs(5);

/// Number of the first transaction of a trial: far above any run's, and unique keys made from it
/// still fit 32 bits.
const TRIAL_FIRST: u64 = 1 << 30;

/// When a run was interrupted, where there is nothing to report.
const BEFORE_WINDOW: &str = "before the window began: nothing was measured";

/// The share of the service time that measuring may cost with [`BudgetChoice::Auto`].
const PROBE_SHARE: f64 = 0.02;

/// A finished run.
pub struct Finished {
    /// The run.
    pub run: Run,
    /// Where its record is, if it has one.
    pub folder: Option<PathBuf>,
    /// Whether every limit held.
    pub passed: bool,
}

/// Makes one run. Blocks until it has ended; `stop` ends it early.
///
/// Errors: [`LabError`]; then no record was written.
pub fn run(
    request: &RunRequest,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<Finished, LabError> {
    let store = request.out.as_deref().map(Store::create).transpose()?;
    let timers = test_timers();
    let prepared = request.target.prepare(request, progress, stop)?;
    let mut plan = plan(request, prepared.scale);
    let auto = settle_rate(request, &mut plan, &prepared, progress, stop)?;
    settle_budget(request, &mut plan, &prepared, stop)?;
    let facts = prepared.facts(&plan)?;

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
    let (driven, watched) = drive(&plan, &prepared, log, progress, stop)?;
    if stop.instant() <= plan.window(driven.start).start {
        return Err(LabError::Interrupted(BEFORE_WINDOW));
    }
    if let (Some(source), Some(path)) = (watched.log_error, &request.out) {
        return Err(LabError::Record { path: path.clone(), source });
    }
    let measurement =
        Measurement { request, plan: &plan, prepared: &prepared, stop, timers, started };
    let watched = Watched { log_error: None, ..watched };
    let run = measurement.record(driven, watched, facts, auto);
    let of_operations = run.record.operations.iter().flat_map(|operation| &operation.limits);
    let passed = run.record.limits.iter().chain(of_operations).all(|check| check.passed);
    let folder = store.map(|store| store.commit(&run)).transpose()?;
    Ok(Finished { run, folder, passed })
}

fn plan(request: &RunRequest, scale: u64) -> Plan {
    let load = &request.load;
    let servers = load.workers.unwrap_or(load.connections);
    let demand = match &load.rate {
        _ if load.arrivals == Arrivals::AtOnce => {
            // All are due at the start, whatever the rate.
            Demand::Open { rate: Rate::Constant(1.0), arrivals: load.arrivals }
        }
        None => Demand::Closed { clients: load.connections, think: load.think },
        Some(RateChoice::Given(rate)) => {
            Demand::Open { rate: rate.clone(), arrivals: load.arrivals }
        }
        // Flat out first; `settle_rate` knows more.
        Some(RateChoice::Auto(_)) => Demand::Closed { clients: servers, think: None },
    };
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
        rundown: RUNDOWN,
        budget_every: 0,
        shards: load.shards.clamp(1, servers.max(1)),
    }
}

/// Measures the flat-out rate and offers a share of it, if that was asked for.
fn settle_rate(
    request: &RunRequest,
    plan: &mut Plan,
    prepared: &Prepared,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<Option<AutoRate>, LabError> {
    let Some(RateChoice::Auto(share_pct)) = request.load.rate else { return Ok(None) };
    if request.load.arrivals == Arrivals::AtOnce {
        return Ok(None);
    }
    progress(Progress::FlatOut { length: FLAT_OUT_WARMUP + FLAT_OUT });
    let (driven, window_s) = trial(plan, prepared, FLAT_OUT_WARMUP, FLAT_OUT, stop)?;
    let flat_out_tps = driven.recorder.counts().completed as f64 / window_s;
    let rate = flat_out_tps * share_pct / 100.0;
    if rate <= 0.0 || !rate.is_finite() {
        let errors: Vec<&str> = driven.recorder.errors.keys().map(String::as_str).collect();
        return Err(LabError::Target(format!(
            "no transaction completed in {FLAT_OUT} flat out, so --rate auto has nothing to go by \
             (errors: {})",
            if errors.is_empty() { "none".to_owned() } else { errors.join(", ") }
        )));
    }
    progress(Progress::Rate { flat_out_tps, offered_tps: rate });
    let arrivals = request.load.arrivals;
    plan.demand = Demand::Open { rate: Rate::Constant(rate), arrivals };
    Ok(Some(AutoRate { flat_out_tps, measured_s: window_s, share_pct }))
}

/// Chooses how many transactions have their parts measured.
fn settle_budget(
    request: &RunRequest,
    plan: &mut Plan,
    prepared: &Prepared,
    stop: &Stop,
) -> Result<(), LabError> {
    plan.budget_every = match request.budget {
        BudgetChoice::Off => 0,
        BudgetChoice::Every(every) => every,
        BudgetChoice::Auto => {
            // A short closed loop tells what a transaction takes and how many statements it has.
            let warmup = Nanos::from_millis(50);
            let short = Plan {
                demand: Demand::Closed { clients: 1, think: Some(no_think()) },
                servers: 1,
                shards: 1,
                ..plan.clone()
            };
            let (driven, _) = trial(&short, prepared, warmup, Nanos::from_millis(250), stop)?;
            let ended = driven.recorder.counts().completed.max(1) as f64;
            let executed: u64 = driven.recorder.statements.iter().map(|s| s.count).sum();
            let service: f64 = driven
                .recorder
                .operations
                .iter()
                .map(|op| op.latencies.service.mean_ns() * op.latencies.service.count() as f64)
                .sum::<f64>()
                / ended;
            let cost = prepared.probe_ns() * executed as f64 / ended;
            let every = (cost / (PROBE_SHARE * service.max(1.0))).ceil();
            (every as u32).clamp(1, 1024).next_power_of_two()
        }
    };
    Ok(())
}

fn no_think() -> dbtime_load::think::Think {
    dbtime_load::think::Think::Fixed(Nanos::ZERO)
}

/// A load that is not recorded. Returns what was driven and the length of its window in seconds.
fn trial(
    plan: &Plan,
    prepared: &Prepared,
    warmup: Nanos,
    measure: Nanos,
    stop: &Stop,
) -> Result<(Driven, f64), LabError> {
    // Trials have numbers of their own: keys that must not repeat are all still to come.
    let trial = Plan {
        warmup,
        measure: Some(measure),
        transactions: None,
        budget_every: 0,
        rundown: Nanos::ZERO,
        first: TRIAL_FIRST,
        ..plan.clone()
    };
    let quiet = |_: Progress| {};
    let (driven, _) = drive(&trial, prepared, Box::new(io::sink()), &quiet, stop)?;
    if stop.is_set() {
        return Err(LabError::Interrupted(BEFORE_WINDOW));
    }
    Ok((driven, measure.as_secs()))
}

fn drive(
    plan: &Plan,
    prepared: &Prepared,
    log: Box<dyn Write + Send>,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<(Driven, Watched), LabError> {
    let threads = plan.servers.max(plan.shards);
    let (sinks, seconds) = seconds(threads);
    let (tell_start, hear_start) = channel::<MonoNanos>();
    std::thread::scope(|scope| {
        let watch = move || {
            let start = hear_start.recv().ok()?;
            Some(Monitor::new(start, plan.window(start), log, progress).watch(seconds))
        };
        let monitor = std::thread::Builder::new().name("monitor".to_owned());
        let monitor = monitor.spawn_scoped(scope, watch).expect("a thread can be started");
        let driven = prepared.drive(
            plan,
            |id| sinks.take(id),
            |start| {
                progress(Progress::Started {
                    warmup: plan.warmup,
                    measure: plan.measure,
                    transactions: plan.transactions,
                });
                // The monitor hears it unless it panicked; joining tells.
                let _ = tell_start.send(start);
            },
            stop,
        );
        drop(sinks);
        drop(tell_start);
        let watched = monitor.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((driven?, watched.expect("the load started, or it failed above")))
    })
}

/// What a run measured, on its way to the record.
struct Measurement<'a> {
    request: &'a RunRequest,
    plan: &'a Plan,
    prepared: &'a Prepared,
    stop: &'a Stop,
    timers: TimerTest,
    started: SystemTime,
}

impl Measurement<'_> {
    fn record(
        &self,
        driven: Driven,
        watched: Watched,
        facts: Facts,
        auto: Option<AutoRate>,
    ) -> Run {
        let summary = Summary::new(&driven, &self.plan.workload);
        let window = self.window(&driven);
        let counts = driven.recorder.counts();
        let mut record = RunRecord {
            schema: SCHEMA,
            dbtime: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.request.command.clone(),
            started_at: timestamp(self.started),
            ended_at: timestamp(SystemTime::now()),
            environment: self.environment(&watched),
            workload: self.workload(),
            target: facts.target,
            load: self.load(auto, &window),
            counts: counts.into(),
            errors: driven.recorder.errors.clone(),
            throughput_tps: counts.completed as f64 / window.measure_s.max(1e-9),
            latency_us: summary.latency_us(),
            percentiles: summary.percentiles(),
            histogram: summary.histogram(),
            client: self.client(&driven, &watched, &window),
            ..RunRecord::default()
        };
        let statements: u64 =
            summary.statements.iter().map(|statement| statement.round_trips).sum();
        record.round_trips_per_tx = statements as f64 / counts.completed.max(1) as f64;
        record.basis = match self.plan.is_pooled() {
            true => Basis::Response,
            false => Basis::Service,
        };
        if self.plan.budget_every > 0 {
            record.budget_us = Some(BudgetUs::from_budget(&summary.budget, driven.measured));
            record.budget_error = Some(summary.budget.error());
            record.budget = Some(BudgetInfo {
                every: self.plan.budget_every,
                sampled: summary.budget.count,
                of: counts.completed + counts.failed,
                chosen: if self.request.budget == BudgetChoice::Auto { "auto" } else { "given" }
                    .to_owned(),
            });
        }
        record.window = window;
        record.operations = summary.operations;
        record.statements = summary.statements;
        self.prepared.fill(&mut record, &self.plan.workload, statement_wall(&driven));
        record.validity.warnings = facts.warnings;
        self.check(&driven, &summary.latencies, &mut record);
        record.validity = judge(&record);
        let mut series = watched.series;
        self.offered(&driven, &mut series);
        Run { record, series, transactions: summary.transactions }
    }

    fn check(&self, driven: &Driven, all: &Latencies<u64>, record: &mut RunRecord) {
        let (own, extra) = (&self.request.workload.limits, &self.request.limits);
        let counts = driven.recorder.counts();
        record.limits = checks::of_run(own, extra, (all, &counts), record.window.measure_s);
        let whole = (record.counts.offered, record.window.measure_s);
        let described = self.request.workload.operations.iter().zip(&driven.recorder.operations);
        for (summary, (operation, recorded)) in record.operations.iter_mut().zip(described) {
            summary.limits = checks::of_operation(operation, extra, recorded, summary, whole);
        }
    }

    fn window(&self, driven: &Driven) -> WindowInfo {
        let window = self.plan.window(driven.start);
        // A number of transactions, or an early end, closes the window with what ended last.
        let stopped = self.stop.instant();
        let end = window.end.min(stopped).min(if self.plan.measure.is_some() {
            window.end
        } else {
            driven.ended
        });
        WindowInfo {
            warmup_s: self.plan.warmup.as_secs(),
            measure_s: (end - window.start).as_secs(),
            rundown_s: (driven.ended - end).as_secs(),
            outside: driven.recorder.outside,
            ended_early: self.stop.is_set(),
        }
    }

    fn environment(&self, watched: &Watched) -> Environment {
        let [_, begin, end] = &watched.machine;
        let used = end.since(begin);
        Environment {
            steal_pct: used.steal_pct,
            foreign_cpu_pct: used.foreign_pct / f64::from(machine::cpus()),
            clock_read_ns: self.timers.clock_read_ns,
            timer_late_p50_us: self.timers.late_p50.as_micros(),
            timer_late_p99_us: self.timers.late_p99.as_micros(),
            probe_ns: self.prepared.probe_ns(),
            ..machine::describe()
        }
    }

    fn workload(&self) -> WorkloadInfo {
        let workload = &self.request.workload;
        let rows = workload
            .tables
            .iter()
            .map(|table| (table.name.clone(), table.row_count(self.plan.scale)));
        WorkloadInfo { name: workload.name.clone(), scale: self.plan.scale, rows: rows.collect() }
    }

    fn load(&self, auto: Option<AutoRate>, window: &WindowInfo) -> LoadInfo {
        let load = &self.request.load;
        let (mode, rate, arrivals) = match &self.plan.demand {
            Demand::Closed { .. } => ("closed", None, "closed".to_owned()),
            Demand::Open { rate, arrivals } => ("open", Some(rate), arrivals.to_string()),
        };
        let at_once = load.arrivals == Arrivals::AtOnce;
        let (from, to) =
            (self.plan.warmup, self.plan.warmup + Nanos::from_secs_f64(window.measure_s));
        let jitter_us = match (load.arrivals, rate) {
            (Arrivals::Steady { jitter: Some(jitter) }, Some(_)) => Some(jitter.as_micros()),
            (Arrivals::Steady { jitter: None }, Some(Rate::Constant(rate))) => Some(1e5 / rate),
            _ => None,
        };
        LoadInfo {
            mode: mode.to_owned(),
            rate_tps: rate.filter(|_| !at_once).map(|rate| rate.mean(from, to)),
            rate: rate.filter(|_| !at_once).map(|rate| match &auto {
                Some(auto) => format!("auto:{}%", auto.share_pct),
                None => rate.to_string(),
            }),
            auto,
            jitter_us,
            arrivals,
            connections: load.connections,
            workers: load.workers,
            shards: self.prepared.is_sharded().then_some(self.plan.shards),
            think_us: load.think.map(|think| think.mean().as_micros()),
            think: load.think.map(|think| think.to_string()),
            on_backlog: self.plan.backlog.to_string(),
            seed: self.plan.seed,
        }
    }

    fn client(&self, driven: &Driven, watched: &Watched, window: &WindowInfo) -> ClientInfo {
        let [_, begin, end] = &watched.machine;
        let used = end.since(begin);
        let completed = driven.recorder.counts().completed.max(1) as f64;
        let busiest = driven.threads.iter().map(|t| t.driver).max().unwrap_or_default();
        let runq = driven.threads.iter().map(|t| t.runq).collect::<Option<Vec<_>>>();
        ClientInfo {
            cpu_us_per_tx: used.process_s * 1e6 / completed,
            usr_pct: used.usr_pct,
            sys_pct: used.sys_pct,
            busy: (busiest.as_secs() / window.measure_s.max(1e-9)).min(1.0),
            threads_cpu_s: driven.threads.iter().map(|t| t.cpu).sum::<Nanos>().as_secs(),
            threads_runq_s: runq.map(|runq| runq.into_iter().sum::<Nanos>().as_secs()),
            rss_peak_bytes: machine::rss_peak_bytes(),
        }
    }

    /// Writes beside each second what was due in it.
    fn offered(&self, driven: &Driven, series: &mut [dbtime_model::record::SeriesRow]) {
        let Some(queue) = self.plan.open_queue(driven.start, 0, 1) else { return };
        let stopped = self.stop.instant();
        let mut offered = vec![0u64; series.len()];
        for ticket in queue.take_while(|ticket| ticket.due < stopped) {
            let second = (ticket.due - driven.start).0 / 1_000_000_000;
            if let Some(count) = offered.get_mut(second as usize) {
                *count += 1;
            }
        }
        for (row, count) in series.iter_mut().zip(offered) {
            row.offered = Some(count);
        }
    }
}

/// Time inside all statements of the window.
fn statement_wall(driven: &Driven) -> Nanos {
    let of = |s: &StatementRecorder<u64>| s.service.mean_ns() * s.service.count() as f64;
    Nanos(driven.recorder.statements.iter().map(of).sum::<f64>() as u64)
}

/// UTC, RFC 3339, to the millisecond.
fn timestamp(at: SystemTime) -> String {
    jiff::Timestamp::try_from(at).map_or_else(|_| String::new(), |at| format!("{at:.3}"))
}
