//! What to look at or to try next, by the budget: the most of it, the first steps alone, or all.

use super::RunView;
use crate::advice::{
    self, AdviceStep, BudgetAdvice, DOUBT, INTRODUCTION, RunAdvice, TITLE, facts, place_of_flags,
};
use crate::document::ReportDocument;
use crate::format::counted;
use crate::terminal::TextRole;

/// As many steps of each as a report shows; `dbtime explain` shows all.
const MAX_STEPS_IN_REPORT: usize = 2;

/// As many steps as a short report shows of all together.
const MAX_STEPS_IN_SHORT: usize = 3;

pub(super) fn section(view: &RunView<'_>, document: &mut ReportDocument) {
    let all = RunAdvice::of(&view.run.record);
    let shown = all.largest();
    add(&all, &shown, MAX_STEPS_IN_REPORT, document);
    flags(view, &shown, document);
    let steps = |advice: &BudgetAdvice| advice.steps.len();
    let is_shown = shown.iter().map(|advice| steps(advice).min(MAX_STEPS_IN_REPORT));
    let hidden = all.advice.iter().map(steps).sum::<usize>() - is_shown.sum::<usize>();
    if hidden > 0 {
        let more = counted(hidden as u64, "further step");
        let text = format!("dbtime explain, with this record, has {more}");
        document.paragraph(&text, TextRole::Dim);
    }
}

pub(super) fn whole_section(view: &RunView<'_>, document: &mut ReportDocument) {
    let all = RunAdvice::of(&view.run.record);
    let shown: Vec<&BudgetAdvice> = all.advice.iter().collect();
    add(&all, &shown, usize::MAX, document);
    flags(view, &shown, document);
}

/// Where the flags are that the steps name.
fn flags(view: &RunView<'_>, shown: &[&BudgetAdvice], document: &mut ReportDocument) {
    let steps = shown.iter().flat_map(|one| &one.steps);
    if let Some(place) = place_of_flags(&view.run.record, steps) {
        document.paragraph(place, TextRole::Dim);
    }
}

fn add(all: &RunAdvice, shown: &[&BudgetAdvice], most_steps: usize, document: &mut ReportDocument) {
    if shown.is_empty() {
        return;
    }
    document.heading(TITLE);
    if all.doubt.is_some() {
        document.fact("NOT VALID", DOUBT, TextRole::Bad);
    }
    shown.iter().for_each(|one| document.facts(&facts(one, all, most_steps)));
    document.paragraph(INTRODUCTION, TextRole::Dim);
}

/// The first steps alone: one of each piece, then the second ones, as far as there is room. Those
/// of a piece stand together, behind its name, the largest piece first.
pub(super) fn first_steps(view: &RunView<'_>, document: &mut ReportDocument) {
    let all = RunAdvice::of(&view.run.record);
    let pieces = all.largest();
    let mut steps: Vec<(&str, &AdviceStep)> = Vec::new();
    for rank in 0..MAX_STEPS_IN_REPORT {
        for piece in &pieces {
            // Two causes may have the same step.
            let is_new = |new: &&AdviceStep| steps.iter().all(|(_, one)| one.action != new.action);
            let step = piece.steps.get(rank).filter(is_new);
            steps.extend(step.map(|step| (piece.rule, step)));
        }
    }
    if steps.is_empty() {
        return;
    }
    document.heading(TITLE);
    steps.truncate(MAX_STEPS_IN_SHORT);
    steps.sort_by_key(|(rule, _)| pieces.iter().position(|piece| piece.rule == *rule));
    let mut named = "";
    for (rule, step) in &steps {
        let name = if *rule == named { String::new() } else { rule.replace('_', " ") };
        document.fact(&name, &format!("→ {}", advice::step(step)), TextRole::Plain);
        named = *rule;
    }
    let place = place_of_flags(&view.run.record, steps.iter().map(|(_, step)| *step));
    if let Some(place) = place {
        document.fact("", place, TextRole::Dim);
    }
}
