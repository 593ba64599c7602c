//! Dirty pages: how much may be written back at once.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "dirty",
    "vm.dirty_bytes, vm.dirty_ratio, MemAvailable in /proc/meminfo",
    "what a disk of 500 MB/s writes within 5 s",
);

/// What a disk of 500 MB/s writes in five seconds. Unit: bytes.
const MOST_BYTES: u64 = 2_500_000_000;

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let bytes = tree.number("proc/sys/vm/dirty_bytes")?;
    let ratio = tree.number("proc/sys/vm/dirty_ratio")?.min(100);
    let most = match bytes {
        // Of the memory that programs may have without swapping.
        0 => tree.memory_kib("MemAvailable")?.saturating_mul(1024) / 100 * ratio,
        _ => bytes,
    };
    let value = format!("{:.1} GB may be dirty", most as f64 / 1e9);
    if most <= MOST_BYTES {
        return Ok(FRAME.good(value, "what is written back at once is bounded"));
    }
    let finding = FRAME.note(
        value,
        "programs that write through the page cache go on for long, and then wait for all of it",
        format!(
            "{:.0} s of writing back at 500 MB/s (computed, not measured here); \
             Documentation/admin-guide/sysctl/vm.rst of the kernel. The remedy is the bound of \
             tuned's profile postgresql; copies of large files wait sooner with it",
            most as f64 / 5e8
        ),
    );
    let undo = match bytes {
        0 => format!("sysctl -w vm.dirty_ratio={ratio}"),
        _ => format!("sysctl -w vm.dirty_bytes={bytes}"),
    };
    Ok(mended(finding, "sysctl -w vm.dirty_bytes=536870912", undo))
}
