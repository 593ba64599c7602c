//! Other processes: CPU time beside the driver and its servers.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "foreign_cpu",
    "/proc/stat, over a second",
    "at most 3 % of CPU time before a run",
);

/// Unit: per cent of all CPUs.
const NOTE_PCT: f64 = 3.0;
const BAD_PCT: f64 = 25.0;

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let window = tree.window()?;
    // The kernel counts in ticks, which may be one more than there was time for.
    let foreign = (window.machine_use()?.foreign_pct / f64::from(window.cpus.max(1))).min(100.0);
    let value = format!("{foreign:.1} %");
    let because = "other processes take CPUs from driver and server (a server at work is one of \
                   them)";
    let costs = format!("measured: {foreign:.1} % of all CPU time. `dbtime ps 1` names them");
    Ok(match foreign {
        ..=NOTE_PCT => FRAME.good(value, "nothing else is at work"),
        ..=BAD_PCT => FRAME.note(value, because, costs),
        _ => FRAME.bad(value, because, costs),
    })
}
