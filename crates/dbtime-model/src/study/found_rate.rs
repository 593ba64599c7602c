//! What a search for a rate has come to.

use serde::{Deserialize, Serialize};

/// How a search ends whose answer is a rate, or that there is none.
const DECIDED: &str = "its runs have decided it";

/// Why a search has no answer that has not come to its end.
const ENDED: &str = "the search was ended";

/// The highest rate that meets a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FoundRate {
    /// As given.
    pub limit: String,
    /// The rate; `None`: none was found.
    pub rate_tps: Option<f64>,
    /// Where its 95 % interval begins; `None`: older searches had none.
    pub low_tps: Option<f64>,
    /// Where that ends.
    pub high_tps: Option<f64>,
    /// The highest that two runs have met, where the rate itself is not known.
    pub at_least_tps: Option<f64>,
    /// The lowest rate seen to miss it; of one that was found, the lowest above it.
    pub above_tps: Option<f64>,
    /// Fresh runs that confirmed it.
    pub confirmed: u64,
    /// Throughput flat out, whatever the response.
    pub flat_out_tps: f64,
    /// Why it is not known.
    pub unknown: Option<String>,
}

impl FoundRate {
    /// What a search has found that was ended before its runs had decided it: nothing.
    pub fn open(limit: String, flat_out_tps: f64) -> Self {
        Self { limit, flat_out_tps, unknown: Some(ENDED.to_owned()), ..Self::default() }
    }

    /// Why there are no more runs.
    pub fn reason(&self) -> String {
        self.unknown.clone().unwrap_or_else(|| DECIDED.to_owned())
    }
}
