//! Waiting for a CPU, by who had it.

use serde::{Deserialize, Serialize};

/// Whose a thread is that had a CPU which a request of the server waited for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CpuHolderKind {
    /// dbtime itself, which makes the load.
    Driver,
    /// The processes of dbtime that watch.
    Tracer,
    /// The server, its other connections included.
    Server,
    /// Any other, the kernel's own threads included.
    Other,
    /// A thread that had ended before its process was looked up, or could not be.
    Ended,
    /// All threads beyond a thousand rows.
    Others,
    /// What has no name: waits for an idle CPU to take up work, and those for threads that had the
    /// CPU for less long than the three of a request that are named.
    #[default]
    NotNamed,
}

/// Waiting for a CPU on a traced server, by who had it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetCpuHolder {
    /// Whose the thread is.
    pub kind: CpuHolderKind,
    /// The process, as `/proc/PID/comm` names it; `null` where it is not known.
    pub process: Option<String>,
    /// The thread's own name; `null` for `others` and `not_named`.
    pub thread: Option<String>,
    /// In how many requests it was among those that had the CPU for longest; `null` for
    /// `not_named`.
    pub count: Option<u64>,
    /// For how long it had it while they could have run, in seconds. All rows together are the
    /// part `runq`.
    pub wait_s: f64,
    /// The same in percent of that part.
    pub share_pct: f64,
}
