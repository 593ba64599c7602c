//! The search on limits that are met up to a rate, and on queues whose truth is known.

use super::queue::{CAPACITY_TPS, QueueMetric, QueueModel, QueueService};
use super::*;

fn probe(rate_tps: f64, headroom: f64, is_fresh: bool) -> RateProbe {
    let outcome = if headroom >= 1.0 { ProbeOutcome::Met } else { ProbeOutcome::Missed };
    RateProbe { rate_tps, outcome, headroom: Some(headroom), is_fresh }
}

/// Searches where a run at a rate, behind so many others, has this headroom.
fn search(first: f64, headroom: impl Fn(f64, u64) -> f64) -> (RateStep, Vec<RateProbe>) {
    let mut probes = Vec::new();
    loop {
        let (rate_tps, is_fresh) = match next_rate(first, &probes) {
            RateStep::Probe(rate) => (rate, false),
            RateStep::Confirm(rate) => (rate, true),
            end => return (end, probes),
        };
        assert!(probes.len() < 100, "{probes:?}");
        probes.push(probe(rate_tps, headroom(rate_tps, probes.len() as u64), is_fresh));
    }
}

fn found(end: RateStep) -> RateEstimate {
    let RateStep::Found(found) = end else { panic!("{end:?}") };
    assert!(found.low_tps <= found.rate_tps && found.rate_tps <= found.high_tps, "{found:?}");
    found
}

#[test]
fn a_rate_at_which_responses_jump_is_found_wherever_it_is() {
    for truth in [16.7, 120.0, 480.0, 999.0, 1000.0, 1001.0, 45_000.0] {
        let (end, probes) = search(1000.0, |rate, _| if rate <= truth { 2.0 } else { 0.5 });
        let found = found(end);
        assert!((found.rate_tps / truth - 1.0).abs() < 0.05, "{truth}: {found:?}");
        assert!(probes.len() < 40, "{truth}: {}", probes.len());
        let fresh = probes.iter().filter(|probe| probe.is_fresh).count();
        assert!(fresh == found.fresh_runs && fresh >= FEWEST_FRESH, "{truth}: {probes:?}");
    }
}

/// Windows of 20 s, of which the mean alone differs by a fifth from one to the next.
#[test]
fn the_rate_of_a_queue_is_found_within_5_percent() {
    use QueueMetric::{Mean, P99};
    use QueueService::{Constant, Exponential};
    let cases = [
        (1, Exponential, Mean, 0.7),
        (1, Exponential, Mean, 0.8),
        (1, Exponential, Mean, 0.9),
        (1, Exponential, P99, 0.8),
        (1, Exponential, P99, 0.9),
        (4, Exponential, Mean, 0.8),
        (4, Exponential, Mean, 0.9),
        (4, Exponential, P99, 0.85),
        (1, Constant, Mean, 0.8),
        (1, Constant, Mean, 0.9),
    ];
    let mut covered = 0;
    for (servers, service, metric, load) in cases {
        let (queue, truth) = (QueueModel { servers, service }, load * CAPACITY_TPS);
        let limit = queue.response(metric, truth);
        for seed in [1u64, 2, 3] {
            let run =
                |rate: f64, at: u64| limit / queue.measured(metric, rate, 20.0, 1000 * seed + at);
            let found = found(search(0.5 * CAPACITY_TPS, run).0);
            let off = found.rate_tps / truth - 1.0;
            assert!(off.abs() < 0.05, "{queue:?} {metric:?} {load} {seed}: {found:?}");
            covered += u32::from((found.low_tps..=found.high_tps).contains(&truth));
        }
    }
    assert!(covered >= 21, "{covered} of 30 intervals cover the truth");
}

#[test]
fn formulas_and_events_of_a_queue_agree() {
    let one = QueueModel { servers: 1, service: QueueService::Exponential };
    assert!((one.response(QueueMetric::Mean, 800.0) - 0.005).abs() < 1e-12);
    let p99 = one.response(QueueMetric::P99, 800.0);
    assert!((p99 - 100f64.ln() / 200.0).abs() < 1e-9, "{p99}");
    for (servers, service) in [(4, QueueService::Exponential), (1, QueueService::Constant)] {
        let queue = QueueModel { servers, service };
        let known = queue.response(QueueMetric::Mean, 600.0);
        let seen = queue.measured(QueueMetric::Mean, 600.0, 200.0, 1);
        assert!((seen / known - 1.0).abs() < 0.05, "{queue:?}: {seen} {known}");
    }
}

/// A run that met the limit by chance sets the bracket too high; the fresh ones do not follow it.
#[test]
fn a_bracket_that_chance_has_set_is_left() {
    let lucky = |rate: f64, at: u64| if at < 3 { 1.2 } else { 1.0 - 4.0 * (rate / 800.0 - 1.0) };
    let (end, probes) = search(500.0, lucky);
    assert_eq!(probes[2].rate_tps, 1130.0, "{probes:?}");
    let found = found(end);
    assert!((found.rate_tps / 800.0 - 1.0).abs() < 0.05, "{found:?}");
}

#[test]
fn runs_that_do_not_count_are_no_part_of_the_answer() {
    let queue = |rate: f64, _: u64| 1.0 - 4.0 * (rate / 800.0 - 1.0);
    let (end, mut probes) = search(500.0, queue);
    let disturbed = |rate_tps| RateProbe {
        rate_tps,
        outcome: ProbeOutcome::Missed,
        headroom: None,
        is_fresh: true,
    };
    probes.extend([700.0, 760.0, 800.0].map(disturbed));
    assert_eq!(next_rate(500.0, &probes), end, "as without them");
    // Of a search that has none but these, nothing is confirmed.
    let mut probes = vec![probe(700.0, 1.5, false), probe(850.0, 0.5, false)];
    probes.extend([700.0; 30].map(disturbed));
    assert!(matches!(next_rate(500.0, &probes), RateStep::Confirm(_)));
}

#[test]
fn runs_that_differ_by_too_much_have_no_rate() {
    let mut probes = vec![probe(900.0, 1.5, false), probe(1100.0, 0.5, false)];
    for headroom in [1.5, 0.5].repeat(MOST_FRESH / 4) {
        probes.extend([950.0, 1050.0].map(|rate| probe(rate, headroom, true)));
    }
    let RateStep::Vague(estimate) = next_rate(500.0, &probes) else { panic!("it has an answer") };
    assert!(estimate.high_tps / estimate.low_tps > 1.2, "{estimate:?}");
}

#[test]
fn where_nothing_or_all_meets_it_the_search_ends() {
    let (end, _) = search(500.0, |_, _| 0.5);
    assert!(matches!(end, RateStep::Nowhere(rate) if rate < 8.0), "{end:?}");
    let (end, _) = search(500.0, |_, _| 2.0);
    assert!(matches!(end, RateStep::Everywhere(rate) if rate >= 500_000.0), "{end:?}");
}

#[test]
fn rates_are_readable() {
    assert_eq!([1234.5, 0.37214, 9.999, 120_412.0].map(readable), [1230.0, 0.372, 10.0, 120_000.0]);
}
