//! Whether a run's figures can be trusted: looks at the record and adds what a reader must know.
//!
//! The grade is that of the worst warning, and each reason for it has its share and the share that
//! would have changed no grade.
//!
//! A run is client-limited when its own lateness could have made the result: when a percentile
//! would be another without it. That is judged on lag and on the driver's CPU alone, never on
//! queue, and the remedy follows from the cause.

mod lateness;
mod laws;
mod noise;
mod parts;
mod reasons;
mod service;
mod standstills;
mod steadiness;

use dbtime_model::Nanos;
use dbtime_model::record::{
    ArrivalProcess, Check, CheckMetric, LoadMode, RunRecord, Validity, Warning, WarningKind,
};
use dbtime_model::units::{count, counted, human_ns};
pub(crate) use noise::{NoiseBound, noise_bound};
use noise::{foreign, steal, throttled};
use parts::{budget_error, budget_mean, measuring};
use service::{few_connections, outstanding, stall, unfinished, unserved, without_service};
pub(crate) use standstills::{StandstillBound, standstill_bound};
pub(crate) use steadiness::fill_steadiness;

/// Busy share of a driver thread above which it sets the pace of a closed loop.
const MAX_BUSY_SHARE: f64 = 0.80;

/// The largest share of transactions that may fail before the latencies are those of failures.
const MAX_FAILED_SHARE: f64 = 0.10;

/// Median lateness of a woken sleeper above which due instants are missed as a rule.
const MAX_TIMER_LATENESS: Nanos = Nanos::from_micros(100);

/// The verdict on a record that is complete but for it.
pub(crate) fn judge(record: &RunRecord) -> Validity {
    let rules: [fn(&RunRecord) -> Option<Warning>; 27] = [
        counts,
        mostly_failed,
        outstanding,
        unfinished,
        few_connections,
        lag,
        lateness::stood_still,
        busy,
        budget_error,
        budget_mean,
        measuring,
        laws::little,
        laws::few_at_work,
        laws::utilisation,
        stall,
        rate_missed,
        unserved,
        errors,
        foreign,
        steal,
        throttled,
        timer,
        mix,
        think,
        steadiness::not_steady,
        few_samples,
        ended_early,
    ];
    let mut warnings: Vec<Warning> = rules.iter().filter_map(|rule| rule(record)).collect();
    warnings.extend(record.validity.warnings.iter().cloned());
    let reasons = reasons::of_warnings(record, &warnings);
    Validity { reasons, ..Validity::from_warnings(warnings) }
}

fn warning(kind: WarningKind, text: String, remedy: &str) -> Option<Warning> {
    Some(Warning { kind, text, remedy: remedy.to_owned() })
}

fn counts(record: &RunRecord) -> Option<Warning> {
    let c = &record.counts;
    if c.add_up() {
        return None;
    }
    warning(
        WarningKind::Counts,
        format!(
            "the counts do not add up: offered {} is not completed {} + failed {} + dropped {} + unfinished {}",
            count(c.offered),
            count(c.completed),
            count(c.failed),
            count(c.dropped),
            count(c.unfinished)
        ),
        "this is a bug in dbtime: please report it with the record",
    )
}

/// Lag only lengthens a response: what it adds to a percentile is known, for each transaction's is.
fn lag(record: &RunRecord) -> Option<Warning> {
    let (name, effect) = record.late_percentile()?;
    let us = |us: f64| human_ns(us * 1e3);
    let (cause, remedy) = lateness::cause(record);
    warning(
        WarningKind::ClientLimited,
        format!(
            "the driver was late, {cause}: the {name} of the response is {}, without its lag {}",
            us(effect.response_us),
            us(effect.without_us)
        ),
        remedy,
    )
}

/// A driver that is busy all the time sets the pace of a closed loop.
fn busy(record: &RunRecord) -> Option<Warning> {
    if record.load.mode == LoadMode::Open || record.client.busy <= MAX_BUSY_SHARE {
        return None;
    }
    warning(
        WarningKind::ClientLimited,
        format!(
            "a driver thread was busy {:.0} % of the time with its own work (limit {:.0} %)",
            100.0 * record.client.busy,
            100.0 * MAX_BUSY_SHARE
        ),
        "add --shards or --workers on free CPUs; this run measures the driver's own pace",
    )
}

