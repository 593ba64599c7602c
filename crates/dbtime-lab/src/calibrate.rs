//! What a run finds out before it starts: the rate the target carries flat out, how often its parts
//! can be measured without weighing on it, and what that costs.

use crate::drive::{BEFORE_WINDOW, NO_THINK, shards};
use crate::error::LabError;
use crate::observers::LoginWatch;
use crate::progress::RunProgress;
use crate::request::RunRequest;
use crate::script_watchdog::{ScriptUse, ScriptWatchdog};
use crate::targets::PreparedTarget;
use dbtime_engines::drive::observer::{LoadObserver, NoObserver};
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop, probe_every};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_load::think::ThinkTime;
use dbtime_model::Nanos;
use dbtime_model::record::{AutoRate, BudgetMethod, MeasuringCost, ThroughputCost};
use dbtime_model::recorder::OperationRecorder;
use dbtime_model::spans::{TimeSpan, intersection, union};
use dbtime_model::spec::{BudgetChoice, RateChoice};

/// How long the flat-out rate is measured, and how long the load runs up before.
const FLAT_OUT_TIME: Nanos = Nanos::from_secs(3);
const FLAT_OUT_WARMUP: Nanos = Nanos::from_secs(1);

/// So often a measurement in which the driver stood still is made at most, and so many transactions
/// may each have without taking the numbers of the next one.
const MAX_ATTEMPTS: u64 = 3;
const ATTEMPT_NUMBERS: u64 = 1 << 26;

/// The largest share of a measurement flat out that the driver may have stood still.
const MAX_STANDSTILL_SHARE: f64 = 0.02;

/// Of so many transactions the parts are measured at least, where there are as many.
const MIN_MEASURED: f64 = 1_200.0;

/// The parts of one in so many are those of none, in a short trial; calls on files are timed.
const MAX_BUDGET_EVERY: u32 = u32::MAX;

/// What measuring costs is tried out in so many pairs of short loads, and how long each is. Of six
/// pairs the smallest and the largest difference have the median between them 97 times of 100.
pub(crate) const SLICE_PAIRS: u32 = 6;
const SLICE_TIME: Nanos = Nanos::from_millis(25);
const SLICE_WARMUP: Nanos = Nanos::from_millis(5);

/// Transactions that a slice may have without taking the numbers of the next one.
const SLICE_NUMBERS: u64 = 1 << 20;

/// Number of the first transaction of a trial: far above any run's, and unique keys made from it
/// still fit 32 bits.
const TRIAL_FIRST: u64 = 1 << 30;

/// Only before a window of so much do the run's own clients have a trial: all of them change data,
/// and a short run would be of few transactions beside theirs.
const MIN_OWN_WINDOW: Nanos = Nanos::from_secs(5);

/// The share of the service time that measuring may cost with [`BudgetChoice::Auto`].
const PROBE_SHARE: f64 = 0.01;

