//! Stopped or frozen.

use crate::advice::case::AdviceCase;
use crate::advice::{AdviceRule, BudgetAdvice};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule =
    AdviceRule { name: "stopped", parts: &[Part::Stopped], steps: advise };

fn advise(_: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.step(
        "find what stops the server: a debugger or profiler that attaches, SIGSTOP, the freezer of \
         its control group (cgroup.freeze), a snapshot of its machine or container",
    );
}
