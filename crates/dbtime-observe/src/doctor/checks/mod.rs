//! Checks of the machine, a file each; to add one, add its file and its line in [`MACHINE_CHECKS`].

mod accounting;
mod aslr;
mod autogroup;
mod backlog;
mod bpf_jit;
mod btf;
mod c_states;
mod clock_source;
mod descriptors;
mod dirty;
mod disk;
mod file_system;
mod foreign_cpu;
mod governor;
mod keepalive;
mod kernel_debug;
mod lockdown;
mod mitigations;
mod numa;
mod ports;
mod quota;
mod slow_start;
mod smt;
mod steal;
mod swap;
mod switches;
mod thp;
mod threads;
mod tracing_rights;
mod turbo;

pub use clock_source::takes_system_call;

use super::finding_frame::CheckResult;
use super::{FindingFrame, MachineCheck, MachineTree, PlannedUse, mended};
use dbtime_model::doctor::DoctorFinding;

/// All of them, in the order of a report: CPUs, memory, clocks, disks, network, limits, kernel.
pub const MACHINE_CHECKS: &[MachineCheck] = &[
    governor::CHECK,
    turbo::CHECK,
    c_states::CHECK,
    smt::CHECK,
    numa::CHECK,
    steal::CHECK,
    foreign_cpu::CHECK,
    quota::CHECK,
    autogroup::CHECK,
    thp::CHECK,
    swap::CHECK,
    dirty::CHECK,
    clock_source::CHECK,
    file_system::CHECK,
    disk::CHECK,
    ports::CHECK,
    backlog::CHECK,
    slow_start::CHECK,
    keepalive::CHECK,
    descriptors::CHECK,
    threads::CHECK,
    mitigations::CHECK,
    kernel_debug::CHECK,
    aslr::CHECK,
    lockdown::CHECK,
    btf::CHECK,
    bpf_jit::CHECK,
    tracing_rights::CHECK,
    accounting::CHECK,
    switches::CHECK,
];

/// What all of them find, in their order.
pub fn machine_findings(tree: &MachineTree, planned: &PlannedUse) -> Vec<DoctorFinding> {
    MACHINE_CHECKS.iter().map(|check| check.examine(tree, planned)).collect()
}
