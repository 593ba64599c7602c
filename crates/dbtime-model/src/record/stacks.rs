//! Stacks of a traced run: what they come to in `run.json`, and the files that have them.

use serde::{Deserialize, Serialize};

/// Where the threads of the server were while they served the transactions of the window that have
/// parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StacksInfo {
    /// What CPUs were sampled by: `cycles`, or `cpu-clock`, a timer of the kernel. `None`: this
    /// machine has neither, and nothing is known of stacks on a CPU.
    pub sampling: Option<String>,
    /// How often a busy CPU was sampled. Unit: 1/s; `None` likewise.
    pub samples_per_s: Option<u32>,
    /// Samples on a CPU; `None` likewise.
    pub on_cpu: Option<StackSums>,
    /// Waits off a CPU. What they come to is the parts of the budget that are waiting, but for
    /// waits for a CPU.
    pub off_cpu: StackSums,
    /// Stacks, waits and samples for which the tracer had no room, in all that was traced. A wait
    /// or a sample whose stack is lost counts as one without a name.
    pub lost: u64,
}

/// What stacks of one kind come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StackSums {
    /// Samples, or waits.
    pub count: u64,
    /// How long the waits were; of samples how long a CPU takes for so many. Unit: seconds.
    pub time_s: f64,
    /// How much of that has a stack that does not reach the beginning of its thread: what was
    /// compiled without frame pointers breaks it off. `None`: there was none.
    pub cut_pct: Option<f64>,
    /// How much of it has a frame without a name, likewise.
    pub unnamed_pct: Option<f64>,
}
