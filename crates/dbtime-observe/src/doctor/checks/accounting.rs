//! The kernel's accounts of waits, which some reports need.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "accounting",
    "kernel.task_delayacct, /proc/self/schedstat",
    "both, where waits are to be told apart",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let delays = tree.number("proc/sys/kernel/task_delayacct")?;
    if delays > 1 {
        return Err("kernel.task_delayacct is neither 0 nor 1".to_owned());
    }
    let schedstat = tree.text("proc/self/schedstat")?;
    let has_waits = schedstat.split_whitespace().any(|field| field != "0");
    if !has_waits {
        return Ok(FRAME.note(
            "/proc/self/schedstat counts nothing",
            "the kernel does not count waits for a CPU (CONFIG_SCHED_INFO)",
            "no run-queue delay in any report; another kernel has it",
        ));
    }
    if delays == 0 {
        let finding = FRAME.note(
            "kernel.task_delayacct is 0",
            "waits for storage are counted as sleep",
            "`dbtime usage` shows no time blocked on I/O; traces have it all the same. What \
             counting costs was not measured here \
             (Documentation/accounting/delay-accounting.rst of the kernel)",
        );
        let set = |value: u32| format!("sysctl -w kernel.task_delayacct={value}");
        return Ok(mended(finding, set(1), set(0)));
    }
    Ok(FRAME.good("both", "waits for a CPU and for storage are told apart"))
}
