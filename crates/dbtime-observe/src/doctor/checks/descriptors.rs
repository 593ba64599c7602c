//! Open files: whether all connections can have one.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_model::units::count;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "descriptors",
    "Max open files in /proc/self/limits",
    "256 more than connections",
);

/// What dbtime has open besides connections.
const BESIDES: u64 = 256;

/// What a load may well have, where nothing is planned.
const USUAL_CONNECTIONS: u64 = 500;

fn find(tree: &MachineTree, planned: &PlannedUse) -> CheckResult {
    let limits = tree.text("proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let line = line.ok_or("/proc/self/limits has no limit of open files")?;
    let mut words = line.split_whitespace();
    let [soft, hard] = [words.next(), words.next()].map(Option::unwrap_or_default);
    if hard == "unlimited" {
        return Ok(FRAME.good(hard, "every connection can have one"));
    }
    let number = |word: &str| word.parse::<u64>();
    let (Ok(soft), Ok(most)) = (number(soft), number(hard)) else {
        return Err("/proc/self/limits has no numbers of open files".to_owned());
    };
    let value = format!("{} open files (hard limit)", count(most));
    let needed = planned.connections.unwrap_or(USUAL_CONNECTIONS).saturating_add(BESIDES);
    if most >= needed {
        return Ok(FRAME.good(value, "every connection can have one"));
    }
    let because = format!("{} are needed", count(needed));
    let costs = "the run is refused before its load: EMFILE of socket(2). The remedy has no price \
                 but that a program which leaks files is stopped later";
    let finding = match planned.connections {
        Some(_) => FRAME.bad(value, because, costs),
        None => FRAME.note(value, because, costs),
    };
    let set = |soft: u64, hard: u64| {
        format!("# as root, in the shell of dbtime: prlimit --pid $$ --nofile={soft}:{hard}")
    };
    // As far as the kernel lets a process go by itself (fs.nr_open).
    let wide = needed.min(1_048_576);
    // Beyond that there is no remedy, and less than there is would be none.
    Ok(if wide > most { mended(finding, set(wide, wide), set(soft, most)) } else { finding })
}
