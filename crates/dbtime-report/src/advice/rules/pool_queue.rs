//! Waiting for a free connection or worker.

use crate::advice::case::AdviceCase;
use crate::advice::{AdvicePlace, AdviceRule, BudgetAdvice};
use crate::format::{clean, count, counted, percent, rate, us};
use dbtime_model::Part;
use dbtime_model::record::{ArrivalProcess, LoadMode, WarningKind};

pub(super) const RULE: AdviceRule = AdviceRule::new("pool_queue", &[Part::Queue], advise);

/// A server that uses this share of its CPUs serves no more for being given more.
const SATURATED_SHARE: f64 = 0.9;

/// Where connections are busy for less than this share, there are enough of them on average.
const BUSY_SHARE: f64 = 0.7;

/// What holds up all connections, however many there are.
const HELD_UP: [Part; 6] =
    [Part::Stopped, Part::Throttled, Part::Lock, Part::Runq, Part::RunqPreempted, Part::RunqWoken];

/// So many parts of a worker's time are named.
const MAX_PARTS: usize = 4;

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
    let waits = record.load.connections.saturating_sub(many);
    let thinks =
        record.load.think_us.is_some() || record.operations.iter().any(|o| o.think.is_some());
    let is_full = record.load.mode == LoadMode::Closed && waits > 0 && !thinks;
    if is_full {
        advice.figure(format!(
            "{} of {} clients wait at any moment, whatever the database does: none thinks, and \
             a response takes clients / throughput",
            count(waits.into()),
            count(record.load.connections.into())
        ));
    }
    let missed = record.validity.warnings.iter().any(|w| w.kind == WarningKind::RateMissed);
    let is_saturated =
        case.server_cpus().is_some_and(|(used, cpus)| used / f64::from(cpus) >= SATURATED_SHARE);
    let pool = counted(many.into(), noun);
    let behind = behind(case);
    if behind.is_some() {
        advice.place = AdvicePlace::Behind;
    }
    advice.because(match behind {
        Some(part) => format!("transactions wait for one of {pool}, and these for {}", part.name()),
        None if is_full => {
            format!("clients that never pause share {pool}: the others wait all the time")
        }
        None => short_of(&pool, is_saturated, busy),
    });
    if missed {
        advice.step(
            "lower --rate: less was completed than offered, and such a queue grows until the end",
        );
    }
    if is_saturated {
        advice.figure("the server's CPUs have no room for more connections");
    } else if is_full {
        let [fewer, more] = [(many / 2).max(1), many.saturating_mul(2)];
        advice.step(format!(
            "try fewer and more {noun}s (--sweep {noun}s={fewer},{more}), and keep what has the \
             best throughput"
        ));
    } else if case.is_server() || many < record.environment.cpus {
        advice.step_at_price(
            format!("use more than {} (--{noun}s)", counted(many.into(), noun)),
            "more at once in the database, which may wait for its locks and CPUs instead",
        );
    }
    shorten(case, advice);
    if busy < BUSY_SHARE {
        advice
            .figure("most were free on average: transactions queue while all are held up at once");
    }
    steady(case, busy, advice);
}

/// Where most were free on average: arrivals that do not meet in bursts.
fn steady(case: &AdviceCase<'_>, busy: f64, advice: &mut BudgetAdvice) {
    let arrivals = &case.record.load.arrivals;
    let is_bursty = !matches!(arrivals, ArrivalProcess::Steady | ArrivalProcess::Closed);
    if busy < BUSY_SHARE && is_bursty {
        advice.step(format!(
            "try steady arrivals ({} now): these meet in bursts",
            clean(&arrivals.to_string())
        ));
    }
}

/// Why transactions wait for a pool that is busy for such a share of the time.
fn short_of(pool: &str, is_saturated: bool, busy: f64) -> String {
    if is_saturated {
        format!("the server's CPUs are full: transactions wait for {pool}")
    } else if busy < BUSY_SHARE {
        format!("transactions wait for one of {pool} all at once, in bursts")
    } else {
        format!("the pool is small: transactions wait for one of {pool}")
    }
}

/// What most of the time behind the queue is spent on, where more connections would only wait for
/// it too.
fn behind(case: &AdviceCase<'_>) -> Option<Part> {
    let parts = HELD_UP.into_iter().map(|part| (part, case.sum(&[part])));
    let (part, us) = parts.max_by(|a, b| a.1.total_cmp(&b.1))?;
    case.is_most_of_service(us).then_some(part)
}

/// What a worker's time is made of.
fn shorten(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let is_service = |part: &Part| !matches!(part, Part::Queue | Part::Lag | Part::Think);
    let parts = case.means.largest().into_iter().filter(|(part, _)| is_service(part));
    let parts: Vec<_> = parts.take(MAX_PARTS).map(|(part, time)| named(part, time)).collect();
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join(", ")),
    };
    advice.step(format!(
        "shorten the transaction by its other parts{parts}: its connection is free again sooner"
    ));
}

fn named(part: Part, time: f64) -> String {
    format!("{} {}", part.name(), us(time))
}
