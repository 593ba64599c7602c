//! Waiting for a CPU, by who had it.

use serde::{Deserialize, Serialize};

/// Whose a thread is that had a CPU which a request of the server waited for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CpuHolderKind {
    /// dbtime, which makes the load.
    Driver,
    /// dbtime, which watches.
    Tracer,
    /// The server, with its other connections.
    Server,
    /// Any other, with the kernel's threads.
    Other,
    /// Ended before its process was looked up.
    Ended,
    /// All threads beyond a thousand rows.
    Others,
    /// The rest of `runq`.
    #[default]
    NotNamed,
}

/// Waiting for a CPU on a traced server, by holder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetCpuHolder {
    /// Whose the thread is.
    pub kind: CpuHolderKind,
    /// As `/proc/PID/comm` has it.
    pub process: Option<String>,
    /// Its number, of `other`; `None` where several of that name had the CPU.
    pub pid: Option<u32>,
    /// The thread's name; `None` for `others` and `not_named`.
    pub thread: Option<String>,
    /// Requests where it was among those that had the CPU longest; `None` for `not_named`.
    pub count: Option<u64>,
    /// Time they waited for it; all rows come to `runq`.
    pub wait_s: f64,
    /// Of that part.
    pub share_pct: f64,
}