/// Measures the flat-out rate and offers a share of it, if that was asked for.
pub(crate) fn rate(
    request: &RunRequest,
    plan: &mut LoadPlan,
    prepared: &dyn PreparedTarget,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<Option<AutoRate>, LabError> {
    let load = &request.spec.load;
    let arrivals = load.due();
    let auto = match (&load.rate, &load.flat_out) {
        _ if arrivals == Arrivals::AtOnce => return Ok(None),
        (Some(RateChoice::Auto(share_pct)), Some(found)) => {
            AutoRate { share_pct: *share_pct, ..found.clone() }
        }
        (Some(RateChoice::Auto(share_pct)), None) => {
            let measures = request.budget() != BudgetChoice::Off;
            flat_out(*share_pct, measures, plan, prepared, progress, stop)?
        }
        (Some(RateChoice::Given(_)) | None, _) => return Ok(None),
    };
    let rate = Rate::Constant(auto.offered_tps());
    rate.check().map_err(|error| LabError::Usage(error.to_string()))?;
    arrivals.check(&rate).map_err(|error| LabError::Usage(error.to_string()))?;
    let (flat_out_tps, offered_tps) = (auto.flat_out_tps, auto.offered_tps());
    progress(RunProgress::Rate { flat_out_tps, offered_tps });
    plan.demand = LoadDemand::Open { rate, arrivals };
    plan.shards = shards(load, &plan.demand, plan.concurrency);
    Ok(Some(auto))
}

/// Measures what the target carries without a pause.
fn flat_out(
    share_pct: f64,
    measures: bool,
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<AutoRate, LabError> {
    progress(RunProgress::FlatOut { length: FLAT_OUT_WARMUP + FLAT_OUT_TIME });
    // As the run will be: with its parts measured, where that is asked for.
    let is_measured = prepared.budget_method() == BudgetMethod::Switches && measures;
    let plan = &LoadPlan { budget_every: u32::from(is_measured), ..plan.clone() };
    // Here alone a script is tried.
    let (lengths, window_s) = ((FLAT_OUT_WARMUP, FLAT_OUT_TIME), FLAT_OUT_TIME.as_secs());
    let attempt = |number: u64| {
        let plan = LoadPlan { first: plan.first + number * ATTEMPT_NUMBERS, ..plan.clone() };
        let observer = LoginWatch::new(&NoObserver, progress);
        observed_trial(&plan, prepared, lengths, &observer, progress, stop)
    };
    let driven = undisturbed(attempt)?;
    let flat_out_tps = driven.recorder.completed_within() as f64 / window_s;
    if flat_out_tps <= 0.0 || !flat_out_tps.is_finite() {
        let errors: Vec<&str> = driven.recorder.errors.keys().map(String::as_str).collect();
        return Err(LabError::Target(format!(
            "no transaction completed in {FLAT_OUT_TIME} flat out, so --rate auto has no basis \
             (errors: {})",
            if errors.is_empty() { "none".to_owned() } else { errors.join(", ") }
        )));
    }
    Ok(AutoRate { flat_out_tps, measured_s: window_s, share_pct, concurrency: plan.concurrency })
}

/// The first attempt in which the driver did not stand still for a good part of the window: what it
/// did not send then is no limit of the target.
fn undisturbed(
    attempt: impl Fn(u64) -> Result<LoadResult, LabError>,
) -> Result<LoadResult, LabError> {
    for number in 0..MAX_ATTEMPTS {
        let driven = attempt(number)?;
        let window = driven.recorder.window();
        let measured = TimeSpan { from: window.start, until: window.end };
        let stood_still = intersection(&union(driven.recorder.standstills.clone()), &[measured]);
        let stood_still: Nanos = stood_still.iter().map(TimeSpan::length).sum();
        if stood_still.as_secs() <= MAX_STANDSTILL_SHARE * measured.length().as_secs() {
            return Ok(driven);
        }
    }
    Err(LabError::Target(format!(
        "dbtime stood still in each of {MAX_ATTEMPTS} measurements of {FLAT_OUT_TIME} flat out, so \
         --rate auto has no basis: dbtime was stopped or suspended, or got no CPU; remove the \
         cause, or give a rate such as --rate 500/s"
    )))
}

/// Chooses how many transactions have their parts measured.
pub(crate) fn budget(
    request: &RunRequest,
    plan: &mut LoadPlan,
    prepared: &dyn PreparedTarget,
    stop: &RunStop,
) -> Result<(), LabError> {
    plan.budget_every = match request.budget() {
        BudgetChoice::Off => 0,
        BudgetChoice::Every(every) => every,
        BudgetChoice::Auto if prepared.budget_method() != BudgetMethod::Probes => 1,
        // Who counts transactions wants no others before them; a script may do only what it was
        // asked for.
        BudgetChoice::Auto if !may_try(request) => enough(16, expected(plan, None)),
        BudgetChoice::Auto => {
            // A short closed loop tells what a transaction takes and what probing it would cost.
            let lengths = (Nanos::from_millis(50), Nanos::from_millis(250));
            let alone = LoadPlan { budget_every: MAX_BUDGET_EVERY, ..alone(plan) };
            let driven = observed_trial(&alone, prepared, lengths, &NoObserver, &|_| {}, stop)?;
            let ended = driven.recorder.counts().completed.max(1) as f64;
            let service = |op: &OperationRecorder<u64>| {
                op.latencies.service.mean_ns() * op.latencies.service.count() as f64
            };
            let service: f64 = driven.recorder.operations.iter().map(service).sum();
            let every =
                probe_every(prepared.probing_cost_ns() / ended, service / ended, PROBE_SHARE);
            enough(every, expected(plan, Some(ended / lengths.1.as_secs())))
        }
    };
    Ok(())
}

/// Whether the run may be preceded by transactions of its own kind.
pub(crate) fn may_try(request: &RunRequest) -> bool {
    request.spec.window.transactions.is_none() && request.workload.script.is_none()
}

/// One client without a pause, for a trial.
pub(crate) fn alone(plan: &LoadPlan) -> LoadPlan {
    LoadPlan {
        demand: LoadDemand::Closed { clients: 1, think: Some(NO_THINK) },
        concurrency: 1,
        shards: 1,
        first: TRIAL_FIRST / 2,
        ..plan.clone()
    }
}

/// The run's own clients, for a trial; `None`: they have a rate, pause between transactions, or run
/// for a short time only.
pub(crate) fn flat_out_clients(plan: &LoadPlan) -> Option<LoadPlan> {
    let LoadDemand::Closed { think, .. } = plan.demand else { return None };
    let pauses = |think: Option<ThinkTime>| think.is_some_and(|think| think.mean() > Nanos::ZERO);
    let is_pausing = match think {
        Some(_) => pauses(think),
        None => plan.workload.operations.iter().any(|operation| pauses(operation.think)),
    };
    let is_long = plan.measure.is_none_or(|length| length >= MIN_OWN_WINDOW);
    (is_long && !is_pausing).then(|| LoadPlan { first: TRIAL_FIRST / 2, ..plan.clone() })
}

/// How many transactions the window will have, where one client alone makes `alone_tps`; `None`:
/// nobody knows.
fn expected(plan: &LoadPlan, alone_tps: Option<f64>) -> Option<f64> {
    if let Some(transactions) = plan.transactions {
        return Some(transactions as f64);
    }
    let length = plan.measure?;
    match &plan.demand {
        LoadDemand::Open { rate, .. } => {
            Some(rate.mean(plan.warmup, plan.warmup + length) * length.as_secs())
        }
        // Clients hold each other up: what one makes is the least that all make.
        LoadDemand::Closed { .. } => alone_tps.map(|tps| tps * length.as_secs()),
    }
}

/// At most `every`, and so that at least [`MIN_MEASURED`] of those expected are measured, or all.
fn enough(every: u32, expected: Option<f64>) -> u32 {
    let most = expected.map_or(every, |count| (count / MIN_MEASURED) as u32).clamp(1, every.max(1));
    1 << most.ilog2()
}

/// Tries out what measuring the parts costs: short loads with and without in turn. `None` where
/// nothing more may be done to the data, somebody has chosen, or there is nothing to measure.
pub(crate) fn cost(
    request: &RunRequest,
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    stop: &RunStop,
) -> Result<Option<MeasuringCost>, LabError> {
    let measures = plan.budget_every > 0 && prepared.budget_method() != BudgetMethod::Instants;
    if !may_try(request) || request.budget() != BudgetChoice::Auto || !measures {
        return Ok(None);
    }
    let mut pairs = Vec::new();
    for pair in 0..SLICE_PAIRS {
        let mut took = [0.0; 2];
        // The order changes from pair to pair: what drifts does so for both.
        for step in 0..2 {
            let is_measured = (pair + step) % 2 == 0;
            let budget_every = if is_measured { plan.budget_every } else { 0 };
            let first = TRIAL_FIRST / 4 + (2 * u64::from(pair) + u64::from(step)) * SLICE_NUMBERS;
            let slice = LoadPlan { budget_every, first, ..alone(plan) };
            let lengths = (SLICE_WARMUP, SLICE_TIME);
            let driven = observed_trial(&slice, prepared, lengths, &NoObserver, &|_| {}, stop)?;
            let completed = driven.recorder.completed_within();
            if completed == 0 {
                return Ok(None);
            }
            took[usize::from(is_measured)] = SLICE_TIME.as_micros() / completed as f64;
        }
        pairs.push(took);
    }
    Ok(Some(cost_of(&pairs)))
}

/// From pairs of what a transaction took without and with its parts measured, in microseconds.
pub(crate) fn cost_of(pairs: &[[f64; 2]]) -> MeasuringCost {
    let more = PairSpread::of(pairs.iter().map(|[without, with]| with - without));
    MeasuringCost {
        us: more.median,
        low_us: more.low,
        high_us: more.high,
        without_us: PairSpread::of(pairs.iter().map(|[without, _]| *without)).median,
        pairs: pairs.len() as u32,
        clients: 1,
        throughput: None,
    }
}

/// From pairs of throughputs without and with it, in transactions a second.
pub(crate) fn throughput_cost_of(pairs: &[[f64; 2]]) -> ThroughputCost {
    let lost = PairSpread::of(pairs.iter().map(|[without, with]| 100.0 * (1.0 - with / without)));
    ThroughputCost {
        lost_pct: lost.median,
        low_pct: lost.low,
        high_pct: lost.high,
        without_tps: PairSpread::of(pairs.iter().map(|[without, _]| *without)).median,
    }
}

/// Figures of pairs.
struct PairSpread {
    low: f64,
    median: f64,
    high: f64,
}

impl PairSpread {
    /// Of at least one.
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() - 1;
        let median = f64::midpoint(sorted[last / 2], sorted[sorted.len() / 2]);
        Self { low: sorted[0], median, high: sorted[last] }
    }
}

/// A load that is not recorded, seen by an observer; `progress` is told of a script that does not
/// come back.
pub(crate) fn observed_trial(
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    (warmup, measure): (Nanos, Nanos),
    observer: &dyn LoadObserver,
    progress: &(dyn Fn(RunProgress) + Sync),
    stop: &RunStop,
) -> Result<LoadResult, LabError> {
    // Trials have numbers of their own: keys that must not repeat are all still to come.
    let trial = LoadPlan {
        warmup,
        measure: Some(measure),
        transactions: None,
        // What takes longer is ended on the server too.
        rundown: Nanos::from_millis(500),
        late_start: Nanos::from_millis(500),
        first: TRIAL_FIRST + plan.first,
        ..plan.clone()
    };
    let script_use = ScriptUse::Load;
    let watchdog = ScriptWatchdog { plan: &trial, script_use, stop, progress };
    let driven = watchdog.during(|| prepared.drive(&trial, observer, stop))?;
    if let Some(trouble) = trial.script_error() {
        return Err(LabError::Script(trouble));
    }
    if stop.is_set() {
        return Err(LabError::Interrupted(BEFORE_WINDOW));
    }
    Ok(driven)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::new_plan;
    use dbtime_load::workload::Workload;

    #[test]
    fn a_thousand_transactions_are_measured_or_all() {
        assert_eq!(enough(64, Some(600.0)), 1);
        assert_eq!(enough(64, Some(2_000.0)), 1);
        assert_eq!(enough(64, Some(12_000.0)), 8);
        assert_eq!(enough(64, Some(1e9)), 64);
        assert_eq!(enough(64, None), 64);
    }

    #[test]
    fn the_cost_is_the_median_difference() {
        let cost = cost_of(&[[10.0, 11.0], [10.5, 12.5], [30.0, 29.0]]);
        assert_eq!((cost.us, cost.low_us, cost.high_us), (1.0, -1.0, 2.0));
        assert_eq!((cost.without_us, cost.pairs), (10.5, 3));
    }

    #[test]
    fn clients_that_pause_or_have_a_rate_are_not_flat_out() {
        let workload = Workload::from_sql("SELECT 1").expect("a statement");
        let mut request = RunRequest::new(workload, "null".parse().expect("a target"));
        request.spec.load.connections = Some(8);
        request.spec.window.time = Some(MIN_OWN_WINDOW);
        let of = |request: &RunRequest| flat_out_clients(&new_plan(request, 1));
        assert_eq!(of(&request).map(|plan| plan.concurrency), Some(8));
        request.spec.load.think = Some(NO_THINK);
        assert!(of(&request).is_some());
        request.spec.load.think = Some(ThinkTime::Fixed(Nanos::from_millis(1)));
        assert!(of(&request).is_none());
        request.spec.load.think = None;
        let operations = &mut request.workload.operations;
        operations[0].think = Some(ThinkTime::Exponential(Nanos::from_millis(1)));
        assert!(of(&request).is_none());
        request.workload.operations[0].think = None;
        request.spec.window.time = Some(MIN_OWN_WINDOW - Nanos(1));
        assert!(of(&request).is_none());
        request.spec.window.time = Some(MIN_OWN_WINDOW);
        assert!(of(&request).is_some());
        request.spec.load.rate = Some(RateChoice::Given(Rate::Constant(5.0)));
        assert!(of(&request).is_none());
    }

    #[test]
    fn throughput_lost_is_the_median_share() {
        let lost = throughput_cost_of(&[[100.0, 75.0], [200.0, 100.0], [400.0, 400.0]]);
        assert_eq!((lost.low_pct, lost.lost_pct, lost.high_pct), (0.0, 25.0, 50.0));
        assert_eq!(lost.without_tps, 200.0);
    }
}
