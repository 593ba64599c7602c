//! A statement under the planner's switches.

use super::{RatioInterval, RowsOutcome, StatementPlan};
use serde::{Deserialize, Serialize};

/// The ways of execution that a planner could have chosen, each measured beside its choice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanTournament {
    /// The choice first, the others from the fastest to the slowest.
    pub entries: Vec<TournamentEntry>,
    /// Which is best: shown to be faster than the choice, and again with other keys. `None`: none
    /// is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<usize>,
    /// The estimate of the choice that is off most, in a sentence; `None`: the choice is the best,
    /// none is off by 10 or more, or the server says nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misled_by: Option<String>,
    /// Switches that changed nothing, were refused or had no time, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One way of execution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TournamentEntry {
    /// The switch, as the server takes it; empty: the planner's own choice.
    pub switch: String,
    /// Its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<StatementPlan>,
    /// Its time by that of the choice, pair by pair; `None` of the choice itself, and of one that
    /// failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioInterval>,
    /// The same with other keys, of the best alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<RatioInterval>,
    /// The mean of an execution in its own pairs, which were made at a time of their own: of the
    /// choice the mean over the pairs of all ways.
    pub mean_us: f64,
    /// Pairs behind `ratio`.
    pub pairs: u64,
    /// Whether it returns the rows of the choice.
    pub rows: RowsOutcome,
    /// Why it has no figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}
