//! Stacks of a traced run: what they come to in `run.json`, and the files that have them.

use serde::{Deserialize, Serialize};

/// Where the server's threads were. While they served the transactions of the window with parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StacksInfo {
    /// `cycles`, or `cpu-clock`, a timer of the kernel; `None`: stacks on a CPU are unknown.
    pub sampling: Option<String>,
    /// Samples of a busy CPU per second.
    pub samples_per_s: Option<u32>,
    /// Samples on a CPU.
    pub on_cpu: Option<StackSums>,
    /// Waits off a CPU: the waiting parts of the budget, except for waits for a CPU.
    pub off_cpu: StackSums,
    /// Stacks, waits and samples without room.
    pub lost: u64,
}

/// Stacks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StackSums {
    /// Samples, or waits.
    pub count: u64,
    /// Length of the waits; of samples the CPU time they stand for.
    pub time_s: f64,
    /// Of that time, stacks that do not reach the beginning of their thread, as of code without
    /// frame pointers.
    pub cut_pct: Option<f64>,
    /// Likewise, stacks with an unnamed frame.
    pub unnamed_pct: Option<f64>,
}
