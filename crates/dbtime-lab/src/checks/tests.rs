//! Tests of what becomes of limits.

use super::*;
use dbtime_model::record::CheckOutcome;
use dbtime_model::{MonoNanos, OperationId, Outcome, Sample};

/// What a hundred transactions of 10 ms and their lag are held against.
#[derive(Clone, Copy, Default)]
struct CheckedBeside {
    noise: NoiseBound,
    standstills: StandstillBound,
    /// How many there are beyond a hundred.
    more: u64,
    /// How many take half a second.
    slow: u64,
    /// How many beside them never ended, within a second.
    unfinished: u64,
    failed: u64,
    errors_of_waits: u64,
    rest: Option<RunRest>,
    demand: CheckedDemand,
}

fn of(lag_ms: u64, limit: &str) -> CheckOutcome {
    check(lag_ms, limit, CheckedBeside::default()).outcome()
}

fn check(lag_ms: u64, limit: &str, beside: CheckedBeside) -> Check {
    let mut latencies = Latencies::<u64>::default();
    let due = MonoNanos(0);
    let sent = due + Nanos::from_millis(lag_ms);
    let sample = Sample {
        operation: OperationId(0),
        outcome: Outcome::Completed,
        due,
        ready: due,
        sent,
        done: sent + Nanos::from_millis(10),
        late: Nanos::ZERO,
        retries: 0,
    };
    let slow = Sample { done: sent + Nanos::from_millis(500), ..sample };
    (beside.slow..100 + beside.more).for_each(|_| latencies.record(&sample));
    (0..beside.slow).for_each(|_| latencies.record(&slow));
    for _ in 0..beside.unfinished {
        let Latencies { response, without_lag, unfinished, .. } = &mut latencies;
        for set in [response, without_lag, unfinished] {
            set.record(Nanos::from_secs(1));
        }
    }
    let (completed, failed, unfinished) = (100 + beside.more, beside.failed, beside.unfinished);
    let offered = completed + failed + unfinished;
    let counts = CountsInfo { offered, completed, failed, unfinished, ..CountsInfo::default() };
    let limits = [limit.parse::<WorkloadLimit>().expect("a limit")];
    let run = RunTotals {
        latencies: &latencies,
        counts: &counts,
        completed_within: 100,
        window_s: 1.0,
        noise: beside.noise,
        standstills: beside.standstills,
        errors_of_waits: beside.errors_of_waits,
        rest: beside.rest,
        demand: beside.demand,
    };
    let checks = of_run(&limits, &[], &run);
    checks.into_iter().next().expect("one check")
}

#[test]
fn a_late_driver_alone_misses_a_think_time_which_decides_nothing() {
    let of = |taken_us| of_think(&ThinkSummary { count: 1000, requested_us: 1e3, taken_us });
    assert_eq!(of(1015.0).outcome(), CheckOutcome::Passed);
    let late = of(1030.0);
    assert_eq!((late.outcome(), late.without_lag), (CheckOutcome::Undecided, Some(0.0)));
}

#[test]
fn lag_can_fail_no_limit_and_help_none() {
    assert_eq!(of(4, "p99<=15ms"), CheckOutcome::Passed, "met with lag in it");
    assert_eq!(of(4, "p99<=12ms"), CheckOutcome::Undecided);
    assert_eq!(of(4, "p99<=9ms"), CheckOutcome::Failed, "missed without lag");
    assert_eq!(of(0, "avg<=9ms"), CheckOutcome::Failed);
    assert_eq!(of(10, "throughput>=150/s"), CheckOutcome::Undecided);
    assert_eq!(of(10, "throughput>=250/s"), CheckOutcome::Failed);
    assert_eq!(of(10, "errors<=1%"), CheckOutcome::Passed);
}

/// The longest of a thousand is above their p99.9, which the report prints.
#[test]
fn a_percentile_is_of_its_own_rank_and_not_of_the_next() {
    let slowest = CheckedBeside { more: 900, slow: 1, ..CheckedBeside::default() };
    let check = check(0, "p99.9<=20ms", slowest);
    assert!(check.measured < 11_000.0, "{check:?}");
    assert_eq!(check.outcome(), CheckOutcome::Passed);
}

