//! What many processes spent over an interval: the table of `dbtime ps`.

use super::{ProcessPresence, ProcessUse, TICK, WholeMachine};
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What a percentage is a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareOf {
    /// All CPUs of the machine together.
    #[default]
    System,
    /// One CPU: a process of two busy threads has 200 %.
    Cpu,
}

/// What processes spent, each over its own interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessTable {
    /// When the interval began, UTC, RFC 3339.
    pub started_at: String,
    /// How long it was.
    #[serde(rename = "wall_us")]
    pub wall: Nanos,
    /// Whether it was ended early.
    pub ended_early: bool,
    /// CPUs of the machine.
    pub cpus: u32,
    /// What percentages are shares of.
    pub of: ShareOf,
    /// The resolution of every division into user and system.
    #[serde(rename = "tick_us")]
    pub tick: Nanos,
    /// CPU time of everybody in percent of all CPUs; by ticks.
    pub machine_busy_pct: f64,
    /// CPU time the hypervisor took, in percent of all CPUs; by ticks.
    pub machine_steal_pct: f64,
    /// Where the time of all CPUs went, where the scheduler's own events were watched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub whole: Option<WholeMachine>,
    /// Processes of whose reads and writes this user may know nothing.
    pub unreadable: u32,
    /// The processes, most CPU time first.
    pub processes: Vec<ProcessRow>,
}

/// One process with its shares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessRow {
    /// Share of CPU time over its own interval, exact.
    pub cpu_pct: f64,
    /// Its user part; `None` where no tick fell.
    pub usr_pct: Option<f64>,
    /// Its system part.
    pub sys_pct: Option<f64>,
    /// Share of time spent runnable without a CPU, summed over threads.
    pub runq_pct: Option<f64>,
    /// What it spent.
    #[serde(flatten)]
    pub used: ProcessUse,
}

impl ProcessTable {
    /// The table of what was measured; the sum of all shares is on the same scale.
    pub fn new(mut uses: Vec<ProcessUse>, of: ShareOf, cpus: u32) -> Self {
        uses.sort_by_key(|used| (std::cmp::Reverse(used.resources.cpu), used.id));
        let table = Self { of, cpus, tick: TICK, ..Self::default() };
        // Of a process that has ended nobody knows any more.
        let is_closed =
            |used: &&ProcessUse| used.resources.io.is_none() && !used.presence.has_ended();
        let unreadable = u32::try_from(uses.iter().filter(is_closed).count()).unwrap_or(u32::MAX);
        let row = |used: ProcessUse| {
            let share = |time: Nanos| table.share(time, used.wall);
            ProcessRow {
                cpu_pct: share(used.resources.cpu),
                usr_pct: used.split.user.map(share),
                sys_pct: used.split.system.map(share),
                runq_pct: used.resources.run_delay.map(share),
                used,
            }
        };
        let processes = uses.into_iter().map(row).collect();
        Self { unreadable, processes, ..table }
    }

    /// `time` in percent of an interval of all CPUs or one.
    pub fn share(&self, time: Nanos, wall: Nanos) -> f64 {
        let cpus = match self.of {
            ShareOf::System => f64::from(self.cpus.max(1)),
            ShareOf::Cpu => 1.0,
        };
        if wall == Nanos::ZERO { 0.0 } else { 100.0 * time.as_secs() / (wall.as_secs() * cpus) }
    }
}

impl ProcessPresence {
    /// Whether the process was gone at the end of the interval.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Went | Self::CameAndWent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{IoBytes, ProcessId, ResourceUsage};

    fn used(pid: u32, cpu_ms: u64, wall_ms: u64) -> ProcessUse {
        ProcessUse {
            id: ProcessId { pid, start_tick: 1 },
            wall: Nanos::from_millis(wall_ms),
            resources: ResourceUsage {
                cpu: Nanos::from_millis(cpu_ms),
                io: Some(IoBytes::default()),
                ..ResourceUsage::default()
            },
            ..ProcessUse::default()
        }
    }

    #[test]
    fn shares_are_of_each_process_own_interval() {
        let table = ProcessTable::new(vec![used(1, 5, 1000), used(2, 50, 500)], ShareOf::System, 2);
        let shown: Vec<_> = table.processes.iter().map(|r| (r.used.id.pid, r.cpu_pct)).collect();
        assert_eq!(shown, [(2, 5.0), (1, 0.25)]);
        let table = ProcessTable::new(vec![used(2, 50, 500)], ShareOf::Cpu, 2);
        assert_eq!(table.processes[0].cpu_pct, 10.0);
        assert_eq!(table.processes[0].usr_pct, None);
    }

    #[test]
    fn what_may_not_be_read_is_counted() {
        let closed = |presence| {
            let mut used = ProcessUse { presence, ..used(1, 1, 1) };
            used.resources.io = None;
            used
        };
        let uses =
            vec![used(2, 1, 1), closed(ProcessPresence::Stayed), closed(ProcessPresence::Went)];
        assert_eq!(ProcessTable::new(uses, ShareOf::System, 1).unreadable, 1);
    }
}
