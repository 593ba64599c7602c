//! A comparison as text for a terminal.

use super::NO_VERDICT;
use super::forest_text::forest_lines;
use super::groups::{self, GroupComparison, RunGroup};
use super::run::{ComparedRun, RunComparison};
use super::study::{self, StudyComparison};
use super::sweep::SweepComparison;
use super::tables::{self, ComparedFact, TextTable};
use crate::facts::instant;
use crate::format::{clean, counted};
use crate::terminal::{
    PageStyle, ReportPage, ReportTable, TerminalOptions, TextCell, TextColumn, TextRole,
};

/// As many lines of the answer as a short text of a study has room for: the first ones, with the
/// verdicts, and the last ones, which are on all runs.
const FIRST_FACTS: usize = 8;
const LAST_FACTS: usize = 4;

/// As many changes as it draws.
const SHORT_CHANGES: usize = 8;

/// Where all is that it leaves out.
const MORE: &str = "--details prints the rest: changes in figures, configurations, parts, runs";

/// Two runs side by side: throughput, latencies, every part of the budget, operations, statements,
/// counters, and what differs between them besides.
///
/// Shape: lines of at most `style.columns` columns, the last one ended.
pub fn runs_text(runs: &RunComparison, style: PageStyle) -> String {
    let mut page = ReportPage::plain(style);
    let title = page.paint("Two runs side by side", TextRole::Bold);
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
    let mut page = ReportPage::plain(style);
    let title = page.paint("Two sweeps side by side", TextRole::Bold);
    page.line(&title);
    unlike(&sweeps.unlike, &mut page);
    page.fact("A", &clean(&sweeps.a), TextRole::Plain);
    page.fact("B", &clean(&sweeps.b), TextRole::Plain);
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

/// Two groups of runs: the verdict first, then every metric, the parts and the runs.
///
/// Shape: as [`runs_text`].
pub fn groups_text(compared: &GroupComparison, style: PageStyle) -> String {
    let mut page = ReportPage::plain(style);
    let title = page.paint("Two groups of runs", TextRole::Bold);
    page.line(&title);
    for fact in compared.facts() {
        page.fact(fact.name, &fact.text, TextRole::Plain);
    }
    unlike(&compared.unlike, &mut page);
    group("A", &compared.a, &mut page);
    group("B", &compared.b, &mut page);
    let changes = compared.metrics.iter();
    let changes = changes.filter_map(|one| Some((one.name.clone(), one.change_pct?)));
    forest(&changes.collect::<Vec<_>>(), compared.margin_pct, &mut page);
    groups::of_groups(compared).iter().for_each(|table| show(table, &mut page));
    page.finish()
}

/// A study: the verdicts first, then every change, the configurations and the runs.
///
/// Shape: as [`runs_text`].
pub fn study_text(compared: &StudyComparison, style: PageStyle) -> String {
    let mut page = ReportPage::plain(style);
    let title = page.paint(&format!("Study {}", clean(&compared.name)), TextRole::Bold);
    page.line(&title);
    for fact in compared.facts() {
        page.fact(fact.name, &fact.text, TextRole::Plain);
    }
    forest(&compared.changes(), margin_pct(compared), &mut page);
    study::of_study(compared).iter().for_each(|table| show(table, &mut page));
    page.finish()
}

/// The answer alone: the verdicts, what they stand on, and the changes as a drawing.
///
/// Shape: as [`runs_text`], and at most [`crate::terminal::SHORT_LINES`] in a hundred columns.
pub fn short_study_text(compared: &StudyComparison, style: PageStyle) -> String {
    let options = TerminalOptions { style, short: true, ..TerminalOptions::default() };
    let mut page = ReportPage::new(options);
    page.title(&format!("Study {}", clean(&compared.name)));
    let mut facts = compared.facts();
    facts.retain(|fact| !fact.is_of_tables);
    let hidden = facts.len().saturating_sub(FIRST_FACTS + LAST_FACTS);
    let gap = FIRST_FACTS..FIRST_FACTS + hidden;
    for (index, fact) in facts.iter().enumerate() {
        if !gap.contains(&index) {
            // What is behind the gap may go on under a name within it.
            let name = match index == gap.end {
                true => last_name(&facts[gap.start..=index]),
                false => fact.name,
            };
            page.fact(name, &fact.text, TextRole::Plain);
        } else if index == gap.start {
            page.fact("", &counted(hidden as u64, "further line"), TextRole::Dim);
        }
    }
    let changes = compared.changes();
    let drawn = changes.len().min(SHORT_CHANGES);
    forest(&changes[..drawn], margin_pct(compared), &mut page);
    if drawn < changes.len() {
        let more = counted((changes.len() - drawn) as u64, "further change");
        page.text(&more, TextRole::Dim);
    }
    page.line("");
    page.text(MORE, TextRole::Dim);
    page.finish()
}

/// The name under which the last of these stands; empty where none of them has one.
fn last_name(facts: &[ComparedFact]) -> &'static str {
    facts.iter().rev().map(|fact| fact.name).find(|name| !name.is_empty()).unwrap_or_default()
}

