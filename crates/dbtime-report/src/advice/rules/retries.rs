//! Pauses before another attempt: what failed the first time.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{clean, counted, rate};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule = AdviceRule::new("retries", &[Part::Backoff], advise);

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let record = case.record;
    let breaks = record.connections.as_ref().is_some_and(|made| made.failed + made.lost > 0);
    advice.because(match case.deadlocks() {
        Some((code, times)) => deadlock_cause(code, times),
        None if breaks => {
            "connections break or cannot be made, and transactions begin again".into()
        }
        None => "transactions fail, and are tried again after a pause".to_owned(),
    });
    let each = record.counts.retries as f64 / record.counts.offered.max(1) as f64;
    if record.counts.retries > 0 {
        advice.figure(format!("{} retries per transaction", rate(each)));
    }
    if let Some((code, times)) = record.errors.iter().max_by_key(|(_, times)| **times) {
        let message = record.error_messages.get(code);
        let message = message.map_or(String::new(), |text| format!(" ({})", clean(text)));
        advice.figure(format!("{}: {}{message}", clean(code), counted(*times, "time")));
    }
    if breaks {
        advice.step(
            "look at the connections: attempts failed or connections broke, see the server's log",
        );
    }
    advice.step(SAME_ORDER);
}

/// What helps against deadlocks and other collisions.
pub(super) const SAME_ORDER: &str = "touch rows and tables in the same order in all transactions, \
     and keep these short: they collide less";

/// Deadlocks, of which servers count each victim.
pub(super) fn deadlock_cause(code: &str, times: u64) -> String {
    let (times, code) = (counted(times, "time"), clean(code));
    format!("deadlocks ({code}: {times}): transactions lock the same rows in different orders")
}
