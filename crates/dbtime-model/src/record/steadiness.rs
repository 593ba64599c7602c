//! What a window is worth: whether it was of one steady state, and how well its percentiles are
//! known. All of it is of one run; how runs differ from each other, no single run knows.

use serde::{Deserialize, Serialize};

/// How what was measured changed from the first third of the window to its last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowTrend {
    /// Of what: transactions completed in a second, or their mean response, where a schedule gave
    /// the rate.
    pub of: TrendMetric,
    /// Whole seconds of the window.
    pub seconds: u32,
    /// The change. Unit: percent of the first third.
    pub change_pct: f64,
    /// Where its 99 % interval begins.
    pub change_low_pct: f64,
    /// Where it ends.
    pub change_high_pct: f64,
    /// Seconds of the window after which the mean of the rest is known best (MSER-5); `null`: more
    /// than half of it, so that it did not settle.
    pub settled_after_s: Option<u32>,
}

/// What a trend is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendMetric {
    /// Transactions completed in a second.
    #[default]
    Throughput,
    /// The mean response of those that ended in a second.
    Response,
}

/// Where a percentile of the response lies with 95 %, as far as one run knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PercentileRange {
    /// Which, of 100.
    pub percentile: f64,
    /// Where the range begins, in µs; `null`: there are too few transactions.
    pub low_us: Option<f64>,
    /// Where it ends, in µs; `null` likewise.
    pub high_us: Option<f64>,
}
