//! A server: one process or many, taken as a whole.
//!
//! Processes come and go while a server is watched (PostgreSQL has one for each connection).
//! Two sums survive that. The first is what is *known*: the clocks of those that live, and the last
//! known clocks of those that ended. It is exact, and misses what a process spent between its last
//! sample and its end. The second is *kept* by the kernel: the clocks of those that live, and what
//! their waited-for children spent. It misses nothing that a process of the server waited for, and
//! is good to two ticks for each of these. The first is used until the second proves that it missed
//! something.

use super::{CpuSplit, ProcessId, ProcessMemory, ProcessSample, ProcessUse, ResourceUsage};
use crate::{MonoNanos, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Length of a clock tick in `/proc`: 1/USER_HZ, which is 100 on all but two dead architectures.
pub const TICK: Nanos = Nanos::from_millis(10);

/// A server and all its descendants at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerSample {
    /// The instant at which the CPU clocks were read; all of them are read together.
    #[serde(rename = "at_us")]
    pub at: MonoNanos,
    /// The server itself, then its descendants.
    pub processes: Vec<ProcessSample>,
    /// What was known of those that have ended since the watch began.
    pub ended: EndedProcesses,
}

/// Processes of the server that have ended since the watch began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndedProcesses {
    /// How many were seen to be gone.
    pub count: u64,
    /// What they had spent in their lives at their last samples.
    #[serde(flatten)]
    pub resources: ResourceUsage,
}

/// What a server spent between two samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerUse {
    /// From one sample to the other.
    #[serde(rename = "wall_us")]
    pub wall: Nanos,
    /// What all its processes spent. Of those that ended in between, run delay and switches are
    /// known up to their last samples, all else is complete.
    #[serde(flatten)]
    pub resources: ResourceUsage,
    /// Its CPU time by user and system.
    #[serde(flatten)]
    pub split: CpuSplit,
    /// Memory at the end.
    pub memory: Option<ProcessMemory>,
    /// Processes at the end.
    pub processes: u32,
    /// Threads at the end.
    pub threads: u32,
    /// Processes that were not there at the beginning and were at the end.
    pub came: u32,
    /// Processes that were seen and have ended; others may have come and gone unseen.
    pub went: u64,
}

/// What the threads of one name spent together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadsUse {
    /// Their name without the number at its end; the kind of the process where that tells more.
    pub name: String,
    /// How many there were at the end.
    pub threads: u32,
    /// What they spent.
    #[serde(flatten)]
    pub resources: ResourceUsage,
    /// Their CPU time by user and system.
    #[serde(flatten)]
    pub split: CpuSplit,
}

impl ThreadsUse {
    /// What threads and processes spent that are no longer there to tell the rest.
    pub fn ended(cpu: Nanos) -> Self {
        let resources = ResourceUsage { cpu, ..ResourceUsage::default() };
        Self { name: "ended".to_owned(), resources, ..Self::default() }
    }
}

impl ServerUse {
    /// CPUs it kept busy on average: 1.0 is one whole CPU.
    pub fn busy_cpus(&self) -> f64 {
        self.resources.cpu.as_secs() / self.wall.as_secs().max(1e-9)
    }
}

/// What a server has spent so far, by both sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSums {
    /// Clocks of those that live, last known clocks of those that ended.
    pub known: Nanos,
    /// Clocks of those that live, and what their waited-for children spent.
    pub kept: Nanos,
}

impl CpuSums {
    /// CPU time since earlier sums; `reapers` is how many processes waited for children meanwhile.
    pub fn since(self, earlier: Self, reapers: u64) -> Nanos {
        let (known, kept) = (self.known - earlier.known, self.kept - earlier.kept);
        let ticks = Nanos(2 * TICK.0 * reapers);
        if kept > known + ticks { kept } else { known }
    }
}

impl ServerSample {
    /// What the server has spent so far.
    pub(crate) fn cpu(&self) -> CpuSums {
        let alive: Nanos = self.processes.iter().map(|p| p.resources.cpu).sum();
        let reaped: Nanos = self.processes.iter().map(|p| p.reaped.ticks.sum()).sum();
        CpuSums { known: alive + self.ended.resources.cpu, kept: alive + reaped }
    }

