//! Chains of waits for locks: A waited for B, and what B did meanwhile.

use crate::Part;
use serde::{Deserialize, Serialize};

/// No chain is followed further than this many holders deep.
pub const MAX_CHAIN_DEPTH: usize = 8;

/// What the last holder of a chain did, or why nothing is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainCause {
    /// It executed its statement: on a CPU, or waiting for one (embedded engine).
    Running,
    /// It had let the lock go already: the waiter napped on (embedded engine).
    Released,
    /// The lock was let go by a thread of the server that serves no connection.
    ServerThread,
    /// A timer or a signal ended the wait.
    Nobody,
    /// What the holder did was not seen.
    NotKnown,
    /// All chains beyond a thousand rows.
    Others,
    /// A part of its response: `sync`, `cpu`, …; `client`: it waited for its client, in
    /// mid-transaction; `lock`: for a lock whose holder is not known, or is further down than eight
    /// holders.
    #[serde(untagged)]
    Part(Part),
}

/// Waiting for locks along one chain of holders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetLockChain {
    /// The statement that waited, the one that its holder was at, the one that the holder of that
    /// was at, …, at most eight holders: names of the workload or texts without literals. A holder
    /// that waited for its client stands with its statement before that. Behind a statement that no
    /// connection of the run executed stands ` (not of this run)`.
    pub statements: Vec<String>,
    /// What the last of them did.
    pub cause: ChainCause,
    /// In how many waits this was a part.
    pub count: u64,
    /// How long was waited, in seconds. All chains together are all waits of `lock_holders`.
    pub wait_s: f64,
}

impl BudgetLockChain {
    /// What stands behind a statement that no connection of the run executed.
    pub const OUTSIDE: &str = " (not of this run)";
}
