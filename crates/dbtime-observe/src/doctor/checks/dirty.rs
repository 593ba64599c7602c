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
    let most = if bytes > 0 { bytes } else { available_bytes(tree)? / 100 * ratio };
    let value = format!("{:.1} GB may be dirty", most as f64 / 1e9);
    if most <= MOST_BYTES {
        return Ok(FRAME.good(value, "what is written back at once is bounded"));
    }
    let finding = FRAME.mind(
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

/// Memory that programs may have without swapping.
fn available_bytes(tree: &MachineTree) -> Result<u64, String> {
    let text = tree.text("proc/meminfo")?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let kib = kib.ok_or("/proc/meminfo has no MemAvailable")?;
    Ok(kib.saturating_mul(1024))
}
