//! The end of a report: what a transaction costs, the machine, and how to repeat the run.

use super::COLUMNS;
use super::style::{Ink, Page};
use super::table::{Column, Table};
use crate::facts;
use crate::format::{clean, count, if_any, percent, us, wrap};
use dbtime_model::record::Run;

pub(super) fn section(run: &Run, page: &mut Page) {
    let record = &run.record;
    page.heading("Cost and machine");
    let groups = [facts::per_transaction(record), facts::environment(record), facts::setup(record)];
    for (name, text) in groups.into_iter().flatten() {
        page.fact(name, &text, Ink::Plain);
    }
    server_threads(run, page);
    if !record.command.is_empty() {
        page.heading("Repeat it");
        for line in command(&clean(&record.command)) {
            page.line(&format!("  {line}"));
        }
    }
}

/// What the server used by name of thread, on request.
fn server_threads(run: &Run, page: &mut Page) {
    let Some(server) = run.record.server.as_ref().filter(|_| page.wants_threads()) else { return };
    if server.by_thread.is_empty() {
        return;
    }
    page.heading("What the server used, by name of thread");
    let mut table = Table::new(vec![
        Column::text("Threads named"),
        Column::figure("Threads"),
        Column::figure("CPU per tx"),
        Column::figure("% of a CPU"),
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

/// The command in lines that a shell reads as one.
fn command(text: &str) -> Vec<String> {
    // A break within quotes would become part of the argument: quoted spaces are hidden meanwhile.
    const HIDDEN: char = '\u{e000}';
    let mut quote = None;
    let hide = |c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            _ => {}
        }
        if c == ' ' && quote.is_some() { HIDDEN } else { c }
    };
    let hidden: String = text.chars().map(hide).collect();
    let mut lines = wrap(&hidden, COLUMNS - 4);
    let last = lines.len() - 1;
    lines[..last].iter_mut().for_each(|line| line.push_str(" \\"));
    lines.iter().map(|line| line.replace(HIDDEN, " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_can_be_pasted() {
        let long = format!("dbtime run {} --limit 'p90 <= 5ms' --seed 1", "x".repeat(75));
        let lines = command(&long);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with(" \\") && lines[1].contains("'p90 <= 5ms'"), "{lines:?}");
    }
}
