//! What watching a server costs: one client flat out before the run, watched and not in turn.

use crate::calibrate::{SLICE_PAIRS, alone, cost_of, may_try, observed_trial};
use crate::drive::no_thread;
use crate::error::LabError;
use crate::request::RunRequest;
use crate::targets::PreparedTarget;
use dbtime_engines::drive::observer::{LoadObserver, LoadSink};
use dbtime_engines::drive::plan::{LoadPlan, LoadResult, RunStop};
use dbtime_machine::now;
use dbtime_machine::wait::wait_until;
use dbtime_model::exchange::{DrivenTransaction, ExchangeBatch};
use dbtime_model::record::MeasuringCost;
use dbtime_model::series::RunSecond;
use dbtime_model::{MonoNanos, Nanos, RunPhase};
use std::sync::mpsc::{self, Receiver, Sender};

/// How long the client runs before the first slice.
const WARMUP: Nanos = Nanos::from_millis(100);

/// Two for each pair.
const SLICES: u64 = 2 * SLICE_PAIRS as u64;
const SLICE_TIME: Nanos = Nanos::from_millis(50);

/// Whether the first slice of each pair is watched changes from pair to pair: what drifts does so
/// for both.
const fn is_watched(slice: u64) -> bool {
    matches!(slice % 4, 1 | 2)
}

/// Tries it out. `watch` begins and ends the watching, and returns whether it did. `None` where
/// nothing more may be done to the data, or a slice has no transaction.
pub(crate) fn tracing_cost(
    request: &RunRequest,
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    mut watch: impl FnMut(bool) -> bool,
    stop: &RunStop,
) -> Result<Option<MeasuringCost>, LabError> {
    if !may_try(request) {
        return Ok(None);
    }
    let plan = alone(plan);
    let (observer, instants) = TrialObserver::new();
    let length = Nanos(SLICES * SLICE_TIME.0);
    let drive = || -> Result<LoadResult, LabError> {
        let observer = observer;
        observed_trial(&plan, prepared, (WARMUP, length), &observer, stop)
    };
    std::thread::scope(|scope| {
        let driving = std::thread::Builder::new().name("tracing cost".to_owned());
        let driving = driving.spawn_scoped(scope, drive).map_err(no_thread)?;
        let slices = watched_slices(&instants.started, &mut watch, || driving.is_finished());
        driving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(slices.and_then(|slices| compare(&slices, instants.transactions.try_iter().flatten())))
    })
}

/// When a slice had begun, and when it was over.
type SliceSpan = (MonoNanos, MonoNanos);

/// Watches every other slice of the load, and leaves the watching on. Of a load that ends early the
/// last slices have no transactions. `None`: it did not start, or could not be watched.
fn watched_slices(
    started: &Receiver<MonoNanos>,
    watch: &mut dyn FnMut(bool) -> bool,
    is_over: impl Fn() -> bool,
) -> Option<Vec<SliceSpan>> {
    // None comes where the load ends before its start.
    let start = started.recv().ok()? + WARMUP;
    let mut spans = Vec::new();
    let mut has_watched = true;
    for slice in 0..SLICES {
        let from = start + Nanos(slice * SLICE_TIME.0);
        let until = from + SLICE_TIME;
        wait_until(from, |_| is_over());
        has_watched &= watch(is_watched(slice));
        let began = now();
        wait_until(until, |_| is_over());
        spans.push((began, until));
    }
    (watch(true) && has_watched).then_some(spans)
}

/// Compares the slices of each pair by what a transaction took that lay within.
fn compare(
    slices: &[SliceSpan],
    transactions: impl Iterator<Item = SliceSpan>,
) -> Option<MeasuringCost> {
    let mut sums = vec![(0u64, 0u64); slices.len()];
    for (sent, done) in transactions {
        let holds = |&(began, ended): &SliceSpan| began <= sent && done <= ended;
        if let Some(slice) = slices.iter().position(holds) {
            sums[slice].0 += 1;
            sums[slice].1 += (done - sent).0;
        }
    }
    let mut pairs = vec![[0.0; 2]; slices.len() / 2];
    for (slice, &(count, length)) in sums.iter().enumerate() {
        let us = length as f64 / 1e3 / count as f64;
        pairs[slice / 2][usize::from(is_watched(slice as u64))] = us;
    }
    sums.iter().all(|(count, _)| *count > 0).then(|| cost_of(&pairs))
}

