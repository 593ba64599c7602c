//! What may be said of two configurations, from the values of their runs.

use crate::hodges_lehmann::RankTest;
use crate::multiplicity::level_of_each;
use crate::odd_run::OddRun;
use crate::sign_flip::sign_flip_p;
use crate::{ConfidenceInterval, LogRatio, MeanDifference, RunStates, pairs_needed};

/// Fewer runs a side have no verdict: of two the interval covers everything.
pub(crate) const FEWEST_RUNS: usize = 3;

/// The level of intervals that show a difference.
const LEVEL: f64 = 0.95;

/// By how much the error of ranks, which alone show a difference too, is smaller than that of
/// means: 95.5 % beside 95 %. Together they find one where there is none in 4 to 6.5 % of studies,
/// and of Go benchmarks, whose outliers hide differences from means, at least 0.9 of what benchstat
/// finds (`tests/it/policy.rs`, `examples/go_benchmarks.rs`).
pub(crate) const RANK_SHARE: f64 = 1.1;

/// The values of one metric, one of each run; above zero, but for a difference in their unit.
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
    Different(ConfidenceInterval, ChangeBasis),
    /// They differ, and by less than the margin.
    Small(ConfidenceInterval, ChangeBasis),
    /// They are the same but for the margin; the interval is that of both one-sided tests, of 90 %.
    Same(ConfidenceInterval),
    /// Neither is shown.
    Undecided {
        /// The change.
        change: ConfidenceInterval,
        /// How many pairs, or runs a side, more would show a change of the margin in 80 % of cases.
        more: Option<usize>,
    },
}

/// What shows a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeBasis {
    /// The means of both sides.
    Means,
    /// The median change alone: a few runs are so far off that means show nothing.
    Medians,
}

impl GroupVerdict {
    /// What bounds the change: medians where they alone show it, else means.
    pub fn basis(&self) -> ChangeBasis {
        match self {
            Self::Different(_, basis) | Self::Small(_, basis) => *basis,
            Self::Same(_) | Self::Undecided { .. } => ChangeBasis::Means,
        }
    }

    /// The median change, where it alone shows a difference.
    pub fn median_change(&self) -> Option<ConfidenceInterval> {
        match self {
            Self::Different(change, ChangeBasis::Medians)
            | Self::Small(change, ChangeBasis::Medians) => Some(*change),
            _ => None,
        }
    }
}

/// A verdict with all that qualifies it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupFinding {
    /// The verdict.
    pub verdict: GroupVerdict,
    /// The same question without the assumption of a distribution; `None`: too few runs.
    pub check: Option<RobustCheck>,
    /// The groups that the runs fall into; `None`: one.
    pub states: Option<RunStates>,
    /// What alone keeps a verdict away; `None`: there is one, or no single run does.
    pub odd: Option<OddRun>,
}

