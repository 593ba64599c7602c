//! Blocked in a place that has no part of its own.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule = AdviceRule::new("elsewhere", &[Part::Other], advise);

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.because(match case.is_server() {
        true => "the server was blocked in a system call that has no part of its own",
        false => "files are opened and closed",
    });
    advice.step(match case.is_server() {
        true => {
            "`dbtime trace --json` during the load: other_call is the system call it is blocked in"
        }
        false => "keep files open: this time is the opening and closing of files",
    });
}
