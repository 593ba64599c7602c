//! The table of the files that were waited for, from a server or from within.

use dbtime_model::Part;
use dbtime_model::record::{BudgetFileWait, WaitedFile};

/// The parts that are waits for files.
const FILE_PARTS: [Part; 3] = [Part::IoRead, Part::IoWrite, Part::Sync];

/// Orders rows by length, adds what of each part has no row, where that is a nanosecond or more,
/// and gives each its share of the part. `part_s` is a part of all transactions in seconds.
pub(crate) fn completed(
    mut rows: Vec<BudgetFileWait>,
    part_s: impl Fn(Part) -> f64,
) -> Vec<BudgetFileWait> {
    let order = |row: &BudgetFileWait| (row.kind, row.file.clone(), row.waiter.clone());
    rows.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s).then_with(|| order(a).cmp(&order(b))));
    for part in FILE_PARTS {
        let all_s = part_s(part);
        let of_part = |row: &&BudgetFileWait| row.part == part;
        let wait_s = all_s - rows.iter().filter(of_part).map(|row| row.wait_s).sum::<f64>();
        if wait_s >= 1e-9 {
            let (kind, waiter, file, count) = (WaitedFile::NotNamed, None, None, None);
            rows.push(BudgetFileWait { waiter, kind, file, part, count, wait_s, share_pct: 0.0 });
        }
        for row in rows.iter_mut().filter(|row| row.part == part && all_s > 0.0) {
            row.share_pct = 100.0 * row.wait_s / all_s;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(part: Part, file: &str, wait_s: f64) -> BudgetFileWait {
        let (kind, file, count) = (WaitedFile::Named, Some(file.to_owned()), Some(3));
        BudgetFileWait { waiter: None, kind, file, part, count, wait_s, share_pct: 0.0 }
    }

    #[test]
    fn what_has_no_row_completes_each_part() {
        let rows = vec![
            row(Part::Sync, "log", 1.0),
            row(Part::IoRead, "a", 2.0),
            row(Part::Sync, "b", 2.0),
        ];
        let of = |part| match part {
            Part::Sync => 4.0,
            Part::IoRead => 2.0,
            _ => 0.0,
        };
        let rows = completed(rows, of);
        let shown: Vec<_> = rows
            .iter()
            .map(|row| (row.part, row.file.as_deref(), row.kind, row.share_pct))
            .collect();
        let expected = [
            (Part::IoRead, Some("a"), WaitedFile::Named, 100.0),
            (Part::Sync, Some("b"), WaitedFile::Named, 50.0),
            (Part::Sync, Some("log"), WaitedFile::Named, 25.0),
            (Part::Sync, None, WaitedFile::NotNamed, 25.0),
        ];
        assert_eq!(shown, expected);
    }
}
