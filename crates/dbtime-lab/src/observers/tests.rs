//! Loads that consist of their phases alone, and what observers see of them.

use super::server_observer::ServerObservation;
use super::{IntervalLog, PhaseLog, RunMonitor, RunObserver, observer_thread};
use crate::progress::RunProgress;
use dbtime_engines::drive::observer::LoadObserver;
use dbtime_engines::drive::plan::{LoadDemand, LoadPlan, RunStop};
use dbtime_load::pipelining::Pipelining;
use dbtime_load::queue::Backlog;
use dbtime_load::workload::Workload;
use dbtime_machine::now;
use dbtime_machine::wait::wait_until;
use dbtime_model::record::SeriesPhase;
use dbtime_model::series::RunSecond;
use dbtime_model::{MonoNanos, Nanos, OperationId, Outcome, RunPhase, Sample};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

fn plan(warmup: Nanos, measure: Option<Nanos>) -> LoadPlan {
    LoadPlan {
        workload: Arc::new(Workload::find("values1").expect("shipped")),
        scale: 1,
        seed: 1,
        first: 0,
        demand: LoadDemand::Closed { clients: 1, think: None },
        backlog: Backlog::Wait,
        concurrency: 1,
        warmup,
        measure,
        transactions: None,
        rundown: Nanos::ZERO,
        late_start: Nanos::ZERO,
        budget_every: 0,
        shards: 1,
        pipelining: Pipelining::Off,
    }
}

fn sample(start: MonoNanos, done_ms: u64, took_ms: u64) -> Sample {
    let done = start + Nanos::from_millis(done_ms);
    let due = done - Nanos::from_millis(took_ms);
    let (operation, outcome, late, retries) = (OperationId(0), Outcome::Completed, Nanos::ZERO, 0);
    Sample { operation, outcome, due, ready: due, sent: due, done, late, retries }
}

fn quiet(_: RunProgress) {}

fn monitor(plan: &LoadPlan) -> RunMonitor<'_> {
    RunMonitor::new(plan, IntervalLog::new(Box::new(io::sink()), SystemTime::now()), &quiet)
}

/// Lets a load go by that consists of its phases alone, and of what `load` does before its end.
fn observe(
    plan: &LoadPlan,
    observers: Vec<&mut dyn RunObserver>,
    threads: u32,
    load: impl FnOnce(&dyn LoadObserver, MonoNanos) + Send,
) -> MonoNanos {
    let stop = RunStop::default();
    let (handle, thread) = observer_thread(plan, threads, observers, &stop);
    std::thread::scope(|scope| {
        let load = scope.spawn(move || {
            handle.reached(RunPhase::Connected, now());
            let start = now();
            handle.reached(RunPhase::Started, start);
            load(&handle, start);
            handle.reached(RunPhase::LoadEnded, now());
            handle.reached(RunPhase::Disconnected, now());
            start
        });
        thread.run();
        load.join().expect("no panic")
    })
}

#[test]
fn seconds_of_all_threads_meet_in_one_series() {
    let plan = plan(Nanos::ZERO, Some(Nanos::from_secs(2)));
    let mut monitor = monitor(&plan);
    let start = observe(&plan, vec![&mut monitor], 2, |load, start| {
        for thread in 0..2 {
            let mut sink = load.sink(thread);
            let mut second = Box::new(RunSecond::new(0));
            second.record(&sample(start, 500, 10));
            second = sink.swap(second);
            second.reset(1);
            second.record(&sample(start, 1500, 20 + u64::from(thread)));
            sink.swap(second);
        }
    });
    let observation = monitor.into_observation(start, Vec::new(), ServerObservation::default());
    let rows: Vec<(u32, u64, &SeriesPhase)> =
        observation.series.iter().map(|row| (row.second, row.completed, &row.phase)).collect();
    assert_eq!(rows, [(0, 2, &SeriesPhase::Measure), (1, 2, &SeriesPhase::Measure)]);
    assert!((observation.series[1].service_mean_us - 20_500.0).abs() < 1.0);
}

#[test]
fn the_machine_is_sampled_at_the_edges_of_the_window() {
    let ms = Nanos::from_millis;
    let plan = plan(ms(30), Some(ms(30)));
    // A load that is longer the second time: the observers may have come late.
    let ends_before = |length: Nanos| {
        let mut monitor = monitor(&plan);
        let start = observe(&plan, vec![&mut monitor], 1, |_, start| {
            wait_until(start + length, |_| false);
        });
        let server = ServerObservation::default();
        let (began, ended) = monitor.into_observation(start, Vec::new(), server).machine;
        assert!(began.at >= start + ms(30) && ended.at >= start + ms(60));
        ended.at < start + length
    };
    assert!([500, 8000].map(ms).into_iter().any(ends_before), "only when the load had ended");
}

/// The phases of a load that `load` is, with their instants after the start.
fn phases(
    plan: &LoadPlan,
    load: impl FnOnce(MonoNanos) + Send,
) -> (Vec<(RunPhase, i64)>, MonoNanos) {
    let seen = Mutex::new(Vec::new());
    let keep = |progress: RunProgress| {
        if let RunProgress::Phase(instant) = progress {
            seen.lock().expect("no panic").push(instant);
        }
    };
    let mut log = PhaseLog::new(&keep);
    let start = observe(plan, vec![&mut log], 1, |_, start| load(start));
    let instants = log.into_instants();
    assert_eq!(*seen.lock().expect("no panic"), instants, "each is progress too");
    let after = |at: MonoNanos| at.0.cast_signed() - start.0.cast_signed();
    (instants.iter().map(|instant| (instant.phase, after(instant.at))).collect(), start)
}

#[test]
fn every_phase_is_seen_once_and_in_order() {
    use RunPhase::{
        Connected, Disconnected, LoadEnded, Prepared, Started, WindowBegan, WindowEnded,
    };
    let ms = Nanos::from_millis;
    let timed = plan(ms(20), Some(ms(30)));
    let (seen, _) = phases(&timed, |start| {
        wait_until(start + ms(100), |_| false);
    });
    let all = [Prepared, Connected, Started, WindowBegan, WindowEnded, LoadEnded, Disconnected];
    assert_eq!(seen.iter().map(|(phase, _)| *phase).collect::<Vec<_>>(), all);
    assert_eq!((seen[2].1, seen[3].1, seen[4].1), (0, 20_000_000, 50_000_000));

    // A number of transactions ends the window with the load.
    let counted = plan(Nanos::ZERO, None);
    let (seen, _) = phases(&counted, |_| {});
    assert_eq!(seen.iter().map(|(phase, _)| *phase).collect::<Vec<_>>(), all);
    assert_eq!(seen[4].1, seen[5].1, "both at once: {seen:?}");

    // A load that ends in its warm-up has no window.
    let broken_off = plan(Nanos::from_secs(60), Some(ms(30)));
    let (seen, _) = phases(&broken_off, |_| {});
    let expected = [Prepared, Connected, Started, LoadEnded, Disconnected];
    assert_eq!(seen.iter().map(|(phase, _)| *phase).collect::<Vec<_>>(), expected);
}
