//! The answers of comparisons alone, as text that fits on a screen: what was compared, the verdict,
//! the figures that decide, what differs besides, and the next step. All of it is in `document`.

use super::NO_VERDICT_LINE;
use super::document::{
    COMMAND, GROUPS, RUNS, SWEEPS, changed_most, doubt, forest, margin_pct, run_text, same, show,
    titled_study, unlike,
};
use super::figures::FigurePair;
use super::groups::{self, GroupComparison, GroupOutcome, InvalidGroups, Verdict};
use super::run::{ComparedRun, RunComparison};
use super::study::{self, ShownVerdicts, StudyComparison};
use super::sweep::{ComparedCombination, SweepComparison};
use super::tables;
use crate::document::{DocumentFact, ReportDocument, RestOfRows, RowLimit};
use crate::format::{NONE, clean, counted, fit};
use crate::terminal::{DETAILS, PageStyle, ReportTable, SHORT_LINES, TextCell, TextRole};
use dbtime_model::record::RunFigure;

/// The figures of single runs that decide, by their keys.
const DECIDING: [&str; 5] = ["throughput", "mean", "p50", "p99", "failed"];

/// What was lost besides, which stands below those where anything was.
const LOST: [&str; 3] = ["dropped", "unfinished", "outstanding"];

/// As many rows there are of each kind where there is room for them.
const MOST_PARTS: usize = 6;
const MOST_SETTINGS: usize = 5;
const MOST_METRICS: usize = 5;
const MOST_COMBINATIONS: usize = 6;

/// Columns of what has one line of a page, and of what has two.
const LINE_COLUMNS: usize = 90;
const TWO_LINES_COLUMNS: usize = 170;

/// As many lines of the answer as a short text of a study has room for: the first ones, with the
/// verdicts, and the last ones, which are on all runs.
const FIRST_FACTS: usize = 8;
const LAST_FACTS: usize = 4;

/// As many changes as it draws.
const SHORT_CHANGES: usize = 8;

/// What to do next.
const REPEAT: &str = "for a verdict repeat both in random order, each time on a new server: \
                      `dbtime study ab` does so, `dbtime compare A1 A2 A3 -- B1 B2 B3` compares \
                      such runs";
const MAKE_ALIKE: &str = "make both sides alike where marked DIFFERENT, and run them again";
const LOOK_WHY: &str = "`dbtime report RUN --text` says why a run is not valid";
const OTHER_METRIC: &str = "compare by a metric that all runs have (`--primary`)";
const MAKE_MORE: &str = "make more runs of both, in turns and each on a new server: `dbtime study \
                         ab` does so, and plans how many it takes; `dbtime compare A1 A2 A3 -- B1 \
                         B2 B3` compares such runs";
const ALTERNATE: &str = "alternate the runs of A and B, so that drift over time affects both \
                         alike: `dbtime study ab` does so";
const LOOK_INSIDE: &str = "see what the program printed: stdout.txt in the folders of its runs";
const EXPLAIN: &str = "`dbtime explain RUN` of a run of each side shows the causes of the largest \
                       parts";

/// Two single runs: what they are, and what changed most.
///
/// Shape: text of at most [`crate::terminal::SCREEN_LINES`] in a hundred columns.
pub fn short_runs_document(runs: &RunComparison) -> ReportDocument {
    ReportDocument::on_screen(|less| {
        let mut document = ReportDocument::new(COMMAND, RUNS).short();
        unlike(&runs.unlike, &mut document);
        same([runs], &mut document);
        for (name, run) in [("A", &runs.a), ("B", &runs.b)] {
            document.fact(name, &run_text(run), TextRole::Plain);
            doubt(run, &mut document);
        }
        common_load([&runs.a.load, &runs.b.load], &mut document);
        document.fact("verdict", NO_VERDICT_LINE, TextRole::Bold);
        show(&tables::list("Figures", "", &deciding(&runs.figures), NONE), &mut document);
        parts(&runs.parts, MOST_PARTS.saturating_sub(less), &mut document);
        settings(runs, MOST_SETTINGS.saturating_sub(less), &mut document);
        let rest = "all figures and parts, operations, statements, counters, settings";
        end(single_step(&runs.unlike), rest, &mut document);
        document
    })
}

