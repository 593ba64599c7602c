//! The end of a report: what a transaction costs, the machine, and how to repeat the run.

use super::COLUMNS;
use super::style::{Ink, Page};
use crate::facts;
use crate::format::{clean, wrap};
use dbtime_model::record::Run;

pub(super) fn section(run: &Run, page: &mut Page) {
    let record = &run.record;
    page.heading("Cost and machine");
    let groups = [facts::per_transaction(record), facts::environment(record), facts::setup(record)];
    for (name, text) in groups.into_iter().flatten() {
        page.fact(name, &text, Ink::Plain);
    }
    if !record.command.is_empty() {
        page.heading("Repeat it");
        for line in command(&clean(&record.command)) {
            page.line(&format!("  {line}"));
        }
    }
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
