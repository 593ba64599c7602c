//! What the machine does within a moment: one window for all checks that need a difference.

use super::MachineTree;
use dbtime_machine::cpus::machine_cpus;
use dbtime_machine::usage::{MachineSample, MachineUse};
use dbtime_model::Nanos;
use std::time::Duration;

/// What the machine did while it was watched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineWindow {
    /// CPU time.
    pub used: MachineUse,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Pages read back from swap; `None`: not counted.
    pub pages_swapped_in: Option<u64>,
    /// Context switches of all CPUs. Unit: 1/s; `None`: not counted.
    pub switches_per_s: Option<f64>,
}

/// What the kernel has counted since the machine was started.
struct KernelCounts {
    machine: MachineSample,
    swapped_in: Option<u64>,
    switches: Option<u64>,
}

impl KernelCounts {
    fn read(tree: &MachineTree) -> Self {
        let counted = |path: &str, name: &str| count_in(&tree.text(path).ok()?, name);
        Self {
            machine: MachineSample::take(),
            swapped_in: counted("proc/vmstat", "pswpin"),
            switches: counted("proc/stat", "ctxt"),
        }
    }
}

/// The count of this name, each on a line of its own.
fn count_in(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    rest.trim().parse().ok()
}

impl MachineWindow {
    /// CPU time; what `/proc/stat` does not show would be zero.
    ///
    /// Errors: that file was not read. Context switches stand in it too.
    pub(super) fn machine_use(&self) -> Result<&MachineUse, String> {
        match self.switches_per_s {
            Some(_) => Ok(&self.used),
            None => Err("/proc/stat could not be read".to_owned()),
        }
    }

    /// Watches this machine for so long. Blocks.
    pub fn watch(length: Nanos) -> Self {
        let tree = MachineTree::of_machine();
        let before = KernelCounts::read(&tree);
        std::thread::sleep(Duration::from_nanos(length.0));
        let after = KernelCounts::read(&tree);
        let used = after.machine.since(&before.machine);
        let between = |pair: (u64, u64)| pair.1.checked_sub(pair.0);
        let switches = before.switches.zip(after.switches).and_then(between);
        Self {
            used,
            cpus: machine_cpus(),
            pages_swapped_in: before.swapped_in.zip(after.swapped_in).and_then(between),
            switches_per_s: switches.map(|count| count as f64 / used.wall_s),
        }
    }
}
