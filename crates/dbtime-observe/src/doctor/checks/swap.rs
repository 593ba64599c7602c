//! Swap: whether memory is read back from storage.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use dbtime_model::units::count;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "swap",
    "SwapTotal and SwapFree in /proc/meminfo, pswpin in /proc/vmstat over a second",
    "nothing is read back from swap",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let total = tree.memory_kib("SwapTotal")?;
    let used = total.saturating_sub(tree.memory_kib("SwapFree")?);
    if total == 0 {
        let because = "memory is never read back from storage; where none is left, the kernel \
                       ends a process, such as a server";
        return Ok(FRAME.good("none", because));
    }
    let value = format!("{} of {} MiB in use", count(used / 1024), count(total / 1024));
    let pages = tree.window()?.pages_swapped_in;
    let pages = pages.ok_or("/proc/vmstat does not count what is read back")?;
    if pages > 0 {
        return Ok(FRAME.bad(
            format!("{value}, {} pages read back within a second", count(pages)),
            "memory is short: what looks like slow work of a server is a wait for storage",
            "measured: a read of storage for each page. End other programs, or make caches smaller \
             until nothing is read back",
        ));
    }
    Ok(FRAME.good(value, "nothing was read back within a second"))
}
