//! What a run finds out before it starts: the rate the target carries flat out, and how often its
//! parts can be measured without weighing on it.

use crate::error::LabError;
use crate::progress::Progress;
use crate::request::{BudgetChoice, RateChoice, RunRequest};
use crate::run::{BEFORE_WINDOW, NO_THINK, drive};
use crate::targets::Prepared;
use dbtime_engines::plan::{Demand, Driven, Plan, Stop, sampling};
use dbtime_load::arrivals::{Arrivals, Rate};
use dbtime_model::Nanos;
use dbtime_model::record::AutoRate;
use dbtime_model::recorder::OperationRecorder;
use std::io;

/// How long the flat-out rate is measured, and how long the load runs up before.
const FLAT_OUT: Nanos = Nanos::from_secs(3);
const FLAT_OUT_WARMUP: Nanos = Nanos::from_secs(1);

/// So few transactions are all measured.
const FEW: u64 = 10_000;

/// Number of the first transaction of a trial: far above any run's, and unique keys made from it
/// still fit 32 bits.
const TRIAL_FIRST: u64 = 1 << 30;

/// The share of the service time that measuring may cost with [`BudgetChoice::Auto`].
const PROBE_SHARE: f64 = 0.01;

/// Measures the flat-out rate and offers a share of it, if that was asked for.
pub(crate) fn rate(
    request: &RunRequest,
    plan: &mut Plan,
    prepared: &dyn Prepared,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<Option<AutoRate>, LabError> {
    let auto = match &request.load.rate {
        _ if request.load.arrivals == Arrivals::AtOnce => return Ok(None),
        Some(RateChoice::Auto(share_pct)) => flat_out(*share_pct, plan, prepared, progress, stop)?,
        Some(RateChoice::Found(auto)) => auto.clone(),
        Some(RateChoice::Given(_)) | None => return Ok(None),
    };
    let rate = Rate::Constant(auto.offered_tps());
    rate.check().map_err(|error| LabError::Usage(error.to_string()))?;
    let (flat_out_tps, offered_tps) = (auto.flat_out_tps, auto.offered_tps());
    progress(Progress::Rate { flat_out_tps, offered_tps });
    plan.demand = Demand::Open { rate, arrivals: request.load.arrivals };
    Ok(Some(auto))
}

/// Measures what the target carries without a pause.
fn flat_out(
    share_pct: f64,
    plan: &Plan,
    prepared: &dyn Prepared,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &Stop,
) -> Result<AutoRate, LabError> {
    progress(Progress::FlatOut { length: FLAT_OUT_WARMUP + FLAT_OUT });
    let (driven, window_s) = trial(plan, prepared, FLAT_OUT_WARMUP, FLAT_OUT, stop)?;
    let flat_out_tps = driven.recorder.completed_within() as f64 / window_s;
    if flat_out_tps <= 0.0 || !flat_out_tps.is_finite() {
        let errors: Vec<&str> = driven.recorder.errors.keys().map(String::as_str).collect();
        return Err(LabError::Target(format!(
            "no transaction completed in {FLAT_OUT} flat out, so --rate auto has nothing to go by \
             (errors: {})",
            if errors.is_empty() { "none".to_owned() } else { errors.join(", ") }
        )));
    }
    Ok(AutoRate { flat_out_tps, measured_s: window_s, share_pct, servers: plan.servers })
}

/// Chooses how many transactions have their parts measured.
pub(crate) fn budget(
    request: &RunRequest,
    plan: &mut Plan,
    prepared: &dyn Prepared,
    stop: &Stop,
) -> Result<(), LabError> {
    plan.budget_every = match request.budget {
        BudgetChoice::Off => 0,
        BudgetChoice::Every(every) => every,
        // Who counts transactions wants no others before them.
        BudgetChoice::Auto if request.transactions.is_some() => {
            let few = request.transactions.is_some_and(|count| count <= FEW);
            if few { 1 } else { 16 }
        }
        BudgetChoice::Auto if !prepared.sampling_costs() => 1,
        // A script may do only what it was asked for.
        BudgetChoice::Auto if request.workload.script.is_some() => 16,
        BudgetChoice::Auto => {
            // A short closed loop tells what a transaction takes and what measuring it would cost.
            let warmup = Nanos::from_millis(50);
            let short = Plan {
                demand: Demand::Closed { clients: 1, think: Some(NO_THINK) },
                servers: 1,
                shards: 1,
                first: TRIAL_FIRST / 2,
                ..plan.clone()
            };
            let (driven, _) = trial(&short, prepared, warmup, Nanos::from_millis(250), stop)?;
            let ended = driven.recorder.counts().completed.max(1) as f64;
            let service = |op: &OperationRecorder<u64>| {
                op.latencies.service.mean_ns() * op.latencies.service.count() as f64
            };
            let service: f64 = driven.recorder.operations.iter().map(service).sum();
            sampling(prepared.sampling_cost_ns() / ended, service / ended, PROBE_SHARE)
        }
    };
    Ok(())
}

/// A load that is not recorded. Returns what was driven and the length of its window in seconds.
fn trial(
    plan: &Plan,
    prepared: &dyn Prepared,
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
        // What takes longer is ended on the server too.
        rundown: Nanos::from_millis(500),
        late_start: Nanos::from_millis(500),
        first: TRIAL_FIRST + plan.first,
        ..plan.clone()
    };
    let quiet = |_: Progress| {};
    let (driven, _) = drive(&trial, prepared, Box::new(io::sink()), &quiet, stop)?;
    if let Some(trouble) = trial.script_trouble() {
        return Err(LabError::Script(trouble.to_string()));
    }
    if stop.is_set() {
        return Err(LabError::Interrupted(BEFORE_WINDOW));
    }
    Ok((driven, measure.as_secs()))
}
