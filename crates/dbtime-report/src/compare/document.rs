//! Comparisons as documents, which the terminal, the page and Markdown show.

use super::NO_VERDICT;
use super::forest_text::forest_lines;
use super::groups::{self, GroupComparison, RunGroup};
use super::run::{ComparedRun, RunComparison};
use super::study::{self, StudyComparison};
use super::sweep::SweepComparison;
use super::tables::{self, TextTable};
use crate::document::{DocumentDrawing, DocumentFact, ReportDocument};
use crate::facts::instant;
use crate::format::counted;
use crate::terminal::{ReportTable, TextCell, TextRole};

/// What a page has above its title.
const COMMAND: &str = "dbtime compare";
const STUDY_COMMAND: &str = "dbtime study";

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
pub fn runs_document(runs: &RunComparison) -> ReportDocument {
    let tab = format!("{} and {}", runs.a.place, runs.b.place);
    let mut document = ReportDocument::new(COMMAND, "Two runs side by side").tabbed(&tab);
    unlike(&runs.unlike, &mut document);
    sides(runs, &mut document);
    document.remark(NO_VERDICT, TextRole::Plain);
    tables::of_runs(runs).iter().for_each(|table| show(table, &mut document));
    document
}

/// Two sweeps side by side: the combinations of both, and all of each, of which text has the one
/// that changed most.
pub fn sweeps_document(sweeps: &SweepComparison) -> ReportDocument {
    let tab = format!("{} and {}", sweeps.a, sweeps.b);
    let mut document = ReportDocument::new(COMMAND, "Two sweeps side by side").tabbed(&tab);
    unlike(&sweeps.unlike, &mut document);
    document.fact("A", &sweeps.a, TextRole::Plain);
    document.fact("B", &sweeps.b, TextRole::Plain);
    document.remark(NO_VERDICT, TextRole::Plain);
    show(&tables::of_sweeps(sweeps), &mut document);
    for (index, combination) in sweeps.combinations.iter().enumerate() {
        let name = combination.name();
        let title = if index == 0 { format!("What changed most: {name}") } else { name };
        let mut inner = ReportDocument::new(COMMAND, &title);
        sides(&combination.runs, &mut inner);
        tables::of_runs(&combination.runs).iter().for_each(|table| show(table, &mut inner));
        document.fold(&title, index == 0, inner);
    }
    document
}

/// Two groups of runs: the verdict first, then every metric, the parts and the runs.
pub fn groups_document(compared: &GroupComparison) -> ReportDocument {
    let mut document = ReportDocument::new(COMMAND, "Two groups of runs");
    document.facts(&compared.facts());
    unlike(&compared.unlike, &mut document);
    group("A", &compared.a, &mut document);
    group("B", &compared.b, &mut document);
    let changes = compared.metrics.iter();
    let changes: Vec<_> =
        changes.filter_map(|one| Some((one.name.clone(), one.change_pct?))).collect();
    forest(&changes, compared.margin_pct, groups::charts(compared), &mut document);
    groups::of_groups(compared).iter().for_each(|table| show(table, &mut document));
    document
}

/// A study: the verdicts first, then every change, the configurations and the runs.
pub fn study_document(compared: &StudyComparison) -> ReportDocument {
    let title = format!("Study {}", compared.name);
    let mut document = ReportDocument::new(STUDY_COMMAND, &title).tabbed(&compared.name);
    unlike(compared.lost.as_slice(), &mut document);
    document.facts(&compared.facts(true));
    forest(&compared.changes(), margin_pct(compared), study::charts(compared), &mut document);
    study::of_study(compared).iter().for_each(|table| show(table, &mut document));
    document
}

