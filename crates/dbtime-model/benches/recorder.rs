//! What recording costs. Budget: 10 ns per value. `cargo bench -p dbtime-model`

use dbtime_model::recorder::{Latencies, Window};
use dbtime_model::{Histogram, MonoNanos, Nanos, OperationId, Outcome, Recorder, Sample};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Durations as a real run has them: around 50 µs with a tail.
fn durations() -> Vec<Nanos> {
    let spread =
        |i: u64| Nanos(40_000 + i.wrapping_mul(2_654_435_761) % 20_000 * (1 + i % 97 / 96 * 50));
    (0..1000).map(spread).collect()
}

fn samples() -> Vec<Sample> {
    let sample = |(i, service): (usize, Nanos)| {
        let due = MonoNanos(1_000_000 + i as u64 * 100_000);
        let ready = due + Nanos(i as u64 % 300);
        let sent = ready + Nanos(500);
        let done = sent + service;
        let (operation, outcome) = (OperationId(0), Outcome::Completed);
        Sample { operation, outcome, due, ready, sent, done, late: Nanos::ZERO, retries: 0 }
    };
    durations().into_iter().enumerate().map(sample).collect()
}

#[divan::bench(args = [2, 3])]
fn one_value(bencher: Bencher, digits: u8) {
    let mut histogram = if digits == 3 { Histogram::<u32>::fine() } else { Histogram::coarse() };
    let durations = durations();
    bencher.counter(ItemsCount::new(durations.len())).bench_local(|| {
        durations.iter().for_each(|&duration| histogram.record(black_box(duration)));
    });
}

#[divan::bench]
fn four_values_of_a_transaction(bencher: Bencher) {
    let mut latencies = Latencies::<u32>::default();
    let samples = samples();
    bencher.counter(ItemsCount::new(4 * samples.len())).bench_local(|| {
        samples.iter().for_each(|sample| latencies.record(black_box(sample)));
    });
}

#[divan::bench]
fn a_whole_transaction(bencher: Bencher) {
    let window = Window { start: MonoNanos(0), end: MonoNanos(u64::MAX) };
    let mut recorder = Recorder::<u32>::new(window, 1, 1, 1);
    let samples = samples();
    bencher.counter(ItemsCount::new(samples.len())).bench_local(|| {
        for sample in &samples {
            recorder.offered(sample.operation, sample.due);
            recorder.record(black_box(sample));
        }
    });
}
