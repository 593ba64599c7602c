//! The verdict on values that are of no record.

use super::gate::{GroupGate, worse_side};
use super::metrics::GroupMetric;
use super::verdict::Verdict;
use super::verdict_basis::VerdictBasis;
use dbtime_stats::{ConfidenceInterval, RunValues, VerdictRule};

/// What values show by the rules for runs.
pub(in crate::compare) struct ValuesFinding {
    pub(in crate::compare) verdict: Verdict,
    /// The change of B against A, whatever the verdict; `None`: too few values.
    pub(in crate::compare) change: Option<ConfidenceInterval>,
    /// The probability of such a change where there is none.
    pub(in crate::compare) p: Option<f64>,
    /// Whether B is worse by the margin.
    pub(in crate::compare) gate: GroupGate,
    /// The probability by which that is shown, of several gates to be adjusted.
    pub(in crate::compare) gate_p: Option<f64>,
}

impl ValuesFinding {
    /// Of values above zero. With more than `most_checked` a side medians are not looked at.
    pub(in crate::compare) fn of(
        metric: &GroupMetric,
        values: &RunValues,
        (rule, most_checked): (VerdictRule, usize),
    ) -> Self {
        let is_checked = values.sides().iter().all(|side| side.len() <= most_checked);
        let found = if is_checked { rule.finding(values) } else { rule.finding_of_means(values) };
        let ratio = values.ratio();
        // Values are of no run, and how long one took to measure is not known.
        let (names, sides) = (["A", "B"], &[Vec::new(), Vec::new()]);
        let basis = VerdictBasis { metric, rule, names, values, sides, run_s: 0.0 };
        Self {
            verdict: basis.verdict(found.as_ref()),
            change: ratio.map(|ratio| rule.change(&ratio)),
            p: ratio.map(|ratio| ratio.p_value()),
            gate: GroupGate::of(metric, rule, "B", Some(values)),
            gate_p: rule.gate_p(values, worse_side(metric)),
        }
    }
}