/// Two sweeps: the combinations that changed most, and of the first one where the time went.
///
/// Shape: as [`short_runs_document`].
pub fn short_sweeps_document(sweeps: &SweepComparison) -> ReportDocument {
    ReportDocument::on_screen(|less| {
        let mut document = ReportDocument::new(COMMAND, SWEEPS).short();
        unlike(&sweeps.unlike, &mut document);
        unlike(&sweeps.lost, &mut document);
        same(sweeps.combinations.iter().map(|one| &one.runs), &mut document);
        document.fact("A", &sweeps.a, TextRole::Plain);
        document.fact("B", &sweeps.b, TextRole::Plain);
        doubtful_combinations(&sweeps.combinations, &mut document);
        document.fact("verdict", NO_VERDICT_LINE, TextRole::Bold);
        combinations(sweeps, MOST_COMBINATIONS.saturating_sub(less), &mut document);
        if let Some(first) = sweeps.combinations.first() {
            let title = fit(&clean(&changed_most(&first.name())), LINE_COLUMNS);
            document.remark(&title, TextRole::Bold);
            parts(&first.runs.parts, MOST_PARTS.saturating_sub(less), &mut document);
            settings(&first.runs, MOST_SETTINGS.saturating_sub(less), &mut document);
        }
        let rest = "all combinations, and all that is compared of the first one";
        end(single_step(&sweeps.unlike), rest, &mut document);
        document
    })
}

/// Two groups of runs: the verdict, what it stands on, and the changes in figures.
///
/// Shape: as [`short_runs_document`].
pub fn short_groups_document(compared: &GroupComparison) -> ReportDocument {
    ReportDocument::on_screen(|less| {
        let mut document = ReportDocument::new(COMMAND, GROUPS).short();
        document.facts(&compared.verdict_facts());
        document.facts(&compared.reason_facts());
        unlike(&compared.unlike, &mut document);
        let most = MOST_SETTINGS.saturating_sub(less);
        first_facts(compared.setting_facts(), most, "further setting", &mut document);
        let most = MOST_METRICS.saturating_sub(less);
        first_facts(compared.metric_facts(), most, "further figure", &mut document);
        document.fact("A", &compared.a.text(), TextRole::Plain);
        document.fact("B", &compared.b.text(), TextRole::Plain);
        common_load([&compared.a.load, &compared.b.load], &mut document);
        let [figures, _] = groups::figures_and_parts(compared);
        if !figures.rows.is_empty() {
            show(&figures, &mut document);
        }
        end(group_step(compared), "the changes as a drawing, all parts, every run", &mut document);
        document
    })
}

/// A study: the verdicts, what they stand on, and the changes as a drawing.
///
/// Shape: text of at most [`crate::terminal::SHORT_LINES`] in a hundred columns, but for verdicts
/// that are worse, none of which is left out; nor is one that is undecided where there is room for
/// all of these, else they are named.
pub fn short_study_document(compared: &StudyComparison) -> ReportDocument {
    let whole = short_study(compared, ShownVerdicts::Deciding);
    let has_room = whole.text(PageStyle::default()).lines().count() <= SHORT_LINES;
    if has_room { whole } else { short_study(compared, ShownVerdicts::Few) }
}

