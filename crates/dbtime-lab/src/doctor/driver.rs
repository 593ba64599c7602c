//! Checks of dbtime itself.

use dbtime_model::Nanos;
use dbtime_model::doctor::DoctorFinding;
use dbtime_observe::doctor::{FindingFrame, MachineWindow, PlannedUse, mended};
use rustix::process::{Resource, Rlimit, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};
use std::collections::BTreeSet;

const IDLE: FindingFrame = FindingFrame::of_driver(
    "driver_idle",
    "CPU time of dbtime over a second without a load",
    "at most 1 % of a CPU",
);

const APART: FindingFrame =
    FindingFrame::of_driver("driver_apart", "--client-cpus and --server-cpus", "no CPU in both");

const MEMLOCK: FindingFrame = FindingFrame::of_driver(
    "memlock",
    "RLIMIT_MEMLOCK and CAP_IPC_LOCK of dbtime",
    "8 MiB or more, where CPUs are sampled",
);

/// Unit: per cent of a CPU.
const MOST_IDLE_PCT: f64 = 1.0;

/// What buffers of samples take on a machine of many CPUs. Unit: bytes.
const LEAST_LOCKED: u64 = 8 << 20;

/// What dbtime takes while it waits, without what a look at a server took meanwhile.
pub(super) fn idle(window: &MachineWindow, looked_for: Nanos) -> DoctorFinding {
    let waited_s = (window.used.process_s - looked_for.as_secs()).max(0.0);
    let own = 100.0 * waited_s / window.used.wall_s.max(1e-9);
    let value = format!("{own:.2} % of a CPU");
    if own <= MOST_IDLE_PCT {
        return IDLE.good(value, "what waits takes nothing from a server");
    }
    IDLE.note(
        value,
        "dbtime takes CPU time while it waits",
        format!("measured: {own:.2} % of a CPU. This is a bug in dbtime: please report it"),
    )
}

/// Whether the driver's CPUs are its own.
pub(super) fn apart(planned: &PlannedUse) -> DoctorFinding {
    let Some((client, server)) = planned.client_cpus.as_ref().zip(planned.server_cpus.as_ref())
    else {
        return APART.unknown("no CPUs were named for both of them");
    };
    let server: BTreeSet<u32> = server.iter().collect();
    let both: Vec<String> =
        client.iter().filter(|cpu| server.contains(cpu)).map(|cpu| cpu.to_string()).collect();
    if both.is_empty() {
        return APART.good("apart", "neither waits for a CPU that the other has");
    }
    APART.bad(
        format!("both have CPU {}", both.join(", ")),
        "what one of them computes the other waits for",
        "not measured here; `run` reports such waits as lag and runq. Name other CPUs for one of \
         them",
    )
}

/// Whether buffers of the tracer can be kept in memory.
pub(super) fn memlock() -> DoctorFinding {
    // The limit does not bind who has this right (capabilities(7)).
    let right = capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::IPC_LOCK));
    let Rlimit { current, maximum } = getrlimit(Resource::Memlock);
    graded_memlock(current.filter(|_| !right), maximum)
}

/// By the limit that holds and the one that it may be raised to; `None`: without limit.
fn graded_memlock(limit: Option<u64>, hard: Option<u64>) -> DoctorFinding {
    let Some(limit) = limit else {
        return MEMLOCK.good("unlimited", "buffers of the tracer can be kept in memory");
    };
    let value = format!("{} KiB", limit >> 10);
    if limit >= LEAST_LOCKED {
        return MEMLOCK.good(value, "buffers of the tracer can be kept in memory");
    }
    let finding = MEMLOCK.note(
        value,
        "sampling CPUs without root may find no memory for its buffers",
        "no stacks in `run --trace --stacks`: perf_event_open(2), RLIMIT_MEMLOCK. 8 MiB more can \
         be kept from being swapped out",
    );
    let set = |bytes: u64| {
        let hard = hard.map_or("unlimited".to_owned(), |hard| hard.max(bytes).to_string());
        format!("# as root, in the shell of dbtime: prlimit --pid $$ --memlock={bytes}:{hard}")
    };
    mended(finding, set(LEAST_LOCKED), set(limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_machine::usage::MachineUse;
    use dbtime_model::doctor::FindingGrade;

    #[test]
    fn a_driver_that_waits_takes_nothing() {
        let window = |process_s| MachineWindow {
            used: MachineUse { wall_s: 1.0, process_s, ..MachineUse::default() },
            ..MachineWindow::default()
        };
        let grade = |process_s, looked_for| idle(&window(process_s), looked_for).grade;
        let grades = [0.001, 0.5].map(|process_s| grade(process_s, Nanos::ZERO));
        assert_eq!(grades, [FindingGrade::Good, FindingGrade::Note]);
        assert_eq!(grade(0.5, Nanos::from_millis(495)), FindingGrade::Good, "a look is no idling");
    }

    #[test]
    fn cpus_of_both_are_named() {
        let planned = |client: &str, server: &str| PlannedUse {
            client_cpus: client.parse().ok(),
            server_cpus: server.parse().ok(),
            ..PlannedUse::default()
        };
        let both = apart(&planned("0-3", "2-5"));
        assert_eq!((both.grade, both.value.as_str()), (FindingGrade::Bad, "both have CPU 2, 3"));
        assert_eq!(apart(&planned("0", "1")).grade, FindingGrade::Good);
        assert_eq!(apart(&PlannedUse::default()).grade, FindingGrade::Unknown);
    }

    #[test]
    fn little_memory_to_lock_is_to_be_known() {
        let grade = |limit| graded_memlock(limit, limit).grade;
        assert_eq!(grade(None), FindingGrade::Good);
        assert_eq!(grade(Some(8 << 20)), FindingGrade::Good);
        assert_eq!(grade(Some(64 << 10)), FindingGrade::Note);
        let little = graded_memlock(Some(64 << 10), Some(128 << 10));
        assert!(little.fix.ends_with("--memlock=8388608:8388608"), "{little:?}");
        assert!(little.undo.ends_with("--memlock=65536:131072"), "{little:?}");
        let free = graded_memlock(Some(64 << 10), None);
        assert!(free.fix.ends_with("--memlock=8388608:unlimited"), "{free:?}");
    }
}
