//! Steal: CPU time that the hypervisor gives to other machines.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame =
    FindingFrame::of_machine("steal", "/proc/stat, over a second", "at most 1 % of CPU time");

/// Unit: per cent of all CPUs.
const NOTE_PCT: f64 = 1.0;
const BAD_PCT: f64 = 5.0;

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let stolen = tree.window()?.machine_use()?.steal_pct;
    let value = format!("{stolen:.1} %");
    let because = "what the hypervisor takes looks like slow work of whatever ran";
    let costs = format!("measured: {stolen:.1} % of all CPU time. Another host is the remedy");
    Ok(match stolen {
        ..=NOTE_PCT => FRAME.good(value, "the hypervisor takes next to nothing"),
        ..=BAD_PCT => FRAME.note(value, because, costs),
        _ => FRAME.bad(value, because, costs),
    })
}
