//! Waiting for a free connection or worker.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{clean, counted, percent, rate, us};
use dbtime_model::Part;
use dbtime_model::record::{ArrivalProcess, WarningKind};

pub(super) const RULE: AdviceRule =
    AdviceRule { name: "pool_queue", parts: &[Part::Queue], steps: advise };

/// A server that uses this share of its CPUs serves no more for being given more.
const SATURATED_SHARE: f64 = 0.9;

/// Where connections are busy for less than this share, there are enough of them on average.
const BUSY_SHARE: f64 = 0.7;

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let record = case.record;
    let many = case.concurrency();
    let noun = if record.load.workers.is_some() { "worker" } else { "connection" };
    let busy = record.throughput_tps * record.latency_us.service.mean / 1e6 / f64::from(many);
    if many > 0 && busy.is_finite() && busy > 0.0 {
        advice.figure(format!(
            "{}, busy {} of the time: {}/s of {} each",
            counted(many.into(), noun),
            percent(100.0 * busy.min(1.0)),
            rate(record.throughput_tps),
            us(record.latency_us.service.mean),
        ));
    }
    let missed = record.validity.warnings.iter().any(|w| w.kind == WarningKind::RateMissed);
    if missed {
        advice.step(
            "lower --rate: less was completed than offered, and such a queue grows until the end",
        );
    }
    let is_saturated =
        case.server_cpus().is_some_and(|(used, cpus)| used / f64::from(cpus) >= SATURATED_SHARE);
    if is_saturated {
        advice.figure("the server's CPUs have nothing left for more connections");
    } else if case.is_server() || many < record.environment.cpus {
        advice.step_at_price(
            format!("use more than {} (--{noun}s)", counted(many.into(), noun)),
            "more at once in the database, which may wait for its locks and CPUs instead",
        );
    }
    advice.step("shorten the transaction by its other parts: its connection is free again sooner");
    if busy < BUSY_SHARE {
        advice
            .figure("most were free on average: transactions queue while all are held up at once");
    }
    let is_bursty =
        !matches!(record.load.arrivals, ArrivalProcess::Steady | ArrivalProcess::Closed);
    if busy < BUSY_SHARE && is_bursty {
        advice.step(format!(
            "try steady arrivals ({} now): these meet in bursts",
            clean(&record.load.arrivals.to_string())
        ));
    }
}
