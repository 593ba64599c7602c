//! One process, or one of its threads, at one instant.

use super::{CpuTicks, PageFaults, ProcessMemory, ResourceUsage};
use crate::{MonoNanos, Nanos};
use serde::{Deserialize, Serialize};

/// Which process: numbers are used again, start times are not.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ProcessId {
    /// The process id, which another process gets in time.
    pub pid: u32,
    /// When it started, in clock ticks (10 ms) since boot.
    pub start_tick: u64,
}

/// One process at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessSample {
    /// The instant at which its CPU clock was read.
    #[serde(rename = "at_us")]
    pub at: MonoNanos,
    /// How long it had been running, good to a tick.
    #[serde(rename = "age_us")]
    pub age: Nanos,
    /// Its number and start: numbers come again, the two together do not.
    #[serde(flatten)]
    pub id: ProcessId,
    /// The process that started it, or took it over.
    pub parent: u32,
    /// Effective user.
    pub uid: u32,
    /// The user's name, or the number where it has none.
    pub user: String,
    /// The kernel's name for it: at most 15 bytes.
    pub name: String,
    /// The command line with its passwords masked; of a kernel thread the name in brackets.
    pub command: String,
    /// Whether it has ended, and its parent has not waited for it yet.
    pub has_ended: bool,
    /// What it has spent since it began.
    #[serde(flatten)]
    pub resources: ResourceUsage,
    /// What children spent that have ended and were waited for, and theirs.
    pub reaped: ReapedChildren,
    /// Its memory; a kernel thread and a process that has ended have none.
    pub memory: Option<ProcessMemory>,
    /// How many threads it has.
    pub threads: u32,
    /// Each thread, where there are several and they were asked for.
    pub each_thread: Vec<ThreadSample>,
}

/// What children spent that have ended and were waited for, and theirs in turn.
///
/// Source: fields 11, 13, 16 and 17 of `/proc/PID/stat`. The kernel adds nanoseconds up and shows
/// whole ticks: a sum over a thousand children is off by two ticks, not by two thousand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReapedChildren {
    /// CPU time.
    #[serde(flatten)]
    pub ticks: CpuTicks,
    /// Page faults.
    pub faults: PageFaults,
}

/// One thread at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadSample {
    /// The instant of the sample.
    #[serde(rename = "at_us")]
    pub at: MonoNanos,
    /// Its number, `pid` and `start_tick`.
    #[serde(flatten)]
    pub id: ProcessId,
    /// Its name: at most 15 bytes.
    pub name: String,
    /// What it has spent since it began; reads and writes are counted by process.
    #[serde(flatten)]
    pub resources: ResourceUsage,
}
