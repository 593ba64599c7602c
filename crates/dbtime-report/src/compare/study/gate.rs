//! The gate of a study: whether any configuration is worse than its baseline by the margin.

use super::{CellComparison, StudyComparison};
use crate::compare::groups::{GroupComparison, GroupOutcome};
use crate::document::DocumentFact;
use crate::format::counted;

/// As many configurations have a line, the first of those that decide.
const MOST_LINES: usize = 6;

impl StudyComparison {
    /// The same, whose reports say how the gate comes out.
    #[must_use]
    pub fn gated(self) -> Self {
        Self { is_gated: true, ..self }
    }

    /// The same without the bounds that do not hold, so that text, JSON and JUnit agree.
    #[must_use]
    pub(super) fn with_held_gates(mut self) -> Self {
        let (distrusted, open) = (self.distrust(), self.openness());
        for one in self.control.iter_mut().chain(&mut self.comparisons) {
            withhold(&mut one.comparison, distrusted, open);
        }
        self
    }

    /// Why no figure decides; `None`: they do.
    fn distrust(&self) -> Option<&'static str> {
        match (&self.plan_changed, &self.runs_changed, &self.lost) {
            (Some(_), _, _) => Some("the plan was changed after the first run"),
            (None, Some(_), _) => Some("files of runs have changed since"),
            (None, None, Some(_)) => Some("runs that counted are lost"),
            (None, None, None) => None,
        }
    }

    /// Why nothing has passed yet, whatever the figures are; `None`: it may have.
    fn openness(&self) -> Option<&'static str> {
        match (self.is_finished, self.left_out.is_empty()) {
            // What comes may decide otherwise, but for what is worse already.
            (false, _) => Some("the study has not finished"),
            // What cannot run has passed no gate.
            (true, false) => Some("not every configuration can run"),
            (true, true) => None,
        }
    }

    /// What it comes to where no configuration must be worse than its baseline by the margin.
    pub fn gate_outcome(&self) -> GroupOutcome {
        let has = |outcome| self.with_gate(outcome).next().is_some();
        let is_open = self.openness().is_some() || self.comparisons.is_empty();
        match (has(GroupOutcome::Worse), is_open || has(GroupOutcome::Undecided)) {
            _ if self.distrust().is_some() => GroupOutcome::Undecided,
            (true, _) => GroupOutcome::Worse,
            (false, true) => GroupOutcome::Undecided,
            (false, false) => GroupOutcome::Good,
        }
    }

    /// How the gate comes out, and by which bounds; nothing where none goes by it.
    pub(super) fn gate_facts(&self) -> Vec<DocumentFact> {
        if !self.is_gated || self.found.is_some() {
            return Vec::new();
        }
        let outcome = self.gate_outcome();
        let deciding: Vec<&CellComparison> = self.with_gate(outcome).collect();
        let fact = |text: &str| DocumentFact::new("gate", text.to_owned());
        match (outcome, &deciding[..], self.distrust().or_else(|| self.openness())) {
            (GroupOutcome::Undecided, _, Some(why)) => vec![fact(&format!("undecided: {why}"))],
            (GroupOutcome::Good, [_, _, ..], _) => vec![fact(&format!(
                "passes: none of {} is worse than its baseline by the margin",
                counted(deciding.len() as u64, "configuration")
            ))],
            (_, [], _) => vec![fact("undecided: nothing was compared")],
            (_, deciding, _) => lines(deciding),
        }
    }

    /// The configurations whose gate comes to this.
    fn with_gate(&self, outcome: GroupOutcome) -> impl Iterator<Item = &CellComparison> {
        self.comparisons.iter().filter(move |one| one.comparison.gate.outcome() == outcome)
    }
}

/// Takes back all gates of a comparison for this reason, or for the other one those that pass.
fn withhold(
    compared: &mut GroupComparison,
    distrusted: Option<&'static str>,
    open: Option<&'static str>,
) {
    let of_figures = compared.metrics.iter_mut().map(|figure| &mut figure.gate);
    for gate in of_figures.chain([&mut compared.gate]) {
        let passes = gate.outcome() == GroupOutcome::Good;
        if let Some(why) = distrusted.or(open.filter(|_| passes)) {
            gate.withhold(why);
        }
    }
}

