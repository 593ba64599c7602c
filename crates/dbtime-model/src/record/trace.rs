//! The tracer beside a run in `run.json`: how far what it saw was matched with what was driven.

use crate::traced_ledger::{TraceCost, TraceLedger};
use serde::{Deserialize, Serialize};

/// How far statements of the driver were matched with requests of the server. A request belongs to
/// the statement of the same connection within which it lies, on one clock.
///
/// `matched + unmatched + ambiguous` are the statements, and `transactions + left_out` the
/// transactions of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JoinCounts {
    /// Statements with the server's side of them.
    pub matched: u64,
    /// Of these, statements that were under way together and could not be told apart: their
    /// transactions have all parts, but these statements have none of their own.
    pub unsplit: u64,
    /// Statements for which no request was seen.
    pub unmatched: u64,
    /// Statements for which a request was seen that may or may not be theirs.
    pub ambiguous: u64,
    /// Requests on the driver's connections outside of its statements: logins, settings, pings.
    pub outside: u64,
    /// Requests of others, or of connections that could not be named.
    pub foreign: u64,
    /// Transactions all of whose statements were matched.
    pub transactions: u64,
    /// Transactions with a statement that was not matched: they are in no sum of parts.
    pub left_out: u64,
}

impl JoinCounts {
    /// The share of statements that were matched. Unit: percent. `None`: there was none.
    pub fn matched_pct(&self) -> Option<f64> {
        let all = self.matched + self.unmatched + self.ambiguous;
        (all > 0).then(|| 100.0 * self.matched as f64 / all as f64)
    }
}

/// The tracer beside a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceInfo {
    /// How far it was matched with what was driven, from the first connection to the last.
    pub join: JoinCounts,
    /// Everything that it saw, counted by what became of it.
    pub ledger: TraceLedger,
    /// What watching took. Its CPU time within the driver is part of `client`.
    pub cost: TraceCost,
    /// What was not measured, and what happened to the watching.
    pub notes: Vec<String>,
}
