//! What a window is worth: whether it was of one steady state, and how well its percentiles are
//! known. All of it is of one run; how runs differ from each other, no single run knows.

use serde::{Deserialize, Serialize};

/// The change of a window. From its first third to its last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowTrend {
    /// Throughput, or the response where a schedule gave the rate.
    pub of: TrendMetric,
    /// Whole seconds of the window.
    pub seconds: u32,
    /// The change, in percent of the first third.
    pub change_pct: f64,
    /// Low end of its 99 % interval.
    pub change_low_pct: f64,
    /// High end.
    pub change_high_pct: f64,
    /// Time after which the mean of the rest is known best (MSER-5); `None`: it did not settle in
    /// the first half.
    pub settled_after_s: Option<u32>,
}

/// What a trend is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrendMetric {
    /// Completed in a second.
    #[default]
    Throughput,
    /// Mean of those that ended in a second.
    Response,
}

/// A percentile of the response. The range holds it with 95 %, as one run knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PercentileRange {
    /// From 0 to 100.
    pub percentile: f64,
    /// Its beginning; `None`: too few transactions.
    pub low_us: Option<f64>,
    /// Its end, likewise.
    pub high_us: Option<f64>,
}
