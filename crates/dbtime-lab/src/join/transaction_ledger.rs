//! The transactions that are not decided, those that are, and the counts of all.

use super::exchange_group::ExchangeGroup;
use super::joined_transaction::{JoinedTransaction, LeftOutTransaction, StatementMatch};
use super::pending_transaction::PendingTransaction;
use dbtime_model::Parts;
use dbtime_model::exchange::{ConnectionKey, DrivenTransaction, StatementExchange};
use dbtime_model::record::JoinCounts;
use rustc_hash::FxHashMap;

/// Books exchanges to their transactions.
#[derive(Debug, Default)]
pub(super) struct TransactionLedger {
    pending: FxHashMap<u64, PendingTransaction>,
    /// Those that are joined, in the order in which they were decided.
    pub(super) joined: Vec<JoinedTransaction>,
    /// The others, likewise.
    pub(super) left_out: Vec<LeftOutTransaction>,
    pub(super) counts: JoinCounts,
    /// Kept for its memory.
    slices: Vec<Parts>,
}

impl TransactionLedger {
    /// An exchange has come. It is to be decided.
    pub(super) fn add_exchange(&mut self, exchange: &StatementExchange) {
        self.pending.entry(exchange.transaction).or_default().add_exchange(exchange.key);
    }

    /// A transaction is over. Returns the connections that it used.
    pub(super) fn add_driven(&mut self, driven: DrivenTransaction) -> Vec<ConnectionKey> {
        let number = driven.transaction;
        let keys = self.pending.entry(number).or_default().add_driven(driven);
        self.release(number);
        keys
    }

    /// Decides the exchanges of a group.
    pub(super) fn add_group(&mut self, group: &ExchangeGroup) {
        match group.verdict() {
            StatementMatch::Matched => self.add_matched(group),
            verdict => group.exchanges().iter().for_each(|exchange| {
                self.leave_out(exchange, verdict);
            }),
        }
    }

    /// Decides an exchange that is not matched.
    pub(super) fn leave_out(&mut self, exchange: &StatementExchange, outcome: StatementMatch) {
        match outcome {
            StatementMatch::Matched | StatementMatch::Unsplit => self.counts.matched += 1,
            StatementMatch::Unmatched => self.counts.unmatched += 1,
            StatementMatch::Ambiguous => self.counts.ambiguous += 1,
        }
        if let Some(pending) = self.pending.get_mut(&exchange.transaction) {
            pending.leave_out(exchange, outcome);
            self.release(exchange.transaction);
        }
    }

    /// Counts requests that no exchange contains.
    pub(super) fn count_dropped(&mut self, requests: u64, is_drivers: bool) {
        match is_drivers {
            true => self.counts.outside += requests,
            false => self.counts.foreign += requests,
        }
    }

    /// Decides the exchanges of a group that is matched: all are of one transaction.
    fn add_matched(&mut self, group: &ExchangeGroup) {
        let Some(first) = group.exchanges().first() else { return };
        let exchanges = group.exchanges().len();
        self.counts.matched += exchanges as u64;
        if group.has_arrival() {
            self.counts.arrived += exchanges as u64;
        }
        let Some(pending) = self.pending.get_mut(&first.transaction) else { return };
        if !pending.add_matched(group, &mut self.slices) {
            self.counts.unsplit += exchanges as u64;
        }
        self.release(first.transaction);
    }

    /// Hands a transaction on if it is decided.
    fn release(&mut self, number: u64) {
        if !self.pending.get(&number).is_some_and(PendingTransaction::is_decided) {
            return;
        }
        match self.pending.remove(&number).and_then(PendingTransaction::join) {
            Some(Ok(joined)) => {
                self.counts.transactions += 1;
                self.joined.push(joined);
            }
            Some(Err(left_out)) => {
                self.counts.left_out += 1;
                self.left_out.push(left_out);
            }
            None => {}
        }
    }

    /// How many transactions are undecided.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }
}
