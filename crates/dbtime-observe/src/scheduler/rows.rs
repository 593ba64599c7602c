//! Rows of the scheduler's programs, for the tests of these.

use super::layout::{self, ScheduledCpu};
use dbtime_model::MonoNanos;
use dbtime_model::process::{EndedThreads, ScheduledTimes};

/// What a thread had spent when it was seen last, and when that was.
pub fn thread(row: &[u8]) -> Option<(ScheduledTimes, MonoNanos)> {
    layout::thread(row).map(|(_, spent, seen)| (spent, seen))
}

/// What the threads of a process that have ended had spent, and the process.
pub fn ended(key: &[u8], row: &[u8]) -> Option<(u32, ScheduledTimes, EndedThreads)> {
    layout::ended(key, row).map(|(process, spent, ended)| (process.tgid, spent, ended))
}

/// A CPU's row.
pub fn cpu(row: &[u8]) -> Option<ScheduledCpu> {
    layout::cpu(row)
}
