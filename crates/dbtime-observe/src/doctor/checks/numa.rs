//! NUMA: whether memory of a server may lie on another node.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "numa",
    "/sys/devices/system/node/node*, vm.zone_reclaim_mode",
    "one node, or a server that is kept to one",
);

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let nodes = tree.numbered("sys/devices/system/node", "node")?.len();
    if nodes == 1 {
        return Ok(FRAME.good("1 node", "all memory is equally far"));
    }
    let value = format!("{nodes} nodes");
    let mode = tree.number("proc/sys/vm/zone_reclaim_mode").unwrap_or(0);
    if mode > 0 {
        let finding = FRAME.bad(
            format!("{value}, vm.zone_reclaim_mode is on"),
            "the kernel throws cached pages away while other nodes have free memory",
            "not measured here; Documentation/admin-guide/sysctl/vm.rst of the kernel leaves it \
             off for file servers and the like",
        );
        let set = |mode: u64| format!("sysctl -w vm.zone_reclaim_mode={mode}");
        return Ok(mended(finding, set(0), set(mode)));
    }
    if planned.server_cpus.is_some() {
        return Ok(FRAME.good(value, "the server is kept to CPUs that were chosen"));
    }
    Ok(FRAME.note(
        value,
        "where a server's memory lies differs from start to start, so that runs fall into groups",
        "not measured here; numactl(8) keeps a server and its memory to one node, which halves \
         what two nodes carry. Start it with `numactl --cpunodebind=0 --membind=0`",
    ))
}
