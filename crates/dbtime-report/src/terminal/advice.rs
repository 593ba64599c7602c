//! What to look at or to try next, by the budget: the most of it, or the first steps alone.

use super::style::{ReportPage, TextRole};
use crate::advice::{self, AdviceStep, BudgetAdvice, DOUBT, INTRODUCTION, RunAdvice, TITLE, facts};
use crate::format::counted;
use dbtime_model::record::Run;

/// As many steps of each as a report shows; `dbtime explain` shows all.
const MAX_STEPS_IN_REPORT: usize = 2;

/// As many steps as a short report shows of all together.
const MAX_STEPS_IN_SHORT: usize = 3;

pub(super) fn section(run: &Run, page: &mut ReportPage) {
    let all = RunAdvice::of(&run.record);
    let shown = all.largest();
    if shown.is_empty() {
        return;
    }
    page.heading(TITLE);
    if all.doubt.is_some() {
        page.fact("NOT VALID", DOUBT, TextRole::Bad);
    }
    for one in &shown {
        let facts = facts(one, &all, MAX_STEPS_IN_REPORT);
        facts.iter().for_each(|fact| page.fact(&fact.name, &fact.text, fact.role));
    }
    page.text(INTRODUCTION, TextRole::Dim);
    let steps = |advice: &BudgetAdvice| advice.steps.len();
    let is_shown = shown.iter().map(|advice| steps(advice).min(MAX_STEPS_IN_REPORT));
    let hidden = all.advice.iter().map(steps).sum::<usize>() - is_shown.sum::<usize>();
    if hidden > 0 {
        let more = counted(hidden as u64, "further step");
        page.text(&format!("dbtime explain, with this record, has {more}"), TextRole::Dim);
    }
}

/// The first steps alone: one of each piece, largest first, then the second ones.
pub(super) fn first_steps(run: &Run, page: &mut ReportPage) {
    let all = RunAdvice::of(&run.record);
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
    page.heading(TITLE);
    for (rule, step) in steps.into_iter().take(MAX_STEPS_IN_SHORT) {
        page.fact(&rule.replace('_', " "), &format!("→ {}", advice::step(step)), TextRole::Plain);
    }
}
