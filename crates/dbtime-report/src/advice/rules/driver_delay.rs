//! The driver's own lateness and time: no time of the database.

use crate::advice::case::AdviceCase;
use crate::advice::{AdvicePlace, AdviceRule, BudgetAdvice};
use crate::format::{counted, percent, us};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule =
    AdviceRule::new("driver_delay", &[Part::Lag, Part::Client], advise);

/// A driver thread busier than this sends late for that alone.
const BUSY_SHARE: f64 = 0.6;

/// Waiting for a CPU explains lateness from this share of it on.
const MIN_EXPLAINED: f64 = 0.3;

/// Less than a millisecond of waiting for a CPU, in all, is no cause of anything.
const MIN_WAITED_S: f64 = 0.001;

/// A driver that stood still is late for that from this share of its lateness on.
const MIN_STOPPED_SHARE: f64 = 0.5;

/// From this share of its lateness on others may have made the rest.
const MIN_REST_SHARE: f64 = 0.1;

/// A driver that was held back by a CPU limit for this share of the window is late for that.
const MIN_LIMITED_SHARE: f64 = 0.05;

/// Whether a driver thread is busy enough to be late for that alone.
pub(super) fn is_busy(case: &AdviceCase<'_>) -> bool {
    case.record.client.busy > BUSY_SHARE
}

/// Whether the driver's own control group held it back.
pub(super) fn is_limited(case: &AdviceCase<'_>) -> bool {
    let record = case.record;
    let limited_s = record.client.throttled_s.unwrap_or(0.0);
    limited_s > 0.0 && limited_s >= MIN_LIMITED_SHARE * record.window.measure_s
}

/// What the driver's standstills added to the lag of a transaction; nothing where its threads
/// waited for a CPU as long, which others had then. Unit: microseconds.
pub(super) fn stopped_us(case: &AdviceCase<'_>) -> f64 {
    let record = case.record;
    let lengths = record.client.standstills.iter().map(|span| span.until_s - span.from_s);
    let length_s: f64 = lengths.sum();
    let has_waited = record.late_runq_s().is_some_and(|waited_s| waited_s >= length_s);
    if record.client.standstills.is_empty() || has_waited {
        return 0.0;
    }
    let ended = record.counts.completed.saturating_add(record.counts.failed).max(1);
    let lateness_us = record.standstill_lateness_s() * 1e6 / ended as f64;
    lateness_us.min(case.sum(&[Part::Lag])).max(0.0)
}

/// Whether the driver was late mostly for standing still while it could have run.
pub(super) fn is_stopped(case: &AdviceCase<'_>) -> bool {
    let stopped_us = stopped_us(case);
    stopped_us > 0.0 && stopped_us >= MIN_STOPPED_SHARE * case.sum(&[Part::Lag])
}

/// How long threads of the driver waited for a CPU, where that explains a good share.
fn waited_s(case: &AdviceCase<'_>, advice: &BudgetAdvice) -> Option<f64> {
    let record = case.record;
    let ended = record.counts.completed.saturating_add(record.counts.failed) as f64;
    let late_s = record.runq_lateness_s().unwrap_or(0.0);
    let explains = late_s * 1e6 >= MIN_EXPLAINED * advice.mean.at_most_us * ended.max(1.0);
    record.late_runq_s().filter(|waited_s| explains && *waited_s >= MIN_WAITED_S)
}

/// Why dbtime is late, as far as its own figures tell.
fn cause(case: &AdviceCase<'_>, waited_s: Option<f64>) -> &'static str {
    if is_limited(case) {
        "the CPU limit of dbtime's own control group held it back"
    } else if is_busy(case) {
        "dbtime is at its limit: one of its threads has no time left"
    } else if !case.record.client.standstills.is_empty() {
        "dbtime itself stood still"
    } else if waited_s.is_some() {
        "dbtime itself waited for a CPU"
    } else {
        "dbtime itself was late, or worked between statements"
    }
}

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let record = case.record;
    let client = &record.client;
    let waited_s = waited_s(case, advice);
    advice.because(cause(case, waited_s));
    if is_busy(case) || is_limited(case) || is_stopped(case) {
        advice.comes_first(case, AdvicePlace::DriverLimited);
    }
    advice.figure("this is dbtime's own time, not the database's");
    if let (true, Some(limited_s)) = (is_limited(case), client.throttled_s) {
        advice.figure(format!("the limit was used up for {}, over all CPUs", us(limited_s * 1e6)));
        advice.step(
            "raise the CPU limit of the control group that dbtime runs in (cpu.max; CPUQuota= of \
             its unit; the CPU limit of its container)",
        );
    }
    if is_busy(case) {
        advice.figure(format!("a driver thread was busy {}", percent(100.0 * client.busy)));
        advice.step(
            "use more --shards on free CPUs, a lower --rate, or a separate machine for dbtime",
        );
    }
    if !client.standstills.is_empty() {
        let times = counted(client.standstills.len() as u64, "time");
        advice.figure(format!("the driver stood still {times}"));
        advice
            .step("find what stopped dbtime, or took its CPU, for a tenth of a second and longer");
    }
    if let Some(waited_s) = waited_s {
        advice.figure(format!("the driver's threads waited {} for a CPU", us(waited_s * 1e6)));
        advice.step(match case.is_server() {
            true => "give dbtime CPUs of its own (--client-cpus, and --server-cpus for the server)",
            false => "use fewer --workers than CPUs: the database runs on the driver's threads",
        });
    }
    others(case, advice);
    if advice.steps.is_empty() {
        advice.figure(format!(
            "the machine wakes a sleeper {} late (p99 {})",
            us(record.environment.timer_late_p50_us),
            us(record.environment.timer_late_p99_us)
        ));
        advice.step(
            "use a quieter machine, or one that wakes sooner (not virtual, shallow idle states)",
        );
    }
}

/// What others may have made of it: no more than the standstills leave.
fn others(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let Some(foreign) = case.foreign() else { return };
    let step = "stop those processes, or keep them to other CPUs";
    if !is_stopped(case) {
        advice.figure(foreign);
        advice.step(step);
        return;
    }
    let at_most_us = advice.mean.at_most_us.max(f64::MIN_POSITIVE);
    let rest = 1.0 - stopped_us(case) / at_most_us;
    if rest >= MIN_REST_SHARE {
        advice.figure(foreign);
        advice.bounded_step(step, rest, None);
    }
}
