//! Why the driver was late, as far as the figures of a run tell, and what helps against that.

use super::MAX_TIMER_LATENESS;
use super::noise::MAX_FOREIGN_PCT;
use dbtime_model::Nanos;
use dbtime_model::record::{MAX_STANDSTILL_LOSS, RunRecord, Warning, WarningKind};

/// A cause explains lateness when it comes to this share of it.
const MIN_EXPLAINED_SHARE: f64 = 0.5;

/// A reader is told of standstills that come to this share of the window.
pub(super) const MIN_STANDSTILL_SHARE: f64 = 0.01;

/// A driver thread that is busy for more than this share of the time sends late for that alone.
const MIN_BUSY_SHARE: f64 = 0.6;

/// Less than a millisecond of waiting for a CPU, in all, is no cause of anything.
const MIN_WAITED_S: f64 = 0.001;

/// A cause in words, and what helps against it.
pub(super) type LatenessCause = (String, &'static str);

/// The likeliest cause, in words that follow upon `the driver was late, `, and its remedy.
pub(super) fn cause(record: &RunRecord) -> LatenessCause {
    let causes: [fn(&RunRecord) -> Option<LatenessCause>; 6] =
        [standstill, steal, foreign, busy, run_queue, timer];
    let unknown = || ("for no apparent reason".to_owned(), "repeat the run on a quieter machine");
    causes.iter().find_map(|cause| cause(record)).unwrap_or_else(unknown)
}

/// The sum of all lag, in seconds.
fn lag_s(record: &RunRecord) -> f64 {
    let ended = record.counts.completed + record.counts.failed;
    record.latency_us.lag.mean * ended as f64 / 1e6
}

fn in_words(lengths: &[f64]) -> String {
    let times = if lengths.len() == 1 { "once".into() } else { format!("{} times", lengths.len()) };
    format!("stood still {times} in the window, {:.2} s in all", lengths.iter().sum::<f64>())
}

const STANDSTILL_REMEDY: &str =
    "it was stopped or suspended, or got no CPU: remove the cause, and repeat the run";

/// A driver that stood still for more than a moment of the window has left out what it should have
/// sent then, whatever the percentiles are: a reader is told, if the lateness does not say so. The
/// run is not valid where much of its throughput may be missing for that.
pub(super) fn stood_still(record: &RunRecord) -> Option<Warning> {
    let is_named = super::lag(record).is_some_and(|lag| lag.remedy == STANDSTILL_REMEDY);
    if record.standstill_share() < MIN_STANDSTILL_SHARE || is_named {
        return None;
    }
    let text = format!("the driver {}", in_words(&record.standstill_lengths_s()));
    let loss = record.standstill_loss();
    if loss <= MAX_STANDSTILL_LOSS {
        return super::warning(WarningKind::Standstill, text, STANDSTILL_REMEDY);
    }
    let text = format!("{text}: up to {:.0} % of the throughput is missing", 100.0 * loss);
    super::warning(WarningKind::StandstillWrong, text, STANDSTILL_REMEDY)
}

/// Whether what was due while the driver stood still explains so many transactions.
pub(super) fn stood_still_for(record: &RunRecord, missing: f64) -> bool {
    let rate = record.load.rate_tps.unwrap_or_default();
    let due: f64 = record.standstill_lengths_s().iter().map(|length| length * rate).sum();
    due > 0.0 && due >= MIN_EXPLAINED_SHARE * missing
}

fn standstill(record: &RunRecord) -> Option<LatenessCause> {
    let lengths = record.standstill_lengths_s();
    let is_little = record.standstill_lateness_s() < MIN_EXPLAINED_SHARE * lag_s(record);
    if lengths.is_empty() || is_little {
        return None;
    }
    Some((format!("because it {}", in_words(&lengths)), STANDSTILL_REMEDY))
}

fn steal(record: &RunRecord) -> Option<LatenessCause> {
    let pct = record.environment.steal_pct;
    // Of two causes the larger is named.
    (pct > MAX_FOREIGN_PCT && pct >= record.environment.foreign_cpu_pct).then(|| {
        let text = format!("because the hypervisor took {pct:.0} % of the machine's CPU");
        (text, "repeat the run on a host with fewer neighbours")
    })
}

fn foreign(record: &RunRecord) -> Option<LatenessCause> {
    let pct = record.environment.foreign_cpu_pct;
    (pct > MAX_FOREIGN_PCT).then(|| {
        let text = format!("because other processes used {pct:.0} % of the machine's CPU");
        (text, "stop them, or keep the driver to a CPU that nothing else uses (--client-cpus)")
    })
}

fn busy(record: &RunRecord) -> Option<LatenessCause> {
    let busy = record.client.busy;
    (busy > MIN_BUSY_SHARE).then(|| {
        let text = format!("because a thread of it was busy {:.0} % of the time", 100.0 * busy);
        (text, "it cannot send faster: add --shards or --workers on free CPUs, or lower the rate")
    })
}

/// Nobody else used the CPUs for long, and the driver's threads waited for one: they waited for
/// each other, for the server that is driven, or for what the kernel does for it. Waits for
/// transactions that run on these threads are no lateness.
fn run_queue(record: &RunRecord) -> Option<LatenessCause> {
    let waited_s = record.late_runq_s()?;
    let (holder, remedy) = match record.client.ready_runq_s {
        Some(_) => (
            "that other short tasks were using, such as the kernel's work for its disk",
            "use fewer workers than CPUs, and keep the disk's interrupts off the driver's CPU",
        ),
        None => (
            "that other short tasks were using: the database's, or the kernel's for its disk and \
             network",
            "use fewer workers than CPUs, or keep driver and server apart (--client-cpus), and the \
             disk's interrupts off the driver's CPU",
        ),
    };
    let explains = record.runq_lateness_s()? >= MIN_EXPLAINED_SHARE * lag_s(record);
    (waited_s >= MIN_WAITED_S && explains).then(|| {
        let waited = Nanos::from_secs_f64(waited_s);
        let text = format!("because its threads waited {waited} for a CPU {holder}");
        (text, remedy)
    })
}

fn timer(record: &RunRecord) -> Option<LatenessCause> {
    let late_us = record.environment.timer_late_p99_us;
    (late_us > MAX_TIMER_LATENESS.as_micros()).then(|| {
        let late = Nanos::from_secs_f64(late_us / 1e6);
        let text = format!(
            "because this machine wakes sleepers late ({late} at the 99th percentile before the \
             run)"
        );
        (text, "free a CPU; in a virtual machine look for halt polling or a coarse clock source")
    })
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::quiet;
    use super::*;
    use dbtime_model::record::{SpanInfo, ValidityGrade};

    /// A run whose 99th percentile is 1 ms without `lag_us` of lag.
    fn late_by(lag_us: f64) -> RunRecord {
        let mut record = quiet();
        record.latency_us.response.p50 = 200.0;
        record.latency_us.without_lag.p50 = 200.0;
        record.latency_us.response.p99 = 1000.0 + lag_us;
        record.latency_us.without_lag.p99 = 1000.0;
        let lag = &mut record.latency_us.lag;
        (lag.mean, lag.p99, lag.p999) = (lag_us / 50.0, lag_us, lag_us);
        record
    }

    /// The same on an embedded database whose transactions waited 2 s for a CPU that others of
    /// them had, and so long for others.
    fn embedded(lag_us: f64, others_s: f64) -> RunRecord {
        let mut record = late_by(lag_us);
        record.target.engine = "sqlite".to_owned();
        record.client.threads_runq_s = Some(3.0 + others_s);
        record.client.ready_runq_s = Some(2.0 + others_s);
        record.client.own_contention_s = Some(2.0);
        record
    }

    #[test]
    fn transactions_that_wait_for_each_other_leave_a_run_valid() {
        let own = judge(&embedded(20.0, 0.0));
        assert_eq!((own.grade(), own.warnings.len()), (ValidityGrade::Sound, 0));
        // Of another lateness they are no cause.
        let mut record = embedded(900.0, 0.0);
        record.environment.timer_late_p99_us = 900.0;
        let late = judge(&record);
        assert_eq!((late.grade(), late.client_limited), (ValidityGrade::Invalid, true));
        let text = &late.warnings[0].text;
        assert!(text.contains("wakes sleepers late (900 µs at the 99th"), "{text}");
        let kernel = judge(&embedded(900.0, 0.5));
        let text = &kernel.warnings[0].text;
        assert!(text.contains("waited 500 ms for a CPU that other short tasks"), "{text}");
    }

    #[test]
    fn others_beside_an_embedded_database_are_named() {
        let others = |mut record: RunRecord| {
            record.environment.foreign_cpu_pct = 60.0;
            let late = judge(&record);
            let named = late.warnings.iter().filter(|w| w.text.contains("other processes used 60"));
            (late.grade(), late.client_limited, named.count())
        };
        let mut alone = embedded(900.0, 2.0);
        alone.client.own_contention_s = Some(0.0);
        assert_eq!(others(alone), (ValidityGrade::Invalid, true, 2), "lateness and noise");
        assert_eq!(others(embedded(900.0, 2.0)), (ValidityGrade::Invalid, true, 2), "both");
        assert_eq!(others(embedded(20.0, 0.1)), (ValidityGrade::Noisy, false, 1));
    }

    #[test]
    fn a_driver_that_waits_beside_a_server_is_late() {
        let mut record = late_by(900.0);
        record.client.threads_runq_s = Some(2.0);
        let late = judge(&record);
        assert_eq!((late.grade(), late.client_limited), (ValidityGrade::Invalid, true));
        assert!(late.warnings[0].text.contains("waited 2.00 s for a CPU"), "{:?}", late.warnings);
    }

    #[test]
    fn the_remedy_fits_the_cause() {
        let mut record = RunRecord::default();
        record.counts.completed = 1000;
        record.latency_us.lag.mean = 1e3;
        record.load.rate_tps = Some(100.0);
        record.window.measure_s = 10.0;
        let assert_cause = |record: &RunRecord, words: &str| {
            let (cause, remedy) = cause(record);
            assert!(cause.contains(words), "{cause}; {remedy}");
        };
        assert_cause(&record, "no apparent reason");
        record.environment.timer_late_p99_us = 300.0;
        assert_cause(&record, "wakes sleepers late");
        record.latency_us.lag.mean = 0.1;
        record.client.threads_runq_s = Some(0.0009);
        assert_cause(&record, "wakes sleepers late");
        record.latency_us.lag.mean = 1e3;
        record.client.threads_runq_s = Some(0.6);
        assert_cause(&record, "waited 600 ms for a CPU");
        // Twice as much, but five were due in each of these waits.
        record.latency_us.lag.mean = 2e3;
        assert_cause(&record, "wakes sleepers late");
        record.latency_us.lag.p999 = 1e5;
        assert_cause(&record, "waited 600 ms for a CPU");
        record.latency_us.lag.mean = 1e3;
        record.client.busy = 0.7;
        assert_cause(&record, "busy 70 %");
        record.environment.foreign_cpu_pct = 71.0;
        assert_cause(&record, "other processes used 71 %");
        record.environment.steal_pct = 12.0;
        assert_cause(&record, "other processes used 71 %");
        record.environment.steal_pct = 72.0;
        assert_cause(&record, "hypervisor took 72 %");
        // 100/s over 0.3 s, half of it each: 4.5 s of lag.
        record.latency_us.lag.mean = 5e3;
        record.client.standstills = vec![SpanInfo { from_s: 1.0, until_s: 1.3 }];
        assert_cause(&record, "stood still once");
        // Half a second of dues that waited for 1.75 s each.
        record.latency_us.lag.mean = 87e3;
        record.client.standstills = vec![SpanInfo { from_s: 9.5, until_s: 11.5 }];
        assert_cause(&record, "stood still once in the window, 0.50 s in all");
        record.client.standstills = vec![SpanInfo { from_s: 11.0, until_s: 12.0 }];
        assert_cause(&record, "hypervisor took 72 %");
    }
}
