//! Waits of a traced run for locks, by who let these go.

use super::own_connections::OwnConnections;
use crate::join::JoinedTransaction;
use crate::workload_names::WorkloadNames;
use dbtime_model::record::{BudgetLockHolder, OutsideHolder};
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
    /// Its connection, where that was not known to be the run's by then.
    connection: Option<u64>,
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
    /// What the holder's connection did, where that may be somebody else's.
    outside: OutsideHolder,
}

impl LockHolderTotals {
    /// Adds the waits of a transaction.
    pub(super) fn add(&mut self, transaction: &JoinedTransaction, own: &OwnConnections) {
        for wait in &transaction.waits {
            let Some(blocker) = &wait.waits.blocker else { continue };
            let key = LockWaitKey {
                operation: transaction.driven.sample.operation,
                statement: wait.statement,
                holder: LockReleaser::of(blocker),
                connection: blocker.connection.filter(|number| own.is_outside(*number)),
                lock: blocker.lock.clone(),
            };
            let is_kept = self.rows.len() < MAX_ROWS || self.rows.contains_key(&key);
            let key = if is_kept { key } else { LockWaitKey::others(key.operation) };
            let is_outside = key.connection.is_some();
            let sum = self.rows.entry(key).or_default();
            sum.count += 1;
            sum.length += blocker.length;
            if is_outside {
                note_holder(&mut sum.outside, blocker);
            }
        }
    }

    /// The records, the longest waits first. Statements of the workload go by their names there,
    /// as far as its own connections executed them.
    pub(super) fn records(
        self,
        names: &WorkloadNames,
        own: &OwnConnections,
    ) -> Vec<BudgetLockHolder> {
        // Which are the run's is known of all only now.
        let mut rows = FxHashMap::<LockWaitKey, LockWaitSum>::default();
        for (mut key, sum) in self.rows {
            key.connection = key.connection.filter(|number| own.is_outside(*number));
            let row = rows.entry(key).or_default();
            row.count += sum.count;
            row.length += sum.length;
            row.outside = sum.outside;
        }
        let record = |(key, sum): (LockWaitKey, LockWaitSum)| {
            let is_outside = key.connection.is_some();
            BudgetLockHolder {
                waiter: names.name(key.operation, key.statement),
                holder: key.holder.describe((!is_outside).then_some(names)),
                outside: is_outside.then_some(sum.outside),
                lock: key.lock.map(Cow::into_owned),
                count: sum.count,
                wait_s: sum.length.as_secs(),
            }
        };
        let mut records: Vec<_> = rows.into_iter().map(record).collect();
        records.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s).then(a.waiter.cmp(&b.waiter)));
        records
    }
}

/// Notes what somebody else's connection did: of its transactions the longest.
fn note_holder(outside: &mut OutsideHolder, blocker: &Blocker) {
    outside.server_id = outside.server_id.or(blocker.server_id);
    outside.has_left |= blocker.has_left;
    let Some(transaction) = &blocker.transaction else { return };
    let length = Some(transaction.length.as_micros());
    if outside.transaction_us < length {
        outside.transaction_us = length;
        outside.idle_us = Some(transaction.idle.as_micros());
        outside.last_statement = transaction.latest.last().map(ToString::to_string);
    }
}

impl LockWaitKey {
    fn others(operation: OperationId) -> Self {
        let holder = LockReleaser::Others;
        Self { operation, statement: None, holder, connection: None, lock: None }
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

    /// `names`: of the run's own statements; `None`: it is somebody else.
    fn describe(&self, names: Option<&WorkloadNames>) -> String {
        match self {
            Self::Statement(text) => {
                names.map_or(&**text, |names| names.of_fingerprint(text)).to_owned()
            }
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
    use dbtime_model::traced::BlockingTransaction;
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
        let own = OwnConnections::default();
        totals.add(&waited(1, blocker(Some(&text), 1_000)), &own);
        totals.add(&waited(1, blocker(Some(&text), 2_000)), &own);
        totals.add(&waited(1, blocker(Some("LOCK TABLE elsewhere"), 9_000)), &own);
        totals.add(&waited(1, blocker(None, 10)), &own);
        totals.add(&waited(1, Blocker { length: Nanos(1), ..Blocker::default() }), &own);
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let records = totals.records(&names, &own);
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

    /// A commit of somebody else has the text of the workload's.
    #[test]
    fn a_statement_of_somebody_else_does_not_go_by_the_workload_s_name() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let commit = |connection, idle| Blocker {
            connection: Some(connection),
            server_id: Some(connection + 100),
            transaction: Some(Arc::new(BlockingTransaction {
                statements: 2,
                latest: vec![Arc::from("UPDATE t SET n = ?")],
                length: Nanos(10_000 + idle),
                idle: Nanos(idle),
            })),
            ..blocker(Some("COMMIT"), 1_000)
        };
        let mut totals = LockHolderTotals::default();
        let mut own = OwnConnections::default();
        own.add(1);
        for (connection, idle) in [(1, 5), (2, 5), (3, 9_000), (3, 40_000), (3, 7)] {
            totals.add(&waited(1, commit(connection, idle)), &own);
        }
        // The second one turns out to be the run's too.
        own.add(2);
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let records = totals.records(&names, &own);
        let [other, of_run] = &records[..] else { panic!("{records:?}") };
        assert_eq!((&*of_run.holder, of_run.count, &of_run.outside), ("tpcb: commit", 2, &None));
        assert_eq!((&*other.holder, other.count), ("COMMIT", 3));
        let outside = OutsideHolder {
            server_id: Some(103),
            last_statement: Some("UPDATE t SET n = ?".to_owned()),
            transaction_us: Some(50.0),
            idle_us: Some(40.0),
            has_left: false,
        };
        assert_eq!(other.outside, Some(outside));
    }

    #[test]
    fn no_wait_is_lost_where_statements_are_many() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let mut totals = LockHolderTotals::default();
        let own = OwnConnections::default();
        let waits = MAX_ROWS as u64 + 5;
        for number in 0..waits {
            totals.add(&waited(1, blocker(Some(&format!("CALL p{number}")), 1_000)), &own);
        }
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let records = totals.records(&names, &own);
        assert_eq!(records.len(), MAX_ROWS + 1);
        assert_eq!(records.iter().map(|row| row.count).sum::<u64>(), waits);
        assert_eq!((&*records[0].holder, records[0].count), ("others", 5));
    }
}
