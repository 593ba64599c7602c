//! What the holders of locks did, who had the CPU, and the files that were waited for.

use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextColumn};
use crate::facts;
use crate::format::{clean, count, counted, if_any, percent, us};
use crate::lock_chains;
use dbtime_model::Part;
use dbtime_model::record::{BudgetCpuHolder, CpuHolderKind, Run, WaitedFile};

/// More rows with names than this are not shown.
const MAX_ROWS: usize = 10;

/// More chains than this are not shown.
const MAX_CHAINS: usize = 6;

/// Waiting for locks, by what their holders did meanwhile.
pub(super) fn lock_chains(run: &Run, page: &mut ReportPage) {
    let chains = run.record.lock_chains.as_deref().unwrap_or_default();
    if chains.is_empty() {
        return;
    }
    page.heading("What the holders of locks did");
    let mut table = ReportTable::new(vec![
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Share"),
        TextColumn::figure("Times"),
        TextColumn::text("Waiting, and below it the holder of the lock"),
    ]);
    let (first, rest) = chains.split_at(chains.len().min(MAX_CHAINS));
    let all_s = lock_chains::all_s(chains);
    for chain in first {
        let share = percent(lock_chains::share_pct(chain, all_s));
        let mut figures = [us(chain.wait_s * 1e6), share, count(chain.count)];
        for line in lock_chains::lines(chain) {
            let [waited, share, times] = std::mem::take(&mut figures);
            table.row(vec![waited.into(), share.into(), times.into(), clean(&line).into()]);
        }
    }
    page.table(&table);
    if !rest.is_empty() {
        let waited = rest.iter().map(|chain| chain.wait_s * 1e6).sum();
        let further = counted(rest.len() as u64, "further chain");
        page.text(&format!("{further} in run.json, {} in all", us(waited)), TextRole::Dim);
    }
}

/// Waiting for a CPU, by who had it.
pub(super) fn cpu_holders(run: &Run, page: &mut ReportPage) {
    let rows = run.record.cpu_holders.as_deref().unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    page.heading("Who had the CPU");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Process"),
        TextColumn::text("Thread"),
        TextColumn::figure("Requests"),
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Of runq"),
    ]);
    let has_name = |row: &&BudgetCpuHolder| row.kind != CpuHolderKind::NotNamed;
    let named: Vec<_> = rows.iter().filter(has_name).collect();
    let (first, rest) = named.split_at(named.len().min(MAX_ROWS));
    let nameless = rows.iter().filter(|row| !has_name(row));
    for row in first.iter().copied().chain(nameless.clone()) {
        table.row(vec![
            clean(&facts::cpu_holder(row)).into(),
            if_any(row.thread.as_deref(), clean).into(),
            if_any(row.count, count).into(),
            us(row.wait_s * 1e6).into(),
            percent(row.share_pct).into(),
        ]);
    }
    page.table(&table);
    if !rest.is_empty() {
        let waited = rest.iter().map(|row| row.wait_s * 1e6).sum();
        let threads = counted(rest.len() as u64, "further row");
        page.text(&format!("{threads} in run.json, {} in all", us(waited)), TextRole::Dim);
    }
    if nameless.count() > 0 {
        page.text(facts::NOT_NAMED_CPU, TextRole::Dim);
    }
}

/// Waiting for files.
pub(super) fn file_waits(run: &Run, page: &mut ReportPage) {
    let rows = run.record.file_waits.as_deref().unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    page.heading("Which files were waited for");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Waiting"),
        TextColumn::text("for"),
        TextColumn::text("Part"),
        TextColumn::figure("Times"),
        TextColumn::figure("Waited in all"),
        TextColumn::figure("Each time"),
        TextColumn::figure("Of the part"),
    ]);
    let (named, nameless): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| row.kind != WaitedFile::NotNamed);
    let (first, rest) = named.split_at(named.len().min(MAX_ROWS));
    for row in first.iter().chain(&nameless) {
        table.row(vec![
            if_any(row.waiter.as_deref(), clean).into(),
            clean(&facts::waited_file(row)).into(),
            Part::name(row.part).into(),
            if_any(row.count, count).into(),
            us(row.wait_s * 1e6).into(),
            facts::each_wait(row).into(),
            percent(row.share_pct).into(),
        ]);
    }
    page.table(&table);
    if !rest.is_empty() {
        let waited = rest.iter().map(|row| row.wait_s * 1e6).sum();
        let further = counted(rest.len() as u64, "further row");
        page.text(&format!("{further} in run.json, {} in all", us(waited)), TextRole::Dim);
    }
}
