//! Waits of a traced run for locks, by the chain of what their holders did meanwhile.

use super::chain_walk::{TimeStretch, pieces};
use super::holder_history::{ChainWait, HolderHistory, TextNumber};
use super::own_connections::OwnConnections;
use crate::join::{JoinedTransaction, JoinedWaits};
use crate::workload_names::WorkloadNames;
use dbtime_model::record::{BudgetLockChain, ChainCause};
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Nanos, OperationId, StatementId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// More rows than this are not kept: what comes later has one together.
const MAX_ROWS: usize = 1_000;

/// More waits than this do not wait for what their holders did.
const MAX_PENDING: usize = 20_000;

/// So long after a wait what its holder did has come: a statement comes when it has ended.
const SETTLED_AFTER: Nanos = Nanos::from_millis(500);

/// Sums of waits by chain.
#[derive(Debug, Default)]
pub(super) struct LockChainTotals {
    history: HolderHistory,
    /// In the order in which their transactions were joined.
    pending: VecDeque<PendingWait>,
    rows: FxHashMap<ChainKey, ChainSum>,
    others: ChainSum,
}

/// A wait whose holders are not all seen yet.
#[derive(Debug)]
struct PendingWait {
    waiter: (OperationId, Option<StatementId>),
    request: TimeStretch,
    wait: ChainWait,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ChainKey {
    waiter: (OperationId, Option<StatementId>),
    holders: Vec<TextNumber>,
    cause: ChainCause,
}

#[derive(Clone, Copy, Debug, Default)]
struct ChainSum {
    count: u64,
    ns: f64,
}

impl LockChainTotals {
    /// Keeps what a request did: others may have waited for it.
    pub(super) fn request(&mut self, request: &TracedRequest) {
        self.history.add(request);
    }

    /// Adds the waits of a transaction.
    pub(super) fn add(&mut self, transaction: &JoinedTransaction) {
        let operation = transaction.driven.sample.operation;
        for JoinedWaits { statement, start, end, waits } in &transaction.waits {
            let Some(blocker) = &waits.blocker else { continue };
            let wait = self.history.wait(blocker);
            let request = TimeStretch { from: *start, until: *end };
            let waiter = (operation, *statement);
            self.pending.push_back(PendingWait { waiter, request, wait });
        }
    }

    /// Splits the waits whose holders have been seen by now.
    pub(super) fn settle(&mut self, present: MonoNanos, own: &OwnConnections) {
        let is_settled = |wait: &PendingWait| wait.request.until + SETTLED_AFTER <= present;
        while self.pending.len() > MAX_PENDING || self.pending.front().is_some_and(is_settled) {
            self.split_first(own);
        }
    }

    fn split_first(&mut self, own: &OwnConnections) {
        let Some(PendingWait { waiter, request, wait }) = self.pending.pop_front() else { return };
        for piece in pieces(&wait, request, &self.history, own) {
            let key = ChainKey { waiter, holders: piece.holders, cause: piece.cause };
            let is_kept = self.rows.len() < MAX_ROWS || self.rows.contains_key(&key);
            let sum = if is_kept { self.rows.entry(key).or_default() } else { &mut self.others };
            sum.count += 1;
            sum.ns += piece.ns;
        }
    }

    /// The records, the longest waits first.
    pub(super) fn records(
        mut self,
        names: &WorkloadNames,
        own: &OwnConnections,
    ) -> Vec<BudgetLockChain> {
        while !self.pending.is_empty() {
            self.split_first(own);
        }
        let texts = &self.history.texts;
        // Texts of one name are one.
        let mut sums = BTreeMap::<(Vec<String>, ChainCause), ChainSum>::new();
        for (key, sum) in self.rows {
            let holder = |number: &TextNumber| {
                let of_run = |text| match number.is_outside() {
                    true => text,
                    false => names.of_fingerprint(text),
                };
                let name = match texts.text(*number) {
                    Some("") => "a statement whose text is not known",
                    Some(text) => of_run(text),
                    None => "another statement",
                };
                let whose = if number.is_outside() { BudgetLockChain::OUTSIDE } else { "" };
                format!("{name}{whose}")
            };
            let waiter = names.name(key.waiter.0, key.waiter.1);
            let statements = [waiter].into_iter().chain(key.holders.iter().map(holder)).collect();
            let total = sums.entry((statements, key.cause)).or_default();
            total.count += sum.count;
            total.ns += sum.ns;
        }
        if self.others.count > 0 {
            sums.insert((Vec::new(), ChainCause::Others), self.others);
        }
        let record = |((statements, cause), sum): ((Vec<String>, ChainCause), ChainSum)| {
            BudgetLockChain { statements, cause, count: sum.count, wait_s: sum.ns / 1e9 }
        };
        let mut records: Vec<_> = sums.into_iter().map(record).collect();
        records.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
        records
    }
}

#[cfg(test)]
mod tests {
    use super::super::lock_holder_totals::tests::{blocker, waited};
    use super::*;
    use dbtime_load::workload::Workload;
    use dbtime_sql::LexicalRules;

    #[test]
    fn all_chains_together_are_all_waits() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let mut totals = LockChainTotals::default();
        for number in 0..MAX_ROWS as u64 + 50 {
            let mut wait = blocker(Some(&format!("CALL p{number}")), 1_000);
            wait.connection = (number % 3 > 0).then_some(number);
            totals.add(&waited(1, wait));
        }
        let own = OwnConnections::default();
        totals.settle(MonoNanos(0), &own);
        assert!(totals.rows.is_empty(), "{:?}", totals.rows);
        totals.settle(MonoNanos(SETTLED_AFTER.0 + 1), &own);
        assert!(totals.pending.is_empty());
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let records = totals.records(&names, &own);
        assert!(records.len() <= MAX_ROWS + 1);
        let sum: f64 = records.iter().map(|row| row.wait_s).sum();
        assert!((sum - (MAX_ROWS as f64 + 50.0) * 1e-6).abs() < 1e-12, "{sum}");
        let of_threads = records.iter().find(|row| row.cause == ChainCause::ServerThread);
        let of_threads = of_threads.expect("a third of them");
        assert_eq!(
            (of_threads.count, &of_threads.statements[..]),
            (350, &["tpcb: update account".to_owned()][..])
        );
    }

    #[test]
    fn a_holder_that_is_somebody_else_s_is_marked() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let mut totals = LockChainTotals::default();
        for connection in [1, 2] {
            let mut wait = blocker(Some("COMMIT"), 1_000);
            wait.connection = Some(connection);
            totals.add(&waited(1, wait));
        }
        let mut own = OwnConnections::default();
        own.add(1);
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let mut holders: Vec<_> = totals
            .records(&names, &own)
            .into_iter()
            .filter_map(|mut row| row.statements.pop())
            .collect();
        holders.sort();
        let outside = format!("COMMIT{}", BudgetLockChain::OUTSIDE);
        assert_eq!(holders, [outside, "tpcb: commit".to_owned()]);
    }
}
