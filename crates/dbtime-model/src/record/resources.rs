//! What the driver and the server used of the machine.

use super::SpanInfo;
use serde::{Deserialize, Serialize};

/// What the driver used. Over the window, with an embedded database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientInfo {
    /// CPU of the process per completed transaction.
    pub cpu_us_per_tx: Option<f64>,
    /// User share, in percent of one CPU.
    pub usr_pct: f64,
    /// System share, likewise.
    pub sys_pct: f64,
    /// Share of time that the busiest driver thread worked for the driver, from 0 to 1.
    pub busy: f64,
    /// CPU of all worker threads.
    pub threads_cpu_s: f64,
    /// Run-queue wait of all worker threads.
    pub threads_runq_s: Option<f64>,
    /// Wait for a CPU between ready and sent, of transactions on the driver's threads.
    pub ready_runq_s: Option<f64>,
    /// Of `ready_runq_s`, the part in `runq`; the rest is in `lag`.
    pub own_contention_s: Option<f64>,
    /// Time at the CPU limit of a control group, over all CPUs.
    pub throttled_s: Option<f64>,
    /// Largest resident size.
    pub rss_peak_bytes: u64,
    /// Use of the simulated network.
    pub network: Option<NetworkUse>,
    /// When a runnable thread of the driver stood still for at least a tenth of a second.
    pub standstills: Vec<SpanInfo>,
    /// Upper bound of the waits for answers that may have come then: in `server_and_wire`, traced
    /// in `client` or `wire`.
    pub standstill_waits_s: Option<f64>,
    /// Clients that ended before the load.
    pub quit: u64,
}

/// Use of a simulated network. Share of the window in which it was busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkUse {
    /// With requests.
    pub requests_pct: f64,
    /// With answers.
    pub answers_pct: f64,
}

/// What a server on this machine used. Over the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerInfo {
    /// CPU per completed transaction.
    pub cpu_us_per_tx: Option<f64>,
    /// User CPU, of one CPU.
    pub usr_pct: f64,
    /// System CPU, likewise.
    pub sys_pct: f64,
    /// Resident size.
    pub rss_bytes: Option<u64>,
    /// Largest resident size of its life; `None` too for several processes.
    pub rss_peak_bytes: Option<u64>,
    /// Resident size half a second after the last connection closed, of a server started for the
    /// run.
    pub rss_idle_bytes: Option<u64>,
    /// Virtual size.
    pub vsize_bytes: Option<u64>,
    /// CPU in all.
    pub cpu_s: f64,
    /// Length of the window, as read with these figures.
    pub wall_s: f64,
    /// CPUs it may run on.
    pub cpus: u32,
    /// At the end of the window.
    pub processes: u32,
    /// Likewise.
    pub threads: u32,
    /// Run-queue wait of all its threads.
    pub run_delay_s: Option<f64>,
    /// Times a thread gave up the CPU to wait.
    pub voluntary_switches: Option<u64>,
    /// Times a thread was taken off the CPU.
    pub involuntary_switches: Option<u64>,
    /// From storage.
    pub read_bytes: Option<u64>,
    /// Towards storage.
    pub written_bytes: Option<u64>,
    /// Such as pread(2), without recv(2).
    pub read_calls: Option<u64>,
    /// Such as pwrite(2), without send(2).
    pub write_calls: Option<u64>,
    /// CPU by name of thread, most first.
    pub by_thread: Vec<ServerThreads>,
}

/// Threads of one name, over the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerThreads {
    /// Without the number at its end; of PostgreSQL its task; `ended` of those gone.
    pub name: String,
    /// At the end.
    pub threads: u32,
    /// CPU per completed transaction.
    pub cpu_us_per_tx: Option<f64>,
    /// Of one CPU.
    pub cpu_pct: f64,
}
