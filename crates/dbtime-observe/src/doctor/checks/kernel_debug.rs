//! Kernels built or started to find their own faults.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "kernel_debug",
    "/proc/cmdline, /proc/lockdep_stats, /proc/lock_stat",
    "none of lockdep, lock_stat, slub_debug, page_poison, kasan",
);

/// Files of kernels that follow every lock, and what they are called.
const FILES: [(&str, &str); 2] =
    [("proc/lockdep_stats", "lockdep"), ("proc/lock_stat", "lock_stat")];

/// What turns on checks of memory.
const WORDS: [&str; 5] =
    ["slub_debug", "slab_debug", "page_poison=1", "debug_pagealloc=on", "kasan.stacktrace=on"];

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let line = tree.text("proc/cmdline")?;
    let of_files = FILES.into_iter().filter(|(path, _)| tree.has(path)).map(|(_, name)| name);
    let is_given = |word: &&str| {
        let is_it = |given: &str| given == *word || given.split('=').next() == Some(*word);
        line.split(' ').any(is_it)
    };
    let found: Vec<&str> = of_files.chain(WORDS.into_iter().filter(is_given)).collect();
    if found.is_empty() {
        return Ok(FRAME.good("none", "the kernel does not watch itself"));
    }
    Ok(FRAME.bad(
        found.join(", "),
        "the kernel follows its own locks or memory, which makes every system call longer",
        "not measured here; Documentation/locking/lockdep-design.rst and Documentation/mm/slub.rst \
         of the kernel. Start the distribution's own kernel, without these words",
    ))
}
