//! Rows of the scheduler's programs, for the tests of these.

use super::layout;
use dbtime_model::process::{EndedThreads, ScheduledTimes};
use dbtime_model::{MonoNanos, Nanos};

/// What a thread had spent when it was seen last, and when that was.
pub fn thread(row: &[u8]) -> Option<(ScheduledTimes, MonoNanos)> {
    layout::thread(row).map(|(_, spent, seen)| (spent, seen))
}

/// What the threads of a process that have ended had spent, and the process.
pub fn ended(key: &[u8], row: &[u8]) -> Option<(u32, ScheduledTimes, EndedThreads)> {
    layout::ended(key, row).map(|(process, spent, ended)| (process.tgid, spent, ended))
}

/// A CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduledCpu {
    /// How long it was idle before its last switch.
    pub idle: Nanos,
    /// The thread that has it, 0: none; and since when. `None`: no switch has been seen.
    pub whose: Option<(u32, MonoNanos)>,
    /// Switches of threads for which there was no room.
    pub lost: u64,
    /// Switches that the kernel did not tell of.
    pub missed: u64,
}

/// A CPU's row.
pub fn cpu(row: &[u8]) -> Option<ScheduledCpu> {
    let layout::CpuTimes { idle, whose, lost, missed } = layout::cpu(row)?;
    Some(ScheduledCpu { idle, whose, lost, missed })
}
