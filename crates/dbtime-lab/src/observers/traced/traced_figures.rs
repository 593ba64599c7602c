//! What comes of the transactions of a run's window that were traced.

use super::cpu_holder_totals::CpuHolderTotals;
use super::cpu_owners::CpuOwners;
use super::file_totals::FileTotals;
use super::lock_chain_totals::LockChainTotals;
use super::lock_holder_totals::LockHolderTotals;
use super::own_connections::OwnConnections;
use super::stack_totals::{FoundStacks, StackTotals};
use crate::join::JoinedTransaction;
use crate::run_trace::TracedTables;
use crate::workload_names::WorkloadNames;
use dbtime_model::traced::TracedRequest;
use dbtime_model::{MonoNanos, Nanos, Recorder};

/// Their parts, and whom and what they waited for.
pub(super) struct TracedFigures {
    recorder: Recorder,
    owners: CpuOwners,
    pub(super) own: OwnConnections,
    lock_holders: LockHolderTotals,
    lock_chains: LockChainTotals,
    cpu_holders: CpuHolderTotals,
    files: FileTotals,
    stacks: StackTotals,
    /// How long answers waited for a driver without a CPU; `None`: that was seen of none.
    client_runq: Option<Nanos>,
}

impl TracedFigures {
    /// Of a run whose threads' owners are known by `owners`.
    pub(super) fn new(recorder: Recorder, owners: CpuOwners) -> Self {
        let (lock_holders, lock_chains, cpu_holders, files, stacks) = Default::default();
        Self {
            recorder,
            owners,
            own: OwnConnections::default(),
            lock_holders,
            lock_chains,
            cpu_holders,
            files,
            stacks,
            client_runq: None,
        }
    }

    /// Notes what a request did, which others may have waited for, and whose threads it waited for.
    pub(super) fn request(&mut self, request: &TracedRequest) {
        self.own.saw(request);
        self.owners.request(request);
        self.lock_chains.request(request);
    }

    /// Adds a transaction, if it belongs to the window.
    pub(super) fn add(&mut self, transaction: &JoinedTransaction) {
        transaction.record(&mut self.recorder);
        let served = transaction.statements.iter().filter_map(|one| one.answer.served.as_ref());
        served.for_each(|served| self.own.add(served.connection));
        if self.recorder.window().contains(transaction.driven.sample.due) {
            self.lock_holders.add(transaction, &self.own);
            self.lock_chains.add(transaction);
            self.cpu_holders.add(transaction, &self.owners);
            self.files.add(transaction);
            self.stacks.add(transaction);
            if let Some(runq) = transaction.client_runq {
                *self.client_runq.get_or_insert(Nanos::ZERO) += runq;
            }
        }
    }

    /// The mean of what was seen of answers that waited for a driver without a CPU: of all
    /// transactions, as the parts are. Unit: microseconds of a transaction.
    pub(super) fn client_runq_us(&self) -> Option<f64> {
        let runq = self.client_runq?;
        let budget = self.recorder.budget();
        Some(runq.as_micros() / budget.count.max(1) as f64)
    }

    /// Splits the waits for locks whose holders have been seen by now.
    pub(super) fn settle(&mut self, present: MonoNanos) {
        self.lock_chains.settle(present, &self.own);
    }

    /// The parts, and the tables for the record; `found`: what stacks are called, where they were
    /// traced.
    pub(super) fn finish(
        self,
        names: &WorkloadNames,
        found: Option<&FoundStacks>,
    ) -> (Recorder, TracedTables) {
        let tables = TracedTables {
            lock_holders: self.lock_holders.records(names, &self.own),
            lock_chains: Some(self.lock_chains.records(names, &self.own)),
            cpu_holders: Some(self.cpu_holders.records()),
            file_waits: Some(self.files.records(names)),
            stacks: found.map(|found| self.stacks.records(found)),
        };
        (self.recorder, tables)
    }
}
