//! The verdict on values that are of no record.

use super::FoundStates;
use super::gate::{GroupGate, worse_side};
use super::metrics::GroupMetric;
use super::verdict::Verdict;
use super::verdict_basis::VerdictBasis;
use dbtime_stats::{ConfidenceInterval, RunValues, VerdictRule};

/// How values of files are compared.
#[derive(Clone, Copy, Debug)]
pub(in crate::compare) struct ValuesRule {
    pub(in crate::compare) verdict: VerdictRule,
    /// With more values a side medians are not looked at, nor groups.
    pub(in crate::compare) most_checked: usize,
    /// How many values a side can have.
    pub(in crate::compare) most_values: usize,
}

/// What values show by the rules for runs.
pub(in crate::compare) struct ValuesFinding {
    pub(in crate::compare) verdict: Verdict,
    /// The change of B against A that the verdict is about; `None`: too few values.
    pub(in crate::compare) change: Option<ConfidenceInterval>,
    /// The change of the means, whatever shows it; `None`: too few values.
    pub(in crate::compare) mean_change: Option<ConfidenceInterval>,
    /// Whether medians alone show it.
    pub(in crate::compare) is_by_medians: bool,
    /// The probability of such a change where there is none.
    pub(in crate::compare) p: Option<f64>,
    /// The groups that the values fall into; `None`: one.
    pub(in crate::compare) states: Option<FoundStates>,
    /// Whether B is worse by the margin.
    pub(in crate::compare) gate: GroupGate,
    /// The probability by which that is shown, of several gates to be adjusted.
    pub(in crate::compare) gate_p: Option<f64>,
}

impl ValuesFinding {
    /// Of values above zero.
    pub(in crate::compare) fn of(metric: &GroupMetric, values: &RunValues, by: ValuesRule) -> Self {
        let rule = by.verdict;
        let is_checked = values.sides().iter().all(|side| side.len() <= by.most_checked);
        let found = if is_checked { rule.finding(values) } else { rule.finding_of_means(values) };
        let ratio = values.ratio();
        // Values are of no run, and how long one took to measure is not known.
        let (names, sides) = (["A", "B"], &[Vec::new(), Vec::new()]);
        let most_values = Some(by.most_values);
        let basis = VerdictBasis { metric, rule, names, values, sides, run_s: 0.0, most_values };
        let bound = found.as_ref().map(|found| found.verdict.basis());
        let median_change = found.as_ref().and_then(|found| found.verdict.median_change());
        let mean_change = ratio.map(|ratio| rule.change(&ratio));
        let check = found.as_ref().and_then(|found| found.check);
        let states = found.as_ref().and_then(|found| found.states.as_ref());
        Self {
            verdict: basis.verdict(found.as_ref()),
            change: median_change.or(mean_change),
            mean_change,
            is_by_medians: median_change.is_some(),
            p: match check.filter(|_| median_change.is_some()) {
                Some(check) => Some(rule.shown_p(&check)),
                None => ratio.map(|ratio| ratio.p_value()),
            },
            states: states.map(|states| FoundStates::of(states, &basis)),
            gate: GroupGate::of(metric, rule, "B", bound.map(|bound| (values, bound))),
            gate_p: bound.and_then(|bound| rule.gate_p(values, bound, worse_side(metric))),
        }
    }
}
