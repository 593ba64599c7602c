//! One call of a connection, measured or not, and what is booked of it.

use super::PoolConnection;
use crate::drive::timing::{StatementExecution, ThreadRecorder, TransactionTiming};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::Ticket;
use dbtime_load::session::StatementCall;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Parts, StatementId};

/// One call of a connection.
pub(super) enum PoolCall<'a> {
    Execute(StatementCall<'a>),
    Perform { op: ConnectionOp<'a>, statement: Option<StatementId> },
}

impl PoolCall<'_> {
    #[inline]
    fn statement(&self) -> Option<StatementId> {
        match *self {
            Self::Execute(StatementCall { statement, .. }) => Some(statement),
            Self::Perform { statement, .. } => statement,
        }
    }

    #[inline]
    fn plain<C: PoolConnection>(&self, connection: &mut C) -> Result<u64, DatabaseFailure> {
        match *self {
            Self::Execute(StatementCall { statement, parameters, needs_row }) => {
                connection.execute(statement, parameters, needs_row)
            }
            Self::Perform { op, statement } => connection.perform(op, statement),
        }
    }

    #[inline]
    fn measured<C: PoolConnection>(
        &self,
        connection: &mut C,
        parts: &mut Parts,
    ) -> (Result<u64, DatabaseFailure>, MonoNanos, MonoNanos) {
        match *self {
            Self::Execute(StatementCall { statement, parameters, needs_row }) => {
                connection.execute_measured(statement, parameters, needs_row, parts)
            }
            Self::Perform { op, statement } => connection.perform_measured(op, statement, parts),
        }
    }

    /// Makes the call and books it.
    #[inline]
    pub(super) fn make<C: PoolConnection>(
        &self,
        connection: &mut C,
        ticket: &Ticket,
        timing: &mut TransactionTiming,
        thread_recorder: &mut ThreadRecorder,
    ) -> Result<u64, DatabaseFailure> {
        let statement = self.statement();
        let mut parts = Parts::default();
        let (result, sent, done) = if timing.sampled {
            parts.measure(connection.measured());
            let handed_over = connection.is_disturbed().then(now);
            let (result, sent, done) = self.measured(connection, &mut parts);
            if let Some(handed_over) = handed_over {
                timing.held_up(handed_over, sent);
            }
            timing.parts.add_all(&parts);
            parts.close(done - sent);
            (result, sent, done)
        } else {
            let sent = now();
            let result = self.plain(connection);
            (result, sent, now())
        };
        timing.statement(sent, done);
        let rows = *result.as_ref().unwrap_or(&0);
        let took = done - sent;
        if let Some(statement) = statement {
            let executed = StatementExecution { statement, took, rows, round_trips: 1 };
            thread_recorder.statement(ticket, executed, timing.sampled.then_some(&parts));
        }
        result
    }
}
