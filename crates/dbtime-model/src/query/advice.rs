//! What would make a statement faster.

use super::{RatioInterval, RowsOutcome};
use serde::{Deserialize, Serialize};

/// A proposal with what speaks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryAdvice {
    /// The rule: `missing-index`.
    pub rule: String,
    /// What is the case, in a sentence.
    pub finding: String,
    /// What shows it: steps of the plan, counters, notes of the server.
    pub evidence: Vec<String>,
    /// What to do, as SQL; literals as they were given only with `--raw-sql`.
    pub proposal: Vec<String>,
    /// How much is behind it.
    pub level: EvidenceLevel,
    /// What trying it has shown; `None`: it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<AdviceTrial>,
    /// What may be wrong with it all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
}

crate::named_variants! {
    /// How much is behind advice; from the least to the most.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EvidenceLevel {
        /// The statement's text.
        #[default]
        Text = "text",
        /// Its plan.
        Plan = "plan",
        /// What the server counted.
        Counters = "counters",
        /// It was tried and measured.
        Verified = "verified",
    }
}

/// What trying a proposal has shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AdviceTrial {
    /// Where: "on the target", "on a copy of shop.db".
    pub place: String,
    /// The statement's time with the proposal by that without.
    pub ratio: RatioInterval,
    /// Pairs behind it.
    pub pairs: u64,
    /// Whether the rows stay the same.
    pub rows: RowsOutcome,
    /// For how many keys that was compared; 0 of what changes no rows.
    pub rows_keys: u64,
    /// What it takes on disk. Unit: bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What building it took. Unit: seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_s: Option<f64>,
    /// What inserts into the table take with it by what they take without, pair by pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ratio: Option<RatioInterval>,
}
