//! One run from request to record.

use crate::calibrate;
use crate::doctor::RunOutlook;
use crate::drive::{BEFORE_WINDOW, drive_observed, keep_to, new_plan, no_thread};
use crate::error::LabError;
use crate::measurement::RunMeasurement;
use crate::observers::IntervalLog;
use crate::one_shot;
use crate::progress::RunProgress;
use crate::request::{RecordDetail, RunRequest};
use crate::run_event::SliceRequest;
use crate::run_trace::RunTrace;
use crate::store::RunStore;
use crate::targets::{PreparedTarget, TargetFacts};
use crate::tracing_cost::tracing_cost;
use dbtime_engines::drive::plan::{LoadPlan, RunStop};
use dbtime_machine::PinnedThread;
use dbtime_machine::wait::{TimerTest, precise_timers, test_timers};
use dbtime_model::record::{AutoRate, CheckOutcome, MeasuringCost, Run, file};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// Transactions that a slice may have without taking the numbers of the next one. As many slices as
/// there may be end below the numbers of trials.
const SLICE_TRANSACTIONS: u64 = 1 << 26;

/// A finished run.
pub struct RunResult {
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
/// be written in the end is no error: [`RunResult`] has the run, and why it has no record.
pub fn run(
    request: &RunRequest,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<RunResult, LabError> {
    let store = request.out.as_deref().map(RunStore::create).transpose()?;
    run_into(store, request, progress, stop)
}

/// The same where the record's folder was reserved before.
pub fn run_into(
    store: Option<RunStore>,
    request: &RunRequest,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<RunResult, LabError> {
    PreparedRun::of(request.clone(), progress, stop)?.measure(store, progress, stop)
}

/// A run whose target is ready: to be measured once, or in slices one after the other. The target
/// is removed when this is dropped, where the run has made it.
pub struct PreparedRun {
    request: RunRequest,
    prepared: Box<dyn PreparedTarget>,
    plan: LoadPlan,
    timers: TimerTest,
    facts: TargetFacts,
    auto: Option<AutoRate>,
    cost: Option<MeasuringCost>,
    /// Whether the cost is that of tracing, which is tried once.
    is_tracing_tried: bool,
    /// What machine, driver and server are like, before the load.
    outlook: RunOutlook,
    /// The command of the whole run, of which slices are made.
    command: String,
    /// How many slices were begun.
    slices: u64,
    _pinned: Option<PinnedThread>,
}

impl PreparedRun {
    /// Makes the target ready, and finds out what has to be known before the load.
    ///
    /// Errors: [`LabError`].
    pub fn of(
        request: RunRequest,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<Self, LabError> {
        let _pinned = request.spec.load.client_cpus.as_ref().map(keep_to).transpose()?;
        precise_timers();
        let mut outlook = RunOutlook::of(&request, stop);
        outlook.warnings.iter().for_each(|warning| (request.note)(warning));
        let prepared = request.target.prepare(&request, progress, stop)?;
        one_shot::prepare(&request, &*prepared, progress, stop)?;
        let mut plan = new_plan(&request, prepared.scale());
        let (timers, facts) = target_facts(&request, &plan, &*prepared, stop)?;
        outlook.take(&facts.findings).iter().for_each(|warning| (request.note)(warning));
        let auto = calibrate::rate(&request, &mut plan, &*prepared, progress, stop)?;
        calibrate::budget(&request, &mut plan, &*prepared, stop)?;
        let cost = calibrate::cost(&request, &plan, &*prepared, stop)?;
        let (command, is_tracing_tried, slices) = (request.command.clone(), false, 0);
        Ok(Self {
            request,
            prepared,
            plan,
            timers,
            facts,
            auto,
            cost,
            is_tracing_tried,
            outlook,
            command,
            slices,
            _pinned,
        })
    }

    /// Makes the next slice of it, with this seed and its record in this folder. Transactions have
    /// numbers of their own in each: keys that must not repeat follow from them.
    ///
    /// Errors: those of [`run`].
    pub fn slice(
        &mut self,
        slice: &SliceRequest,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<RunResult, LabError> {
        let store = RunStore::create(&slice.out)?;
        let seed = slice.seed;
        self.request.command = format!("{} --seed={seed}", self.command);
        if self.request.target.loads_data() {
            let rows = self.request.rows_seed();
            self.request.spec.workload.data_seed = Some(rows);
            self.request.command += &format!(" --data-seed={rows}");
        }
        (self.request.spec.seed, self.plan.seed) = (seed, seed);
        self.plan.first = self.slices * SLICE_TRANSACTIONS;
        self.slices += 1;
        self.measure(Some(store), progress, stop)
    }

    /// Drives the load and judges what came of it. Blocks until that has ended; `stop` ends it
    /// early.
    ///
    /// Errors: as of [`run`].
    pub fn measure(
        &mut self,
        store: Option<RunStore>,
        progress: &(dyn Fn(RunProgress) + Sync),
        stop: &RunStop,
    ) -> Result<RunResult, LabError> {
        let (request, plan, prepared) = (&self.request, &self.plan, &*self.prepared);
        let started = SystemTime::now();
        let log: Box<dyn Write + Send> = match &store {
            Some(store) => Box::new(store.open(file::LATENCY)?),
            None => Box::new(io::sink()),
        };
        let log = IntervalLog::new(log, started);
        let LoadPlan { warmup, measure, transactions, .. } = *plan;
        progress(RunProgress::Planned { warmup, measure, transactions });
        let mut trace = RunTrace::begin(request, plan, prepared, store.as_ref());
        if trace.is_attached() && !self.is_tracing_tried {
            self.cost = tracing_cost(request, plan, prepared, |is_on| trace.watch(is_on), stop)?;
            self.is_tracing_tried = true;
        }
        trace.discard();
        let others = trace.observer().into_iter().collect();
        let (mut driven, mut observed) =
            drive_observed(plan, prepared, log, others, progress, stop)?;
        if let Some(error) = plan.script_error() {
            return Err(LabError::Script(error));
        }
        if stop.instant() <= plan.window(driven.start).start {
            return Err(LabError::Interrupted(BEFORE_WINDOW));
        }
        let log_error = observed.log_error.take();
        let trace = trace.finish(&mut driven);
        let mut facts = self.facts.clone();
        facts.warnings.extend(trace.warnings);
        let measurement = RunMeasurement {
            request,
            plan,
            prepared,
            stop,
            timers: self.timers,
            findings: self.outlook.findings.as_deref(),
            started,
            cost: self.cost,
            trace: trace.info,
            has_traced_parts: trace.has_parts,
            traced_tables: trace.tables,
        };
        let run = measurement.record(driven, observed, facts, self.auto.clone());
        let limits = run.record.limits_outcome().unwrap_or(CheckOutcome::Passed);
        let record = store.map(|store| record(store, log_error, prepared, &run)).transpose();
        let (folder, unrecorded) = record.map_or_else(|e| (None, Some(e)), |folder| (folder, None));
        Ok(RunResult { run, folder, unrecorded, limits })
    }
}

/// Looks at the target, and meanwhile tests how late this machine wakes sleepers: a look is mostly
/// waiting for answers, and what makes and fills a target is over by now.
fn target_facts(
    request: &RunRequest,
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    stop: &RunStop,
) -> Result<(TimerTest, TargetFacts), LabError> {
    if request.detail == RecordDetail::Load {
        return Ok((TimerTest::default(), TargetFacts::default()));
    }
    let is_reading = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let test = || test_timers(|| is_reading.load(Ordering::Relaxed));
        let testing = std::thread::Builder::new().name("timer test".to_owned());
        let testing = testing.spawn_scoped(scope, test).map_err(no_thread)?;
        let facts = prepared.facts(plan, stop);
        is_reading.store(false, Ordering::Relaxed);
        let timers = testing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((timers, facts?))
    })
}

/// Writes the record of a run, whose interval log was written meanwhile.
fn record(
    store: RunStore,
    log_error: Option<io::Error>,
    prepared: &dyn PreparedTarget,
    run: &Run,
) -> Result<PathBuf, LabError> {
    store.keep(|folder| log_error.map_or_else(|| prepared.keep_log(folder), Err))?;
    store.commit(run)
}

/// Measures what the target of a request carries flat out, for runs that share its rate; `None`
/// where the request does not ask for it. Blocks; `stop` ends it early.
///
/// Errors: [`LabError`].
pub fn flat_out_rate(
    request: &RunRequest,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<Option<AutoRate>, LabError> {
    let _pinned = request.spec.load.client_cpus.as_ref().map(keep_to).transpose()?;
    let prepared = request.target.prepare(request, progress, stop)?;
    one_shot::prepare(request, &*prepared, progress, stop)?;
    let mut plan = new_plan(request, prepared.scale());
    calibrate::rate(request, &mut plan, &*prepared, progress, stop)
}