/// What a study takes for no difference. Unit: percent.
fn margin_pct(compared: &StudyComparison) -> f64 {
    compared.comparisons.first().map_or(0.0, |one| one.comparison.margin_pct)
}

/// Changes as a drawing.
fn forest(rows: &[(String, [f64; 3])], margin_pct: f64, page: &mut ReportPage) {
    let lines = forest_lines(rows, margin_pct);
    if lines.is_empty() {
        return;
    }
    page.heading("Changes with their intervals; between the colons they do not matter");
    lines.iter().for_each(|line| page.line(&format!("  {line}")));
}

fn group(name: &str, group: &RunGroup, page: &mut ReportPage) {
    page.fact(name, &group.text(), TextRole::Plain);
    page.fact("", &group.load, TextRole::Plain);
}

/// What must be known before any figure.
fn unlike(sentences: &[String], page: &mut ReportPage) {
    sentences.iter().for_each(|sentence| page.text(sentence, TextRole::Bad));
}

fn side(name: &str, run: &ComparedRun, page: &mut ReportPage) {
    let started = instant(&run.started_at);
    let text = format!("{}, started {started}, {}", run.headline, clean(&run.place));
    page.fact(name, &text, TextRole::Plain);
    page.fact("", &run.load, TextRole::Plain);
    if let Some(why) = &run.invalid {
        page.fact("", &format!("NOT VALID: {why}"), TextRole::Bad);
    }
}

fn no_verdict(page: &mut ReportPage) {
    page.line("");
    page.text(NO_VERDICT, TextRole::Plain);
}

fn show(table: &TextTable, page: &mut ReportPage) {
    page.heading(table.title);
    let column = |heading: &tables::ComparisonHeading| {
        let column = match (heading.is_figure, heading.wraps) {
            (true, _) => TextColumn::figure(heading.text),
            (false, true) => TextColumn::wrapped(heading.text),
            (false, false) => TextColumn::text(heading.text),
        };
        if heading.is_optional { column.optional() } else { column }
    };
    let mut shown = ReportTable::new(table.headings.iter().map(column).collect());
    for row in &table.rows {
        shown.row(row.iter().map(|text| TextCell::from(text.as_str())).collect());
    }
    if !shown.is_empty() {
        page.table(&shown);
    }
    if !table.note.is_empty() {
        page.text(&table.note, TextRole::Dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_behind_a_gap_has_the_name_that_is_within_it() {
        let name = |names: &[&'static str]| {
            let fact = |name| ComparedFact::new(name, String::new());
            last_name(&names.iter().copied().map(fact).collect::<Vec<_>>())
        };
        assert_eq!(name(&["", "scalability", ""]), "scalability");
        assert_eq!(name(&["scalability", "runs"]), "runs");
        assert_eq!(name(&["", ""]), "", "it goes on before the gap");
    }
}
