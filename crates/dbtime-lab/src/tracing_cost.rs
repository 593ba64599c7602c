//! What watching a server costs: a load flat out before the run, watched and not in turn.
//!
//! Where the run's own clients are flat out, they make that load: what they lose is known of them
//! alone, for where they fill the CPUs, watching takes its time from them. Else one client does,
//! and before a run shorter than the trial none.

use crate::calibrate::{
    SLICE_PAIRS, alone, cost_of, flat_out_clients, may_try, observed_trial, throughput_cost_of,
};
use crate::drive::no_thread;
use crate::error::LabError;
use crate::request::RunRequest;
use crate::targets::PreparedTarget;
use dbtime_engines::drive::observer::{LoadObserver, LoadSink};
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, LoadResult, RunStop};
use dbtime_machine::now;
use dbtime_machine::wait::wait_until;
use dbtime_model::exchange::{DrivenTransaction, ExchangeBatch};
use dbtime_model::record::{MeasuringCost, ThroughputCost};
use dbtime_model::{MonoNanos, Nanos, RunPhase};
use std::sync::mpsc::{self, Receiver, Sender};

/// How long the clients run before the first slice.
const WARMUP: Nanos = Nanos::from_millis(100);

/// Two for each pair.
const SLICES: u64 = 2 * SLICE_PAIRS as u64;
const SLICE_TIME: Nanos = Nanos::from_millis(50);

/// How long all slices take.
const LENGTH: Nanos = Nanos(SLICES * SLICE_TIME.0);

/// Whether the first slice of each pair is watched changes from pair to pair: what drifts does so
/// for both.
const fn is_watched(slice: u64) -> bool {
    matches!(slice % 4, 1 | 2)
}

/// Tries it out. `watch` begins and ends the watching, and returns whether it did. `None` where
/// nothing more may be done to the data, the run is shorter than that, or a slice has no
/// transaction.
pub(crate) fn tracing_cost(
    request: &RunRequest,
    plan: &LoadPlan,
    prepared: &dyn PreparedTarget,
    mut watch: impl FnMut(bool) -> bool,
    stop: &RunStop,
) -> Result<Option<MeasuringCost>, LabError> {
    let is_short = plan.measure.is_some_and(|length| length < WARMUP + LENGTH);
    if is_short || !may_try(request) {
        return Ok(None);
    }
    let flat_out = flat_out_clients(plan);
    let is_flat_out = flat_out.is_some();
    let plan = flat_out.unwrap_or_else(|| alone(plan));
    let (observer, started, transactions) = TrialObserver::new();
    let drive = || -> Result<LoadResult, LabError> {
        let observer = observer;
        observed_trial(&plan, prepared, (WARMUP, LENGTH), &observer, &|_| {}, stop)
    };
    std::thread::scope(|scope| {
        let driving = std::thread::Builder::new().name("tracing cost".to_owned());
        let driving = driving.spawn_scoped(scope, drive).map_err(no_thread)?;
        let slices = watched_slices(&started, &mut watch, || driving.is_finished());
        driving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let Some(slices) = slices else { return Ok(None) };
        let sums = slice_sums(&slices, transactions.try_iter().flatten());
        let cost = compare(&sums).map(|cost| MeasuringCost {
            clients: clients(&plan),
            throughput: is_flat_out.then(|| throughput(&sums, &slices)),
            ..cost
        });
        Ok(cost)
    })
}

/// How many clients make a closed loop.
fn clients(plan: &LoadPlan) -> u32 {
    match plan.demand {
        LoadDemand::Closed { clients, .. } => clients,
        LoadDemand::Open { .. } => plan.concurrency,
    }
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

/// The transactions of a slice.
#[derive(Clone, Copy, Debug, Default)]
struct SliceSum {
    /// How many ended in it.
    ended: u64,
    /// How many of them were sent in it too, and how long these took.
    within: u64,
    length: Nanos,
}

/// The transactions of each slice.
fn slice_sums(
    slices: &[SliceSpan],
    transactions: impl Iterator<Item = SliceSpan>,
) -> Vec<SliceSum> {
    let mut sums = vec![SliceSum::default(); slices.len()];
    for (sent, done) in transactions {
        let holds_end = |&(began, ended): &SliceSpan| began <= done && done <= ended;
        let Some(slice) = slices.iter().position(holds_end) else { continue };
        let sum = &mut sums[slice];
        sum.ended += 1;
        if slices[slice].0 <= sent {
            sum.within += 1;
            sum.length += done - sent;
        }
    }
    sums
}

/// Figures of slices in pairs: without watching, and with.
fn in_pairs(figures: impl Iterator<Item = f64>) -> Vec<[f64; 2]> {
    let mut pairs = vec![[0.0; 2]; SLICE_PAIRS as usize];
    for (slice, figure) in figures.enumerate() {
        pairs[slice / 2][usize::from(is_watched(slice as u64))] = figure;
    }
    pairs
}

/// Compares the slices of each pair by what a transaction took that lay within. `None`: a slice has
/// none.
fn compare(sums: &[SliceSum]) -> Option<MeasuringCost> {
    let each = sums.iter().map(|sum| sum.length.as_micros() / sum.within as f64);
    sums.iter().all(|sum| sum.within > 0).then(|| cost_of(&in_pairs(each)))
}

/// Compares them by how many transactions a second ended.
fn throughput(sums: &[SliceSum], slices: &[SliceSpan]) -> ThroughputCost {
    let spans = sums.iter().zip(slices);
    let per_s = spans.map(|(sum, (began, ended))| sum.ended as f64 / (*ended - *began).as_secs());
    throughput_cost_of(&in_pairs(per_s))
}

/// Hands on when a load began, and its transactions.
struct TrialObserver {
    started: Sender<MonoNanos>,
    transactions: Sender<Vec<SliceSpan>>,
}

impl TrialObserver {
    /// The observer, and the ends at which both arrive.
    fn new() -> (Self, Receiver<MonoNanos>, Receiver<Vec<SliceSpan>>) {
        let (started, was_started) = mpsc::channel();
        let (transactions, were_transactions) = mpsc::channel();
        (Self { started, transactions }, was_started, were_transactions)
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
        let sums = slice_sums(&slices, driven().into_iter());
        let cost = compare(&sums).expect("all slices have some");
        assert_eq!((cost.us, cost.low_us, cost.high_us), (10.0, 10.0, 10.0));
        assert_eq!((cost.without_us, cost.pairs), (100.0, 6));
        // Ten thousand a second, and nine thousand and ninety.
        let lost = throughput(&sums, &slices);
        assert!((lost.lost_pct - 9.1).abs() < 0.5 && lost.low_pct > 8.0, "{lost:?}");
        assert!((lost.without_tps - 10_000.0).abs() < 25.0, "{lost:?}");
        let first = driven().into_iter().filter(|(_, done)| *done < slice(3).0);
        let first = slice_sums(&slices, first);
        assert!(compare(&first).is_none(), "nothing is known of the others");
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
