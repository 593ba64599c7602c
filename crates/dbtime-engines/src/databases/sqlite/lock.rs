//! Who holds the database's write lock, and who waited for whom.
//!
//! Each worker notes in its own slot which statement it executes and which locks it has; a worker
//! that must wait reads the others' slots. Nobody waits for anybody here.

use super::interrupt::OpenConnections;
use super::lock_chain::{WorkerActivity, WorkerChain};
use dbtime_load::statement::Statement;
use dbtime_machine::clock;
use dbtime_model::record::{BudgetLockChain, BudgetLockHolder};
use dbtime_model::{MonoNanos, Nanos, StatementId};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Levels of the lock on the database file, as SQLite numbers them.
pub(crate) mod level {
    pub(crate) const SHARED: u8 = 1;
    pub(crate) const RESERVED: u8 = 2;
}

/// One worker's slot, on cache lines of its own: it is written once per statement.
#[derive(Debug, Default)]
#[repr(align(128))]
struct LockSlot {
    statement: AtomicU16,
    file_level: AtomicU8,
    wal_writer: AtomicU8,
    activity: AtomicU8,
    /// The worker for which it naps, if it does.
    waits_for: AtomicUsize,
}

/// The worker that gave the write lock back last, written once per writing transaction.
#[derive(Debug, Default)]
#[repr(align(128))]
struct LockHandover {
    at: AtomicU64,
    worker: AtomicUsize,
    statement: AtomicU16,
}

/// A lock found free was held by the worker that released it this short a time ago: a waiter looks
/// microseconds after SQLite told it to wait.
const JUST_RELEASED: Nanos = Nanos::from_micros(200);

/// The slots of all workers on one database.
#[derive(Debug, Default)]
pub(crate) struct LockRegistry {
    slots: Box<[LockSlot]>,
    release: LockHandover,
    /// The connections, for ending their long statements.
    pub(crate) open: OpenConnections,
}

impl LockRegistry {
    pub(crate) fn new(workers: usize) -> Self {
        let slot = |worker| LockSlot { waits_for: AtomicUsize::new(worker), ..Default::default() };
        let slots = (0..workers).map(slot).collect();
        Self { slots, ..Self::default() }
    }

    #[inline]
    pub(crate) fn publish(&self, worker: usize, statement: StatementId) {
        if let Some(slot) = self.slots.get(worker) {
            slot.statement.store(statement.0, Relaxed);
            slot.activity.store(WorkerActivity::Running as u8, Relaxed);
        }
    }

    /// What a worker does from now on.
    #[inline]
    pub(crate) fn set_activity(&self, worker: usize, activity: WorkerActivity) {
        if let Some(slot) = self.slots.get(worker) {
            slot.activity.store(activity as u8, Relaxed);
        }
    }

    /// Whom a worker naps for next; `None`: none of the others.
    pub(crate) fn set_waiting(&self, worker: usize, holder: Option<usize>) {
        if let Some(slot) = self.slots.get(worker) {
            slot.waits_for.store(holder.unwrap_or(worker), Relaxed);
        }
    }

    /// What a worker does, and whom it waits for, if it does.
    pub(crate) fn chain(&self, waiter: usize, holder: usize) -> WorkerChain {
        let (mut chain, mut at) = (WorkerChain::UNKNOWN, holder);
        while let Some(slot) = self.slots.get(at)
            && chain.push(StatementId(slot.statement.load(Relaxed)))
        {
            chain.doing = WorkerActivity::of_number(slot.activity.load(Relaxed));
            let next = slot.waits_for.load(Relaxed);
            if chain.doing != WorkerActivity::Napping || next == at || next == waiter {
                break;
            }
            at = next;
        }
        chain
    }

    #[inline]
    pub(crate) fn set_file_level(&self, worker: usize, level: u8) {
        if let Some(slot) = self.slots.get(worker) {
            if level < level::RESERVED && slot.file_level.load(Relaxed) >= level::RESERVED {
                self.note_release(worker, slot);
            }
            slot.file_level.store(level, Relaxed);
        }
    }

