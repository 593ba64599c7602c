//! The clock source: whether reading a clock takes a system call.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "clock_source",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "one that programs read without the kernel, such as tsc or kvm-clock",
);

/// Those that programs read without the kernel (kernel: `vdso_clock_mode` in arch/ and in
/// drivers/clocksource/), on x86, Arm, RISC-V, Power and s390.
const FAST: [&str; 7] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
    "timebase",
    "tod",
];

/// Those that only the kernel can read.
const SLOW: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

/// Whether reading this clock takes a system call; `None`: not known.
pub fn takes_system_call(clock: &str) -> Option<bool> {
    match (FAST.contains(&clock), SLOW.contains(&clock)) {
        (true, _) => Some(false),
        (_, true) => Some(true),
        _ => None,
    }
}

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";
    let current = tree.word(&format!("{FOLDER}/current_clocksource"))?;
    match takes_system_call(&current) {
        Some(false) => return Ok(FRAME.good(current, "reading a clock takes no system call")),
        Some(true) => {}
        None => {
            return Err(format!(
                "whether programs read {current} without the kernel is not known here: \
                 `clock_cost` has what a reading takes"
            ));
        }
    }
    let because = "every reading of a clock is a system call, so that servers that time their work \
                   (EXPLAIN ANALYZE, track_io_timing) spend more time on it";
    let costs = "`clock_cost` below has what a reading takes here; pg_test_timing(1) has more";
    let available = tree.text(&format!("{FOLDER}/available_clocksource")).unwrap_or_default();
    let finding = FRAME.bad(current.clone(), because, costs);
    let is_there = |name: &&str| available.split(' ').any(|it| it == *name);
    let Some(better) = FAST.into_iter().find(is_there) else { return Ok(finding) };
    let set = |name: &str| format!("echo {name} > /{FOLDER}/current_clocksource");
    Ok(mended(finding, set(better), set(&current)))
}
