//! A statement of the window as a row: what the driver saw of it, and what the server did.

use crate::join::{BareStatement, JoinedStatement, ServerAnswer, StatementMatch};
use dbtime_model::exchange::{DrivenTransaction, StatementExchange};
use dbtime_model::{MonoNanos, Nanos, OperationId, Outcome, Part, Parts, StatementId};

/// A statement of the window. Instants and durations are nanoseconds, instants from the beginning
/// of the window.
#[derive(Clone, Debug)]
pub(crate) struct ExecutionRow {
    /// The number of its transaction.
    pub(super) transaction: u64,
    pub(super) operation: OperationId,
    pub(super) statement: Option<StatementId>,
    /// What became of its transaction.
    pub(super) outcome: Outcome,
    pub(super) matched: StatementMatch,
    /// Its connection, from 0 in the order of first sight; `None`: it could not be named.
    pub(super) connection: Option<u32>,
    /// When its transaction was due.
    pub(super) due: i64,
    pub(super) sent: i64,
    pub(super) received: i64,
    /// How long its answer lay in the driver's socket because the driver had no CPU.
    pub(super) late: i64,
    /// What is known of it on the server; `None`: it has no parts of its own.
    pub(super) served: Option<ServedStatement>,
}

/// The server's side of a statement.
#[derive(Clone, Debug)]
pub(super) struct ServedStatement {
    pub(super) parts: Parts,
    /// What others took on its connection of the time between sending it and reading its answer.
    pub(super) overlap: i64,
    /// How much of the wire was the way to the server, where that is known better than it is long.
    pub(super) way_out: Option<i64>,
    /// How much was the way back, likewise.
    pub(super) way_back: Option<i64>,
    /// How long its answer waited for a driver without a CPU, likewise.
    pub(super) client_runq: Option<Nanos>,
    pub(super) answer: ServerAnswer,
}

impl ExecutionRow {
    /// Of a statement that has parts. The window of its run begins at `window`; the clocks of both
    /// sides are known to be apart to `known_to` nanoseconds.
    pub(crate) fn joined(
        driven: &DrivenTransaction,
        statement: JoinedStatement,
        window: MonoNanos,
        known_to: i64,
    ) -> Self {
        let JoinedStatement { exchange, parts, way_out, client_runq, answer, .. } = statement;
        let row = Self::of(driven, &exchange, StatementMatch::Matched, window);
        let overlap = row.received - row.sent - row.late - parts.total();
        let is_known = |way: &i64| known_to == 0 || way.abs() > known_to;
        let way_back = way_out.map(|out| parts.get(Part::Wire) - out).filter(is_known);
        let way_out = way_out.filter(is_known);
        let served = ServedStatement { parts, overlap, way_out, way_back, client_runq, answer };
        Self { served: Some(served), ..row }
    }

    /// Of one that has none.
    pub(crate) fn bare(
        driven: &DrivenTransaction,
        statement: &BareStatement,
        window: MonoNanos,
    ) -> Self {
        Self::of(driven, &statement.exchange, statement.outcome, window)
    }

    fn of(
        driven: &DrivenTransaction,
        exchange: &StatementExchange,
        matched: StatementMatch,
        window: MonoNanos,
    ) -> Self {
        let from_window = |at: MonoNanos| at.0.cast_signed() - window.0.cast_signed();
        let sample = &driven.sample;
        Self {
            transaction: driven.transaction,
            operation: sample.operation,
            statement: exchange.statement,
            outcome: sample.outcome,
            matched,
            connection: None,
            due: from_window(sample.due),
            sent: from_window(exchange.sent),
            received: from_window(exchange.read),
            late: exchange.late.signed(),
            served: None,
        }
    }
}
