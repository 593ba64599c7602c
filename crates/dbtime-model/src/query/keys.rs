//! The values that statements were executed with.

use serde::{Deserialize, Serialize};

/// The keys of all executions together. A key is one value for each parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySummary {
    /// Where values come from, in the order of the parameters; empty: there are no parameters, or
    /// there is nothing but plans, which are those for any values.
    pub sources: Vec<KeySource>,
    /// What the draws are a function of.
    pub seed: u64,
    /// Keys that were executed, each time it was drawn.
    pub drawn: u64,
}

/// Where the values of a parameter come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySource {
    /// The parameter: `id`, or `1` for `$1` and the first `?`.
    pub parameter: String,
    /// The source in words: "words of ids.txt, at random"; without literals.
    pub source: String,
    /// Different values in it; `None`: they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<u64>,
}
