//! Pauses before another attempt: what failed the first time.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::{clean, count, rate};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule =
    AdviceRule { name: "retries", parts: &[Part::Backoff], steps: advise };

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let record = case.record;
    let each = record.counts.retries as f64 / record.counts.offered.max(1) as f64;
    if record.counts.retries > 0 {
        advice.figure(format!("{} retries per transaction", rate(each)));
    }
    if let Some((code, times)) = record.errors.iter().max_by_key(|(_, times)| **times) {
        let message = record.error_messages.get(code);
        let message = message.map_or(String::new(), |text| format!(": {}", clean(text)));
        advice.figure(format!("{} times {}{message}", count(*times), clean(code)));
    }
    if record.connections.as_ref().is_some_and(|made| made.failed + made.lost > 0) {
        advice.step(
            "look at the connections: attempts failed or connections broke, see the server's log",
        );
    }
    advice.step(
        "touch rows and tables in the same order in all transactions, and keep these short: they \
         collide less",
    );
}
