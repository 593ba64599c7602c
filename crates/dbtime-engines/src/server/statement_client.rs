//! A server's connection for one statement after the other: its rows go by and are not kept.

use super::statement_connection::{
    ExecutionInstants, PreparedForm, RowVisitor, StatementAnswer, StatementBound,
    StatementConnection,
};
use crate::socket::{ExchangeBound, Protocol, QueryTable, SocketClient};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_model::exchange::ConnectionKey;

/// A protocol that can hand rows over as they come.
pub(crate) trait RowStreamer: Protocol {
    /// From here on the rows of what [`Protocol::perform`] asks for are held until
    /// [`Self::hand_over`], and are no part of its results.
    fn stream_rows(&mut self);

    /// Hands over what has come since the last time.
    fn hand_over(&mut self, rows: &mut dyn RowVisitor);

    /// Rows of the last request that are not handed over, for they are too long.
    fn unlisted_rows(&self) -> u64;

    /// The statement that was just prepared under this handle.
    fn described(&self, handle: u32) -> PreparedForm;
}

/// One connection, and which handles of statements are free on it.
pub(crate) struct StatementClient<P: Protocol> {
    client: SocketClient<P>,
    /// Handles of statements that were forgotten.
    free: Vec<u32>,
    /// The first handle that was never used.
    next: u32,
}

impl StatementBound {
    /// The same for a connection, whatever the length of its answers.
    pub(crate) fn exchanges(&self) -> ExchangeBound {
        ExchangeBound::within(self.limit).or_until(&self.stop).of_any_length()
    }
}

impl<P: RowStreamer> StatementClient<P> {
    /// Takes a connection over.
    pub(crate) fn new(mut client: SocketClient<P>) -> Self {
        client.protocol_mut().stream_rows();
        Self { client, free: Vec::new(), next: 0 }
    }

    fn perform(
        &mut self,
        op: ConnectionOp<'_>,
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        let answer = self.client.perform(op, |protocol| protocol.hand_over(rows))?;
        Ok(ExecutionInstants {
            sent: answer.sent,
            done: answer.done,
            rows: answer.rows,
            bytes: answer.bytes,
            unlisted_rows: self.client.protocol().unlisted_rows(),
        })
    }
}

impl<P: RowStreamer> StatementConnection for StatementClient<P> {
    fn prepare(&mut self, sql: &str) -> StatementAnswer<PreparedForm> {
        let handle = self.free.pop().unwrap_or(self.next);
        self.next = self.next.max(handle + 1);
        match self.perform(ConnectionOp::Prepare { handle, sql }, &mut ()) {
            Ok(_) => Ok(self.client.protocol().described(handle)),
            Err(failure) => {
                self.free.push(handle);
                Err(failure)
            }
        }
    }

    fn execute(
        &mut self,
        form: &PreparedForm,
        parameters: &[SqlValue],
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        if let Some(count) = form.parameters.filter(|count| *count != parameters.len()) {
            let failure =
                DatabaseFailure::parameters("parameters", "07001", count, parameters.len());
            return Err(Box::new(failure));
        }
        let op = ConnectionOp::Execute { handle: form.handle, parameters, keeps_rows: true };
        self.perform(op, rows)
    }

    fn run_text(
        &mut self,
        sql: &str,
        rows: &mut dyn RowVisitor,
    ) -> StatementAnswer<ExecutionInstants> {
        self.perform(ConnectionOp::Query(sql), rows)
    }

    fn table(&mut self, sql: &str) -> StatementAnswer<QueryTable> {
        let answer = self.client.query(sql);
        self.client.unless_lost(answer).map(|(table, _)| table)
    }

    fn forget(&mut self, form: PreparedForm) {
        // One that the server may still know is not prepared again under its handle.
        if self.perform(ConnectionOp::Close { handle: form.handle }, &mut ()).is_ok() {
            self.free.push(form.handle);
        }
    }

    fn number(&self) -> Option<u32> {
        self.client.protocol().number()
    }

    fn key(&self) -> Option<ConnectionKey> {
        self.client.key()
    }

    fn is_given_up(&self) -> bool {
        self.client.is_given_up()
    }
}