    #[inline]
    pub(crate) fn set_wal_writer(&self, worker: usize, holds: bool) {
        if let Some(slot) = self.slots.get(worker) {
            if !holds && slot.wal_writer.load(Relaxed) != 0 {
                self.note_release(worker, slot);
            }
            slot.wal_writer.store(u8::from(holds), Relaxed);
        }
    }

    fn note_release(&self, worker: usize, slot: &LockSlot) {
        self.release.worker.store(worker, Relaxed);
        self.release.statement.store(slot.statement.load(Relaxed), Relaxed);
        self.release.at.store(clock::now().0, Relaxed);
    }

    /// Another worker that let the write lock go while `waiter` was on its way to ask for it.
    pub(crate) fn just_released(&self, waiter: usize) -> Option<StatementId> {
        let at = MonoNanos(self.release.at.load(Relaxed));
        let is_fresh = clock::now() - at < JUST_RELEASED;
        let is_other = self.release.worker.load(Relaxed) != waiter;
        let statement = StatementId(self.release.statement.load(Relaxed));
        (is_fresh && is_other).then_some(statement)
    }

    /// Another worker that stands in the way of `waiter`: the writer, or in the rollback modes a
    /// reader (in WAL mode every connection has a shared lock on the file, and it stops nobody).
    pub(crate) fn holder(&self, waiter: usize, readers_count: bool) -> Option<usize> {
        let others = || self.slots.iter().enumerate().filter(|&(worker, _)| worker != waiter);
        let writes = |slot: &LockSlot| {
            slot.wal_writer.load(Relaxed) != 0 || slot.file_level.load(Relaxed) >= level::RESERVED
        };
        let reads =
            |slot: &LockSlot| readers_count && slot.file_level.load(Relaxed) == level::SHARED;
        let found = others()
            .find(|(_, slot)| writes(slot))
            .or_else(|| others().find(|(_, slot)| reads(slot)));
        found.map(|(worker, _)| worker)
    }
}

/// Who held the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// A worker of this run, in (or after) this statement.
    Worker(StatementId),
    /// Another process.
    Process {
        /// Its id.
        pid: u32,
        /// Its name, cut and filled with zeros as the kernel keeps it.
        name: [u8; 16],
    },
    /// It let go before it could be named, or the kernel does not tell.
    Unknown,
}

impl LockHolder {
    /// As reports name it, where the names of statements are given.
    pub(crate) fn describe(&self, statement_name: impl Fn(StatementId) -> String) -> String {
        match self {
            Self::Worker(statement) => statement_name(*statement),
            Self::Process { pid, name } => {
                let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
                format!("pid {pid} ({})", String::from_utf8_lossy(&name[..end]))
            }
            Self::Unknown => "unknown".to_owned(),
        }
    }
}

/// Naps of one statement because of one holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockAttribution {
    /// The statement that waited.
    pub waiter: StatementId,
    /// Who held the lock.
    pub holder: LockHolder,
    /// What it did when the naps began.
    pub chain: WorkerChain,
    /// How many naps.
    pub count: u64,
    /// Their wall time. Unit: nanoseconds.
    pub wait_ns: u64,
}

impl LockAttribution {
    /// Adds naps to a table. The table is short: a handful of statements wait for a handful.
    pub(crate) fn add_to(table: &mut Vec<Self>, naps: &Self) {
        let key = |row: &Self| (row.waiter, row.holder, row.chain);
        match table.iter_mut().find(|row| key(row) == key(naps)) {
            Some(row) => {
                row.count += naps.count;
                row.wait_ns += naps.wait_ns;
            }
            None => table.push(*naps),
        }
    }
}

/// The records of a table of naps, the longest waits first.
///
/// `operations` are the names of the operations, by [`dbtime_model::OperationId`].
pub fn lock_holders(
    waits: &[LockAttribution],
    statements: &[Statement],
    operations: &[String],
) -> Vec<BudgetLockHolder> {
    let name = |id| statement_name(id, statements, operations);
    let mut sorted = Vec::new();
    for row in waits {
        LockAttribution::add_to(
            &mut sorted,
            &LockAttribution { chain: WorkerChain::UNKNOWN, ..*row },
        );
    }
    sorted.sort_by_key(|row| std::cmp::Reverse(row.wait_ns));
    let record = |row: LockAttribution| BudgetLockHolder {
        waiter: name(row.waiter),
        holder: row.holder.describe(name),
        outside: None,
        lock: None,
        count: row.count,
        wait_s: row.wait_ns as f64 / 1e9,
    };
    sorted.into_iter().map(record).collect()
}

