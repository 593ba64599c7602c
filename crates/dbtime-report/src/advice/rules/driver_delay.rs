//! The driver's own lateness and time: no time of the database.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{counted, percent, us};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule =
    AdviceRule { name: "driver_delay", parts: &[Part::Lag, Part::Client], steps: advise };

/// A driver thread busier than this sends late for that alone.
const BUSY_SHARE: f64 = 0.6;

/// Waiting for a CPU explains lateness from this share of it on.
const MIN_EXPLAINED: f64 = 0.3;

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let record = case.record;
    let client = &record.client;
    advice.figure("this is dbtime itself: nothing of it is the database's");
    if client.busy > BUSY_SHARE {
        advice.figure(format!("a driver thread was busy {}", percent(100.0 * client.busy)));
        advice.step(
            "use more --shards on free CPUs, a lower --rate, or a machine of its own for dbtime",
        );
    }
    if !client.standstills.is_empty() {
        let times = counted(client.standstills.len() as u64, "time");
        advice.figure(format!("the driver stood still {times}"));
        advice
            .step("find what stopped dbtime, or took its CPU, for a tenth of a second and longer");
    }
    let ended = record.counts.completed.saturating_add(record.counts.failed) as f64;
    let late_s = record.runq_lateness_s().unwrap_or(0.0);
    if late_s * 1e6 >= MIN_EXPLAINED * advice.mean.at_most_us * ended.max(1.0) {
        let waited_s = client.threads_runq_s.unwrap_or(0.0);
        advice.figure(format!("the driver's threads waited {} for a CPU", us(waited_s * 1e6)));
        advice.step(match case.is_server() {
            true => "give dbtime CPUs of its own (--client-cpus, and --server-cpus for the server)",
            false => "use fewer --workers than CPUs: the database runs on the driver's threads",
        });
    }
    if let Some(foreign) = case.foreign() {
        advice.figure(foreign);
        advice.step("stop those processes, or keep them to other CPUs");
    }
    if advice.steps.is_empty() {
        advice.figure(format!(
            "the machine wakes a sleeper {} late (p99 {})",
            us(record.environment.timer_late_p50_us),
            us(record.environment.timer_late_p99_us)
        ));
        advice.step(
            "use a quieter machine, or one that wakes sooner (no virtual one, shallow idle states)",
        );
    }
}
