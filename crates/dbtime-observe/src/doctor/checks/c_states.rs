//! Idle states: how long a sleeping CPU takes to wake up.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "c_states",
    "/sys/devices/system/cpu/cpu0/cpuidle/state*/latency",
    "no idle state that takes more than 100 µs to leave",
);

/// Unit: microseconds.
const MOST_US: u64 = 100;

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    const FOLDER: &str = "sys/devices/system/cpu/cpu0/cpuidle";
    let states = tree
        .numbered(FOLDER, "state")
        .map_err(|why| format!("{why}: a virtual machine's idle states are its host's affair"))?;
    let mut deepest = 0;
    for state in states {
        let latency = tree.number(&format!("{FOLDER}/state{state}/latency"))?;
        let disabled = tree.number(&format!("{FOLDER}/state{state}/disable"));
        let is_off = disabled.is_ok_and(|off| off > 0);
        deepest = deepest.max(if is_off { 0 } else { latency });
    }
    let value = format!("at most {deepest} µs to wake up");
    if deepest <= MOST_US {
        return Ok(FRAME.good(value, "a CPU that slept is there at once"));
    }
    let costs = format!(
        "up to {deepest} µs a wake-up by the kernel's own table. The remedy takes more power"
    );
    let finding = FRAME.note(
        value,
        "at a low rate CPUs sleep between requests, and each request waits for one to wake up",
        costs,
    );
    let fix = format!("cpupower idle-set -D {MOST_US}");
    Ok(mended(finding, fix, "cpupower idle-set -E"))
}
