//! The frequency governor: whether CPUs are clocked down between requests.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_machine::CpuList;
use std::collections::BTreeMap;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "governor",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
    "performance on every CPU",
);

/// What keeps CPUs at their highest frequency.
const BEST: &str = "performance";

/// Numbers of CPUs by their governors.
type CpusByGovernor = BTreeMap<String, Vec<String>>;

/// The governors of all CPUs that are online.
fn governors(tree: &MachineTree) -> Result<CpusByGovernor, String> {
    const FOLDER: &str = "sys/devices/system/cpu";
    let cpus = tree.numbered(FOLDER, "cpu")?;
    let is_online = |cpu: &&u32| tree.number(&format!("{FOLDER}/cpu{cpu}/online")) != Ok(0);
    let mut by_name = CpusByGovernor::new();
    for cpu in cpus.iter().filter(is_online) {
        let name = tree
            .word(&format!("{FOLDER}/cpu{cpu}/cpufreq/scaling_governor"))
            .map_err(|why| format!("{why}: a virtual machine's frequency is its host's affair"))?;
        by_name.entry(name).or_default().push(cpu.to_string());
    }
    match by_name.is_empty() {
        true => Err("no CPU is online".to_owned()),
        false => Ok(by_name),
    }
}

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let mut by_name = governors(tree)?;
    let online: usize = by_name.values().map(Vec::len).sum();
    by_name.remove(BEST);
    if by_name.is_empty() {
        return Ok(FRAME.good(BEST, "CPUs keep their highest frequency"));
    }
    let count: usize = by_name.values().map(Vec::len).sum();
    let names: Vec<&str> = by_name.keys().map(String::as_str).collect();
    let finding = FRAME.note(
        format!("{} on {count} of {online} CPUs", names.join(", ")),
        "at a low rate CPUs are clocked down between requests, and responses get shorter as the \
         load rises",
        "not measured here; the kernel's Documentation/admin-guide/pm/cpufreq.rst has what a \
         governor follows. The remedy takes more power",
    );
    let undo: Vec<String> = by_name.iter().map(|(name, cpus)| set(cpus, name)).collect();
    Ok(mended(finding, format!("cpupower frequency-set -g {BEST}"), undo.join("; ")))
}

/// The command that gives these CPUs a governor.
fn set(cpus: &[String], name: &str) -> String {
    // A list that is none stands for all of them.
    let list: Option<CpuList> = cpus.join(",").parse().ok();
    let list = list.map_or_else(String::new, |list| format!("-c {list} "));
    format!("cpupower {list}frequency-set -g {name}")
}
