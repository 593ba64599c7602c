//! Held back by a CPU quota.

use crate::advice::case::AdviceCase;
use crate::advice::{AdvicePlace, AdviceRule, BudgetAdvice};
use crate::format::rate;
use dbtime_model::Part;

pub(super) const RULE: AdviceRule = AdviceRule::new("cpu_limit", &[Part::Throttled], advise);

fn advise(case: &AdviceCase<'_>, advice: &mut BudgetAdvice) {
    advice.comes_first(case, AdvicePlace::Limited);
    advice.because("the CPU limit of the server's control group held it back");
    advice.figures.extend(case.queue_behind(&advice.parts));
    if let Some((used, _)) = case.server_cpus() {
        advice.figure(format!("the server used {} CPUs on average", rate(used)));
    }
    advice.step(
        "raise the CPU limit of the server's control group (cpu.max; CPUQuota= of its unit; the \
         CPU limit of its container)",
    );
    advice.step(
        "let fewer transactions run at once (--workers): many threads exhaust a limit early in \
         its period, and then all stand still",
    );
}
