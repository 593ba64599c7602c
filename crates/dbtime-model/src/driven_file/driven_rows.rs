//! The rows of a block: instants as steps from one to the next, connections once a block.

use crate::exchange::{ConnectionKey, DrivenTransaction, ExchangeBatch, StatementExchange};
use crate::{MonoNanos, Nanos, OperationId, Outcome, Parts, Sample, StatementId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The rows of a block.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct DrivenRows {
    connections: Vec<DrivenConnection>,
    exchanges: Vec<ExchangeRow>,
    transactions: Vec<DrivenTransactionRow>,
}

/// What a connection is called at both of its ends, as far as that is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct DrivenConnection {
    key: Option<ConnectionKey>,
    server_id: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct ExchangeRow {
    /// Its place among the connections.
    connection: u32,
    /// From the number in the row before.
    transaction: i64,
    statement: Option<u16>,
    /// From the instant in the row before.
    sent: i64,
    /// From `sent`.
    read: i64,
    late: u64,
}

#[derive(Serialize, Deserialize)]
struct DrivenTransactionRow {
    /// From the number in the row before.
    transaction: i64,
    operation: u16,
    outcome: Outcome,
    /// From the instant in the row before.
    due: i64,
    /// From `due`.
    ready: i64,
    /// From `ready`.
    sent: i64,
    /// From `sent`.
    done: i64,
    late: u64,
    retries: u32,
    exchanges: u32,
    parts: Parts,
}

/// From one number to another; [`add`] undoes it whatever they are.
fn step(from: u64, to: u64) -> i64 {
    to.wrapping_sub(from).cast_signed()
}

fn add(from: u64, step: i64) -> u64 {
    from.wrapping_add(step.cast_unsigned())
}

impl DrivenRows {
    pub(super) fn of(batch: &ExchangeBatch) -> Self {
        let mut rows = Self::default();
        let mut places = FxHashMap::default();
        let (mut number, mut instant) = (0, 0);
        rows.exchanges.extend(batch.exchanges.iter().map(|exchange| {
            let StatementExchange { key, server_id, transaction, statement, sent, read, late } =
                *exchange;
            let connection = DrivenConnection { key, server_id };
            let connection = *places.entry(connection).or_insert_with(|| {
                rows.connections.push(connection);
                rows.connections.len() as u32 - 1
            });
            let row = ExchangeRow {
                connection,
                transaction: step(number, transaction),
                statement: statement.map(|id| id.0),
                sent: step(instant, sent.0),
                read: step(sent.0, read.0),
                late: late.0,
            };
            (number, instant) = (transaction, sent.0);
            row
        }));
        let (mut number, mut instant) = (0, 0);
        rows.transactions.extend(batch.transactions.iter().map(|driven| {
            let row = DrivenTransactionRow::of(driven, number, instant);
            (number, instant) = (driven.transaction, driven.sample.due.0);
            row
        }));
        rows
    }

    /// The batch; `None`: a row's connection is not among them.
    pub(super) fn into_batch(self) -> Option<ExchangeBatch> {
        let (mut number, mut instant) = (0, 0);
        let exchanges = self.exchanges.into_iter().map(|row| {
            let DrivenConnection { key, server_id } =
                *self.connections.get(row.connection as usize)?;
            number = add(number, row.transaction);
            instant = add(instant, row.sent);
            Some(StatementExchange {
                key,
                server_id,
                transaction: number,
                statement: row.statement.map(StatementId),
                sent: MonoNanos(instant),
                read: MonoNanos(add(instant, row.read)),
                late: Nanos(row.late),
            })
        });
        let exchanges = exchanges.collect::<Option<Vec<_>>>()?;
        let (mut number, mut instant) = (0, 0);
        let transactions = self.transactions.into_iter().map(|row| {
            let driven = row.driven(number, instant);
            (number, instant) = (driven.transaction, driven.sample.due.0);
            driven
        });
        Some(ExchangeBatch { exchanges, transactions: transactions.collect() })
    }
}

impl DrivenTransactionRow {
    /// Behind a row of this number, due at this instant.
    fn of(driven: &DrivenTransaction, number: u64, instant: u64) -> Self {
        let sample = &driven.sample;
        Self {
            transaction: step(number, driven.transaction),
            operation: sample.operation.0,
            outcome: sample.outcome,
            due: step(instant, sample.due.0),
            ready: step(sample.due.0, sample.ready.0),
            sent: step(sample.ready.0, sample.sent.0),
            done: step(sample.sent.0, sample.done.0),
            late: sample.late.0,
            retries: sample.retries,
            exchanges: driven.exchanges,
            parts: driven.parts,
        }
    }

    fn driven(self, number: u64, instant: u64) -> DrivenTransaction {
        let due = add(instant, self.due);
        let ready = add(due, self.ready);
        let sent = add(ready, self.sent);
        let sample = Sample {
            operation: OperationId(self.operation),
            outcome: self.outcome,
            due: MonoNanos(due),
            ready: MonoNanos(ready),
            sent: MonoNanos(sent),
            done: MonoNanos(add(sent, self.done)),
            late: Nanos(self.late),
            retries: self.retries,
        };
        let transaction = add(number, self.transaction);
        DrivenTransaction { transaction, sample, parts: self.parts, exchanges: self.exchanges }
    }
}
