//! Idle states: how long a sleeping CPU takes to wake up.

use super::{CheckResult, FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_machine::CpuList;
use std::collections::BTreeMap;

pub(super) const CHECK: MachineCheck = MachineCheck { frame: FRAME, find };

const FRAME: FindingFrame = FindingFrame::of_machine(
    "c_states",
    "latency and disable in /sys/devices/system/cpu/cpu*/cpuidle/state*",
    "no idle state that takes more than 100 µs to leave",
);

/// Unit: microseconds.
const MOST_US: u64 = 100;

const CPUS: &str = "sys/devices/system/cpu";

/// An idle state of a CPU.
struct IdleState {
    cpu: u32,
    /// Of those of its CPU.
    number: u32,
    /// What leaving it takes. Unit: microseconds.
    latency_us: u64,
    /// Whether it is turned off; `None`: that cannot be read.
    is_off: Option<bool>,
}

/// Those of all CPUs; one that is offline has none.
fn idle_states(tree: &MachineTree) -> Result<Vec<IdleState>, String> {
    let mut all = Vec::new();
    for cpu in tree.numbered(CPUS, "cpu")? {
        let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
        for number in tree.numbered(&folder, "state").unwrap_or_default() {
            let latency_us = tree.number(&format!("{folder}/state{number}/latency"))?;
            let off = tree.number(&format!("{folder}/state{number}/disable"));
            all.push(IdleState { cpu, number, latency_us, is_off: off.ok().map(|off| off > 0) });
        }
    }
    match all.is_empty() {
        true => Err(format!(
            "there is no /{CPUS}/cpu0/cpuidle here: a virtual machine's idle states are its host's \
             affair"
        )),
        false => Ok(all),
    }
}

fn find(tree: &MachineTree, _: &PlannedUse) -> CheckResult {
    let states = idle_states(tree)?;
    let on = states.iter().filter(|state| state.is_off != Some(true));
    let deepest = on.clone().map(|state| state.latency_us).max().unwrap_or(0);
    let value = format!("at most {deepest} µs to wake up");
    if deepest <= MOST_US {
        return Ok(FRAME.good(value, "a CPU that slept is there at once"));
    }
    let costs = format!(
        "up to {deepest} µs a wake-up by the kernel's own table. The remedy takes more power"
    );
    let finding = FRAME.note(
        value,
        "at a low rate CPUs sleep between requests, and each request waits for one to wake up",
        costs,
    );
    let deep: Vec<&IdleState> = on.filter(|state| state.latency_us > MOST_US).collect();
    // What was off is not known of all of them, and could not be brought back.
    if deep.iter().any(|state| state.is_off.is_none()) {
        return Ok(finding);
    }
    Ok(mended(finding, turned(&deep, 1), turned(&deep, 0)))
}

/// The command that turns these states off, by a 1, or on again, and no others: `cpupower idle-set`
/// would turn on what was off before.
fn turned(states: &[&IdleState], to: u32) -> String {
    let mut cpus: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for state in states {
        cpus.entry(state.number).or_default().push(state.cpu.to_string());
    }
    let command = |(number, cpus): (&u32, &Vec<String>)| {
        let file = |cpu: &str| format!("/{CPUS}/cpu{cpu}/cpuidle/state{number}/disable");
        match cpus.as_slice() {
            [cpu] => format!("echo {to} > {}", file(cpu)),
            _ => format!("for cpu in {}; do echo {to} > \"{}\"; done", words(cpus), file("$cpu")),
        }
    };
    cpus.iter().map(command).collect::<Vec<_>>().join("; ")
}

/// Numbers of CPUs as a shell counts through them.
fn words(cpus: &[String]) -> String {
    let list: Option<CpuList> = cpus.join(",").parse().ok();
    let list = list.map_or_else(|| cpus.join(","), |list| list.to_string());
    let word = |part: &str| match part.split_once('-') {
        Some((first, last)) => format!("$(seq {first} {last})"),
        None => part.to_owned(),
    };
    list.split(',').map(word).collect::<Vec<_>>().join(" ")
}
