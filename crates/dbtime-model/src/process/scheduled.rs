//! What the scheduler's own events tell of processes.

use super::{ContextSwitches, CpuTicks, ProcessId};
use crate::growing::growing;
use crate::{MonoNanos, Nanos};
use serde::{Deserialize, Serialize};

/// What threads spent, from event to event: nothing is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledTimes {
    /// Time on a CPU, by the wall's clock from the switch to it to the switch from it: with the
    /// interrupts in between, and what the hypervisor took.
    #[serde(rename = "cpu_us")]
    pub cpu: Nanos,
    /// The same by the thread's CPU clock (`se.sum_exec_runtime`). That leaves interrupts and the
    /// hypervisor out where the kernel can, and may begin when a thread is woken on an idle CPU,
    /// which is not there yet.
    #[serde(rename = "clock_us")]
    pub clock: Nanos,
    /// Time from being woken to getting a CPU, over all threads.
    #[serde(rename = "woken_us")]
    pub woken: Nanos,
    /// Time from losing a CPU to another thread to getting one again, over all threads.
    #[serde(rename = "preempted_us")]
    pub preempted: Nanos,
    /// Times a CPU was left.
    pub switches: ContextSwitches,
}

impl ScheduledTimes {
    /// Time runnable without a CPU.
    pub fn run_delay(&self) -> Nanos {
        self.woken + self.preempted
    }
}

growing! { ScheduledTimes { cpu, clock, woken, preempted, switches } }

/// A process that was on a CPU, or wanted to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduledProcess {
    /// Its number and start: numbers come again, the two together do not.
    pub id: ProcessId,
    /// When it began; where the machine has slept since it was booted, later than in truth.
    pub start: MonoNanos,
    /// What its threads spent, the ended ones included.
    pub resources: ScheduledTimes,
    /// Those that are there, by their numbers.
    pub threads: Vec<(u32, ScheduledTimes)>,
    /// Those of its threads that have ended in the interval; `None`: none has.
    pub ended: Option<EndedThreads>,
}

/// The threads of a process that have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedThreads {
    /// What they spent in their lives, by ticks.
    pub ticks: CpuTicks,
    /// When the last of them ended.
    pub at: MonoNanos,
    /// Effective user of that.
    pub uid: u32,
    /// Its name as the kernel has it: at most 15 bytes.
    pub name: String,
}

/// Where the time of all CPUs went over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeMachine {
    /// On all CPUs together, by the wall's clock.
    #[serde(rename = "wall_us")]
    pub wall: Nanos,
    /// Processes and the kernel's own threads.
    #[serde(rename = "cpu_us")]
    pub cpu: Nanos,
    /// The same by their CPU clocks: see [`ScheduledTimes::clock`].
    #[serde(rename = "clock_us")]
    pub clock: Nanos,
    /// No thread had the CPU.
    #[serde(rename = "idle_us")]
    pub idle: Nanos,
    /// Switches of threads for which there was no room: what they spent is missing.
    pub lost: u64,
    /// Switches that the kernel did not tell of: what was on a CPU then counts by its CPU clock,
    /// and what is next to it, idle time too, may have a part of it as well.
    pub missed: u64,
}

impl WholeMachine {
    /// What is in none of them, in percent of all; negative where more was counted than there was,
    /// for the CPUs are not read at one instant.
    pub fn unexplained_pct(&self) -> f64 {
        let known = (self.cpu + self.idle).as_secs();
        100.0 * (self.wall.as_secs() - known) / self.wall.as_secs().max(1e-9)
    }
}
