//! What this process lacks to watch from the kernel.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use crate::trace::{is_guarded_at, missing_among, remedy};
use rustix::thread::CapabilitySet;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "tracing_rights",
    "CapEff in /proc/self/status, kernel.perf_event_paranoid",
    "CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, and a level of at most 2",
);

/// The price of both.
const COSTS: &str = "no traced parts: `dbtime trace`, `dbtime top` and `run --trace` refuse";

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let status = tree.text("proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let line = line.ok_or("/proc/self/status has no CapEff")?;
    let effective = u64::from_str_radix(line.trim(), 16)
        .map_err(|_| "CapEff in /proc/self/status is no number")?;
    let level = tree.text("proc/sys/kernel/perf_event_paranoid")?;
    let level: i32 =
        level.parse().map_err(|_| "kernel.perf_event_paranoid does not hold a number")?;
    let effective = CapabilitySet::from_bits_retain(effective);
    let missing = missing_among(effective);
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|(_, name)| *name).collect();
        let because = "root, and who was granted them, may watch servers of other users";
        let finding = FRAME.note(format!("no {}", names.join(", ")), because, COSTS);
        let fix = format!("# watching takes {}", remedy(&missing));
        let undo = "# setcap -r $(command -v dbtime), and setcap with what getcap(8) showed before";
        return Ok(mended(finding, fix, undo));
    }
    if is_guarded_at(level) && !effective.contains(CapabilitySet::SYS_ADMIN) {
        let finding = FRAME.note(
            format!("kernel.perf_event_paranoid is {level}"),
            "sampling CPUs takes CAP_SYS_ADMIN at this level",
            "no stacks: `run --trace --stacks` goes without. At 2 who has CAP_PERFMON may sample",
        );
        let set = |level: i32| format!("sysctl -w kernel.perf_event_paranoid={level}");
        return Ok(mended(finding, set(2), set(level)));
    }
    Ok(FRAME.good("all there", "servers can be watched from the kernel"))
}
