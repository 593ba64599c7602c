//! What the driver and the server used of the machine.

use super::SpanInfo;
use serde::{Deserialize, Serialize};

/// What the driver used, over the measured window. On an embedded engine the database is part of
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientInfo {
    /// CPU of the whole process per completed transaction; `null` when none was completed.
    pub cpu_us_per_tx: Option<f64>,
    /// User share of that CPU, in percent of one CPU.
    pub usr_pct: f64,
    /// System share, in percent of one CPU.
    pub sys_pct: f64,
    /// Share of time the busiest driver thread spent working for the driver and not the database,
    /// `0.0..=1.0`.
    pub busy: f64,
    /// Exact CPU of all worker threads, in seconds.
    pub threads_cpu_s: f64,
    /// Exact run-queue wait of all worker threads, in seconds; `null` where the kernel hides it.
    pub threads_runq_s: Option<f64>,
    /// How long transactions of the window that were ready waited for a CPU before they were sent,
    /// together, in seconds, where they run on the driver's threads; `null` where that is not
    /// measured, and in records of before.
    pub ready_runq_s: Option<f64>,
    /// How much of `ready_runq_s` other transactions of the same process had the CPU for, in
    /// seconds: it is in `runq`, and the rest in `lag`. `null` as that is.
    pub own_contention_s: Option<f64>,
    /// How long the CPU limit of its control group, or of one above it, was used up, in seconds,
    /// over all CPUs; `null` where nothing counts that.
    pub throttled_s: Option<f64>,
    /// Largest resident size, in bytes.
    pub rss_peak_bytes: u64,
    /// How busy the simulated network was; `null`: no limit was simulated.
    pub network: Option<NetworkUse>,
    /// When a thread of the driver stood still for at least a tenth of a second, though it had
    /// something to do: stopped, or without a CPU. From the start of the load; threads together.
    pub standstills: Vec<SpanInfo>,
    /// How long transactions of the window waited meanwhile for answers that may have come by then,
    /// together, at most, in seconds: the driver's time or the server's. It is in their
    /// `server_and_wire`, traced in `client` or `wire`. `null` on an embedded engine, and in
    /// records of before.
    pub standstill_waits_s: Option<f64>,
    /// Clients that ended before the load did, as one whose script fails does.
    pub quit: u64,
}

/// How long a simulated network was busy, over the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkUse {
    /// Share of the window in which it passed requests, in percent.
    pub requests_pct: f64,
    /// Share of the window in which it passed answers, in percent.
    pub answers_pct: f64,
}

/// What a server on this machine used, over the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerInfo {
    /// CPU per completed transaction; `null` when none was completed.
    pub cpu_us_per_tx: Option<f64>,
    /// User CPU, in percent of one CPU.
    pub usr_pct: f64,
    /// System CPU, in percent of one CPU.
    pub sys_pct: f64,
    /// Resident size in bytes; `null` where it had ended.
    pub rss_bytes: Option<u64>,
    /// The largest resident size of its life, in bytes; `null` of several processes, or where it
    /// had ended.
    pub rss_peak_bytes: Option<u64>,
    /// Resident size half a second after the last connection was closed, in bytes: less than before
    /// by what was given back. `null` where it was not started for the run, or had ended.
    pub rss_idle_bytes: Option<u64>,
    /// Virtual size in bytes; `null` where it had ended.
    pub vsize_bytes: Option<u64>,
    /// CPU in all, in seconds.
    pub cpu_s: f64,
    /// From one look at it to the other, in seconds: the window.
    pub wall_s: f64,
    /// CPUs it may run on.
    pub cpus: u32,
    /// Processes at the end of the window.
    pub processes: u32,
    /// Threads at the end of the window.
    pub threads: u32,
    /// Time its threads were runnable and something else had the CPU, in seconds, side by side;
    /// `null` where the kernel hides it.
    pub run_delay_s: Option<f64>,
    /// Times a thread gave up the CPU to wait; `null` where not known.
    pub voluntary_switches: Option<u64>,
    /// Times a thread was taken off the CPU; `null` where not known.
    pub involuntary_switches: Option<u64>,
    /// Bytes read from storage; `null` where this user may not know.
    pub read_bytes: Option<u64>,
    /// Bytes written towards storage; `null` where this user may not know.
    pub written_bytes: Option<u64>,
    /// Read calls, such as pread(2), but no recv(2); `null` where this user may not know.
    pub read_calls: Option<u64>,
    /// Write calls, such as pwrite(2), but no send(2); `null` where this user may not know.
    pub write_calls: Option<u64>,
    /// CPU by name of thread, most first.
    pub by_thread: Vec<ServerThreads>,
}

/// What the threads of one name used, over the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerThreads {
    /// Their name without the number at its end; of PostgreSQL what the process is for; `ended` of
    /// those that are gone.
    pub name: String,
    /// How many there were at the end.
    pub threads: u32,
    /// CPU per completed transaction; `null` when none was completed.
    pub cpu_us_per_tx: Option<f64>,
    /// CPU in percent of one CPU.
    pub cpu_pct: f64,
}
