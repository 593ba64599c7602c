//! Processes as the kernel accounts for them: samples, and what was spent between two of them.
//!
//! A [`ProcessSample`] is one process at one instant, everything in it counted since that process
//! began; a [`ProcessUse`] is the difference of two samples over their own interval.
//! A [`ServerSample`] is a server with all its descendants, a [`ServerUse`] what they spent
//! together.
//! Reading them belongs to `dbtime-observe`, showing them to `dbtime-report`; here are the nouns
//! and the arithmetic, which knows no kernel.
//!
//! Times in JSON are microseconds and say so (`cpu_us`); what could not be read is `null`, never 0.

mod memory;
mod resources;
mod sample;
mod scheduled;
mod server;
mod table;
mod usage;
mod usage_report;

pub use memory::ProcessMemory;
pub use resources::{ContextSwitches, CpuTicks, IoBytes, PageFaults, ResourceUsage};
pub use sample::{ProcessId, ProcessSample, ReapedChildren, ThreadSample};
pub use scheduled::{EndedThreads, ScheduledProcess, ScheduledTimes, WholeMachine};
pub use server::{CpuSums, EndedProcesses, ServerSample, ServerUse, TICK, ThreadsUse};
pub use table::{ProcessRow, ProcessTable, ShareOf};
pub use usage::{CpuSplit, ProcessPresence, ProcessUse, ThreadUse};
pub use usage_report::{CommandExit, Microstates, Rusage, SavedUsage, UsageRates, UsageReport};