fn rate_missed(record: &RunRecord) -> Option<Warning> {
    let (rate, window) = (record.load.rate_tps?, record.window.measure_s);
    let (c, servers) = (&record.counts, record.load.workers.unwrap_or(record.load.connections));
    // At both edges of the window as many are under way as there are servers.
    let slack = 0.02 * c.offered as f64 + f64::from(servers);
    let carried = record.throughput_tps * window;
    let is_short = c.offered as f64 - carried > slack || c.unfinished > 0;
    if !is_short || record.load.arrivals == ArrivalProcess::AtOnce || window <= 0.0 {
        return None;
    }
    warning(
        WarningKind::RateMissed,
        format!(
            "{} a second completed of {} offered; dropped: {}, unfinished: {}",
            counted(record.throughput_tps.round() as u64, "transaction"),
            count(rate.round() as u64),
            count(c.dropped),
            count(c.unfinished)
        ),
        match without_service(record) {
            _ if 2 * c.failed > c.offered.saturating_sub(c.completed) => {
                "most of the missing transactions failed: see the errors"
            }
            Some(_) => "the target gave no service for a while: see that warning",
            None if lag(record).is_some() => "the driver was late: see that warning",
            None if lateness::stood_still_for(record, c.offered as f64 - carried) => {
                "the driver stood still: see that warning"
            }
            None => {
                "the target does not carry this rate: responses grow for as long as the run lasts; \
                 lower it"
            }
        },
    )
}

/// Which share of the transactions that ended failed.
fn failed_share(record: &RunRecord) -> f64 {
    let ended = record.counts.completed + record.counts.failed;
    record.counts.failed as f64 / ended.max(1) as f64
}

/// What a run's transactions failed with, and how often each came: what follows `failed`.
fn causes(record: &RunRecord) -> String {
    let codes = record.errors.iter().map(|(code, n)| format!("{code}: {}", counted(*n, "time")));
    let codes = codes.collect::<Vec<_>>().join(", ");
    match codes.is_empty() {
        true => ", none by an error of the database".to_owned(),
        false => format!(": {codes}"),
    }
}

/// Latencies of failures say nothing, not even that the driver was late.
fn mostly_failed(record: &RunRecord) -> Option<Warning> {
    let share = failed_share(record);
    if share <= MAX_FAILED_SHARE {
        return None;
    }
    let all_ended = record.counts.dropped == 0 && record.counts.unfinished == 0;
    let which = if all_ended { "" } else { " that ended" };
    warning(
        WarningKind::MostlyFailed,
        format!("{:.0} % of the transactions{which} failed{}", 100.0 * share, causes(record)),
        "the latencies do not represent the workload: fix the cause and repeat the run",
    )
}

fn errors(record: &RunRecord) -> Option<Warning> {
    if record.counts.failed == 0 || failed_share(record) > MAX_FAILED_SHARE {
        return None;
    }
    warning(
        WarningKind::Errors,
        format!("{} failed{}", counted(record.counts.failed, "transaction"), causes(record)),
        "failed transactions are in the latencies; see the errors, or allow retries in the workload",
    )
}

fn timer(record: &RunRecord) -> Option<Warning> {
    let late = Nanos::from_secs_f64(record.environment.timer_late_p50_us / 1e6);
    if late <= MAX_TIMER_LATENESS || record.load.mode != LoadMode::Open {
        return None;
    }
    warning(
        WarningKind::Timer,
        format!(
            "before the run this machine woke sleepers {late} late in the median (limit {MAX_TIMER_LATENESS})"
        ),
        "free a CPU; in a virtual machine look for halt polling or a coarse clock source",
    )
}

fn mix(record: &RunRecord) -> Option<Warning> {
    let text = off(record, &CheckMetric::Share)?;
    warning(
        WarningKind::Mix,
        format!("the mix is off: {text}"),
        "find out which operations fail or are dropped, or run longer",
    )
}

fn think(record: &RunRecord) -> Option<Warning> {
    let text = off(record, &CheckMetric::Think)?;
    warning(
        WarningKind::Think,
        format!("think times are off: {text}"),
        "the driver wakes its clients late: use fewer of them, or free a CPU",
    )
}

