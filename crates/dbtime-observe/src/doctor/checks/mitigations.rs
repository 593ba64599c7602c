//! Mitigations of flaws of CPUs, which make system calls longer.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "mitigations",
    "/proc/cmdline",
    "as the kernel chooses, as production has it",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let line = tree.text("proc/cmdline")?;
    let is_off = line.split(' ').any(|word| matches!(word, "mitigations=off" | "nopti"));
    if !is_off {
        return Ok(FRAME.good("not turned off", "system calls are as long as in production"));
    }
    Ok(FRAME.note(
        "turned off",
        "system calls are shorter here than where the kernel's own choice holds",
        "not measured here; Documentation/admin-guide/hw-vuln/ of the kernel. Start without \
         mitigations=off to measure what production will have",
    ))
}
