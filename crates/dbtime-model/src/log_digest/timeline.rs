//! Load over time.

use serde::{Deserialize, Serialize};

/// The load in steps of one length. Shape: at most 2,048 steps, empty ones left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DigestTimeline {
    /// The length of a step. Unit: seconds, a power of two.
    pub step_s: u64,
    /// In the order of time.
    pub bins: Vec<TimelineBin>,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimelineBin {
    /// When it begins, a multiple of the step. Unit: microseconds.
    pub start_us: i64,
    /// How many ended in it.
    pub count: u64,
    /// Of those of `count` that show whether they failed, those that did; `None`: none shows it.
    pub errors: Option<u64>,
    /// The time of records that fell into it: divided by the step, how many ran at once. Unit:
    /// microseconds.
    pub busy_us: f64,
    /// The longest that ended in it. Unit: microseconds.
    pub max_us: f64,
}
