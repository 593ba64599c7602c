//! The frequency governor: whether CPUs are clocked down between requests.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "governor",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "performance on every CPU",
);

/// What keeps CPUs at their highest frequency.
const BEST: &str = "performance";

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let cpus = tree.numbered("sys/devices/system/cpu", "cpu")?;
    let read =
        |cpu: &u32| tree.word(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"));
    let governors = cpus
        .iter()
        .map(read)
        .collect::<Result<Vec<String>, String>>()
        .map_err(|why| format!("{why}: a virtual machine's frequency is its host's affair"))?;
    let Some(other) = governors.iter().find(|governor| *governor != BEST) else {
        return Ok(FRAME.good(BEST, "CPUs keep their highest frequency"));
    };
    let count = governors.iter().filter(|governor| *governor != BEST).count();
    let finding = FRAME.mind(
        format!("{other} on {count} of {} CPUs", governors.len()),
        "at a low rate CPUs are clocked down between requests, and responses get shorter as the \
         load rises",
        "not measured here; the kernel's Documentation/admin-guide/pm/cpufreq.rst has what a \
         governor follows. The remedy takes more power",
    );
    let fix = format!("cpupower frequency-set -g {BEST}");
    Ok(mended(finding, fix, format!("cpupower frequency-set -g {other}")))
}