fn short_study(compared: &StudyComparison, shown: ShownVerdicts) -> ReportDocument {
    let mut document = titled_study(compared).short();
    // Not as callouts, of which a short text has two lines: their ends have what to do.
    for text in compared.callouts() {
        document.paragraph(&text, TextRole::Bad);
    }
    let mut facts = compared.facts(shown);
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
    let command = compared.details_command();
    let more = format!("{command}{DETAILS}: changes in figures, configurations, parts, runs");
    document.remark(&more, TextRole::Dim);
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

/// How the load of both sides was made; where it differs, that is named DIFFERENT.
fn common_load([a, b]: [&str; 2], document: &mut ReportDocument) {
    if a == b && !a.is_empty() {
        document.fact("load", a, TextRole::Plain);
    }
}

/// The figures that decide, and what was lost.
fn deciding(figures: &[FigurePair]) -> Vec<FigurePair> {
    let of = |keys: &[&str]| -> Vec<&FigurePair> {
        let named = keys.iter().map(|key| RunFigure::listed(key).name);
        named.filter_map(|name| figures.iter().find(|pair| pair.name == name)).collect()
    };
    let is_any =
        |pair: &&FigurePair| [pair.a, pair.b].into_iter().flatten().any(|number| number > 0.0);
    let lost = of(&LOST).into_iter().filter(is_any);
    of(&DECIDING).into_iter().chain(lost).cloned().collect()
}

/// The parts that differ most, and the total, which is the last of all.
fn parts(all: &[FigurePair], most: usize, document: &mut ReportDocument) {
    let Some((total, parts)) = all.split_last() else {
        return show(&tables::list_of_parts(all), document);
    };
    let (shown, rest) = parts.split_at(parts.len().min(most.max(1)));
    let shown: Vec<FigurePair> = shown.iter().chain([total]).cloned().collect();
    let mut table = tables::list_of_parts(&shown);
    if !rest.is_empty() {
        table.note = format!("{} changed less", counted(rest.len() as u64, "further part"));
    }
    show(&table, document);
}

/// The first settings that differ, and how many more do, or do not.
fn settings(runs: &RunComparison, most: usize, document: &mut ReportDocument) {
    let mut shown = runs.settings.clone();
    // What is of the machine was rarely meant to differ.
    shown.sort_by_key(|pair| pair.name.starts_with("machine "));
    let rest = shown.split_off(shown.len().min(most.max(1)));
    let mut table = tables::list_of_settings(&shown);
    if !shown.is_empty() {
        table.note = tables::same_settings(runs);
    }
    if !rest.is_empty() {
        let more = counted(rest.len() as u64, "further difference");
        table.note = format!("{more}; {}", table.note);
    }
    show(&table, document);
}

/// Combinations of which a run has figures that may be wrong, and those of which one is noisy.
fn doubtful_combinations(all: &[ComparedCombination], document: &mut ReportDocument) {
    let invalid = reasons(all, |run| run.invalid.as_deref());
    if let Some(first) = invalid.first() {
        let number = counted(invalid.len() as u64, "combination");
        let text = format!("{number} with a run that is not valid; {first}");
        document.fact("NOT VALID", &text, TextRole::Bad);
    }
    let noisy = reasons(all, |run| run.noisy.as_deref());
    if let Some(first) = noisy.first() {
        let number = counted(noisy.len() as u64, "combination");
        let text = format!("{number} with a run that is noisy; {first}");
        document.fact("NOISY", &text, TextRole::Warn);
    }
}

/// Combinations of which a run has such a reason, with that of the first one.
fn reasons(all: &[ComparedCombination], of: impl Fn(&ComparedRun) -> Option<&str>) -> Vec<String> {
    let reason = |one: &ComparedCombination| {
        let why = of(&one.runs.a).or_else(|| of(&one.runs.b))?;
        Some(format!("{}: {why}", one.name()))
    };
    all.iter().filter_map(reason).collect()
}

/// The combinations that changed most, each in two lines.
fn combinations(sweeps: &SweepComparison, most: usize, document: &mut ReportDocument) {
    document.heading(tables::COMBINATIONS);
    let mut table = ReportTable::new(tables::combination_columns().into());
    for combination in &sweeps.combinations {
        table.title(&fit(&clean(&combination.name()), LINE_COLUMNS));
        let cells = tables::combination_cells(combination);
        table.row(cells.into_iter().map(TextCell::from).collect());
    }
    let most = most.max(1);
    let hidden = sweeps.combinations.len().saturating_sub(most);
    let rest = RestOfRows::Text(counted(hidden as u64, "further combination"));
    document.limited_table(&table, Some(RowLimit::new(most, rest)));
    let note = fit(&sweeps.note(), TWO_LINES_COLUMNS);
    if !note.is_empty() {
        document.paragraph(&note, TextRole::Dim);
    }
}

/// The first of some lines, and how many more there are.
fn first_facts(
    mut facts: Vec<DocumentFact>,
    most: usize,
    noun: &str,
    document: &mut ReportDocument,
) {
    let rest = facts.split_off(facts.len().min(most));
    document.facts(&facts);
    if let Some(first) = rest.first() {
        // Its name is empty where it goes on with those above.
        document.fact(&first.name, &counted(rest.len() as u64, noun), TextRole::Dim);
    }
}

/// What to do next about single runs.
fn single_step(unlike: &[String]) -> &'static str {
    if unlike.is_empty() { REPEAT } else { MAKE_ALIKE }
}

/// What to do next about groups of runs.
pub(super) fn group_step(compared: &GroupComparison) -> &'static str {
    match &compared.verdict {
        _ if !compared.unlike.is_empty() => MAKE_ALIKE,
        Verdict::Invalid(InvalidGroups::NoValidRun(_) | InvalidGroups::NoWholeBlock(_)) => LOOK_WHY,
        Verdict::Invalid(_) => OTHER_METRIC,
        verdict if verdict.outcome() == GroupOutcome::Undecided => MAKE_MORE,
        _ if !compared.paired => ALTERNATE,
        _ if compared.a.load.is_empty() => LOOK_INSIDE,
        _ => EXPLAIN,
    }
}

/// The last lines: what to do next, and where the rest is.
pub(super) fn end(step: &str, rest: &str, document: &mut ReportDocument) {
    document.remark(&format!("→ {step}"), TextRole::Plain);
    document.paragraph(&format!("{DETAILS}: {rest}"), TextRole::Dim);
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