/// The records of what the holders did, likewise.
pub fn lock_chains(
    waits: &[LockAttribution],
    statements: &[Statement],
    operations: &[String],
) -> Vec<BudgetLockChain> {
    let name = |id| statement_name(id, statements, operations);
    let record = |row: &LockAttribution| {
        let mut names = vec![name(row.waiter)];
        match row.holder {
            LockHolder::Worker(_) => {
                names.extend(row.chain.statements().iter().map(|id| name(*id)))
            }
            LockHolder::Process { .. } => names.push(row.holder.describe(name)),
            LockHolder::Unknown => {}
        }
        let (cause, wait_s) = (row.chain.doing.cause(), row.wait_ns as f64 / 1e9);
        BudgetLockChain { statements: names, cause, count: row.count, wait_s }
    };
    let mut records: Vec<BudgetLockChain> = waits.iter().map(record).collect();
    records.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
    records
}

fn statement_name(id: StatementId, statements: &[Statement], operations: &[String]) -> String {
    let Some(statement) = statements.get(usize::from(id.0)) else {
        return "unknown".to_owned();
    };
    match operations.get(usize::from(statement.operation.0)) {
        Some(operation) => format!("{operation}: {}", statement.name),
        None => statement.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_is_named_before_a_reader() {
        let registry = LockRegistry::new(4);
        assert_eq!(registry.holder(0, true), None);
        registry.publish(1, StatementId(11));
        registry.set_file_level(1, level::SHARED);
        assert_eq!(registry.holder(0, false), None);
        assert_eq!(registry.holder(0, true), Some(1));
        registry.publish(3, StatementId(33));
        registry.set_wal_writer(3, true);
        assert_eq!(registry.holder(0, true), Some(3));
        assert_eq!(registry.holder(3, false), None);
        assert_eq!(registry.just_released(0), None);
        registry.set_wal_writer(3, false);
        assert_eq!(registry.just_released(0), Some(StatementId(33)));
        assert_eq!(registry.just_released(3), None);
        registry.set_file_level(1, 0);
        assert_eq!(registry.holder(0, true), None);
    }

    #[test]
    fn a_holder_that_naps_is_followed_and_no_circle_is() {
        let registry = LockRegistry::new(4);
        for worker in 0..4 {
            registry.publish(worker, StatementId(10 + worker as u16));
        }
        let statements = |chain: WorkerChain| chain.statements().iter().map(|id| id.0).collect();
        let chain = registry.chain(0, 1);
        assert_eq!((statements(chain), chain.doing), (vec![11], WorkerActivity::Running));
        registry.set_activity(1, WorkerActivity::Napping);
        registry.set_waiting(1, Some(2));
        registry.set_activity(2, WorkerActivity::Syncing);
        let chain = registry.chain(0, 1);
        assert_eq!((statements(chain), chain.doing), (vec![11, 12], WorkerActivity::Syncing));
        registry.set_activity(2, WorkerActivity::Napping);
        registry.set_waiting(2, Some(1));
        let chain = registry.chain(0, 1);
        assert_eq!(chain.doing, WorkerActivity::Napping);
        assert_eq!(chain.statements().len(), dbtime_model::record::MAX_CHAIN_DEPTH);
        registry.set_waiting(2, None);
        assert_eq!(statements(registry.chain(0, 1)), [11, 12]);
    }

    #[test]
    fn naps_of_one_pair_are_one_row() {
        let mut table = Vec::new();
        let nap = |waiter, wait_ns| LockAttribution {
            waiter: StatementId(waiter),
            holder: LockHolder::Unknown,
            chain: WorkerChain::UNKNOWN,
            count: 1,
            wait_ns,
        };
        for naps in [nap(1, 5), nap(2, 7), nap(1, 11)] {
            LockAttribution::add_to(&mut table, &naps);
        }
        assert_eq!(table.len(), 2);
        assert_eq!((table[0].count, table[0].wait_ns), (2, 16));
    }
}
