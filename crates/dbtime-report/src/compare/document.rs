//! Comparisons as documents, which the terminal, the page and Markdown show; the answers alone, as
//! text, are in `short`.

use super::NO_VERDICT;
use super::groups::{self, GroupComparison, GroupOutcome, RunGroup};
use super::run::{ComparedRun, RunComparison};
use super::short::group_step;
use super::study::{self, ShownVerdicts, StudyComparison, StudyRunLine};
use super::sweep::SweepComparison;
use super::tables::{self, TextTable};
use crate::document::{DocumentDrawing, DrawnLines, ReportDocument};
use crate::facts::instant;
use crate::html::run_link;
use crate::terminal::{ForestText, ReportTable, TextCell, TextRole};

/// What a page has above its title.
pub(super) const COMMAND: &str = "dbtime compare";
const STUDY_COMMAND: &str = "dbtime study";

/// What is compared.
pub(super) const RUNS: &str = "Two runs side by side";
pub(super) const SWEEPS: &str = "Two sweeps side by side";
pub(super) const GROUPS: &str = "Two groups of runs";

const SAME_RECORD: &str = "A and B are the same record, named twice or copied: nothing can differ";

/// Two runs side by side: throughput, latencies, every part of the budget, operations, statements,
/// counters, and what differs between them besides.
pub fn runs_document(runs: &RunComparison) -> ReportDocument {
    let tab = format!("{} and {}", runs.a.place, runs.b.place);
    let mut document = ReportDocument::new(COMMAND, RUNS).tabbed(&tab);
    unlike(&runs.unlike, &mut document);
    same([runs], &mut document);
    sides(runs, &mut document);
    document.remark(NO_VERDICT, TextRole::Plain);
    tables::of_runs(runs).iter().for_each(|table| show(table, &mut document));
    document
}

/// Two sweeps side by side: the combinations of both, and all of each, of which text has the one
/// that changed most.
pub fn sweeps_document(sweeps: &SweepComparison) -> ReportDocument {
    let tab = format!("{} and {}", sweeps.a, sweeps.b);
    let mut document = ReportDocument::new(COMMAND, SWEEPS).tabbed(&tab);
    unlike(&sweeps.unlike, &mut document);
    unlike(&sweeps.lost, &mut document);
    same(sweeps.combinations.iter().map(|one| &one.runs), &mut document);
    document.fact("A", &sweeps.a, TextRole::Plain);
    document.fact("B", &sweeps.b, TextRole::Plain);
    document.remark(NO_VERDICT, TextRole::Plain);
    show(&tables::of_sweeps(sweeps), &mut document);
    for (index, combination) in sweeps.combinations.iter().enumerate() {
        let name = combination.name();
        let title = if index == 0 { changed_most(&name) } else { name };
        let mut inner = ReportDocument::new(COMMAND, &title);
        sides(&combination.runs, &mut inner);
        tables::of_runs(&combination.runs).iter().for_each(|table| show(table, &mut inner));
        document.fold(&title, index == 0, inner);
    }
    document
}

/// Two groups of runs: the verdict first, then every metric, the parts and the runs.
pub fn groups_document(compared: &GroupComparison) -> ReportDocument {
    let mut document = ReportDocument::new(COMMAND, GROUPS);
    document.facts(&compared.facts());
    unlike(&compared.unlike, &mut document);
    group("A", &compared.a, &mut document);
    group("B", &compared.b, &mut document);
    if compared.verdict.outcome() == GroupOutcome::Undecided {
        document.remark(&format!("→ {}", group_step(compared)), TextRole::Plain);
    }
    let changes = compared.metrics.iter();
    let changes: Vec<_> =
        changes.filter_map(|one| Some((one.name.clone(), one.change_pct?))).collect();
    forest(&changes, compared.margin_pct, groups::charts(compared), &mut document);
    for table in groups::of_groups(compared) {
        match table.title == groups::RUNS {
            true => show_linked(&table, &compared.page_links(), &mut document),
            false => show(&table, &mut document),
        }
    }
    document
}

/// A study: the verdicts first, then every change, the configurations and the runs.
pub fn study_document(compared: &StudyComparison) -> ReportDocument {
    let mut document = titled_study(compared);
    study_answer(compared, &mut document);
    study_evidence(compared, &mut document);
    document
}

/// The verdicts of a study as sections of a page, and what is behind them, for a page that has more
/// between both.
pub(crate) fn study_sections(compared: &StudyComparison) -> [String; 2] {
    [study_answer, study_evidence].map(|fill| {
        let mut document = titled_study(compared);
        fill(compared, &mut document);
        document.sections()
    })
}

