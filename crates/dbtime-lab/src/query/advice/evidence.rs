//! Steps of a plan, in words and by their weight.

use super::AdviceInput;
use dbtime_model::query::{PlanNode, PlanOperation};
use dbtime_model::units::{count, counted};

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

/// A step with its figures: `ALL on events: 40 rows, 99,960 removed`.
pub(super) fn in_words(step: &PlanNode) -> String {
    let mut text = step.label.clone();
    for (word, name) in [(" on ", &step.relation), (" using ", &step.index)] {
        name.iter().for_each(|name| text.push_str(&format!("{word}{name}")));
    }
    let rows = step.actual_rows.or(step.estimated_rows);
    let expects = if step.actual_rows.is_some() { "" } else { " expected" };
    let mut figures = Vec::new();
    rows.iter().for_each(|rows| figures.push(format!("{}{expects}", counted(whole(*rows), "row"))));
    step.removed_rows
        .iter()
        .for_each(|rows| figures.push(format!("{} removed", count(whole(*rows)))));
    let repeated = step.loops.filter(|loops| *loops > 1.0);
    repeated.iter().for_each(|loops| figures.push(format!("{} times", count(whole(*loops)))));
    figures.extend(step.notes.iter().cloned());
    if figures.is_empty() { text } else { format!("{text}: {}", figures.join(", ")) }
}

/// Means of rows and loops, as a sentence has them.
fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_in_words_has_its_figures_as_the_report_does() {
        let step = PlanNode {
            label: "index".to_owned(),
            relation: Some("orders".to_owned()),
            index: Some("by_day".to_owned()),
            actual_rows: Some(287.99),
            removed_rows: Some(99_712.0),
            ..PlanNode::default()
        };
        assert_eq!(in_words(&step), "index on orders using by_day: 288 rows, 99,712 removed");
    }
}
