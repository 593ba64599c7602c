//! The end of a report: what a transaction costs, the machine, and how to repeat the run.

use super::style::{ReportPage, TextRole};
use super::table::{ReportTable, TextColumn};
use crate::facts;
use crate::format::{clean, count, if_any, percent, us};
use crate::repeat;
use dbtime_model::record::Run;

pub(super) fn section(run: &Run, page: &mut ReportPage) {
    let record = &run.record;
    page.heading("Cost and machine");
    let groups = [facts::per_transaction(record), facts::environment(record), facts::setup(record)];
    for (name, text) in groups.into_iter().flatten() {
        page.fact(name, &text, TextRole::Plain);
    }
    server_threads(run, page);
    if !record.command.is_empty() {
        page.heading("Repeat it");
        for line in repeat::command(&record.command, &record.directory, page.columns() - 2) {
            page.line(&format!("  {line}"));
        }
        if let Some(note) = repeat::secrets(&record.command, &record.target.url) {
            page.text(&note, TextRole::Dim);
        }
    }
}

/// What the server used by name of thread, on request.
pub(super) fn server_threads(run: &Run, page: &mut ReportPage) {
    let Some(server) = run.record.server.as_ref().filter(|_| page.shows_threads()) else { return };
    if server.by_thread.is_empty() {
        return;
    }
    page.heading("What the server used, by name of thread");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Threads named"),
        TextColumn::figure("Threads"),
        TextColumn::figure("CPU per tx"),
        TextColumn::figure("% of a CPU"),
    ]);
    for threads in &server.by_thread {
        table.row(vec![
            clean(&threads.name).into(),
            count(threads.threads.into()).into(),
            if_any(threads.cpu_us_per_tx, us).into(),
            percent(threads.cpu_pct).into(),
        ]);
    }
    page.table(&table);
}
