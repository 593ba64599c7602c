//! Each flaw beside each kind of metric.

use super::super::{SpanInfo, Validity};
use super::*;

/// A metric of each kind: throughput, the responses, their parts, the rest.
const METRICS: [&str; 9] = [
    "throughput",
    "mean",
    "p50",
    "p99",
    "max",
    "service-mean",
    "lag-mean",
    "server-cpu",
    "server-rss",
];

fn metric(name: &str) -> PrimaryMetric {
    PrimaryMetric::named(name).expect(name)
}

/// The metrics that are not counted for.
fn excluded(record: &RunRecord) -> Vec<&'static str> {
    let is_out = |name: &&str| record.discount_for(metric(name)).is_some();
    METRICS.into_iter().filter(is_out).collect()
}

/// A closed loop of 10 s that nothing speaks against.
fn quiet() -> RunRecord {
    let mut record = RunRecord::default();
    (record.counts.offered, record.counts.completed) = (5000, 5000);
    let response = &mut record.latency_us.response;
    (response.mean, response.p50, response.p99) = (1200.0, 1000.0, 4000.0);
    (response.p999, response.max) = (6000.0, 9000.0);
    record.latency_us.without_lag = record.latency_us.response;
    record.load.mode = LoadMode::Closed;
    record.throughput_tps = 500.0;
    record.window.measure_s = 10.0;
    record.validity = Validity::from_warnings(Vec::new());
    record
}

/// The same with warnings of these kinds.
fn warned(kinds: &[WarningKind]) -> RunRecord {
    let warning = |kind: &WarningKind| Warning {
        kind: *kind,
        text: "what was seen".to_owned(),
        ..Warning::default()
    };
    let validity = Validity::from_warnings(kinds.iter().map(warning).collect());
    RunRecord { validity, ..quiet() }
}

/// The same, late by 1.6 ms of the 4 ms of the 99th percentile, and by 16 µs on average.
fn late() -> RunRecord {
    let mut record = warned(&[WarningKind::ClientLimited]);
    let set = &mut record.latency_us;
    (set.without_lag.mean, set.without_lag.p99) = (1184.0, 2400.0);
    (set.lag.mean, set.lag.p99, set.lag.p999, set.lag.max) = (16.0, 1600.0, 1600.0, 1600.0);
    record
}

#[test]
fn what_speaks_against_the_load_speaks_against_every_metric() {
    assert!(excluded(&quiet()).is_empty());
    use WarningKind as Kind;
    for kind in [Kind::Counts, Kind::MostlyFailed, Kind::OutstandingWrong] {
        let record = warned(&[kind]);
        assert_eq!(excluded(&record), METRICS, "{kind:?}");
        let reason = record.discount_for(metric("p99"));
        assert_eq!(reason.as_deref(), Some("what was seen"), "it is of no single metric");
    }
    let mut early = quiet();
    early.window.ended_early = true;
    assert_eq!(excluded(&early), METRICS);
    let mut silent = quiet();
    silent.validity.valid = false;
    assert_eq!(excluded(&silent), METRICS, "the record does not vouch for it");
    let limited = Validity { client_limited: true, ..Validity::from_warnings(Vec::new()) };
    let limited = RunRecord { validity: limited, ..quiet() };
    assert_eq!(excluded(&limited), METRICS, "a record of before has no warning");
}

#[test]
fn wrong_parts_are_in_no_metric() {
    for kind in [WarningKind::BudgetError, WarningKind::BudgetMeanWrong] {
        let mut record = warned(&[kind]);
        record.budget_us = Some(BudgetUs::default());
        assert!(record.discount().is_some() && excluded(&record).is_empty(), "{kind:?}");
        assert_eq!(record.trusted_budget(), None);
        record.validity = Validity::from_warnings(Vec::new());
        assert!(record.trusted_budget().is_some());
    }
}

#[test]
fn noise_is_left_to_the_gate() {
    use WarningKind as Kind;
    for kind in [Kind::ForeignCpu, Kind::Steal, Kind::Throttled, Kind::Outstanding] {
        assert!(excluded(&warned(&[kind])).is_empty(), "{kind:?}");
    }
}

#[test]
fn responses_that_are_missing_make_no_throughput_another() {
    let record = warned(&[WarningKind::LittleWrong]);
    let expected = ["mean", "p50", "p99", "max", "service-mean", "lag-mean"];
    assert_eq!(excluded(&record), expected);
}

#[test]
fn a_busy_driver_sets_throughput_and_responses() {
    let pace = ["throughput", "mean", "p50", "p99", "max"];
    assert_eq!(excluded(&warned(&[WarningKind::ClientLimited])), pace);
    // Lateness is warned of first.
    let mut both = late();
    let busy = both.validity.warnings[0].clone();
    both.validity.warnings.push(Warning { text: "busy 95 %".to_owned(), ..busy });
    assert_eq!(excluded(&both), pace);
    let reason = both.discount_for(metric("throughput"));
    assert_eq!(reason.as_deref(), Some("not counted for throughput: busy 95 %"));
}