/// The same question without the assumption of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RobustCheck {
    /// The median change (Hodges-Lehmann) with its 95 % interval.
    pub median: ConfidenceInterval,
    /// The probability of such ranks where nothing differs: signed-rank test of pairs, else
    /// Mann-Whitney test.
    pub rank_p: f64,
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
        let (ranks, differences) = self.ranks();
        Some(RobustCheck {
            median: ranks.interval(LEVEL)?.map(f64::exp_m1),
            rank_p: ranks.p_value(),
            sign_flip_p: differences.map(|differences| sign_flip_p(&differences)),
        })
    }

    /// The test by ranks, and the differences of the logarithms of pairs.
    pub(crate) fn ranks(&self) -> (RankTest, Option<Vec<f64>>) {
        let [a, b] =
            self.sides().map(|side| side.iter().map(|value| value.ln()).collect::<Vec<_>>());
        match self {
            Self::Paired(_) => {
                let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
                (RankTest::paired(&differences), Some(differences))
            }
            Self::Unpaired(..) => (RankTest::unpaired(&a, &b), None),
        }
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

    /// The difference of the means in the unit of the values, which need not be above zero, with
    /// its probability where both are the same; `None`: fewer than three runs a side, or a value
    /// that is no finite number.
    pub fn difference(&self, values: &RunValues) -> Option<(ConfidenceInterval, f64)> {
        let difference = match values {
            RunValues::Paired(pairs) => MeanDifference::paired(pairs),
            RunValues::Unpaired(a, b) => MeanDifference::unpaired(a, b),
        };
        let difference = difference.filter(|_| values.runs_a_side() >= FEWEST_RUNS)?;
        let of_each = level_of_each(self.level, self.comparisons);
        let interval = ConfidenceInterval { level: self.level, ..difference.interval(of_each) };
        Some((interval, difference.p_value()))
    }

    /// The level at which the median change alone shows a difference.
    pub(crate) fn median_level(&self) -> f64 {
        1.0 - (1.0 - level_of_each(self.level, self.comparisons)) / RANK_SHARE
    }

    /// The median change where its ranks alone show a difference.
    fn shown_median(&self, values: &RunValues) -> Option<ConfidenceInterval> {
        let (ranks, _) = values.ranks();
        let median = ranks.interval(self.median_level())?.map(f64::exp_m1);
        (!median.covers(0.0)).then_some(median)
    }

    /// The probability that goes with a difference that medians alone show, among those of means.
    pub fn shown_p(&self, check: &RobustCheck) -> f64 {
        (RANK_SHARE * check.rank_p).min(1.0)
    }

    /// The verdict; `None`: fewer than three runs a side, or values that are not above zero.
    pub fn verdict(&self, values: &RunValues) -> Option<GroupVerdict> {
        self.verdict_with(values, || self.shown_median(values))
    }

    /// The verdict, where medians show this by themselves.
    fn verdict_with(
        &self,
        values: &RunValues,
        shown_median: impl FnOnce() -> Option<ConfidenceInterval>,
    ) -> Option<GroupVerdict> {
        let runs = values.runs_a_side();
        if runs < FEWEST_RUNS {
            return None;
        }
        let ratio = values.ratio()?;
        let different = |change: ConfidenceInterval, basis| match change.is_within(self.margin) {
            true => GroupVerdict::Small(change, basis),
            false => GroupVerdict::Different(change, basis),
        };
        let change = self.change(&ratio);
        if !change.covers(0.0) {
            return Some(different(change, ChangeBasis::Means));
        }
        // Two one-sided tests of 5 % each are that the 90 % interval lies inside (Schuirmann 1987).
        let within = ratio.interval_among(0.9, self.comparisons);
        let is_same = within.is_within(self.margin);
        let median = shown_median();
        if let Some(median) = median.filter(|median| !is_same || median.is_within(self.margin)) {
            return Some(different(median, ChangeBasis::Medians));
        }
        if is_same {
            return Some(GroupVerdict::Same(within));
        }
        let needed = pairs_needed(ratio.deviation(runs), self.margin);
        let more = needed.map(|needed| needed.saturating_sub(runs).max(1));
        Some(GroupVerdict::Undecided { change, more })
    }

    /// The verdict with what qualifies it; `None` as of [`Self::verdict`].
    pub fn finding(&self, values: &RunValues) -> Option<GroupFinding> {
        let verdict = self.verdict(values)?;
        let odd = match verdict {
            GroupVerdict::Undecided { change, .. } => OddRun::find(self, values, &change),
            _ => None,
        };
        let (check, states) = (values.robust_check(), RunStates::find(values, self.margin));
        Some(GroupFinding { verdict, check, states, odd })
    }

    /// The verdict by means alone, of values that are too many for all that is looked at else;
    /// `None` as of [`Self::verdict`].
    pub fn finding_of_means(&self, values: &RunValues) -> Option<GroupFinding> {
        let verdict = self.verdict_with(values, || None)?;
        Some(GroupFinding { verdict, check: None, states: None, odd: None })
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
            matches!(verdict(0.05, 0.005, 10), Some(GroupVerdict::Different(c, _)) if c.low > 0.01)
        );
        let less = verdict(-0.05, 0.005, 10);
        assert!(matches!(less, Some(GroupVerdict::Different(c, _)) if c.high < 0.0));
        let small = verdict(0.005, 0.001, 10);
        assert!(matches!(small, Some(GroupVerdict::Small(c, _)) if c.low > 0.0), "{small:?}");
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
    fn two_states_stand_beside_a_verdict() {
        let of = |at: u32| if at.is_multiple_of(2) { 300.0 } else { 460.0 } + f64::from(at);
        let other = |at: u32| 900.0 + f64::from(at);
        let values = RunValues::Unpaired((0..8).map(of).collect(), (0..8).map(other).collect());
        let found = RULE.finding(&values).expect("enough runs");
        assert!(matches!(found.verdict, GroupVerdict::Different(c, _) if c.low > 0.5), "{found:?}");
        let Some(RunStates::Sides([Some(a), None])) = &found.states else { panic!("{found:?}") };
        assert_eq!((a.lower(), a.higher()), (4, 4));
    }

    #[test]
    fn what_is_zero_in_some_runs_has_a_difference_in_its_unit() {
        let values = RunValues::Paired(vec![(0.0, 1.0), (0.0, 1.1), (0.1, 1.0), (0.0, 1.0)]);
        let (difference, p) = RULE.difference(&values).expect("four pairs");
        assert!((difference.estimate - 1.0).abs() < 1e-9 && difference.low > 0.8 && p < 0.01);
        assert_eq!(RULE.verdict(&values), None);
        assert_eq!(RULE.difference(&RunValues::Paired(vec![(0.0, 1.0); 2])), None);
    }

    /// Half as fast in every block, whatever each block's machine was like.
    #[test]
    fn what_is_half_as_fast_in_every_block_differs() {
        let block = |at: u32| {
            let machine = if at.is_multiple_of(2) { 1000.0 } else { 700.0 } + f64::from(at * 7 % 5);
            (machine, machine * (0.5 + 0.001 * f64::from(at % 3)))
        };
        let values = RunValues::Paired((0..8).map(block).collect());
        let found = RULE.finding(&values).expect("enough runs");
        assert!(matches!(found.verdict, GroupVerdict::Different(c, _) if c.high < -0.45));
        assert_eq!(found.states, None, "{found:?}");
    }

    #[test]
    fn medians_show_what_one_run_far_off_hides_from_means() {
        let pair = |at: u32| {
            let noise = 1.0 + 0.001 * f64::from(at * 7 % 5);
            (1000.0, if at == 3 { 300.0 } else { 1050.0 * noise })
        };
        let values = RunValues::Paired((0..15).map(pair).collect());
        let verdict = RULE.verdict(&values);
        let Some(GroupVerdict::Different(change, ChangeBasis::Medians)) = verdict else {
            panic!("{verdict:?}");
        };
        assert!(
            change.low > 0.04 && (change.level - (1.0 - 0.05 / 1.1)).abs() < 1e-9,
            "{change:?}"
        );
        let check = values.robust_check().expect("15 pairs");
        assert!(RULE.shown_p(&check) < 0.05, "{check:?}");
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
