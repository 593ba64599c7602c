//! Kernel lockdown, which forbids programs of the tracer to read.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "lockdown",
    "/sys/kernel/security/lockdown",
    "none or integrity where servers are traced",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let mode = tree.chosen("sys/kernel/security/lockdown")?;
    match mode.as_str() {
        "none" | "integrity" => Ok(FRAME.good(mode, "programs of the tracer may read")),
        "confidentiality" => Ok(FRAME.note(
            mode,
            "programs of the tracer may not read memory: `dbtime trace` and `dbtime top` refuse",
            "no traced parts (kernel_lockdown(7)). It is chosen at the start of the machine, and \
             production may need it",
        )),
        _ => Err("/sys/kernel/security/lockdown has a mode that is not known".to_owned()),
    }
}