#[test]
fn lag_excludes_from_the_figures_that_it_has_changed() {
    let record = late();
    assert!(record.discount().is_some(), "the run as a whole is not valid");
    assert_eq!(excluded(&record), ["p99"]);
    let reason = record.discount_for(metric("p99"));
    let expected = "not counted for p99: the driver's lag makes up to 40 % of it";
    assert_eq!(reason.as_deref(), Some(expected));
    // No percentile shows it, and the mean does.
    let mut few = quiet();
    let set = &mut few.latency_us;
    (set.without_lag.mean, set.lag.mean) = (900.0, 300.0);
    assert_eq!(few.discount(), None);
    assert_eq!(excluded(&few), ["throughput", "mean"]);
    let reason = few.discount_for(metric("throughput"));
    let expected = "not counted for throughput: the driver's lag makes up to 25 % of its clients' \
                    time";
    assert_eq!(reason.as_deref(), Some(expected));
    few.load.think_us = Some(5000.0);
    assert_eq!(excluded(&few), ["mean"], "the clients mostly think");
    few.load.mode = LoadMode::Open;
    assert_eq!(excluded(&few), ["mean"], "a schedule was carried all the same");
}

/// 21 of 34 runs flat out were late at the 99th percentile, and as fast as the others.
#[test]
fn runs_that_are_late_at_a_percentile_count_for_the_throughput() {
    let runs = (0..34).map(|at| if at < 21 { late() } else { quiet() });
    let runs: Vec<RunRecord> = runs.collect();
    let counted = |name: &str| {
        let count = |run: &&RunRecord| run.discount_for(metric(name)).is_none();
        runs.iter().filter(count).count()
    };
    assert_eq!(["throughput", "mean", "p50", "p99"].map(counted), [34, 34, 34, 13]);
}

#[test]
fn a_driver_that_was_stopped_for_half_of_the_window_has_halved_the_throughput() {
    let mut stopped = quiet();
    stopped.client.standstills = vec![SpanInfo { from_s: 2.0, until_s: 7.0 }];
    assert_eq!(excluded(&stopped), ["throughput"], "no percentile of a closed loop sees it");
    let reason = stopped.discount_for(metric("throughput"));
    let expected = "not counted for throughput: the driver stood still, and up to 50 % of it is \
                    missing";
    assert_eq!(reason.as_deref(), Some(expected));
    stopped.client.standstills[0].until_s = 2.4;
    assert!(excluded(&stopped).is_empty(), "4 % are less than a twentieth");
    // Answers may have come meanwhile: 2 s, by which 5000 transactions are 400 µs longer.
    stopped.client.standstill_waits_s = Some(2.0);
    assert_eq!(excluded(&stopped), ["mean"]);
}

#[test]
fn of_a_schedule_no_more_is_missing_than_was_not_completed() {
    let mut stopped = quiet();
    stopped.load.mode = LoadMode::Open;
    stopped.client.standstills = vec![SpanInfo { from_s: 2.0, until_s: 7.0 }];
    assert_eq!((stopped.standstill_loss(), excluded(&stopped)), (0.0, Vec::new()));
    stopped.throughput_tps = 400.0;
    assert!((stopped.standstill_loss() - 0.2).abs() < 1e-9);
    assert_eq!(excluded(&stopped), ["throughput"]);
    stopped.client.standstills.clear();
    assert!(excluded(&stopped).is_empty(), "the target does not carry it");
    let mut late = RunRecord { throughput_tps: 400.0, ..late() };
    late.load.mode = LoadMode::Open;
    assert_eq!(excluded(&late), ["throughput", "p99"], "perhaps for the driver's lateness");
    stopped.load.arrivals = ArrivalProcess::AtOnce;
    stopped.client.standstills = vec![SpanInfo { from_s: 2.0, until_s: 7.0 }];
    assert_eq!(stopped.standstill_loss(), 0.5, "it all takes so much longer");
}

/// A rate that is too high for the target, whose connections are always at work.
#[test]
fn what_a_target_does_not_carry_is_not_missing_for_the_drivers_lag() {
    let mut record = RunRecord { throughput_tps: 83.0, ..late() };
    (record.load.mode, record.load.connections) = (LoadMode::Open, 4);
    record.counts.offered = 2100;
    let mut reason = |service_us: f64, lag_us: f64| {
        let set = &mut record.latency_us;
        (set.service.mean, set.lag.mean) = (service_us, lag_us);
        record.discount_for(metric("throughput"))
    };
    assert_eq!(reason(46_800.0, 1_400.0), None, "3 % of their time");
    let told = |pct: u32| {
        format!(
            "not counted for throughput: the driver was late, and up to {pct} % of it is missing"
        )
    };
    assert_eq!(reason(45_000.0, 3_400.0), Some(told(7)));
    assert_eq!(reason(20_000.0, 3_400.0), Some(told(60)), "they were free for half of the time");
}
