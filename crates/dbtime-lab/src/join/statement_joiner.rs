//! The joiner: takes both sides as they come and decides what can be decided.

use super::connection_timeline::{ConnectionTimeline, END_OF_TIME};
use super::exchange_group::ExchangeGroup;
use super::joined_transaction::{JoinedTransaction, LeftOutTransaction, StatementMatch};
use super::relayed_connections::{ConnectionTimelines, RelayedConnections};
use super::served_request::ServedRequest;
use super::transaction_ledger::TransactionLedger;
use dbtime_model::MonoNanos;
use dbtime_model::exchange::{ConnectionKey, DrivenTransaction, StatementExchange};
use dbtime_model::record::JoinCounts;
use dbtime_model::traced::TracedRequest;

/// Matches the driver's statements with the server's requests.
///
/// Both sides may come in any interleaving. On each connection exchanges come in the order in which
/// they were sent, and requests in that of their starts. A transaction comes after its exchanges.
///
/// An exchange is decided when the next exchange on its connection or the end of its transaction,
/// and a request that started after its answer was read, have come; or by [`settle`](Self::settle),
/// or at the end. A transaction is decided when all its exchanges are. What is decided takes no
/// memory but in the transactions that nobody has taken.
#[derive(Debug, Default)]
pub struct StatementJoiner {
    connections: ConnectionTimelines,
    relayed: RelayedConnections,
    ledger: TransactionLedger,
    /// All that was read or had ended before is here.
    settled: MonoNanos,
    /// Kept for its memory.
    group: ExchangeGroup,
    /// Whether it is of no meaning when answers came to the driver's socket.
    ignores_arrivals: bool,
}

impl StatementJoiner {
    /// A joiner that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on answers are on their way until they are read: the driver leaves them in its
    /// socket for as long as a network would take, or nobody knows which socket it is.
    pub fn ignore_arrivals(&mut self) {
        self.ignores_arrivals = true;
    }

    /// Takes a statement of the driver.
    pub fn exchange(&mut self, exchange: StatementExchange) {
        self.ledger.add_exchange(&exchange);
        match exchange.key {
            None => self.ledger.leave_out(&exchange, StatementMatch::Unmatched),
            // Requests of it may have been dropped.
            Some(_) if exchange.read < self.settled => {
                self.ledger.leave_out(&exchange, StatementMatch::Ambiguous);
            }
            Some(key) => {
                self.relayed.note_exchange(key, &exchange, &mut self.connections);
                self.connections.entry(key).or_default().push_exchange(exchange);
                self.decide(key);
            }
        }
    }

    /// Takes a transaction of the driver that is over.
    pub fn transaction(&mut self, driven: DrivenTransaction) {
        let number = driven.transaction;
        for key in self.ledger.add_driven(driven) {
            if let Some(connection) = self.connections.get_mut(&key) {
                connection.complete(number);
                self.decide(key);
            }
        }
    }

    /// Takes a request of the server.
    pub fn request(&mut self, request: &TracedRequest) {
        let Some(key) = request.connection_key() else {
            return self.ledger.count_dropped(1, false);
        };
        let driven = self.relayed.key_of(key, request.server_id(), &self.connections);
        let connection = self.connections.entry(driven).or_default();
        if driven == key {
            connection.note_direct();
        }
        let mut served = ServedRequest::new(request);
        served.answer_arrived = served.answer_arrived.filter(|_| !self.ignores_arrivals);
        connection.push_request(served);
        self.decide(driven);
    }

    /// Whether the driver has used the connection of this name, and of the server's number, as far
    /// as that is known by now.
    pub fn drives(&mut self, key: ConnectionKey, server_id: Option<u64>) -> bool {
        let driven = self.relayed.key_of(key, server_id, &self.connections);
        self.connections.get(&driven).is_some_and(ConnectionTimeline::is_drivers)
    }

    /// Declares that both sides have handed over what was over before `at`: exchanges whose answers
    /// were read, and requests that had ended. Where the two sides come while they run, this bounds
    /// what is kept of connections that are closed or idle, or none of the driver's. An exchange
    /// that was read before and comes later is ambiguous. One that is still in flight may have been
    /// sent at any time.
    ///
    /// Kept beyond `at` are the statements of transactions that are not over, and on a driver's
    /// connection what it has prepared last and not executed.
    pub fn settle(&mut self, at: MonoNanos) {
        self.settled = self.settled.max(at);
        let keys: Vec<ConnectionKey> = self.connections.keys().copied().collect();
        for key in keys {
            self.decide(key);
            if self.connections.get(&key).is_some_and(ConnectionTimeline::is_empty) {
                self.connections.remove(&key);
            }
        }
        self.relayed.forget(&self.connections);
    }

    /// Takes the transactions that were joined since the last time, in the order in which they were
    /// decided.
    pub fn take_joined(&mut self) -> impl Iterator<Item = JoinedTransaction> + '_ {
        self.ledger.joined.drain(..)
    }

    /// Takes the transactions that were left out since the last time, likewise.
    pub fn take_left_out(&mut self) -> impl Iterator<Item = LeftOutTransaction> + '_ {
        self.ledger.left_out.drain(..)
    }

    /// How far the sides have matched, so far.
    pub fn counts(&self) -> JoinCounts {
        self.ledger.counts
    }

    /// Decides what is left: nothing more will come. What was decided can be taken, and the counts
    /// are final. A transaction that the driver never handed over is in neither.
    pub fn decide_rest(&mut self) {
        self.settle(END_OF_TIME);
    }

    /// Decides what is left, and returns the transactions that were joined since the last time, and
    /// all counts.
    #[cfg(test)]
    pub(super) fn finish(mut self) -> (Vec<JoinedTransaction>, JoinCounts) {
        self.decide_rest();
        (self.ledger.joined, self.ledger.counts)
    }

    /// Decides what can be decided on a connection.
    fn decide(&mut self, key: ConnectionKey) {
        let Self { connections, ledger, group, settled, .. } = self;
        let Some(connection) = connections.get_mut(&key) else { return };
        loop {
            let dropped = connection.drop_outside(*settled);
            ledger.count_dropped(dropped, connection.is_drivers());
            if !connection.next_group(*settled, group) {
                break;
            }
            ledger.add_group(group);
        }
    }

    /// How many exchanges, requests and transactions are kept because they are undecided.
    #[cfg(test)]
    pub(super) fn undecided(&self) -> usize {
        let kept = self.connections.values().map(ConnectionTimeline::len);
        kept.sum::<usize>() + self.ledger.pending()
    }
}
