//! Address randomisation: whether runs differ by where a program lies.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "aslr",
    "kernel.randomize_va_space",
    "2, so that many runs average over places in memory",
);

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    match tree.number("proc/sys/kernel/randomize_va_space")? {
        2 => Ok(FRAME.good("2", "each start has other addresses, and many runs average over them")),
        value @ 0..=1 => Ok(mended(
            FRAME.note(
                value.to_string(),
                "all runs have the same addresses, and a lucky or unlucky place in every one",
                "not measured here; Mytkowicz et al., Producing Wrong Data Without Doing Anything \
                 Obviously Wrong, ASPLOS 2009. It protects production too",
            ),
            "sysctl -w kernel.randomize_va_space=2",
            format!("sysctl -w kernel.randomize_va_space={value}"),
        )),
        _ => Err("kernel.randomize_va_space is none of 0, 1 and 2".to_owned()),
    }
}
