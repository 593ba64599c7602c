//! Transactions for tests of the sums.

use crate::join::{JoinedTransaction, JoinedWaits, RequestWaits};
use dbtime_model::exchange::DrivenTransaction;
use dbtime_model::{MonoNanos, Nanos, OperationId, Outcome, Parts, Sample, StatementId};
use std::sync::Arc;

/// A transaction of operation 0 with these parts, of which one request, of that statement, waited.
pub(super) fn waited(
    statement: Option<StatementId>,
    parts: Parts,
    waits: RequestWaits,
) -> JoinedTransaction {
    let at = MonoNanos(0);
    let (operation, outcome) = (OperationId(0), Outcome::Completed);
    let (late, retries) = (Nanos::ZERO, 0);
    let sample =
        Sample { operation, outcome, due: at, ready: at, sent: at, done: at, late, retries };
    let driven = DrivenTransaction { transaction: 1, sample, parts, exchanges: 1 };
    let waits = vec![JoinedWaits { statement, start: at, end: at, waits: Arc::new(waits) }];
    let (statements, bare, client_runq) = (Vec::new(), Vec::new(), None);
    let twice = Nanos::ZERO;
    JoinedTransaction { driven, parts, statements, bare, waits, client_runq, twice }
}
