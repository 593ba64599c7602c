//! What happened how often and how long while statements were traced: waits for files, and who had
//! the CPU meanwhile.

use crate::document::{ReportDocument, RestOfRows, RowLimit};
use crate::files::{file_name, longest};
use crate::format::{clean, count, if_any, percent, us};
use crate::terminal::{ReportTable, TextCell, TextColumn};
use dbtime_model::Nanos;
use dbtime_model::traced_files::FileWait;
use dbtime_model::traced_totals::{Preemption, TraceTotals, TracedTotals};
use dbtime_model::units::count_sum;

/// What is counted under names, the longest first.
pub(super) struct NamedTallies {
    heading: &'static str,
    /// Above their names.
    names: &'static [&'static str],
    /// Each with its names, how often it happened, and how long in all.
    rows: Vec<(Vec<String>, u64, Nanos)>,
}

/// Who had the CPU that statements had to give up.
pub(super) fn preemptors(totals: &TracedTotals) -> NamedTallies {
    let mut rows = totals.preemptions();
    rows.sort_by_key(|row| std::cmp::Reverse(row.length));
    let whole: Nanos = rows.iter().map(|row| row.length).sum();
    let name = |row: &Preemption| match &row.name {
        Some(name) => vec![clean(name)],
        None => {
            let share = 100.0 * row.length.0 as f64 / whole.0.max(1) as f64;
            vec![format!("(not named, {})", percent(share))]
        }
    };
    let rows = rows.iter().map(|row| (name(row), row.count, row.length)).collect();
    NamedTallies { heading: "Pre-emptors", names: &["Thread's name"], rows }
}

/// The files that statements waited for.
pub(super) fn files(all: &TraceTotals) -> NamedTallies {
    let names = |row: &FileWait| vec![file_name(row), row.part.name().to_owned()];
    let rows = longest(all).into_iter().map(|row| (names(row), row.count, row.length)).collect();
    NamedTallies { heading: "Waits for files", names: &["File", "Part"], rows }
}

/// The first `most` of them, and what the others come to; nothing where there are none.
pub(super) fn tallies(all: &NamedTallies, most: usize, document: &mut ReportDocument) {
    let NamedTallies { heading, names, rows } = all;
    if rows.is_empty() {
        return;
    }
    document.heading(heading);
    let mut columns: Vec<TextColumn> = names.iter().copied().map(TextColumn::text).collect();
    columns.extend(["Times", "Time in all", "Each time"].map(TextColumn::figure));
    let mut table = ReportTable::new(columns);
    rows.iter().for_each(|(names, times, time)| table.row(cells(names, *times, *time)));
    let rest = &rows[rows.len().min(most)..];
    let mut more = vec![String::new(); names.len()];
    "(more)".clone_into(&mut more[0]);
    let times = count_sum(rest.iter().map(|(_, times, _)| *times));
    let rest = RestOfRows::Cells(cells(&more, times, rest.iter().map(|(.., time)| *time).sum()));
    document.limited_table(&table, Some(RowLimit::new(most, rest)));
}

fn cells(names: &[String], times: u64, time: Nanos) -> Vec<TextCell> {
    let mut cells: Vec<TextCell> = names.iter().map(|name| name.clone().into()).collect();
    let times = (times > 0).then_some(times);
    cells.push(if_any(times, count).into());
    cells.push(us(time.as_micros()).into());
    cells.push(if_any(times, |times| us(time.as_micros() / times as f64)).into());
    cells
}
