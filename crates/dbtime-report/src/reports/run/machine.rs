//! The end of a report: what a transaction costs, the machine, and how to repeat the run.

use super::RunView;
use crate::document::ReportDocument;
use crate::facts;
use crate::format::{count, if_any, percent, us};
use crate::repeat;
use crate::terminal::{ReportTable, TextColumn, TextRole};

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let record = &view.run.record;
    document.heading("Cost and machine");
    let groups = [facts::per_transaction(record), facts::environment(record), facts::setup(record)];
    for (name, text) in groups.into_iter().flatten() {
        document.fact(name, &text, TextRole::Plain);
    }
}

/// What the server used by name of thread, on request.
pub(super) fn server_threads(view: &RunView<'_>, document: &mut ReportDocument) {
    let server = view.run.record.server.as_ref().filter(|_| view.options.threads);
    let Some(server) = server.filter(|server| !server.by_thread.is_empty()) else { return };
    document.heading("What the server used, by name of thread");
    let mut table = ReportTable::new(vec![
        TextColumn::text("Threads named"),
        TextColumn::figure("Threads"),
        TextColumn::figure("CPU per tx"),
        TextColumn::figure("% of a CPU"),
    ]);
    for threads in &server.by_thread {
        table.row(vec![
            threads.name.as_str().into(),
            count(threads.threads.into()).into(),
            if_any(threads.cpu_us_per_tx, us).into(),
            percent(threads.cpu_pct).into(),
        ]);
    }
    document.table(&table);
}

pub(super) fn repeat(view: &RunView<'_>, document: &mut ReportDocument) {
    let record = &view.run.record;
    repeat::section(&record.command, &record.directory, &record.target.url, document);
}
