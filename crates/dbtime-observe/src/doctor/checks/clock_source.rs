//! The clock source: whether reading a clock takes a system call.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "clock_source",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "one that programs read without the kernel, such as tsc or kvm-clock",
);

/// Clock sources that programs read without the kernel (kernel: arch/*/include/asm/vdso).
pub const FAST_CLOCKS: [&str; 4] =
    ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";
    let current = tree.word(&format!("{FOLDER}/current_clocksource"))?;
    if FAST_CLOCKS.contains(&current.as_str()) {
        return Ok(FRAME.good(current, "reading a clock takes no system call"));
    }
    let because = "every reading of a clock is a system call, so that servers that time their work \
                   (EXPLAIN ANALYZE, track_io_timing) spend more time on it";
    let costs = "`clock_cost` below has what a reading takes here; pg_test_timing(1) has more";
    let available = tree.text(&format!("{FOLDER}/available_clocksource")).unwrap_or_default();
    let finding = FRAME.bad(current.clone(), because, costs);
    let is_there = |name: &&str| available.split(' ').any(|it| it == *name);
    let Some(better) = FAST_CLOCKS.into_iter().find(is_there) else { return Ok(finding) };
    let set = |name: &str| format!("echo {name} > /{FOLDER}/current_clocksource");
    Ok(mended(finding, set(better), set(&current)))
}
