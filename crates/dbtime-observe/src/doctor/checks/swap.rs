//! Swap: whether memory is read back from storage.

use super::super::machine_window::count_in;
use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use dbtime_model::units::count;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "swap",
    "SwapTotal and SwapFree in /proc/meminfo, pswpin in /proc/vmstat over a second",
    "nothing is read back from swap",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let text = tree.text("proc/meminfo")?;
    let kib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    let total = kib("SwapTotal:").ok_or("/proc/meminfo has no SwapTotal")?;
    let used = total.saturating_sub(kib("SwapFree:").ok_or("/proc/meminfo has no SwapFree")?);
    if total == 0 {
        return Ok(FRAME.good("none", "memory is never read back from storage"));
    }
    let value = format!("{} of {} MiB in use", count(used / 1024), count(total / 1024));
    let pages = tree.window().ok().and_then(|window| window.pages_swapped_in);
    if let Some(pages) = pages.filter(|pages| *pages > 0) {
        return Ok(FRAME.bad(
            format!("{value}, {} pages read back within a second", count(pages)),
            "memory is short: what looks like CPU time of a server is a wait for storage",
            "measured: a read of storage for each page. End other programs, or make caches smaller \
             until nothing is read back",
        ));
    }
    if count_in(&tree.text("proc/vmstat")?, "pswpin").is_none() {
        return Err("/proc/vmstat does not count pages read back".to_owned());
    }
    Ok(FRAME.good(value, "nothing was read back within a second"))
}
