//! Waits of a traced run for a CPU, by who had it.

use super::cpu_owners::{CpuOwner, CpuOwners};
use crate::join::JoinedTransaction;
use dbtime_model::record::{BudgetCpuHolder, CpuHolderKind};
use dbtime_model::{Nanos, Part, Parts};
use rustc_hash::FxHashMap;

/// More rows than this are not kept: what comes later has one together.
const MAX_ROWS: usize = 1_000;

/// Sums of waits.
#[derive(Debug, Default)]
pub(super) struct CpuHolderTotals {
    rows: FxHashMap<CpuOwner, CpuWaitSum>,
    others: CpuWaitSum,
    /// All waits for a CPU, in the parts of the transactions.
    runq_ns: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct CpuWaitSum {
    count: u64,
    length: Nanos,
    /// The process, where it is one alone.
    pid: Option<u32>,
}

impl CpuWaitSum {
    /// Adds a wait for a thread of this process.
    fn add(&mut self, length: Nanos, pid: Option<u32>) {
        let first = (self.count == 0).then_some(pid).flatten();
        self.pid = first.or_else(|| self.pid.filter(|one| Some(*one) == pid));
        self.count += 1;
        self.length += length;
    }
}

impl CpuHolderTotals {
    /// Adds the waits of a transaction.
    pub(super) fn add(&mut self, transaction: &JoinedTransaction, owners: &CpuOwners) {
        // Parts and lengths of a recording may be anything.
        self.runq_ns = self.runq_ns.saturating_add(runq_ns(&transaction.parts));
        for preemptor in transaction.waits.iter().flat_map(|wait| &wait.waits.preemptors) {
            let mut owner = owners.of(preemptor);
            let pid = owner.pid.take();
            let sum = match self.rows.contains_key(&owner) || self.rows.len() < MAX_ROWS {
                true => self.rows.entry(owner).or_default(),
                false => &mut self.others,
            };
            sum.add(preemptor.length, pid);
        }
    }

    /// The records, the longest waits first and what has no name last.
    pub(super) fn records(self) -> Vec<BudgetCpuHolder> {
        let runq_s = self.runq_ns as f64 / 1e9;
        let share = |wait_s: f64| if runq_s > 0.0 { 100.0 * wait_s / runq_s } else { 0.0 };
        let row = |kind, process: Option<&str>, thread: Option<&str>, sum: CpuWaitSum| {
            let wait_s = sum.length.as_secs();
            BudgetCpuHolder {
                kind,
                process: process.map(str::to_owned),
                pid: sum.pid.filter(|_| kind == CpuHolderKind::Other),
                thread: thread.map(str::to_owned),
                count: Some(sum.count),
                wait_s,
                share_pct: share(wait_s),
            }
        };
        let named = self.rows.iter();
        let mut rows: Vec<_> = named
            .map(|(of, sum)| row(of.kind, of.process.as_deref(), Some(&*of.thread), *sum))
            .collect();
        if self.others.count > 0 {
            rows.push(row(CpuHolderKind::Others, None, None, self.others));
        }
        let order = |row: &BudgetCpuHolder| (row.kind, row.process.clone(), row.thread.clone());
        rows.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s).then(order(a).cmp(&order(b))));
        let lengths = self.rows.values().chain([&self.others]).map(|sum| sum.length.signed());
        let rest_ns = self.runq_ns.saturating_sub(lengths.fold(0, i64::saturating_add));
        if rest_ns > 0 {
            let wait_s = rest_ns as f64 / 1e9;
            let kind = CpuHolderKind::NotNamed;
            let rest =
                BudgetCpuHolder { kind, wait_s, share_pct: share(wait_s), ..Default::default() };
            rows.push(rest);
        }
        rows
    }
}

/// The part `runq` in its two kinds.
fn runq_ns(parts: &Parts) -> i64 {
    let waits = [Part::Runq, Part::RunqPreempted, Part::RunqWoken].map(|part| parts.get(part));
    waits.into_iter().fold(0, i64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::super::test_transactions;
    use super::*;
    use crate::join::RequestWaits;
    use dbtime_model::traced::Preemptor;

    fn waited(preempted: i64, woken: i64, preemptors: &[Preemptor]) -> JoinedTransaction {
        let parts = Parts::of(&[(Part::RunqPreempted, preempted), (Part::RunqWoken, woken)]);
        test_transactions::waited(
            None,
            parts,
            RequestWaits { preemptors: preemptors.to_vec(), ..RequestWaits::default() },
        )
    }

    fn own(name: &str, length: u64) -> Preemptor {
        Preemptor { thread: std::process::id(), name: name.to_owned(), length: Nanos(length) }
    }

    #[test]
    fn rows_are_the_part_exactly() {
        let mut owners = CpuOwners::new(1);
        let mut totals = CpuHolderTotals::default();
        for preemptor in [own("load", 900), own("load", 50), own("reports", 600)] {
            owners.note(&preemptor);
            totals.add(&waited(1_000, 500, &[preemptor]), &owners);
        }
        totals.add(&waited(0, 7, &[]), &owners);
        // Of others nobody knows more than the name.
        let [far, gone] = ["far", "gone"].map(|name| Preemptor {
            thread: 2,
            name: name.to_owned(),
            length: Nanos(1),
        });
        totals.add(&waited(2, 0, &[far, gone]), &owners);
        let rows = totals.records();
        let of = |row: &BudgetCpuHolder| (row.kind, row.thread.clone(), row.count);
        let driver =
            |name: &str, count| (CpuHolderKind::Driver, Some(name.to_owned()), Some(count));
        let expected = [
            driver("load", 2),
            driver("reports", 1),
            (CpuHolderKind::Ended, Some("far".to_owned()), Some(1)),
            (CpuHolderKind::Ended, Some("gone".to_owned()), Some(1)),
            (CpuHolderKind::NotNamed, None, None),
        ];
        assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), expected);
        let sum = |of: fn(&BudgetCpuHolder) -> f64| rows.iter().map(of).sum::<f64>();
        assert!((sum(|row| row.wait_s) - 4_509e-9).abs() < 1e-15, "{rows:?}");
        assert!((sum(|row| row.share_pct) - 100.0).abs() < 1e-9, "{rows:?}");
    }

    #[test]
    fn a_process_has_its_number_where_it_is_one_alone() {
        let pid = |pids: &[u32]| {
            let mut sum = CpuWaitSum::default();
            pids.iter().for_each(|pid| sum.add(Nanos(1), Some(*pid)));
            sum.pid
        };
        assert_eq!([pid(&[7, 7]), pid(&[7, 8]), pid(&[7, 8, 7])], [Some(7), None, None]);
    }

    #[test]
    fn waits_that_nobody_has_measured_have_a_sum_too() {
        let owners = CpuOwners::new(1);
        let mut totals = CpuHolderTotals::default();
        for _ in 0..2 {
            let far = Preemptor { thread: 2, name: "far".to_owned(), length: Nanos(u64::MAX) };
            totals.add(&waited(i64::MAX, i64::MAX, &[far]), &owners);
        }
        let rows = totals.records();
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].count, Some(2));
    }
}
