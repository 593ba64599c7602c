//! Form B against form A, key by key.

use serde::{Deserialize, Serialize};

/// B against A, from executions of both with the same keys next to each other, in the order of a
/// seeded coin. Ratios are those of times, B's by A's: below 1, B is faster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FormComparison {
    /// Pairs of executions; one with a failure is none.
    pub pairs: u64,
    /// How the interval was made.
    pub method: RatioMethod,
    /// The geometric mean of the pairs' ratios; by [`RatioMethod::Signs`] their median.
    pub ratio: RatioInterval,
    /// The median of the pairs' ratios.
    pub median_ratio: f64,
    /// What the same executions would say if they were not paired; `None`: it has no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unpaired: Option<RatioInterval>,
    /// Pairs in which B was faster. Shape: 0 to 1.
    pub faster_share: f64,
    /// What may be said.
    pub verdict: FormVerdict,
    /// The smallest change of interest, a share.
    pub margin: f64,
    /// Batches whose means the interval is from, and pairs in each; 0 by [`RatioMethod::Signs`].
    pub batches: u64,
    /// Pairs in each batch.
    pub batch_pairs: u64,
    /// Autocorrelation of the batches' means at lag 1.
    pub autocorrelation: f64,
    /// By the number of rows that A returned, fewest first: at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deciles: Vec<RowsDecile>,
    /// Lives of a server behind the verdict: of 1 it holds in this one.
    pub lives: u64,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RatioInterval {
    /// The ratio.
    pub ratio: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How often such an interval covers the truth: 0.95.
    pub level: f64,
}

crate::named_variants! {
    /// How an interval was made.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RatioMethod {
        /// From the means of batches of pairs.
        #[default]
        Batches = "batches",
        /// From the order of few pairs: the sign test's interval of the median.
        Signs = "signs",
        /// From whole lives of servers.
        Lives = "lives",
    }
}

crate::named_variants! {
    /// What may be said of B.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FormVerdict {
        /// B takes less time.
        Faster = "faster",
        /// B takes more time.
        Slower = "slower",
        /// They take the same time but for the margin.
        Same = "same",
        /// Neither is shown.
        #[default]
        Undecided = "undecided",
    }
}

/// Pairs in which A returned so many rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowsDecile {
    /// Fewest rows.
    pub rows_from: u64,
    /// Most rows.
    pub rows_to: u64,
    /// Pairs.
    pub pairs: u64,
    /// The geometric mean of their ratios.
    pub ratio: f64,
    /// Pairs in which B was faster. Shape: 0 to 1.
    pub faster_share: f64,
}
