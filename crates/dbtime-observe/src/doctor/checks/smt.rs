//! SMT: whether driver and server share cores.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use dbtime_machine::CpuList;
use std::collections::BTreeSet;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "smt",
    "/sys/devices/system/cpu/smt/active, topology/thread_siblings_list",
    "driver and server on different cores",
);

/// What sharing a core does.
const BECAUSE: &str = "two threads of one core take its units from each other, and both look busy";

/// Where that is known from.
const COSTS: &str = "not measured here; Documentation/admin-guide/hw-vuln/core-scheduling.rst of \
                     the kernel has what siblings share";

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let active = tree.number("sys/devices/system/cpu/smt/active")?;
    if active == 0 {
        return Ok(FRAME.good("off", "each CPU is a core of its own"));
    }
    let Some((client, server)) = planned.client_cpus.as_ref().zip(planned.server_cpus.as_ref())
    else {
        let value = "on, and driver and server may run on the same core";
        return Ok(FRAME.note(value, BECAUSE, format!("{COSTS}. {CHOOSE}")));
    };
    let server: BTreeSet<u32> = server.iter().collect();
    for cpu in client.iter() {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let text = tree.text(&path)?;
        let siblings: CpuList =
            text.parse().map_err(|_| format!("/{path} does not hold a list of CPUs"))?;
        // A CPU that both have is the affair of `driver_apart`.
        let mut others = siblings.iter().filter(|other| *other != cpu);
        if let Some(other) = others.find(|other| server.contains(other)) {
            let value = format!("CPU {cpu} of the driver shares a core with {other} of the server");
            return Ok(FRAME.bad(value, BECAUSE, format!("{COSTS}. {CHOOSE}")));
        }
    }
    Ok(FRAME.good("on, with different cores for driver and server", "neither slows the other"))
}

/// What to do about it.
const CHOOSE: &str = "Choose cores with --client-cpus and --server-cpus";
