//! Waits for files, by statement, kind of file and part.

use super::figures::SqliteFileKind;
use dbtime_model::{Nanos, Part, StatementId};

/// Room for rows from the start, so that a wait allocates nothing: a handful of statements wait for
/// a handful of files.
const ROWS: usize = 64;

/// Waits of one statement for one kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAttribution {
    /// The statement that waited.
    pub waiter: StatementId,
    /// What kind of file it was.
    pub file: SqliteFileKind,
    /// In which part the waits are.
    pub part: Part,
    /// How many calls blocked.
    pub count: u64,
    /// For how long in all.
    pub wait: Nanos,
}

impl FileAttribution {
    /// A table with room for what comes.
    pub(super) fn table() -> Vec<Self> {
        Vec::with_capacity(ROWS)
    }

    /// Adds waits to a table.
    pub(super) fn add_to(table: &mut Vec<Self>, waits: &Self) {
        let key = |row: &Self| (row.waiter, row.file, row.part);
        match table.iter_mut().find(|row| key(row) == key(waits)) {
            Some(row) => {
                row.count += waits.count;
                row.wait += waits.wait;
            }
            None => table.push(*waits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_in_one_part_for_one_kind_of_file_are_one_row() {
        let mut table = FileAttribution::table();
        let wait = |part, wait| {
            let (waiter, file) = (StatementId(1), SqliteFileKind::Wal);
            FileAttribution { waiter, file, part, count: 1, wait: Nanos(wait) }
        };
        for waits in [wait(Part::Sync, 5), wait(Part::IoWrite, 7), wait(Part::Sync, 11)] {
            FileAttribution::add_to(&mut table, &waits);
        }
        assert_eq!(table.len(), 2);
        assert_eq!((table[0].count, table[0].wait), (2, Nanos(16)));
    }
}
