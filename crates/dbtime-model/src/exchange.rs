//! Statements as the driver sent them, to be matched with the requests that a server was seen to
//! serve.

use crate::{MonoNanos, Nanos, Parts, Sample, StatementId};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::num::NonZeroU64;

/// What names a connection at both of its ends, as long as it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConnectionKey {
    /// The client's address and port.
    Tcp(SocketAddr),
    /// The kernel's number of the client's socket (`SO_COOKIE`).
    Unix(NonZeroU64),
}

/// A statement and its answer, on the driver's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementExchange {
    /// Its connection; `None`: it could not be named.
    pub key: Option<ConnectionKey>,
    /// What the server calls the connection, by its own greeting; `None`: it has not said.
    pub server_id: Option<u32>,
    /// The number of its transaction.
    pub transaction: u64,
    /// Which statement of the workload; `None`: a script's, which has no place in it.
    pub statement: Option<StatementId>,
    /// Before its first byte was handed to the kernel. Statements that went out together have the
    /// same instant here.
    pub sent: MonoNanos,
    /// When the last byte of its answer had been read.
    pub read: MonoNanos,
    /// How long the answer lay in the driver's socket because the driver had no CPU.
    pub late: Nanos,
}

/// A transaction that is over, as the driver saw it.
#[derive(Clone, Copy, Debug)]
pub struct DrivenTransaction {
    /// Its number.
    pub transaction: u64,
    /// Its instants and outcome.
    pub sample: Sample,
    /// Its parts, closed against its response; everything between sending a statement and reading
    /// its answer is [`Part::ServerAndWire`](crate::Part::ServerAndWire).
    pub parts: Parts,
    /// Statements of it that were sent and answered: so many exchanges were handed over before.
    pub exchanges: u32,
}

/// What a thread of the load hands over at once.
#[derive(Debug, Default)]
pub struct ExchangeBatch {
    /// Statements that were answered, in the order of their answers.
    pub exchanges: Vec<StatementExchange>,
    /// Transactions that are over; the exchanges of each are in this batch or in earlier ones of
    /// the same thread.
    pub transactions: Vec<DrivenTransaction>,
}

impl ExchangeBatch {
    /// Whether clocks can have shown its instants; a file may say anything.
    pub(crate) fn is_possible(&self) -> bool {
        let exchanges = self.exchanges.iter().all(|exchange| {
            let instants = [exchange.sent, exchange.read];
            instants.into_iter().all(MonoNanos::is_possible) && exchange.late.is_possible()
        });
        let transactions = self.transactions.iter().all(|DrivenTransaction { sample, .. }| {
            let instants = [sample.due, sample.ready, sample.sent, sample.done];
            instants.into_iter().all(MonoNanos::is_possible) && sample.late.is_possible()
        });
        exchanges && transactions
    }
}
