//! What may be said of two configurations, from the values of their runs.

use crate::hodges_lehmann::{median_difference, median_of_differences};
use crate::sign_flip::sign_flip_p;
use crate::{ConfidenceInterval, GroupSplit, LogRatio, pairs_needed};

/// Fewer runs a side have no verdict: of two the interval covers everything.
pub(crate) const FEWEST_RUNS: usize = 3;

/// The level of intervals that show a difference.
const LEVEL: f64 = 0.95;

/// The values of one metric, one of each run; more than zero.
#[derive(Clone, Debug, PartialEq)]
pub enum RunValues {
    /// In pairs that shared whatever changed with time: A, B.
    Paired(Vec<(f64, f64)>),
    /// Of runs that had nothing in common: of A, and of B.
    Unpaired(Vec<f64>, Vec<f64>),
}

/// What is decided before the first run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictRule {
    /// The smallest change of interest, a share.
    pub margin: f64,
    /// How many configurations are compared with this one's baseline; one or more.
    pub comparisons: usize,
    /// The level of the interval that shows a difference: 0.95, or that of a planned look.
    pub level: f64,
}

/// A verdict on one metric: the change of B against A, a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GroupVerdict {
    /// They differ, and by the margin or more as far as is known.
    Different(ConfidenceInterval),
    /// They differ, and by less than the margin.
    Small(ConfidenceInterval),
    /// They are the same but for the margin; the interval is that of both one-sided tests, of 90 %.
    Same(ConfidenceInterval),
    /// Neither is shown.
    Undecided {
        /// The change.
        change: ConfidenceInterval,
        /// How many pairs, or runs a side, more would show a change of the margin in 80 % of cases.
        more: Option<usize>,
    },
    /// The runs of one side or of both fall into two groups, and no mean says anything.
    TwoStates {
        /// Those of A; `None`: one group.
        a: Option<GroupSplit>,
        /// Those of B.
        b: Option<GroupSplit>,
    },
}

/// The same question without the assumption of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RobustCheck {
    /// The median change (Hodges-Lehmann) with its 95 % interval.
    pub median: ConfidenceInterval,
    /// The probability by exchanged signs; of pairs alone.
    pub sign_flip_p: Option<f64>,
}

impl RunValues {
    /// The values of each side.
    pub fn sides(&self) -> [Vec<f64>; 2] {
        match self {
            Self::Paired(pairs) => {
                let (a, b) = pairs.iter().copied().unzip();
                [a, b]
            }
            Self::Unpaired(a, b) => [a.clone(), b.clone()],
        }
    }

    /// The change as the logarithm of a ratio; `None` as of [`LogRatio::paired`].
    pub fn ratio(&self) -> Option<LogRatio> {
        match self {
            Self::Paired(pairs) => LogRatio::paired(pairs),
            Self::Unpaired(a, b) => LogRatio::unpaired(a, b),
        }
    }

    /// The runs of the side that has fewer.
    pub fn runs_a_side(&self) -> usize {
        let [a, b] = self.sides();
        a.len().min(b.len())
    }

    /// The share of all pairs of a run of A and one of B in which that of B is higher; half of
    /// those in which both are equal. `None` without runs.
    pub fn superiority(&self) -> Option<f64> {
        let [a, b] = self.sides();
        let pairs = a.len() * b.len();
        let each = |a: f64, b: f64| f64::from(u8::from(b > a)) + 0.5 * f64::from(u8::from(b == a));
        let higher: f64 = a.iter().map(|a| b.iter().map(|b| each(*a, *b)).sum::<f64>()).sum();
        (pairs > 0).then(|| higher / pairs as f64)
    }

    /// The check that assumes no distribution; `None`: too few runs for one of 95 %.
    pub fn robust_check(&self) -> Option<RobustCheck> {
        let [a, b] =
            self.sides().map(|side| side.iter().map(|value| value.ln()).collect::<Vec<_>>());
        let (median, sign_flip_p) = match self {
            Self::Paired(_) => {
                let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                (median_of_differences(&differences, LEVEL)?, Some(sign_flip_p(&differences)))
            }
            Self::Unpaired(..) => (median_difference(&a, &b, LEVEL)?, None),
        };
        Some(RobustCheck { median: median.map(f64::exp_m1), sign_flip_p })
    }
}

impl RobustCheck {
    /// Whether it shows a difference.
    pub fn differs(&self) -> bool {
        !self.median.covers(0.0) && self.sign_flip_p.is_none_or(|p| p <= 1.0 - LEVEL)
    }
}

impl VerdictRule {
    /// That of a single comparison after all runs.
    pub fn new(margin: f64) -> Self {
        Self { margin, comparisons: 1, level: LEVEL }
    }