/// The first operation whose check on this metric failed, in words.
fn off(record: &RunRecord, metric: &CheckMetric) -> Option<String> {
    let failed = |check: &&Check| check.metric == *metric && check.is_missed();
    record.operations.iter().find_map(|operation| {
        let check = operation.limits.iter().find(failed)?;
        let (name, text, measured) = (&operation.name, &check.text, check.measured);
        Some(format!("{name} has {measured:.1} % where {text} is required"))
    })
}

fn few_samples(record: &RunRecord) -> Option<Warning> {
    let ended = record.counts.completed + record.counts.failed;
    if ended >= 1000 {
        return None;
    }
    if ended == 0 {
        return warning(
            WarningKind::MostlyFailed,
            "no transaction ended in the window".to_owned(),
            "run longer; if transactions hang, see what they wait for",
        );
    }
    let percentile = if ended < 100 { "99th" } else { "99.9th" };
    let ended = counted(ended, "transaction");
    warning(
        WarningKind::FewSamples,
        format!("{ended} ended: the {percentile} percentile is the maximum"),
        "run longer, or at a higher rate",
    )
}

fn ended_early(record: &RunRecord) -> Option<Warning> {
    if !record.window.ended_early {
        return None;
    }
    warning(
        WarningKind::EndedEarly,
        match record.window.planned_s {
            Some(planned_s) => format!(
                "the run was ended after {:.1} s of the {planned_s} s of its window",
                record.window.measure_s
            ),
            None => {
                format!("the run was ended after {:.1} s of its window", record.window.measure_s)
            }
        },
        "the figures cover the time until then, and meet no limit",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{SpanInfo, ValidityGrade};

    pub(super) fn kinds(record: &RunRecord) -> Vec<WarningKind> {
        judge(record).warnings.into_iter().map(|w| w.kind).collect()
    }

    pub(super) fn quiet() -> RunRecord {
        let mut record = RunRecord::default();
        record.counts.offered = 5000;
        record.counts.completed = 5000;
        record.latency_us.response.p50 = 1000.0;
        record.latency_us.response.p99 = 4000.0;
        record.latency_us.without_lag = record.latency_us.response;
        record.load.mode = LoadMode::Open;
        record.load.rate_tps = Some(500.0);
        record.throughput_tps = 500.0;
        record.window.measure_s = 10.0;
        record
    }

    #[test]
    fn a_quiet_run_is_valid() {
        assert_eq!(
            judge(&quiet()),
            Validity { grade: Some(ValidityGrade::Sound), valid: true, ..Validity::default() }
        );
    }

    #[test]
    fn lag_is_judged_by_what_it_adds_to_a_percentile() {
        let mut record = quiet();
        (record.latency_us.lag.p99, record.latency_us.lag.p999) = (3000.0, 3500.0);
        assert_eq!(kinds(&record), [], "the late ones are not the slow ones");
        record.latency_us.without_lag.p99 = 3590.0;
        assert!(judge(&record).client_limited);
        record.latency_us.without_lag.p99 = 3610.0;
        assert_eq!(kinds(&record), []);
        record.latency_us.without_lag.p50 = 899.0;
        assert!(judge(&record).client_limited);
    }

    #[test]
    fn a_gap_between_two_clusters_is_no_lag() {
        let mut record = quiet();
        let set = &mut record.latency_us;
        (set.response.p50, set.without_lag.p50) = (15_200.0, 13_400.0);
        (set.response.p99, set.without_lag.p99) = (33_000.0, 29_000.0);
        (set.lag.p99, set.lag.p999, set.lag.max) = (220.0, 1_700.0, 1_840.0);
        assert_eq!(kinds(&record), [], "the lag explains less than a tenth of either");
        record.latency_us.lag.p99 = 1_700.0;
        let late = judge(&record);
        assert!(late.client_limited);
        let text = &late.warnings[0].text;
        assert!(text.ends_with("response is 15.2 ms, without its lag 13.5 ms"), "{text}");
        // What is unfinished has its lag in the difference alone.
        record.latency_us.lag.p99 = 0.0;
        (record.counts.completed, record.counts.unfinished) = (4_000, 1_000);
        assert!(judge(&record).client_limited);
    }

    #[test]
    fn a_busy_driver_limits_a_closed_loop_only() {
        let mut record = quiet();
        record.client.busy = 0.95;
        assert_eq!(kinds(&record), []);
        record.load.mode = LoadMode::Closed;
        assert!(judge(&record).client_limited);
    }

    #[test]
    fn what_failed_is_no_sign_of_a_slow_target_or_driver() {
        let mut record = quiet();
        (record.counts.completed, record.counts.failed) = (1000, 4000);
        record.throughput_tps = 100.0;
        record.errors.insert("SQLITE_FULL".to_owned(), 4000);
        (record.latency_us.without_lag.p99, record.latency_us.lag.p999) = (0.0, 4000.0);
        record.stalls = vec![SpanInfo { from_s: 3.0, until_s: 7.0 }];
        let warnings = judge(&record).warnings;
        assert_eq!(warnings[0].kind, WarningKind::MostlyFailed);
        assert!(warnings[0].text.ends_with("SQLITE_FULL: 4,000 times"), "{}", warnings[0].text);
        let missed = warnings.iter().find(|w| w.kind == WarningKind::RateMissed);
        let missed = missed.expect("most were not completed");
        assert!(missed.remedy.contains("failed: see the errors"), "{}", missed.remedy);
        assert!(warnings.iter().all(|w| w.kind != WarningKind::Errors), "{warnings:?}");
    }

    #[test]
    fn a_driver_that_stood_still_is_named_whatever_the_percentiles() {
        let mut record = quiet();
        record.throughput_tps = 440.0;
        record.client.standstills = vec![SpanInfo { from_s: 2.0, until_s: 3.0 }];
        let warnings = judge(&record).warnings;
        let kinds_of: Vec<_> = warnings.iter().map(|w| w.kind).collect();
        assert_eq!(kinds_of, [WarningKind::StandstillWrong, WarningKind::RateMissed]);
        let text = "the driver stood still once in the window, 1.00 s in all: up to 10 % of the \
                    throughput is missing";
        assert_eq!(warnings[0].text, text);
        assert!(warnings[1].remedy.contains("stood still"), "{}", warnings[1].remedy);
        // Twice as many are missing as were due then, and more.
        record.throughput_tps = 390.0;
        let missed = judge(&record).warnings.remove(1);
        assert!(missed.remedy.contains("does not carry"), "{}", missed.remedy);
        // It is named once, where it made the lateness.
        (record.latency_us.without_lag.p99, record.latency_us.lag.p999) = (1000.0, 3500.0);
        record.latency_us.lag.mean = 50_000.0;
        let is_of_standstill = |kind: &WarningKind| {
            matches!(kind, WarningKind::Standstill | WarningKind::StandstillWrong)
        };
        assert!(!kinds(&record).iter().any(is_of_standstill));
        assert!(judge(&record).warnings[0].text.contains("stood still once"));
        record.client.standstills = vec![SpanInfo { from_s: 2.0, until_s: 2.09 }];
        assert!(!kinds(&record).iter().any(is_of_standstill), "a moment");
    }

    #[test]
    fn queue_alone_never_makes_a_run_client_limited() {
        let mut record = quiet();
        record.latency_us.queue.p99 = 1e6;
        assert_eq!(kinds(&record), []);
    }

    #[test]
    fn one_transaction_is_one() {
        let mut record = quiet();
        (record.counts.offered, record.counts.completed, record.counts.failed) = (2, 1, 1);
        record.throughput_tps = 0.1;
        record.errors.insert("40P01".to_owned(), 1);
        let of = |record: &RunRecord, kind| {
            let warnings = judge(record).warnings.into_iter();
            warnings.filter(|one| one.kind == kind).map(|one| one.text).collect::<String>()
        };
        let failed = of(&record, WarningKind::MostlyFailed);
        assert_eq!(failed, "50 % of the transactions failed: 40P01: 1 time");
        let few = of(&record, WarningKind::FewSamples);
        assert_eq!(few, "2 transactions ended: the 99th percentile is the maximum");
        (record.counts.offered, record.counts.failed) = (1, 0);
        let few = of(&record, WarningKind::FewSamples);
        assert_eq!(few, "1 transaction ended: the 99th percentile is the maximum");
        (record.counts.offered, record.counts.completed, record.counts.failed) = (101, 100, 1);
        assert_eq!(of(&record, WarningKind::Errors), "1 transaction failed: 40P01: 1 time");
    }

    #[test]
    fn lost_transactions_are_noticed() {
        let mut record = quiet();
        record.counts.completed -= 1;
        assert!(kinds(&record).contains(&WarningKind::Counts));
        assert!(!judge(&record).valid);
    }
}
