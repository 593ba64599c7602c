//! What to look at or to try next, by the budget: all of it.

use crate::advice::{self, BudgetAdvice, DOUBT, INTRODUCTION, RunAdvice, TITLE};
use crate::charts::escape;
use dbtime_model::record::Run;
use std::fmt::Write;

pub(super) fn section(run: &Run, out: &mut String) {
    let all = RunAdvice::of(&run.record);
    if all.advice.is_empty() {
        return;
    }
    let _ = writeln!(out, "<section><h2>{TITLE}</h2>");
    if all.doubt.is_some() {
        let _ =
            writeln!(out, "<p class=\"callout invalid\"><strong>NOT VALID</strong> {DOUBT}</p>");
    }
    all.advice.iter().for_each(|one| piece(one, &all, out));
    let _ = writeln!(out, "<p class=\"dim note\">{}</p></section>", escape(INTRODUCTION));
}

fn piece(one: &BudgetAdvice, all: &RunAdvice, out: &mut String) {
    let name = one.rule.replace('_', " ");
    let [cause, bounds] = [&one.cause, &advice::bounds(one, all)].map(|text| escape(text));
    let _ = writeln!(out, "<p><strong>{name}: {cause}</strong></p>\n<p>{bounds}</p>");
    list(out, "dim", one.figures.iter().map(|figure| escape(figure)));
    // The style sheet puts an arrow in the place of the bullet.
    list(out, "steps", one.steps.iter().map(|step| escape(&advice::step(step))));
}

/// A list of markup; nothing where it is empty.
fn list(out: &mut String, class: &str, items: impl Iterator<Item = String>) {
    let items: String = items.map(|item| format!("<li>{item}</li>\n")).collect();
    if !items.is_empty() {
        let _ = writeln!(out, "<ul class=\"{class}\">\n{items}</ul>");
    }
}
