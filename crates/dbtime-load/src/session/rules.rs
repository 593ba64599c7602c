//! What all sessions of a run share: the statements, and which failures are tried again.

use crate::pipelining::{Pipelining, StatementClass};
use crate::statement::{Statement, StatementKind};
use crate::think::ThinkTime;
use dbtime_model::{ErrorClass, OperationId, StatementId};

/// Which failures are tried again, how often, and after which pause.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Classes of failure that are tried again.
    pub on: Vec<ErrorClass>,
    /// Attempts in all, the first included.
    pub max_tries: u32,
    /// The pause before the second attempt; it doubles with each further one.
    pub backoff: Option<ThinkTime>,
}

impl Default for RetryPolicy {
    /// No retries.
    fn default() -> Self {
        Self { on: Vec::new(), max_tries: 1, backoff: None }
    }
}

/// What all sessions of a run share.
#[derive(Clone, Debug)]
pub struct SessionRules {
    /// The statements of the workload, by [`StatementId`].
    pub statements: Vec<Statement>,
    /// The ROLLBACK of each operation, by [`OperationId`]; `None` where it has no transaction.
    pub rollback: Vec<Option<StatementId>>,
    /// Retries, by [`OperationId`].
    pub retry: Vec<RetryPolicy>,
    /// Seed of the run.
    pub seed: u64,
    pub(super) pipelining: Pipelining,
    pub(super) sorts: Vec<StatementClass>,
}

impl SessionRules {
    /// The rules of a workload's statements.
    pub fn new(statements: Vec<Statement>, retry: Vec<RetryPolicy>, seed: u64) -> Self {
        let rollback_of = |operation| {
            let is = |s: &Statement| s.operation == operation && s.kind == StatementKind::Rollback;
            statements.iter().position(is).map(|index| StatementId(index as u16))
        };
        let rollback = (0..retry.len()).map(|op| rollback_of(OperationId(op as u16))).collect();
        let sorts =
            statements.iter().map(|statement| StatementClass::of(&statement.kind)).collect();
        Self { statements, rollback, retry, seed, pipelining: Pipelining::Off, sorts }
    }

    /// The same rules, with statements sent ahead as far as `pipelining` lets them.
    #[must_use]
    pub fn with_pipelining(self, pipelining: Pipelining) -> Self {
        Self { pipelining, ..self }
    }
}
