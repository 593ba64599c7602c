//! The kernel's description of its own types, which the tracer needs.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame =
    FindingFrame::of_machine("btf", "/sys/kernel/btf/vmlinux", "there, where servers are traced");

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    if !tree.has("sys/kernel") {
        return Err("/sys is not mounted here".to_owned());
    }
    // Megabytes, and never read here: whether they fit is found out by tracing.
    match tree.place("sys/kernel/btf/vmlinux").is_file() {
        true => Ok(FRAME.good("there", "the tracer's programs can be fitted to this kernel")),
        false => Ok(FRAME.note(
            "missing",
            "the tracer's programs cannot be fitted to this kernel: `dbtime trace` refuses",
            "no traced parts. A kernel with CONFIG_DEBUG_INFO_BTF has it, as of Debian 12 or later",
        )),
    }
}
