//! Context switches: what watching from the kernel costs here.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use dbtime_model::units::count;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "switches",
    "ctxt in /proc/stat, over a second",
    "at most 100,000 a second",
);

/// Unit: 1/s, of the whole machine.
const MOST_PER_S: f64 = 100_000.0;

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let per_s = tree.window()?.switches_per_s.ok_or("/proc/stat does not count them")?;
    let value = format!("{} a second", count(per_s as u64));
    if per_s <= MOST_PER_S {
        return Ok(FRAME.good(value, "watching looks at few switches beside those of a server"));
    }
    Ok(FRAME.note(
        value,
        "`dbtime trace` and `dbtime top` look at every switch of the machine, whoever makes it",
        "not measured here; `dbtime trace` prints its own cost, and --max-cost limits it",
    ))
}