fn study_answer(compared: &StudyComparison, document: &mut ReportDocument) {
    compared.callouts().for_each(|text| document.callout(&text));
    document.facts(&compared.facts(ShownVerdicts::All));
}

fn study_evidence(compared: &StudyComparison, document: &mut ReportDocument) {
    forest(&compared.changes(), margin_pct(compared), study::charts(compared), document);
    for table in study::of_study(compared) {
        match table.title == study::RUNS {
            true => show_linked(&table, &run_links(compared), document),
            false => show(&table, document),
        }
    }
}

/// Links to the pages of all runs, by their numbers.
fn run_links(compared: &StudyComparison) -> Vec<Option<String>> {
    let runs = compared.runs.iter();
    let link = |run: &StudyRunLine| run_link(&run.folder, &run.run.to_string());
    runs.map(|run| link(run).filter(|_| run.has_page)).collect()
}

/// A document of a study, without blocks.
pub(super) fn titled_study(compared: &StudyComparison) -> ReportDocument {
    let title = format!("Study {}", compared.name);
    ReportDocument::new(STUDY_COMMAND, &title).tabbed(&compared.name)
}

/// The title of the combination that changed most.
pub(super) fn changed_most(name: &str) -> String {
    format!("What changed most: {name}")
}

/// What a study takes for no difference. Unit: percent.
pub(super) fn margin_pct(compared: &StudyComparison) -> f64 {
    compared.comparisons.first().map_or(0.0, |one| one.comparison.margin_pct)
}

/// Changes as a drawing, which a page has as the first of its charts.
pub(super) fn forest(
    rows: &[(String, [f64; 3])],
    margin_pct: f64,
    charts: Vec<(String, String)>,
    document: &mut ReportDocument,
) {
    let forest = ForestText { rows: rows.to_vec(), margin_pct };
    // Either is within the narrowest page.
    let title = match forest.goes_on() {
        true => "Changes with their intervals; the colons are the margin; > goes on",
        false => "Changes with their intervals; the colons are the margin",
    };
    let lines = DrawnLines::Forest(forest);
    document.drawing(DocumentDrawing { title: title.to_owned(), lines, charts });
}

fn group(name: &str, group: &RunGroup, document: &mut ReportDocument) {
    document.fact(name, &group.text(), TextRole::Plain);
    document.fact("", &group.load, TextRole::Plain);
}

/// What must be known before any figure.
pub(super) fn unlike(sentences: &[String], document: &mut ReportDocument) {
    sentences.iter().for_each(|sentence| document.callout(sentence));
}

/// Says so where a record is compared with itself.
pub(super) fn same<'a>(
    runs: impl IntoIterator<Item = &'a RunComparison>,
    document: &mut ReportDocument,
) {
    let mut runs = runs.into_iter().peekable();
    if runs.peek().is_some() && runs.all(|runs| runs.is_same_record) {
        document.callout(SAME_RECORD);
    }
}

fn sides(runs: &RunComparison, document: &mut ReportDocument) {
    side("A", &runs.a, document);
    side("B", &runs.b, document);
}

fn side(name: &str, run: &ComparedRun, document: &mut ReportDocument) {
    document.fact(name, &run_text(run), TextRole::Plain);
    document.fact("", &run.load, TextRole::Plain);
    doubt(run, document);
}

/// Which run it is, in a line.
pub(super) fn run_text(run: &ComparedRun) -> String {
    format!("{}, started {}, {}", run.headline, instant(&run.started_at), run.place)
}

/// Why its figures may be wrong, or others on a quiet machine.
pub(super) fn doubt(run: &ComparedRun, document: &mut ReportDocument) {
    if let Some(why) = &run.invalid {
        document.fact("", &format!("NOT VALID: {why}"), TextRole::Bad);
    }
    if let Some(why) = &run.noisy {
        document.fact("", &format!("NOISY: {why}"), TextRole::Warn);
    }
}

pub(super) fn show(table: &TextTable, document: &mut ReportDocument) {
    show_linked(table, &[], document);
}

/// The same, with a link of a page in the first cell of each row that has one.
fn show_linked(table: &TextTable, links: &[Option<String>], document: &mut ReportDocument) {
    document.heading(table.title);
    let mut shown = ReportTable::new(table.headings.clone());
    let links = links.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    for (row, link) in table.rows.iter().zip(links) {
        let cells = row.iter().map(|text| TextCell::from(text.as_str()));
        let mut cells: Vec<TextCell> = cells.collect();
        if let Some((first, link)) = cells.first_mut().zip(link) {
            first.markup = Some(link.clone());
        }
        shown.row(cells);
    }
    document.table(&shown);
    if !table.note.is_empty() {
        document.paragraph(&table.note, TextRole::Dim);
    }
}