    /// What was spent since an earlier sample of the same watch.
    pub fn since(&self, earlier: &Self) -> ServerUse {
        let each = self.each_since(earlier);
        let mut resources = ResourceUsage::none_yet();
        each.iter().for_each(|process| resources += process.resources);
        let ended = self.ended_since(earlier);
        resources.run_delay =
            resources.run_delay.map(|delay| delay + ended.run_delay.unwrap_or_default());
        resources.io_delay =
            resources.io_delay.map(|delay| delay + ended.io_delay.unwrap_or_default());
        if let (Some(all), Some(ended)) = (&mut resources.switches, ended.switches) {
            *all += ended;
        }
        // These the kernel hands from a child to whoever waits for it.
        let (now, before) = (self.kept(), earlier.kept());
        resources.ticks = now.ticks - before.ticks;
        resources.faults = (now - before).faults;
        resources.io = (now - before).io;
        let reapers = each.iter().filter(|process| process.reaped_cpu > Nanos::ZERO).count();
        resources.cpu = self.cpu().since(earlier.cpu(), reapers as u64);
        let (before, after) = (earlier.ids(), self.ids());
        // Samples of two watches know nothing of each other's ends.
        let gone = before.iter().filter(|id| !after.contains(id)).count() as u64;
        ServerUse {
            wall: self.at - earlier.at,
            split: CpuSplit::of(resources.cpu, resources.ticks),
            resources,
            memory: ProcessMemory::together(self.processes.iter().filter_map(|p| p.memory)),
            processes: count(self.processes.len()),
            threads: self.processes.iter().fold(0, |all, p| all.saturating_add(p.threads)),
            came: count(self.processes.iter().filter(|p| !before.contains(&p.id)).count()),
            went: self.ended.count.saturating_sub(earlier.ended.count).max(gone),
        }
    }

    /// What each process that is there now spent since an earlier sample.
    pub fn each_since(&self, earlier: &Self) -> Vec<ProcessUse> {
        let before: BTreeMap<ProcessId, &ProcessSample> =
            earlier.processes.iter().map(|process| (process.id, process)).collect();
        let of = |process: &ProcessSample| {
            ProcessUse::between(before.get(&process.id).copied(), process)
        };
        self.processes.iter().map(of).collect()
    }

    fn ids(&self) -> HashSet<ProcessId> {
        self.processes.iter().map(|process| process.id).collect()
    }

    /// What ended processes spent since an earlier sample, as far as it is known.
    fn ended_since(&self, earlier: &Self) -> ResourceUsage {
        let now = self.ids();
        let mut before = earlier.ended.resources.at_least();
        let gone = earlier.processes.iter().filter(|process| !now.contains(&process.id));
        gone.for_each(|process| before += process.resources.at_least());
        self.ended.resources.at_least() - before
    }

