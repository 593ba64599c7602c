//! Turbo frequencies: whether a CPU's clock depends on its temperature and on its neighbours.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "turbo",
    "/sys/devices/system/cpu/intel_pstate/no_turbo, /sys/devices/system/cpu/cpufreq/boost",
    "off while runs are compared",
);

/// Files, and the number that turns turbo frequencies off.
const SWITCHES: [(&str, u64); 2] = [
    ("sys/devices/system/cpu/intel_pstate/no_turbo", 1),
    ("sys/devices/system/cpu/cpufreq/boost", 0),
];

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let (path, off) = SWITCHES
        .into_iter()
        .find(|(path, _)| tree.has(path))
        .ok_or("neither file is here: a virtual machine's frequency is its host's affair")?;
    let value = tree.number(path)?;
    if value > 1 {
        return Err(format!("/{path} is neither 0 nor 1"));
    }
    if value == off {
        return Ok(FRAME.good("off", "the clock is the same on an idle and on a busy machine"));
    }
    let finding = FRAME.note(
        "on",
        "the clock depends on temperature and on how many cores are busy, so that runs drift",
        "not measured here; LLVM's benchmarking tips (llvm.org/docs/Benchmarking.html) turn it \
         off. Without it the peak is lower, as production's is not",
    );
    let set = |value: u64| format!("echo {value} > /{path}");
    Ok(mended(finding, set(off), set(1 - off)))
}