/// The first of those that decide, each with its bound, and how many more there are.
fn lines(deciding: &[&CellComparison]) -> Vec<DocumentFact> {
    let (shown, rest) = deciding.split_at(deciding.len().min(MOST_LINES));
    let mut facts: Vec<DocumentFact> = shown.iter().map(|one| one.comparison.gate.fact()).collect();
    facts.iter_mut().skip(1).for_each(|fact| fact.name.clear());
    if !rest.is_empty() {
        let more = counted(rest.len() as u64, "further configuration");
        facts.push(DocumentFact::new("", format!("{more} likewise")));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::compare::{short_study_document, study_document, study_junit};
    use crate::terminal::PageStyle;
    use dbtime_model::record::RunRecord;
    use dbtime_model::study::{CellRole, RecordedStudy};

    /// A finished study of configurations with these names and speeds, whose runs differ by this
    /// share.
    fn recorded(cells: &[&str], noise: f64, speed: impl Fn(&str) -> f64) -> RecordedStudy {
        let mut recorded = sample::study(cells, |cell, block| {
            let sign = if cell == "1" { 1.0 } else { -1.0 };
            let wave = 1.0 + sign * noise * (f64::from(block) - 2.0);
            let tps = 1000.0 * speed(cell) * wave;
            let mut record = RunRecord { throughput_tps: tps, ..RunRecord::default() };
            record.latency_us.response.mean = 1e6 / tps;
            record
        });
        recorded.history.finished = Some("all 3 blocks are complete".to_owned());
        recorded
    }

    fn compared(cells: &[&str], noise: f64, speed: impl Fn(&str) -> f64) -> StudyComparison {
        StudyComparison::of(&recorded(cells, noise, speed))
    }

    fn gate_line(study: StudyComparison) -> String {
        let text = short_study_document(&study.gated()).text(PageStyle::default());
        let line = text.lines().find(|line| line.trim_start().starts_with("gate "));
        line.unwrap_or_else(|| panic!("no gate in {text}")).to_owned()
    }

    #[test]
    fn a_study_passes_fails_or_is_undecided_with_its_reason() {
        let slower = |cell: &str| if cell == "b" { 0.9 } else { 1.0 };
        let same = |_: &str| 1.0;
        let worse = compared(&["1", "b", "c"], 0.001, slower);
        assert_eq!((worse.gate_outcome(), worse.has_verdict()), (GroupOutcome::Worse, true));
        assert!(gate_line(worse).contains("gate          fails: with 95 % confidence the change"));
        let good = compared(&["1", "b", "c"], 0.0001, same);
        assert_eq!(good.gate_outcome(), GroupOutcome::Good);
        assert!(gate_line(good).contains("passes: none of 2 configurations is worse"));
        let alone = compared(&["1", "b"], 0.0001, same);
        assert!(gate_line(alone).contains("passes: with 95 % confidence the change is above"));
        let open = compared(&["1", "b"], 0.05, same);
        assert_eq!((open.gate_outcome(), open.has_verdict()), (GroupOutcome::Undecided, false));
        assert!(gate_line(open).contains("undecided: the change lies between"));
    }

    #[test]
    fn a_study_that_goes_on_is_undecided_unless_something_is_worse() {
        let mut good = compared(&["1", "b"], 0.0001, |_| 1.0);
        good.is_finished = false;
        assert_eq!(good.gate_outcome(), GroupOutcome::Undecided);
        assert!(gate_line(good).contains("undecided: the study has not finished"));
        let mut worse = compared(&["1", "b"], 0.0001, |cell| if cell == "b" { 0.9 } else { 1.0 });
        worse.is_finished = false;
        assert_eq!(worse.gate_outcome(), GroupOutcome::Worse);
        worse.comparisons.clear();
        assert!(gate_line(worse).contains("undecided: the study has not finished"));
    }

    /// In JSON and JUnit as in the text.
    #[test]
    fn no_figure_passes_in_a_study_that_goes_on() {
        let mut open = recorded(&["1", "b"], 0.0001, |_| 1.0);
        open.history.finished = None;
        let study = StudyComparison::of(&open);
        let gate = study.comparisons[0].comparison.gate.to_string();
        assert_eq!(gate, "undecided: the study has not finished");
        let junit = study_junit(&study);
        assert!(junit.contains(&format!("; gate {gate}")), "{junit}");
        assert!(!junit.contains("gate passes") && !junit.contains("<system-out>"), "{junit}");
    }

    #[test]
    fn what_has_changed_or_is_lost_decides_nothing() {
        let worse = || compared(&["1", "b"], 0.0001, |cell| if cell == "b" { 0.9 } else { 1.0 });
        let of_plan = worse().with_changed_plan(&["plan.json"]);
        assert_eq!(of_plan.gate_outcome(), GroupOutcome::Undecided);
        assert!(gate_line(of_plan).contains("undecided: the plan was changed after the first run"));
        let run = "runs/0001 (run.json has changed since the run)".to_owned();
        let of_runs = worse().with_changed_runs(&[run]).placed_at("'a b'");
        assert_eq!(of_runs.gate_outcome(), GroupOutcome::Undecided);
        let text = short_study_document(&of_runs).text(PageStyle::default());
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for told in ["CHANGED RUNS: runs/0001 (run.json has", "dbtime study verify 'a b' looks"] {
            assert!(words.contains(told), "{told}: {text}");
        }
        let lost = StudyComparison { lost: Some("1 run lost".to_owned()), ..worse() };
        assert!(gate_line(lost).contains("undecided: runs that counted are lost"));
    }

    #[test]
    fn many_that_decide_are_counted() {
        let cells = ["1", "b", "c", "d", "e", "f", "g", "h", "i"];
        let all = compared(&cells, 0.0001, |cell| if cell == "1" { 1.0 } else { 0.8 });
        let text = study_document(&all.gated()).text(PageStyle::default());
        assert_eq!(text.matches("fails: with 95 % confidence").count(), MOST_LINES, "{text}");
        assert!(text.contains("2 further configurations likewise"), "{text}");
    }

    #[test]
    fn without_a_gate_there_is_no_line_of_it() {
        let study = compared(&["1", "b"], 0.0001, |_| 1.0);
        let text = study_document(&study).text(PageStyle::default());
        assert!(!text.contains("passes: "), "{text}");
    }

    /// Bounds against a baseline that differs from itself hold for nothing.
    #[test]
    fn a_control_that_differs_leaves_the_gate_undecided() {
        let mut recorded = sample::study(&["1", "again", "b"], |cell, block| {
            let speed = if cell == "1" { 1.0 } else { 1.3 };
            let tps = 1000.0 * speed * (1.0 + 0.0001 * f64::from(block));
            RunRecord { throughput_tps: tps, ..RunRecord::default() }
        });
        recorded.plan.cells[1].role = CellRole::Control;
        recorded.history.finished = Some("all 3 blocks are complete".to_owned());
        let study = StudyComparison::of(&recorded);
        assert_eq!(study.gate_outcome(), GroupOutcome::Undecided);
        let comparison = &study.comparisons[0].comparison;
        assert_eq!(comparison.metrics[0].gate, comparison.gate);
        assert!(gate_line(study).contains("undecided: nothing bounds the change"));
    }
}
