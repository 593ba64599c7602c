//! Waits of a run for files, by statement, file and part.

use crate::file_waits::completed;
use crate::join::JoinedTransaction;
use crate::workload_names::WorkloadNames;
use dbtime_model::record::BudgetFileWait;
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::{Nanos, OperationId, Part, Parts, StatementId};
use rustc_hash::FxHashMap;

/// More rows than this are not kept: what comes later has one for each part.
const MAX_ROWS: usize = 1_000;

/// Sums of waits.
#[derive(Debug, Default)]
pub(super) struct FileTotals {
    rows: FxHashMap<FileKey, FileSum>,
    /// The parts of all transactions.
    parts: Parts,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FileKey {
    part: Part,
    /// `None`: all for which there was no row.
    waiter: Option<(OperationId, Option<StatementId>)>,
    file: FileName,
}

#[derive(Clone, Copy, Debug, Default)]
struct FileSum {
    count: u64,
    length: Nanos,
}

impl FileTotals {
    /// Adds the waits of a transaction.
    pub(super) fn add(&mut self, transaction: &JoinedTransaction) {
        self.parts.add_all(&transaction.parts);
        let operation = transaction.driven.sample.operation;
        for wait in &transaction.waits {
            for FileWait { file, part, count, length } in &wait.waits.files {
                let waiter = Some((operation, wait.statement));
                let key = FileKey { part: *part, waiter, file: file.clone() };
                let is_kept = self.rows.len() < MAX_ROWS || self.rows.contains_key(&key);
                let others = || FileKey { part: *part, waiter: None, file: FileName::Others };
                let key = if is_kept { key } else { others() };
                let sum = self.rows.entry(key).or_default();
                // One of a recording may be anything.
                sum.count = sum.count.saturating_add(*count);
                sum.length += *length;
            }
        }
    }

    /// The records, the longest waits first and what has no name last.
    pub(super) fn records(self, names: &WorkloadNames) -> Vec<BudgetFileWait> {
        let row = |(key, sum): (FileKey, FileSum)| {
            let (kind, file) = key.file.kind_and_name();
            BudgetFileWait {
                waiter: key.waiter.map(|(operation, statement)| names.name(operation, statement)),
                kind,
                file: file.map(str::to_owned),
                part: key.part,
                count: Some(sum.count),
                wait_s: sum.length.as_secs(),
                share_pct: 0.0,
            }
        };
        let parts = self.parts;
        completed(self.rows.into_iter().map(row).collect(), |part| parts.get(part) as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_transactions;
    use super::*;
    use crate::join::RequestWaits;
    use dbtime_load::workload::Workload;
    use dbtime_model::record::WaitedFile;
    use dbtime_sql::LexicalRules;

    fn waited(sync: i64, files: Vec<FileWait>) -> JoinedTransaction {
        let parts = Parts::only(Part::Sync, sync);
        let waits = RequestWaits { files, ..RequestWaits::default() };
        test_transactions::waited(Some(StatementId(0)), parts, waits)
    }

    fn file(name: &str, length: u64) -> FileWait {
        let file = FileName::Named(name.to_owned());
        FileWait { file, part: Part::Sync, count: 2, length: Nanos(length) }
    }

    #[test]
    fn rows_are_the_part_and_none_is_lost() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let mut totals = FileTotals::default();
        let rows = MAX_ROWS as u64 + 5;
        for number in 0..rows {
            totals.add(&waited(1_200, vec![file(&format!("f{number}"), 1_000)]));
        }
        totals.add(&waited(7, vec![file("f0", 7)]));
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        let records = totals.records(&names);
        assert_eq!(records.len(), MAX_ROWS + 2);
        let shown = |at: usize| (records[at].kind, records[at].file.as_deref(), records[at].count);
        assert_eq!(shown(0), (WaitedFile::Others, None, Some(10)));
        assert_eq!(shown(1), (WaitedFile::Named, Some("f0"), Some(4)));
        assert_eq!(shown(MAX_ROWS + 1), (WaitedFile::NotNamed, None, None));
        assert_eq!(records[1].waiter.as_deref(), Some("tpcb: begin"));
        let sum: f64 = records.iter().map(|row| row.wait_s).sum();
        assert!((sum - (rows * 1_200 + 7) as f64 / 1e9).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn counts_that_nobody_has_counted_have_a_sum_too() {
        let workload = Workload::find("tpcb").expect("a shipped one");
        let mut totals = FileTotals::default();
        for _ in 0..2 {
            let most = FileWait { count: u64::MAX, ..file("f", u64::MAX) };
            totals.add(&waited(i64::MAX, vec![most]));
        }
        let names = WorkloadNames::of(&workload, &LexicalRules::of_protocol(None));
        assert_eq!(totals.records(&names)[0].count, Some(u64::MAX));
    }
}
