//! Waits of a traced run for locks, by who let these go.

use crate::join::JoinedTransaction;
use crate::workload_names::WorkloadNames;
use dbtime_model::record::BudgetLockHolder;
use dbtime_model::traced::Blocker;
use dbtime_model::{Nanos, OperationId, StatementId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// More rows than this are not kept: statements without their literals are few. Where they are not,
/// what comes later has one row for each operation.
const MAX_ROWS: usize = 1_000;

/// Sums of waits.
#[derive(Debug, Default)]
pub(super) struct LockHolderTotals {
    rows: FxHashMap<LockWaitKey, LockWaitSum>,
}

/// Who waited for whom.
#[derive(Debug, PartialEq, Eq, Hash)]
struct LockWaitKey {
    operation: OperationId,
    statement: Option<StatementId>,
    holder: LockReleaser,
    lock: Option<Cow<'static, str>>,
}

/// Who let a lock go.
#[derive(Debug, PartialEq, Eq, Hash)]
enum LockReleaser {
    /// A timer or a signal ended the wait.
    Nobody,
    /// A connection at this statement.
    Statement(Arc<str>),
    /// A connection whose statement is not known.
    Connection,
    /// A thread that served no connection.
    ServerThread,
    /// Those for which there was no row.
    Others,
}

#[derive(Debug, Default)]
struct LockWaitSum {
    count: u64,
    length: Nanos,
}

impl LockHolderTotals {
    /// Adds the waits of a transaction.
    pub(super) fn add(&mut self, transaction: &JoinedTransaction) {
        for wait in &transaction.waits {
            let Some(blocker) = &wait.waits.blocker else { continue };
            let key = LockWaitKey {
                operation: transaction.driven.sample.operation,
                statement: wait.statement,
                holder: LockReleaser::of(blocker),
                lock: blocker.lock.clone(),
            };
            let is_kept = self.rows.len() < MAX_ROWS || self.rows.contains_key(&key);
            let key = if is_kept { key } else { LockWaitKey::others(key.operation) };
            let sum = self.rows.entry(key).or_default();
            sum.count += 1;
            sum.length += blocker.length;
        }
    }

    /// The records, the longest waits first. Statements of the workload go by their names there.
    pub(super) fn records(self, names: &WorkloadNames) -> Vec<BudgetLockHolder> {
        let record = |(key, sum): (LockWaitKey, LockWaitSum)| BudgetLockHolder {
            waiter: names.name(key.operation, key.statement),
            holder: key.holder.describe(names),
            lock: key.lock.map(Cow::into_owned),
            count: sum.count,
            wait_s: sum.length.as_secs(),
        };
        let mut records: Vec<_> = self.rows.into_iter().map(record).collect();
        records.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s).then(a.waiter.cmp(&b.waiter)));
        records
    }
}

impl LockWaitKey {
    fn others(operation: OperationId) -> Self {
        Self { operation, statement: None, holder: LockReleaser::Others, lock: None }
    }
}

impl LockReleaser {
    fn of(blocker: &Blocker) -> Self {
        match (&blocker.statement, blocker.thread, blocker.connection) {
            (Some(statement), ..) => Self::Statement(statement.clone()),
            (None, None, _) => Self::Nobody,
            (None, Some(_), Some(_)) => Self::Connection,
            (None, Some(_), None) => Self::ServerThread,
        }
    }

    fn describe(&self, names: &WorkloadNames) -> String {
        match self {
            Self::Statement(text) => names.of_fingerprint(text).to_owned(),
            Self::Nobody => BudgetLockHolder::NOBODY.to_owned(),
            Self::Connection => BudgetLockHolder::CONNECTION.to_owned(),
            Self::ServerThread => BudgetLockHolder::SERVER_THREAD.to_owned(),
            Self::Others => BudgetLockHolder::OTHERS.to_owned(),
        }
    }
}

#[cfg(test)]
pub(in crate::observers::traced) mod tests {
    use super::super::test_transactions;
    use super::*;
    use crate::join::RequestWaits;
    use dbtime_load::workload::Workload;
    use dbtime_model::Parts;
    use dbtime_sql::LexicalRules;

    pub(in crate::observers::traced) fn waited(
        statement: u16,
        blocker: Blocker,
    ) -> JoinedTransaction {
        let waits = RequestWaits { blocker: Some(Arc::new(blocker)), ..RequestWaits::default() };
        test_transactions::waited(Some(StatementId(statement)), Parts::default(), waits)
    }

    pub(in crate::observers::traced) fn blocker(statement: Option<&str>, length: u64) -> Blocker {
        Blocker {
            thread: Some(7),
            statement: statement.map(Arc::from),
            length: Nanos(length),
            ..Blocker::default()
        }
    }

    #[test]
    fn statements_of_the_workload_go_by_name_and_others_by_text() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let statements = workload.executed_statements();
        let text = statements[1].kind.pieces().join("?");
        let mut totals = LockHolderTotals::default();
        totals.add(&waited(1, blocker(Some(&text), 1_000)));
        totals.add(&waited(1, blocker(Some(&text), 2_000)));
        totals.add(&waited(1, blocker(Some("LOCK TABLE elsewhere"), 9_000)));
        totals.add(&waited(1, blocker(None, 10)));
        totals.add(&waited(1, Blocker { length: Nanos(1), ..Blocker::default() }));
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let records = totals.records(&names);
        let operation = &workload.operations[usize::from(statements[1].operation.0)].name;
        let name = format!("{operation}: {}", statements[1].name);
        let of = |row: &BudgetLockHolder| (row.holder.clone(), row.count);
        let expected = [
            ("LOCK TABLE elsewhere".to_owned(), 1),
            (name.clone(), 2),
            ("a thread of the server".to_owned(), 1),
            ("nobody: a timer or signal ended it".to_owned(), 1),
        ];
        assert_eq!(records.iter().map(of).collect::<Vec<_>>(), expected);
        assert!(records.iter().all(|row| row.waiter == name), "{records:?}");
        assert!((records[1].wait_s - 3e-6).abs() < 1e-12, "{records:?}");
    }

    #[test]
    fn no_wait_is_lost_where_statements_are_many() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let mut totals = LockHolderTotals::default();
        let waits = MAX_ROWS as u64 + 5;
        for number in 0..waits {
            totals.add(&waited(1, blocker(Some(&format!("CALL p{number}")), 1_000)));
        }
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let records = totals.records(&names);
        assert_eq!(records.len(), MAX_ROWS + 1);
        assert_eq!(records.iter().map(|row| row.count).sum::<u64>(), waits);
        assert_eq!((&*records[0].holder, records[0].count), ("others", 5));
    }
}