#[test]
fn noise_decides_no_more_than_it_can_have_added() {
    let noise = NoiseBound { response_s: 0.2, idle_s: 0.5, least_left: 0.5 };
    let of =
        |limit: &str| check(0, limit, CheckedBeside { noise, ..CheckedBeside::default() }).reason();
    // A hundred of 10 ms: 90 of them have to be shorter, by 2.2 ms each at most.
    assert_eq!(of("p90<=8ms"), Some(CheckDoubt::Noise));
    assert_eq!(of("p90<=7ms"), None, "missed whatever there was beside it");
    assert_eq!(of("avg<=8.1ms"), Some(CheckDoubt::Noise));
    assert_eq!(of("avg<=7.9ms"), None);
    // A second of responses, half of which may have been idle.
    assert_eq!(of("throughput>=190/s"), Some(CheckDoubt::Noise));
    assert_eq!(of("throughput>=210/s"), None);
    assert_eq!(check(0, "p90<=8ms", CheckedBeside::default()).outcome(), CheckOutcome::Failed);
    // However much it may have added: half of the CPU was left to the fastest.
    let noise = NoiseBound { response_s: 1e3, ..noise };
    let of =
        |limit: &str| check(0, limit, CheckedBeside { noise, ..CheckedBeside::default() }).reason();
    assert_eq!([of("p99<=6ms"), of("p99<=4ms")], [Some(CheckDoubt::Noise), None]);
}

#[test]
fn a_driver_that_stood_still_decides_no_more_than_it_can_have_held_up() {
    let of = |transactions, each_ms, limit: &str| {
        let each = Nanos::from_millis(each_ms);
        let standstills = StandstillBound { transactions, each };
        // Others took nothing. Of a hundred twenty take half a second.
        let beside = CheckedBeside {
            noise: NoiseBound { least_left: 1.0, ..NoiseBound::default() },
            standstills,
            slow: 20,
            failed: 5,
            errors_of_waits: 3,
            ..CheckedBeside::default()
        };
        check(0, limit, beside).reason()
    };
    let noise = Some(CheckDoubt::Noise);
    assert_eq!([10, 9].map(|n| of(n, 1000, "p90<=60ms")), [noise, None], "ten are too many");
    assert_eq!([450, 300].map(|ms| of(20, ms, "p90<=60ms")), [noise, None], "by so much each");
    assert_eq!([20, 19].map(|n| of(n, 450, "max<=60ms")), [noise, None]);
    assert_eq!([12, 10].map(|n| of(n, 450, "avg<=60ms")), [noise, None]);
    assert_eq!(of(100, 1000, "p90<=9ms"), None, "the fastest takes longer");
    // Of 105 two may fail.
    assert_eq!([3, 2].map(|n| of(n, 1000, "errors<=2%")), [noise, None]);
    assert_eq!(of(0, 0, "p90<=60ms"), None);
}

#[test]
fn no_noise_breaks_a_constraint() {
    let noise = NoiseBound { response_s: 0.2, idle_s: 0.2, least_left: 0.5 };
    let of = |errors_of_waits| {
        let beside =
            CheckedBeside { noise, failed: 5, errors_of_waits, ..CheckedBeside::default() };
        check(0, "errors<=2%", beside).reason()
    };
    // Of 105 two may fail.
    assert_eq!([2, 3].map(of), [None, Some(CheckDoubt::Noise)]);
}

#[test]
fn no_machine_completes_more_than_was_asked_for() {
    let noise = NoiseBound { response_s: 0.2, idle_s: 0.9, least_left: 0.5 };
    let most_tps = Some(104.0);
    let demand = CheckedDemand { is_open: true, most_tps, ..CheckedDemand::default() };
    let of = |lag_ms, limit: &str, rest| {
        let beside = CheckedBeside { noise, rest, demand, ..CheckedBeside::default() };
        check(lag_ms, limit, beside).outcome()
    };
    // A hundred were completed in a second.
    assert_eq!(of(0, "throughput>=104/s", None), CheckOutcome::Undecided, "but for the noise");
    assert_eq!(of(0, "throughput>=105/s", None), CheckOutcome::Failed);
    assert_eq!(of(20, "throughput>=200/s", None), CheckOutcome::Failed, "nor a timely driver");
    let rest = Some(RunRest { planned: Some(1000.0) });
    assert_eq!(of(0, "throughput>=105/s", rest), CheckOutcome::Failed, "nor the rest of it");
    // The share of an operation is that of the schedule.
    let noisy = CheckedBeside { noise, ..CheckedBeside::default() };
    assert_eq!(check(0, "share 50% ± 2", noisy).outcome(), CheckOutcome::Undecided);
    let open = CheckedBeside { demand, ..noisy };
    assert_eq!(check(0, "share 50% ± 2", open).outcome(), CheckOutcome::Failed);
}