    /// The change with its interval.
    pub fn change(&self, ratio: &LogRatio) -> ConfidenceInterval {
        ratio.interval_among(self.level, self.comparisons)
    }

    /// The verdict; `None`: fewer than three runs a side, or values that are not above zero.
    pub fn verdict(&self, values: &RunValues) -> Option<GroupVerdict> {
        let runs = values.runs_a_side();
        if runs < FEWEST_RUNS {
            return None;
        }
        let ratio = values.ratio()?;
        // States that are nearer to each other than the margin are of no interest.
        let matters =
            |split: &GroupSplit| split.higher_center > split.lower_center * (1.0 + self.margin);
        let [a, b] = values.sides().map(|side| GroupSplit::find(&side).filter(matters));
        if a.is_some() || b.is_some() {
            return Some(GroupVerdict::TwoStates { a, b });
        }
        let change = self.change(&ratio);
        // Two one-sided tests of 5 % each are that the 90 % interval lies inside (Schuirmann 1987).
        let within = ratio.interval_among(0.9, self.comparisons);
        Some(match (change.covers(0.0), within.is_within(self.margin)) {
            (false, _) if change.is_within(self.margin) => GroupVerdict::Small(change),
            (false, _) => GroupVerdict::Different(change),
            (true, true) => GroupVerdict::Same(within),
            (true, false) => {
                let needed = pairs_needed(ratio.deviation(runs), self.margin);
                let more = needed.map(|needed| needed.saturating_sub(runs).max(1));
                GroupVerdict::Undecided { change, more }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: VerdictRule = VerdictRule { margin: 0.01, comparisons: 1, level: LEVEL };

    /// Pairs with this change, and noise of this size that averages out.
    fn pairs(change: f64, noise: f64, count: u32) -> RunValues {
        let pair = |at: u32| {
            let drift = 1000.0 + 5.0 * f64::from(at);
            let sign = if at.is_multiple_of(2) { 1.0 } else { -1.0 };
            (drift, drift * (1.0 + change) * (1.0 + noise * sign))
        };
        RunValues::Paired((0..count).map(pair).collect())
    }

    #[test]
    fn each_verdict_is_given_where_it_is_due() {
        let verdict = |change, noise, count| RULE.verdict(&pairs(change, noise, count));
        assert!(
            matches!(verdict(0.05, 0.005, 10), Some(GroupVerdict::Different(c)) if c.low > 0.01)
        );
        let less = verdict(-0.05, 0.005, 10);
        assert!(matches!(less, Some(GroupVerdict::Different(c)) if c.high < 0.0));
        assert!(matches!(verdict(0.005, 0.001, 10), Some(GroupVerdict::Small(c)) if c.low > 0.0));
        assert!(matches!(verdict(0.0, 0.005, 10), Some(GroupVerdict::Same(c)) if c.level == 0.9));
        let undecided = verdict(0.0, 0.05, 10);
        assert!(
            matches!(undecided, Some(GroupVerdict::Undecided { more: Some(more), .. })
            if (100..300).contains(&more)),
            "{undecided:?}"
        );
        assert_eq!(verdict(0.05, 0.001, 2), None);
    }

    #[test]
    fn two_groups_have_no_mean() {
        let of = |at: u32| if at.is_multiple_of(2) { 300.0 } else { 460.0 } + f64::from(at);
        let values = RunValues::Unpaired((0..8).map(of).collect(), vec![300.0, 301.0, 302.0]);
        let Some(GroupVerdict::TwoStates { a: Some(a), b: None }) = RULE.verdict(&values) else {
            panic!("{:?}", RULE.verdict(&values));
        };
        assert_eq!((a.lower, a.higher), (4, 4));
        let near =
            |at: u32| if at.is_multiple_of(2) { 300.0 } else { 302.0 } + 0.01 * f64::from(at);
        let values = RunValues::Unpaired((0..8).map(near).collect(), vec![300.0, 301.0, 302.0]);
        assert!(!matches!(RULE.verdict(&values), Some(GroupVerdict::TwoStates { .. })));
    }

    #[test]
    fn the_robust_check_agrees_with_a_clear_difference() {
        let values = pairs(0.05, 0.005, 10);
        let check = values.robust_check().expect("ten pairs");
        assert!(check.differs() && (check.median.estimate - 0.05).abs() < 0.002, "{check:?}");
        assert!(!pairs(0.0, 0.005, 10).robust_check().expect("ten pairs").differs());
        let overlapping = RunValues::Unpaired(vec![1.0, 2.0], vec![2.0, 3.0]);
        assert_eq!((values.superiority(), overlapping.superiority()), (Some(1.0), Some(0.875)));
        assert_eq!(pairs(0.05, 0.005, 5).robust_check(), None);
    }
}
