//! The compiler of the kernel's programs.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "bpf_jit",
    "net.core.bpf_jit_enable",
    "1, so that programs of the tracer are compiled",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    match tree.number("proc/sys/net/core/bpf_jit_enable")? {
        0 => Ok(mended(
            FRAME.note(
                "0",
                "programs of the tracer are interpreted, at every switch and every request",
                "not measured here; Documentation/admin-guide/sysctl/net.rst of the kernel. \
                 Compiled programs take some memory of the kernel",
            ),
            "sysctl -w net.core.bpf_jit_enable=1",
            "sysctl -w net.core.bpf_jit_enable=0",
        )),
        value @ 1..=2 => {
            Ok(FRAME.good(value.to_string(), "programs of the tracer run as machine code"))
        }
        _ => Err("net.core.bpf_jit_enable is none of 0, 1 and 2".to_owned()),
    }
}
