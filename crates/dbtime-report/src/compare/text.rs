//! A comparison as text for a terminal.

use super::NO_VERDICT;
use super::run::{ComparedRun, RunComparison};
use super::sweep::SweepComparison;
use super::tables::{self, TextTable};
use crate::facts::instant;
use crate::format::clean;
use crate::terminal::{Cell, Column, Ink, Page, PageStyle, Table};

/// Two runs side by side: throughput, latencies, every part of the budget, operations, statements,
/// counters, and what differs between them besides.
///
/// Shape: lines of at most `style.columns` columns, the last one ended.
pub fn runs_text(runs: &RunComparison, style: PageStyle) -> String {
    let mut page = Page::plain(style);
    let title = page.paint("Two runs side by side", Ink::Bold);
    page.line(&title);
    unlike(&runs.unlike, &mut page);
    side("A", &runs.a, &mut page);
    side("B", &runs.b, &mut page);
    no_verdict(&mut page);
    tables::of_runs(runs).iter().for_each(|table| show(table, &mut page));
    page.finish()
}

/// Two sweeps side by side: the combinations of both, and all of the one that changed most.
///
/// Shape: as [`runs_text`].
pub fn sweeps_text(sweeps: &SweepComparison, style: PageStyle) -> String {
    let mut page = Page::plain(style);
    let title = page.paint("Two sweeps side by side", Ink::Bold);
    page.line(&title);
    unlike(&sweeps.unlike, &mut page);
    page.fact("A", &clean(&sweeps.a), Ink::Plain);
    page.fact("B", &clean(&sweeps.b), Ink::Plain);
    no_verdict(&mut page);
    show(&tables::of_sweeps(sweeps), &mut page);
    if let Some(first) = sweeps.combinations.first() {
        page.heading(&format!("What changed most: {}", clean(&first.name())));
        side("A", &first.runs.a, &mut page);
        side("B", &first.runs.b, &mut page);
        tables::of_runs(&first.runs).iter().for_each(|table| show(table, &mut page));
    }
    page.finish()
}

/// What must be known before any figure.
fn unlike(sentences: &[String], page: &mut Page) {
    sentences.iter().for_each(|sentence| page.text(sentence, Ink::Bad));
}

fn side(name: &str, run: &ComparedRun, page: &mut Page) {
    let started = instant(&run.started_at);
    let text = format!("{}, started {started}, {}", run.headline, clean(&run.place));
    page.fact(name, &text, Ink::Plain);
    page.fact("", &run.load, Ink::Plain);
    if let Some(why) = &run.invalid {
        page.fact("", &format!("NOT VALID: {why}"), Ink::Bad);
    }
}

fn no_verdict(page: &mut Page) {
    page.line("");
    page.text(NO_VERDICT, Ink::Plain);
}

fn show(table: &TextTable, page: &mut Page) {
    page.heading(table.title);
    let column = |heading: &tables::Heading| {
        let column = match (heading.is_figure, heading.wraps) {
            (true, _) => Column::figure(heading.text),
            (false, true) => Column::wrapped(heading.text),
            (false, false) => Column::text(heading.text),
        };
        if heading.is_optional { column.optional() } else { column }
    };
    let mut shown = Table::new(table.headings.iter().map(column).collect());
    for row in &table.rows {
        shown.row(row.iter().map(|text| Cell::from(text.as_str())).collect());
    }
    if !shown.is_empty() {
        page.table(&shown);
    }
    if !table.note.is_empty() {
        page.text(&table.note, Ink::Dim);
    }
}
