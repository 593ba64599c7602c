//! CPU quotas of control groups, which stop a process until its period is over.

use super::super::control_groups::group_files;
use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use dbtime_model::Nanos;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "quota",
    "cpu.max, cpu.cfs_quota_us and cpu.stat of the control groups of dbtime",
    "no CPU quota",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let because = "a group that has used up its quota stands still until its period is over, so \
                   that responses have steps of the period";
    let files = group_files(tree, "cpu", ["cpu.max", "cpu.cfs_quota_us"])?;
    let limit = files.iter().find_map(|path| Some((path, limit_in(&tree.text(path).ok()?)?)));
    let held = tree.window().ok().and_then(|window| window.used.throttled);
    match (held.filter(|held| *held > Nanos::ZERO), limit) {
        (Some(held), _) => Ok(FRAME.bad(
            "a quota held dbtime back while it did next to nothing",
            because,
            format!("measured: {held} of a second. Raise the quota, or run outside of the group"),
        )),
        (None, Some((path, us))) => Ok(FRAME.mind(
            format!("{us} µs of CPU a period, by /{path}"),
            because,
            "up to a period (100 ms by default) a stop: Documentation/scheduler/sched-bwc.rst of \
             the kernel; `run` reports how long a quota held it back",
        )),
        (None, None) if files.is_empty() => Err("no control group shares out the CPU".to_owned()),
        (None, None) => Ok(FRAME.good("none", "no group is stopped for its use of the CPU")),
    }
}

/// The quota of a period; `None`: there is none, or it cannot be read. Unit: microseconds.
fn limit_in(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}
