//! Threads and processes: whether there may be one for each connection.

use super::super::control_groups::group_files;
use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use dbtime_model::units::count;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "threads",
    "kernel.threads-max, pids.max of the control groups of dbtime",
    "one for each connection, and 64 more",
);

/// What driver and server have besides.
const BESIDES: u64 = 64;

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let of_kernel = tree.number("proc/sys/kernel/threads-max")?;
    let files = group_files(tree, "pids", ["pids.max"; 2]).unwrap_or_default();
    let of_groups = files.iter().filter_map(|path| Some((tree.number(path).ok()?, path)));
    let of_group = of_groups.min_by_key(|(most, _)| *most).filter(|(most, _)| *most < of_kernel);
    let most = of_group.map_or(of_kernel, |(most, _)| most);
    let value = format!("{} threads and processes", count(most));
    // A server elsewhere has its threads there.
    let connections = planned.connections.filter(|_| !planned.is_remote);
    let needed = connections.unwrap_or(0).saturating_add(BESIDES);
    if most >= needed {
        return Ok(FRAME.good(value, "there may be one for each connection"));
    }
    let place = of_group.map_or("kernel.threads-max".to_owned(), |(_, path)| format!("/{path}"));
    let because = format!("{} may be needed, and {place} has less", count(needed));
    Ok(FRAME.bad(
        value,
        because,
        "connections fail, or the driver's threads cannot start: EAGAIN of clone(2). Fewer \
         --workers, or a server with a pool of threads, need none",
    ))
}