#[test]
fn clients_that_pause_ask_no_more_often_than_that() {
    let second = Nanos::from_secs(1);
    assert_eq!(most_with_pauses(2, Nanos::from_millis(250), second), Some(10.0));
    assert_eq!(most_with_pauses(2, Nanos::ZERO, second), None);
}

#[test]
fn what_the_served_meet_is_not_met_by_all() {
    let demand = CheckedDemand { unserved: 6, ..CheckedDemand::default() };
    let of = |limit: &str| {
        let beside = CheckedBeside { demand, ..CheckedBeside::default() };
        let check = check(0, limit, beside);
        (check.outcome(), check.reason(), check.is_missed())
    };
    let open = (CheckOutcome::Undecided, Some(CheckDoubt::Unserved), false);
    for limit in ["p90<=15ms", "avg<=15ms", "max<=1s", "errors<=1%"] {
        assert_eq!(of(limit), open, "{limit}");
    }
    assert_eq!(of("p90<=9ms"), (CheckOutcome::Failed, None, true), "missed by the served");
    assert_eq!(of("throughput>=50/s"), (CheckOutcome::Passed, None, false), "it was completed");
}

#[test]
fn what_never_ended_meets_no_limit_that_it_can_miss() {
    let of = |unfinished, kept_back, limit: &str| {
        let demand = CheckedDemand { kept_back, ..CheckedDemand::default() };
        // Beside a hundred of 10 ms.
        let beside = CheckedBeside { demand, unfinished, ..CheckedBeside::default() };
        check(0, limit, beside).reason()
    };
    let unfinished = Some(CheckDoubt::Unfinished);
    // A second old: of 101 ten may be longer, of 112 eleven.
    assert_eq!([1, 10, 12].map(|n| of(n, 0, "p90<=2s")), [None, None, unfinished]);
    assert_eq!([1, 10].map(|n| of(n, 0, "p90<=15ms")), [None, None], "they count as they are");
    // In the coarse distribution of their ages that is one step with them.
    assert_eq!(of(12, 0, "p90<=1001ms"), unfinished, "they are not too long yet");
    // Each kept its client from others, of 120 twelve.
    assert_eq!([9, 19].map(|kept_back| of(1, kept_back, "p90<=2s")), [None, unfinished]);
    assert_eq!([0, 1].map(|n| of(n, 0, "max<=2s")), [None, unfinished]);
    assert_eq!([0, 1].map(|n| of(n, 0, "avg<=2s")), [None, unfinished], "it may take for ever");
    assert_eq!([1, 2].map(|n| of(n, 0, "errors<=1%")), [None, unfinished], "or fail");
    assert_eq!(of(50, 50, "throughput>=50/s"), None, "it was completed");
}

#[test]
fn what_waits_in_vain_would_have_been_others() {
    assert_eq!(kept_back(3000, 0.25), 1000);
    assert_eq!([kept_back(3000, 0.0), kept_back(0, 1.0)], [0, 0]);
    assert!(kept_back(3000, 2.0) > u64::MAX / 2);
}

#[test]
fn a_part_of_a_run_meets_no_limit_and_misses_what_its_rest_cannot_mend() {
    let of = |limit: &str, planned| {
        let rest = Some(RunRest { planned });
        let check = check(0, limit, CheckedBeside { rest, ..CheckedBeside::default() });
        assert!(!check.passed, "{limit}: {check:?}");
        check.outcome()
    };
    for met in ["p90<=15ms", "max<=1s", "errors<=1%", "throughput>=50/s"] {
        assert_eq!(of(met, Some(1000.0)), CheckOutcome::Undecided, "{met}");
    }
    // All hundred are too long, and of 1000 a hundred may be, of 900 ninety.
    assert_eq!(of("p90<=9ms", Some(1001.0)), CheckOutcome::Undecided);
    assert_eq!(of("p90<=9ms", Some(900.0)), CheckOutcome::Failed);
    assert_eq!(of("p90<=9ms", None), CheckOutcome::Undecided, "nobody knows of how many");
    assert_eq!(of("avg<=2ms", Some(1000.0)), CheckOutcome::Undecided);
    assert_eq!(of("avg<=2ms", Some(400.0)), CheckOutcome::Failed);
    assert_eq!(of("max<=9ms", None), CheckOutcome::Failed, "the longest stays the longest");
    assert_eq!(of("throughput>=500/s", Some(1000.0)), CheckOutcome::Undecided);
}
