//! Steps of a plan, in words and by their weight.

use super::AdviceInput;
use dbtime_model::query::{PlanNode, PlanOperation};

/// Steps that speak for a proposal.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlanEvidence {
    /// Each in words.
    pub(super) lines: Vec<String>,
    /// How much of the plan the heaviest of them is: 0 to 1.
    pub(super) share: f64,
}

/// No more steps are quoted.
const MAX_LINES: usize = 5;

impl AdviceInput<'_> {
    /// The steps that have something in common; `None`: there are none.
    pub(super) fn evidence(&self, is_of_it: impl Fn(&PlanNode) -> bool) -> Option<PlanEvidence> {
        let steps = self.steps.iter().copied();
        let steps: Vec<&PlanNode> = steps.filter(|step| is_of_it(step)).collect();
        let share = steps.iter().map(|step| self.share(step)).fold(0.0, f64::max);
        let lines: Vec<String> = steps.iter().take(MAX_LINES).map(|step| in_words(step)).collect();
        (!lines.is_empty()).then_some(PlanEvidence { lines, share })
    }

    /// How much of the plan a step with all below it is: of its time, else of its cost, else of
    /// nothing.
    pub(super) fn share(&self, step: &PlanNode) -> f64 {
        let Some(root) = self.steps.first() else { return 0.0 };
        let of = |part: Option<f64>, all: Option<f64>| Some(part? / all.filter(|all| *all > 0.0)?);
        let share = of(step.time_us, root.time_us).or_else(|| of(step.cost, root.cost));
        share.unwrap_or_default().clamp(0.0, 1.0)
    }
}

/// Whether a step reads a table or an index from one end to the other.
pub(super) fn is_full_scan(step: &PlanNode) -> bool {
    matches!(step.operation, PlanOperation::TableScan | PlanOperation::IndexScan)
}

/// Whether a step sorts, or notes that it does.
pub(super) fn is_sort(step: &PlanNode) -> bool {
    let notes = ["filesort", "TEMP B-TREE FOR ORDER BY"];
    step.operation == PlanOperation::Sort || notes.iter().any(|words| is_noted(step, words))
}

/// Whether the words of a step say this.
pub(super) fn is_noted(step: &PlanNode, words: &str) -> bool {
    step.label.contains(words) || step.notes.iter().any(|note| note.contains(words))
}

/// A step with its figures: `ALL of events: 40 rows, 99960 removed`.
pub(super) fn in_words(step: &PlanNode) -> String {
    let mut text = step.label.clone();
    for (word, name) in [(" of ", &step.relation), (" by ", &step.index)] {
        name.iter().for_each(|name| text.push_str(&format!("{word}{name}")));
    }
    let rows = step.actual_rows.or(step.estimated_rows);
    let expects = if step.actual_rows.is_some() { "" } else { " expected" };
    let mut figures = Vec::new();
    rows.iter().for_each(|rows| figures.push(format!("{rows:.0} rows{expects}")));
    step.removed_rows.iter().for_each(|rows| figures.push(format!("{rows:.0} removed")));
    let repeated = step.loops.filter(|loops| *loops > 1.0);
    repeated.iter().for_each(|loops| figures.push(format!("{loops:.0} times")));
    figures.extend(step.notes.iter().cloned());
    if figures.is_empty() { text } else { format!("{text}: {}", figures.join(", ")) }
}
