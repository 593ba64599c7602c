//! Scheduling by session: whether driver and server share the CPU by terminal.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "autogroup",
    "kernel.sched_autogroup_enabled",
    "0 while driver and server share CPUs",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    match tree.number("proc/sys/kernel/sched_autogroup_enabled")? {
        0 => Ok(FRAME.good("0", "threads share CPUs as threads")),
        1 => Ok(mended(
            FRAME.note(
                "1",
                "sessions share CPUs as wholes: a server with a hundred threads in one gets as \
                 much as a driver with two in another",
                "measured elsewhere, with Linux 6.18 on two CPUs: a test that takes 6 s took up to \
                 66 s (CONTRIBUTING.md); sched(7). Without it a build in one terminal slows others",
            ),
            "sysctl -w kernel.sched_autogroup_enabled=0",
            "sysctl -w kernel.sched_autogroup_enabled=1",
        )),
        _ => Err("kernel.sched_autogroup_enabled is neither 0 nor 1".to_owned()),
    }
}
