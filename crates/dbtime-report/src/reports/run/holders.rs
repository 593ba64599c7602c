//! What the holders of locks did, who had the CPU, and the files that were waited for.

use super::RunView;
use crate::document::{PAGE_ROWS, ReportDocument, RestOfRows, RowLimit};
use crate::facts;
use crate::format::{NONE, count, counted, if_any, percent, us};
use crate::lock_chains;
use crate::terminal::{ReportTable, TextCell, TextColumn, TextRole};
use dbtime_model::record::{BudgetCpuHolder, BudgetFileWait, CpuHolderKind, WaitedFile};

/// More rows with names than this are not shown.
const MAX_ROWS: usize = 10;

/// More chains than this are not shown.
const MAX_CHAINS: usize = 6;

/// Waiting for locks, by what their holders did meanwhile.
pub(super) fn lock_chains(view: &RunView<'_>, document: &mut ReportDocument) {
    let chains = view.run.record.lock_chains.as_deref().unwrap_or_default();
    if chains.is_empty() {
        return;
    }
    document.heading("What the holders of locks did");
    let mut table = ReportTable::new(vec![
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Share"),
        TextColumn::figure("Times"),
        TextColumn::text("Waiting, and below it the holder of the lock"),
    ]);
    let all_s = lock_chains::all_s(chains);
    for chain in chains {
        let share = percent(lock_chains::share_pct(chain, all_s));
        let figures = [us(chain.wait_s * 1e6), share, count(chain.count)].map(TextCell::from);
        for (index, line) in lock_chains::lines(chain).into_iter().enumerate() {
            match index {
                0 => table.row(figures.iter().cloned().chain([line.into()]).collect()),
                _ => table.more(vec!["".into(), "".into(), "".into(), line.into()]),
            }
        }
    }
    let waits: Vec<f64> = chains.iter().map(|chain| chain.wait_s).collect();
    let limit = of_waits("further chain", MAX_CHAINS, &waits);
    let caption = "Waiting for locks, by what their holders did meanwhile";
    document.captioned_table(caption, &table, Some(limit));
}

/// So many rows, with what the others come to that were waited for so long. Unit: seconds.
pub(super) fn of_waits(what: &str, most: usize, waits_s: &[f64]) -> RowLimit {
    let rest = RestOfRows::Text(further(what, most, waits_s));
    RowLimit::new(most, rest).on_page(further(what, PAGE_ROWS, waits_s))
}

/// What there is of rows behind the first `most`, which were waited for so long. Unit: seconds.
fn further(what: &str, most: usize, waits_s: &[f64]) -> String {
    let rest = waits_s.get(most..).unwrap_or_default();
    let further = counted(rest.len() as u64, what);
    format!("{further} in run.json, {} in all", us(rest.iter().map(|wait_s| wait_s * 1e6).sum()))
}

/// How many rows with names are shown; those without one always are.
fn of_named(waits_s: &[f64], nameless: usize) -> RowLimit {
    let [text, on_page] = [MAX_ROWS, PAGE_ROWS].map(|most| further("further row", most, waits_s));
    RowLimit::new(MAX_ROWS, RestOfRows::LastRows(nameless, text)).on_page(on_page)
}

/// Waiting for a CPU, by who had it.
pub(super) fn cpu_holders(view: &RunView<'_>, document: &mut ReportDocument) {
    let rows = view.run.record.cpu_holders.as_deref().unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    document.heading("Who had the CPU");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Process"),
        TextColumn::text("Thread"),
        TextColumn::figure("Requests"),
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Of runq"),
    ]);
    let (named, nameless): (Vec<&BudgetCpuHolder>, Vec<_>) =
        rows.iter().partition(|row| row.kind != CpuHolderKind::NotNamed);
    for row in named.iter().chain(&nameless) {
        table.row(vec![
            facts::cpu_holder(row).into(),
            row.thread.as_deref().unwrap_or(NONE).into(),
            if_any(row.count, count).into(),
            us(row.wait_s * 1e6).into(),
            percent(row.share_pct).into(),
        ]);
    }
    let waits: Vec<f64> = named.iter().map(|row| row.wait_s).collect();
    let limit = of_named(&waits, nameless.len());
    document.captioned_table("Waiting for a CPU, by who had it", &table, Some(limit));
    if !nameless.is_empty() {
        document.paragraph(facts::NOT_NAMED_CPU, TextRole::Dim);
    }
}

pub(super) fn file_waits(view: &RunView<'_>, document: &mut ReportDocument) {
    let rows = view.run.record.file_waits.as_deref().unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    document.heading("Which files were waited for");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Waiting"),
        TextColumn::text("for"),
        TextColumn::text("Part"),
        TextColumn::figure("Times"),
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Each time"),
        TextColumn::figure("Of the part"),
    ]);
    let (named, nameless): (Vec<&BudgetFileWait>, Vec<_>) =
        rows.iter().partition(|row| row.kind != WaitedFile::NotNamed);
    for row in named.iter().chain(&nameless) {
        table.row(vec![
            row.waiter.as_deref().unwrap_or(NONE).into(),
            facts::waited_file(row).into(),
            row.part.name().into(),
            if_any(row.count, count).into(),
            us(row.wait_s * 1e6).into(),
            facts::each_wait(row).into(),
            percent(row.share_pct).into(),
        ]);
    }
    let waits: Vec<f64> = named.iter().map(|row| row.wait_s).collect();
    let limit = of_named(&waits, nameless.len());
    let caption = "Waiting for files, by statement, file and part";
    document.captioned_table(caption, &table, Some(limit));
}