/// The answer of a study alone: the verdicts, what they stand on, and the changes as a drawing.
///
/// Shape: text of at most [`crate::terminal::SHORT_LINES`] in a hundred columns, but for verdicts
/// that are worse, none of which is left out.
pub fn short_study_document(compared: &StudyComparison) -> ReportDocument {
    let title = format!("Study {}", compared.name);
    let mut document = ReportDocument::new(STUDY_COMMAND, &title).tabbed(&compared.name).short();
    unlike(compared.lost.as_slice(), &mut document);
    let mut facts = compared.facts(false);
    let first = FIRST_FACTS.max(end_of_verdicts(&facts));
    let hidden = facts.len().saturating_sub(first + LAST_FACTS);
    if hidden == 0 {
        document.facts(&facts);
    } else {
        let shown_again = first + hidden;
        // What is behind the gap may go on under a name within it.
        facts[shown_again].name = last_name(&facts[first..=shown_again]);
        document.facts(&facts[..first]);
        document.fact("", &counted(hidden as u64, "further line"), TextRole::Dim);
        document.facts(&facts[shown_again..]);
    }
    let changes = compared.changes();
    let drawn = changes.len().min(SHORT_CHANGES);
    forest(&changes[..drawn], margin_pct(compared), Vec::new(), &mut document);
    if drawn < changes.len() {
        let more = counted((changes.len() - drawn) as u64, "further change");
        document.paragraph(&more, TextRole::Dim);
    }
    document.remark(MORE, TextRole::Dim);
    document
}

/// Behind which of these lines the verdicts on several configurations end; 0: there are none.
fn end_of_verdicts(facts: &[DocumentFact]) -> usize {
    let begin = facts.iter().position(|fact| fact.name == study::VERDICTS);
    begin.map_or(0, |begin| {
        let further = facts[begin + 1..].iter().take_while(|fact| fact.name.is_empty());
        begin + 1 + further.count()
    })
}

/// The name under which the last of these stands; empty where none of them has one.
fn last_name(facts: &[DocumentFact]) -> String {
    let named = facts.iter().rfind(|fact| !fact.name.is_empty());
    named.map_or_else(String::new, |fact| fact.name.clone())
}

/// What a study takes for no difference. Unit: percent.
fn margin_pct(compared: &StudyComparison) -> f64 {
    compared.comparisons.first().map_or(0.0, |one| one.comparison.margin_pct)
}

/// Changes as a drawing, which a page has as the first of its charts.
fn forest(
    rows: &[(String, [f64; 3])],
    margin_pct: f64,
    charts: Vec<(String, String)>,
    document: &mut ReportDocument,
) {
    let mut title =
        "Changes with their intervals; between the colons they do not matter".to_owned();
    let lines = forest_lines(rows, margin_pct);
    if lines.iter().any(|line| line.ends_with('>')) {
        title += "; > goes on";
    }
    let lines = lines.iter().map(|line| format!("  {line}")).collect();
    document.drawing(DocumentDrawing { title, lines, charts });
}

fn group(name: &str, group: &RunGroup, document: &mut ReportDocument) {
    document.fact(name, &group.text(), TextRole::Plain);
    document.fact("", &group.load, TextRole::Plain);
}

/// What must be known before any figure.
fn unlike(sentences: &[String], document: &mut ReportDocument) {
    sentences.iter().for_each(|sentence| document.callout(sentence));
}

fn sides(runs: &RunComparison, document: &mut ReportDocument) {
    side("A", &runs.a, document);
    side("B", &runs.b, document);
}

fn side(name: &str, run: &ComparedRun, document: &mut ReportDocument) {
    let started = instant(&run.started_at);
    let text = format!("{}, started {started}, {}", run.headline, run.place);
    document.fact(name, &text, TextRole::Plain);
    document.fact("", &run.load, TextRole::Plain);
    if let Some(why) = &run.invalid {
        document.fact("", &format!("NOT VALID: {why}"), TextRole::Bad);
    }
}

fn show(table: &TextTable, document: &mut ReportDocument) {
    document.heading(table.title);
    let mut shown = ReportTable::new(table.headings.clone());
    for row in &table.rows {
        shown.row(row.iter().map(|text| TextCell::from(text.as_str())).collect());
    }
    document.table(&shown);
    if !table.note.is_empty() {
        document.paragraph(&table.note, TextRole::Dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_behind_a_gap_has_the_name_that_is_within_it() {
        let name = |names: &[&str]| {
            let facts = names.iter().map(|name| DocumentFact::new(name, String::new()));
            last_name(&facts.collect::<Vec<_>>())
        };
        assert_eq!(name(&["", "scalability", ""]), "scalability");
        assert_eq!(name(&["scalability", "runs"]), "runs");
        assert_eq!(name(&["", ""]), "", "it goes on before the gap");
    }
}
