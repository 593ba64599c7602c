//! The disk under the data: whether it turns, and what it keeps in a cache.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};
use crate::block_device::BlockDevice;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "disk",
    "rotational, write_cache and scheduler in /sys/block/*/queue",
    "a disk that does not turn",
);

/// Longer texts are none of the kernel's.
const MOST_BYTES: usize = 256;

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let data = planned.data.as_deref().ok_or("no data folder is named: give it with --data")?;
    let device = BlockDevice::under(data, &tree.place("sys/dev/block"))
        .ok_or("the data folder has no disk of its own that can be seen")?;
    let queue = device.queue_folder();
    let read = |name: &str| {
        let text = tree.text(&queue.join(name).to_string_lossy()).unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_graphic() || c == ' ';
        let is_it = !text.is_empty() && text.len() <= MOST_BYTES && text.chars().all(is_plain);
        if is_it { Ok(text) } else { Err(format!("queue/{name} of the disk cannot be read")) }
    };
    let (turns, cache) = (read("rotational")?, read("write_cache")?);
    let scheduler = read("scheduler")?;
    let value = format!("under {}, cache: {cache}, scheduler: {scheduler}", data.display());
    match turns.as_str() {
        "0" => Ok(FRAME.good(value, "writes need no turn of a disk")),
        "1" if device.is_virtual() => Err(format!(
            "a virtual disk {value}: whether its host's disk turns is not seen here, and `sync` \
             has what a sync takes"
        )),
        "1" => Ok(FRAME.note(
            format!("a disk that turns, {value}"),
            "a sync waits for a turn of the disk, and what else is read or written moves its head",
            "8.3 ms a turn at 7,200 a minute (computed; `sync` has what was measured)",
        )),
        _ => Err("queue/rotational of the disk is neither 0 nor 1".to_owned()),
    }
}