/// Hands on when a load began, and its transactions.
struct TrialObserver {
    started: Sender<MonoNanos>,
    transactions: Sender<Vec<SliceSpan>>,
}

/// What it hands on.
struct TrialInstants {
    started: Receiver<MonoNanos>,
    transactions: Receiver<Vec<SliceSpan>>,
}

impl TrialObserver {
    fn new() -> (Self, TrialInstants) {
        let (started, was_started) = mpsc::channel();
        let (transactions, were_transactions) = mpsc::channel();
        let instants = TrialInstants { started: was_started, transactions: were_transactions };
        (Self { started, transactions }, instants)
    }
}

impl LoadObserver for TrialObserver {
    fn sink(&self, _: u32) -> Box<dyn LoadSink> {
        Box::new(TrialSink(self.transactions.clone()))
    }

    fn reached(&self, phase: RunPhase, at: MonoNanos) {
        if phase == RunPhase::Started {
            // Nobody waits for it where the load was given up.
            let _ = self.started.send(at);
        }
    }
}

struct TrialSink(Sender<Vec<SliceSpan>>);

impl LoadSink for TrialSink {
    fn swap(&mut self, mut full: Box<RunSecond>) -> Box<RunSecond> {
        full.reset(0);
        full
    }

    fn takes_exchanges(&self) -> bool {
        true
    }

    fn take_exchanges(&mut self, batch: ExchangeBatch) {
        let span = |driven: &DrivenTransaction| (driven.sample.sent, driven.sample.done);
        let _ = self.0.send(batch.transactions.iter().map(span).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: MonoNanos = MonoNanos(1_000_000_000);

    fn slice(number: u64) -> SliceSpan {
        let began = START + Nanos(number * SLICE_TIME.0);
        (began, began + SLICE_TIME)
    }

    /// Transactions one behind the other; watched ones take 110 µs, the others 100.
    fn driven() -> Vec<SliceSpan> {
        let mut sent = START;
        let mut transactions = Vec::new();
        while sent < slice(SLICES - 1).1 {
            let number = (sent - START).0 / SLICE_TIME.0;
            let done = sent + Nanos::from_micros(if is_watched(number) { 110 } else { 100 });
            transactions.push((sent, done));
            sent = done;
        }
        transactions
    }

    #[test]
    fn watched_slices_are_compared_with_their_neighbours() {
        let slices: Vec<SliceSpan> = (0..SLICES).map(slice).collect();
        let cost = compare(&slices, driven().into_iter()).expect("all slices have some");
        assert_eq!((cost.us, cost.low_us, cost.high_us), (10.0, 10.0, 10.0));
        assert_eq!((cost.without_us, cost.pairs), (100.0, 6));
        let first = driven().into_iter().filter(|(_, done)| *done < slice(3).0);
        assert!(compare(&slices, first).is_none(), "nothing is known of the others");
    }

    #[test]
    fn a_load_that_never_started_has_no_slices() {
        let (send, started) = mpsc::channel::<MonoNanos>();
        drop(send);
        assert_eq!(watched_slices(&started, &mut |_| true, || true), None);
    }

    #[test]
    fn the_watching_goes_on_behind_the_slices() {
        let watched = |works: bool| {
            let (send, started) = mpsc::channel();
            send.send(MonoNanos(0)).expect("it is read");
            let mut calls = Vec::new();
            let mut watch = |is_on| {
                calls.push(is_on);
                works
            };
            let spans = watched_slices(&started, &mut watch, || false);
            (spans.map(|spans| spans.len()), calls)
        };
        let [off, on] = [false, true];
        let one = [off, on, on, off];
        let calls = [&one[..], &one, &one, &[on]].concat();
        assert_eq!(watched(true), (Some(12), calls.clone()));
        assert_eq!(watched(false), (None, calls), "what could not be watched has no cost");
    }
}
