//! Transparent huge pages: whether memory is compacted while requests wait.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "thp",
    "/sys/kernel/mm/transparent_hugepage/enabled and defrag",
    "madvise or never, or always without compaction at the fault",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    const FOLDER: &str = "sys/kernel/mm/transparent_hugepage";
    let enabled = tree.chosen(&format!("{FOLDER}/enabled"))?;
    let defrag = tree.chosen(&format!("{FOLDER}/defrag"))?;
    let value = format!("{enabled}, defrag {defrag}");
    if enabled != "always" || defrag != "always" {
        return Ok(FRAME.good(value, "no thread compacts memory unless its program wishes for it"));
    }
    let finding = FRAME.note(
        value,
        "a thread that touches new memory may have to compact it first, and resident sizes depend \
         on what was free",
        "not measured here; Documentation/admin-guide/mm/transhuge.rst of the kernel. With madvise \
         programs that do not ask have small pages and more misses of the TLB",
    );
    let set = |value: &str| format!("echo {value} > /{FOLDER}/defrag");
    Ok(mended(finding, set("madvise"), set(&defrag)))
}
