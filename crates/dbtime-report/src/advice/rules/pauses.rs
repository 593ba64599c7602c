//! Pauses that somebody wants: think time, and sleeps in the server.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use crate::format::clean;
use dbtime_model::Part;

pub(super) const RULE: AdviceRule = AdviceRule::new("pauses", &[Part::Think, Part::Sleep], advise);

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    let is_large = |part: Part| case.sum(&[part]) > 0.1 * advice.mean.at_most_us;
    let [thinks, sleeps] = [Part::Think, Part::Sleep].map(is_large);
    advice.because(match (thinks, sleeps) {
        (true, true) => {
            "the workload pauses in its transactions, and statements sleep in the server"
        }
        (true, false) => "the workload pauses in its transactions",
        (false, true) => "statements sleep in the server",
        (false, false) => "the workload pauses, or statements sleep in the server",
    });
    if thinks {
        advice.step(
            "look at the workload: it pauses within its transactions, which hold their connection \
             and locks meanwhile",
        );
    }
    let delay = case.setting("commit_delay").filter(|delay| sleeps && delay != "0");
    if let Some(delay) = delay {
        advice.step(format!("commit_delay, {} now: commits sleep for it", clean(&delay)));
    }
    if sleeps {
        advice.step("look at the statements: they sleep in the server (SLEEP(), pg_sleep())");
    }
}
