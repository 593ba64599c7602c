//! Chains of waits for locks: A waited for B, and what B did meanwhile.

use crate::Part;
use serde::{Deserialize, Serialize};

/// No chain is followed further than this many holders deep.
pub const MAX_CHAIN_DEPTH: usize = 8;

/// What the last holder of a chain did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChainCause {
    /// Executed, or waited for a CPU (embedded engine).
    Running,
    /// Had released the lock already, while the waiter napped (embedded engine).
    Released,
    /// A thread of the server without a connection released the lock.
    ServerThread,
    /// A timer or a signal ended the wait.
    Nobody,
    /// Not seen.
    NotKnown,
    /// All chains beyond a thousand rows.
    Others,
    /// A part of its response: `sync`, `cpu`, …; `client`: its client, in mid-transaction; `lock`:
    /// a lock whose holder is not known, or beyond eight holders.
    #[serde(untagged)]
    Part(Part),
}

/// Waiting for locks along one chain of holders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetLockChain {
    /// The statement that waited, the one its holder was at, and so on, at most nine; ` (not of
    /// this run)` marks another client's.
    pub statements: Vec<String>,
    /// What the last holder did.
    pub cause: ChainCause,
    /// Waits that had this part.
    pub count: u64,
    /// Time waited; all chains come to all waits of `lock_holders`.
    pub wait_s: f64,
}

impl BudgetLockChain {
    /// What stands behind a statement that no connection of the run executed.
    pub const OUTSIDE: &str = " (not of this run)";
}
