//! Stopped or frozen.

use crate::advice::case::AdviceCase;
use crate::advice::{AdvicePlace, AdviceRule, BudgetAdvice};
use dbtime_model::Part;

pub(super) const RULE: AdviceRule = AdviceRule::new("stopped", &[Part::Stopped], advise);

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.comes_first(case, AdvicePlace::Stopped);
    advice
        .because("the server was stopped or frozen, by a signal, a debugger or its control group");
    advice.figures.extend(case.queue_behind(&advice.parts));
    advice.step(
        "find what stops the server: a debugger or profiler that attaches, SIGSTOP, the freezer of \
         its control group (cgroup.freeze), a snapshot of its machine or container",
    );
}