    /// Everything that survives the end of a process, because it passes to its parent.
    fn kept(&self) -> ResourceUsage {
        let mut sum = ResourceUsage::none_yet();
        for process in &self.processes {
            let reaped = ResourceUsage {
                ticks: process.reaped.ticks,
                faults: Some(process.reaped.faults),
                ..ResourceUsage::none_yet()
            };
            sum += process.resources;
            sum += reaped;
        }
        sum
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{ContextSwitches, CpuTicks, PageFaults, ReapedChildren};

    fn process(pid: u32, cpu_ms: u64, switches: u64) -> ProcessSample {
        ProcessSample {
            id: ProcessId { pid, start_tick: u64::from(pid) },
            threads: 1,
            resources: ResourceUsage {
                cpu: Nanos::from_millis(cpu_ms),
                ticks: CpuTicks { user: Nanos::from_millis(cpu_ms), system: Nanos::ZERO },
                switches: Some(ContextSwitches { voluntary: switches, involuntary: 0 }),
                faults: Some(PageFaults { minor: cpu_ms, major: 0 }),
                ..ResourceUsage::none_yet()
            },
            ..ProcessSample::default()
        }
    }

    /// A parent that waited for children which had spent so much.
    fn parent(cpu_ms: u64, reaped_ms: u64) -> ProcessSample {
        let ticks = CpuTicks { user: Nanos::from_millis(reaped_ms), system: Nanos::ZERO };
        let faults = PageFaults { minor: reaped_ms, major: 0 };
        ProcessSample { reaped: ReapedChildren { ticks, faults }, ..process(1, cpu_ms, 0) }
    }

    fn server(at_ms: u64, processes: Vec<ProcessSample>) -> ServerSample {
        let ended = EndedProcesses { count: 0, resources: ResourceUsage::none_yet() };
        ServerSample { at: MonoNanos(at_ms * 1_000_000), processes, ended }
    }

    #[test]
    fn figures_of_a_file_from_elsewhere_have_no_sum_that_is_less() {
        let switches = Some(ContextSwitches { voluntary: u64::MAX, involuntary: u64::MAX });
        let of = |pid| {
            let process = process(pid, u64::MAX / 2_000_000, u64::MAX);
            ProcessSample { threads: u32::MAX, ..process }
        };
        let mut last = server(1000, vec![of(1), of(2)]);
        last.ended.resources.switches = switches;
        let used = last.since(&server(0, Vec::new()));
        assert_eq!(used.threads, u32::MAX);
        assert_eq!(used.resources.switches, switches);
    }

    #[test]
    fn as_long_as_nobody_ends_the_clocks_add_up() {
        let a = server(0, vec![parent(5, 0), process(2, 100, 10)]);
        let b = server(1000, vec![parent(6, 0), process(2, 340, 15), process(3, 7, 2)]);
        let used = b.since(&a);
        assert_eq!(used.resources.cpu, Nanos::from_millis(1 + 240 + 7));
        assert_eq!(used.resources.switches.expect("known").voluntary, 5 + 2);
        assert_eq!((used.processes, used.came, used.went), (3, 1, 0));
        assert!((used.busy_cpus() - 0.248).abs() < 1e-9);
    }

    #[test]
    fn a_child_that_ended_counts_with_what_its_parent_waited_for() {
        let a = server(0, vec![parent(5, 0), process(2, 100, 10)]);
        // It was last seen at 150 ms and 12 switches, and ended at 400 ms; another one was never
        // seen at all and spent 1000 ms.
        let mut b = server(1000, vec![parent(6, 1400)]);
        let seen = process(2, 150, 12);
        b.ended = EndedProcesses { count: 1, resources: seen.resources };
        let used = b.since(&a);
        assert_eq!(used.resources.cpu, Nanos::from_millis(1 + 300 + 1000));
        assert_eq!(used.resources.faults.expect("known").minor, 1 + 1400 - 100);
        assert_eq!(used.resources.switches.expect("known").voluntary, 2, "as far as it is known");
        assert_eq!((used.processes, used.came, used.went), (1, 0, 1));
    }

    #[test]
    fn a_child_nobody_waited_for_counts_as_far_as_it_is_known() {
        let a = server(0, vec![parent(5, 0), process(2, 100, 10)]);
        let mut b = server(1000, vec![parent(6, 0)]);
        b.ended = EndedProcesses { count: 1, resources: process(2, 150, 12).resources };
        assert_eq!(b.since(&a).resources.cpu, Nanos::from_millis(1 + 50));
    }

    #[test]
    fn ticks_that_only_confirm_what_is_known_do_not_blur_it() {
        let a = server(0, vec![parent(5, 0), process(2, 100, 10)]);
        let mut b = server(1000, vec![parent(6, 160)]);
        b.ended = EndedProcesses { count: 1, resources: process(2, 153, 12).resources };
        assert_eq!(b.since(&a).resources.cpu, Nanos::from_millis(1 + 53));
    }

    #[test]
    fn what_one_process_keeps_to_itself_is_unknown_of_the_server() {
        let a = server(0, vec![parent(5, 0), process(2, 100, 10)]);
        let mut b = a.clone();
        b.processes[1].resources.io = None;
        b.processes[1].resources.run_delay = None;
        let used = b.since(&a);
        assert_eq!((used.resources.io, used.resources.run_delay), (None, None));
        assert!(used.resources.switches.is_some());
    }
}
