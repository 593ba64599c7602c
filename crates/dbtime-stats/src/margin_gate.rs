//! Whether one configuration is worse than another by a margin: one side of the question that a
//! verdict answers, with a bound of its own for each answer.
//!
//! A change for the worse by the margin is excluded where the one-sided bound of the change on its
//! worse side is nearer than the margin, and shown where the bound on its better side is not. At a
//! true change of exactly the margin either is wrong in 5 % of studies; between no change and the
//! margin a gate fails in far fewer, and passes as soon as the runs suffice.
//!
//! Where medians alone show a difference, for means are hidden by a few runs, the bounds are those
//! of the median change, so that gate and verdict are about one change.

use crate::multiplicity::level_of_each;
use crate::student::two_sided_p;
use crate::verdict::{FEWEST_RUNS, RANK_SHARE};
use crate::{ChangeBasis, ConfidenceInterval, LogRatio, MeanDifference, RunValues, VerdictRule};

/// Which change of a metric is for the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorseSide {
    /// Less of it.
    Less,
    /// More of it.
    More,
}

/// The one-sided bounds of a change, each of the level of its rule. Unit: shares, −0.02 being two
/// percent less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateBounds {
    /// The change is no better than this.
    pub best: f64,
    /// The change is no worse than this.
    pub worst: f64,
}

/// What is known of a change for the worse by the margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarginGate {
    /// It is excluded: the worst bound is nearer than the margin.
    Excluded(GateBounds),
    /// It is shown: the best bound is not.
    Shown(GateBounds),
    /// The margin lies between the bounds.
    Open(GateBounds),
}

impl MarginGate {
    /// By an interval both of whose ends are bounds. `margin`: a share above zero.
    fn of(change: &ConfidenceInterval, margin: f64, worse: WorseSide) -> Self {
        let ConfidenceInterval { low, high, .. } = *change;
        let (best, worst, is_excluded, is_shown) = match worse {
            WorseSide::Less => (high, low, low > -margin, high <= -margin),
            WorseSide::More => (low, high, high < margin, low >= margin),
        };
        let bounds = GateBounds { best, worst };
        match (is_excluded, is_shown) {
            (true, _) => Self::Excluded(bounds),
            (_, true) => Self::Shown(bounds),
            _ => Self::Open(bounds),
        }
    }
}

impl VerdictRule {
    /// Whether B is worse than A by the margin or more, by the bounds of what the verdict goes by;
    /// `None` as of [`VerdictRule::verdict`], and of medians with too few runs.
    ///
    /// What a verdict finds besides, such as two groups of runs, is no reason for a bound not to
    /// hold.
    pub fn gate(
        &self,
        values: &RunValues,
        basis: ChangeBasis,
        worse: WorseSide,
    ) -> Option<MarginGate> {
        let ratio = gate_ratio(values)?;
        // Each end is a bound of the rule's level: 95 % are those of the 90 % interval. Among
        // several the level is shared before that, as one end decides.
        let two_sided = |one_sided: f64| 2.0 * one_sided - 1.0;
        let change = match basis {
            ChangeBasis::Means => {
                ratio.interval(two_sided(level_of_each(self.level, self.comparisons)))
            }
            ChangeBasis::Medians => {
                let (ranks, _) = values.ranks();
                ranks.interval(two_sided(self.median_level()))?.map(f64::exp_m1)
            }
        };
        Some(MarginGate::of(&change, self.margin, worse))
    }

    /// The probability of values that show so clearly that B is worse by the margin or more, were
    /// it worse by just that, one-sided: what [`crate::holm`] adjusts where several gates are asked
    /// at once. By means it is Student's t, by medians that of the ranks among those of means.
    /// `None` as of [`VerdictRule::gate`].
    pub fn gate_p(&self, values: &RunValues, basis: ChangeBasis, worse: WorseSide) -> Option<f64> {
        let ratio = gate_ratio(values)?;
        Some(match basis {
            ChangeBasis::Means => self.gate_p_of_means(ratio, worse),
            ChangeBasis::Medians => {
                let (ranks, _) = values.ranks();
                let bound = self.worse_by_margin(worse);
                let tail = match worse {
                    WorseSide::Less => ranks.tail(|one| one > bound),
                    WorseSide::More => ranks.tail(|one| one < bound),
                };
                (RANK_SHARE * tail).min(1.0)
            }
        })
    }

    fn gate_p_of_means(&self, ratio: LogRatio, worse: WorseSide) -> f64 {
        let LogRatio(MeanDifference { mean, error, freedom }) = ratio;
        let bound = self.worse_by_margin(worse);
        let beyond = match worse {
            WorseSide::Less => bound - mean,
            WorseSide::More => mean - bound,
        };
        let t = beyond / error;
        match t > 0.0 {
            true if t.is_infinite() => 0.0,
            true => two_sided_p(t, freedom) / 2.0,
            false if t.is_finite() => 1.0 - two_sided_p(t, freedom) / 2.0,
            false => 1.0,
        }
    }

    /// The logarithm of the ratio of a B that is worse by the margin.
    fn worse_by_margin(&self, worse: WorseSide) -> f64 {
        match worse {
            // All of it is the most that there can be less.
            WorseSide::Less => (1.0 - self.margin).max(0.0).ln(),
            WorseSide::More => self.margin.ln_1p(),
        }
    }
}

/// The change of which there is a gate.
fn gate_ratio(values: &RunValues) -> Option<LogRatio> {
    values.ratio().filter(|_| values.runs_a_side() >= FEWEST_RUNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    const STUDIES: u64 = 4_000;

    const RULE: VerdictRule = VerdictRule { margin: 0.03, comparisons: 1, level: 0.95 };

    /// What the values of runs have in them besides the configuration, as shares.
    #[derive(Clone, Copy, Debug)]
    struct GateNoise {
        pairs: u32,
        /// Of each run alone.
        deviation: f64,
        /// The share of runs that are slow, by 15 % at most.
        slow: f64,
    }

    fn study(seed: u64, noise: GateNoise, change: f64) -> RunValues {
        let mut random = SeededNoise::new(seed);
        let mut run = || {
            let slow = if random.uniform() < noise.slow { 0.15 * random.uniform() } else { 0.0 };
            1000.0 * (noise.deviation * random.normal() - slow).exp()
        };
        RunValues::Paired((0..noise.pairs).map(|_| (run(), run() * (1.0 + change))).collect())
    }

    /// The gate by what the verdict goes by.
    fn gated(rule: VerdictRule, values: &RunValues, worse: WorseSide) -> Option<MarginGate> {
        rule.gate(values, rule.verdict(values)?.basis(), worse)
    }

    /// In which shares of studies the gate passes, and fails. `change`: for the worse below zero.
    fn shares(noise: GateNoise, change: f64, worse: WorseSide) -> [f64; 2] {
        let change = if worse == WorseSide::Less { change } else { -change };
        let mut counts = [0u32; 2];
        for seed in 0..STUDIES {
            match gated(RULE, &study(seed, noise, change), worse).expect("enough runs") {
                MarginGate::Excluded(_) => counts[0] += 1,
                MarginGate::Shown(_) => counts[1] += 1,
                MarginGate::Open(_) => {}
            }
        }
        counts.map(|count| f64::from(count) / STUDIES as f64)
    }

    const CALM: GateNoise = GateNoise { pairs: 10, deviation: 0.015, slow: 0.0 };
    const SIDES: [WorseSide; 2] = [WorseSide::Less, WorseSide::More];

    #[test]
    fn a_gate_is_right_in_nearly_all_studies() {
        for worse in SIDES {
            for change in [0.0, 0.02, 0.04] {
                let [passed, _] = shares(CALM, change, worse);
                assert!(passed >= 0.95, "{worse:?} {change}: {passed}");
            }
            let [_, failed] = shares(CALM, -0.06, worse);
            assert!(failed >= 0.95, "{worse:?}: {failed}");
            // Less than the margin is no failure, and with little noise it passes.
            let [_, failed] = shares(CALM, -0.02, worse);
            assert!(failed <= 0.01, "{worse:?}: {failed}");
            let [passed, _] = shares(GateNoise { deviation: 0.003, ..CALM }, -0.02, worse);
            assert!(passed >= 0.95, "{worse:?}: {passed}");
        }
    }

    #[test]
    fn a_change_of_the_margin_passes_and_fails_in_one_study_of_twenty_each() {
        for worse in SIDES {
            for noise in [CALM, GateNoise { pairs: 4, ..CALM }] {
                for share in shares(noise, -RULE.margin, worse) {
                    assert!((0.035..=0.065).contains(&share), "{worse:?} {noise:?}: {share}");
                }
            }
        }
    }

    #[test]
    fn slow_runs_leave_a_gate_open_and_do_not_fail_it() {
        let noise = GateNoise { slow: 0.15, ..CALM };
        for change in [-0.02, 0.0, 0.02, 0.04] {
            let [_, failed] = shares(noise, change, WorseSide::Less);
            assert!(failed <= 0.05, "{change}: {failed}");
        }
        let [passed, _] = shares(GateNoise { pairs: 40, ..noise }, 0.0, WorseSide::Less);
        assert!(passed >= 0.95, "{passed}");
    }

    /// Two groups of runs on both sides, and B half as fast in every pair.
    #[test]
    fn two_states_do_not_keep_a_gate_from_failing() {
        let pair = |at: u32| {
            let a = if at.is_multiple_of(2) { 1000.0 } else { 1600.0 } + f64::from(at);
            (a, a * 0.5)
        };
        let values = RunValues::Paired((0..10).map(pair).collect());
        let found = gated(RULE, &values, WorseSide::Less);
        assert!(matches!(found, Some(MarginGate::Shown(_))), "{found:?}");
        let found = gated(RULE, &values, WorseSide::More);
        assert!(matches!(found, Some(MarginGate::Excluded(_))), "{found:?}");
    }

    /// Slower by 10 % in all pairs but one, which is three times as fast: means show nothing.
    #[test]
    fn a_verdict_by_medians_has_a_gate_by_medians() {
        let pair = |at: u32| {
            let noise = 1.0 + 0.001 * f64::from(at * 7 % 5);
            (100.0, if at == 3 { 33.0 } else { 110.0 * noise })
        };
        let values = RunValues::Paired((0..20).map(pair).collect());
        let basis = RULE.verdict(&values).expect("enough pairs").basis();
        assert_eq!(basis, ChangeBasis::Medians);
        let Some(MarginGate::Shown(bounds)) = RULE.gate(&values, basis, WorseSide::More) else {
            panic!("{:?}", RULE.gate(&values, basis, WorseSide::More));
        };
        assert!(bounds.best > 0.09 && bounds.worst < 0.11, "{bounds:?}");
        assert!(RULE.gate_p(&values, basis, WorseSide::More).is_some_and(|p| p < 0.01));
        let faster = RULE.gate(&values, basis, WorseSide::Less);
        assert!(matches!(faster, Some(MarginGate::Excluded(_))), "{faster:?}");
        assert!(RULE.gate_p(&values, basis, WorseSide::Less).is_some_and(|p| p > 0.9));
        let of_means = RULE.gate(&values, ChangeBasis::Means, WorseSide::More);
        assert!(matches!(of_means, Some(MarginGate::Open(_))), "{of_means:?}");
    }

    #[test]
    fn bounds_are_one_sided_and_wider_among_several() {
        let values = study(7, CALM, 0.0);
        let of_means = |rule: VerdictRule| rule.gate(&values, ChangeBasis::Means, WorseSide::Less);
        let bounds = |rule: VerdictRule| match of_means(rule) {
            Some(MarginGate::Excluded(bounds) | MarginGate::Open(bounds)) => bounds,
            other => panic!("{other:?}"),
        };
        let within = values.ratio().expect("ten pairs").interval(0.9);
        let alone = bounds(RULE);
        assert!((alone.worst - within.low).abs() < 1e-6, "{alone:?} {within:?}");
        assert!((alone.best - within.high).abs() < 1e-6, "{alone:?} {within:?}");
        let of_three = bounds(VerdictRule { comparisons: 3, ..RULE });
        assert!(of_three.worst < alone.worst && of_three.best > alone.best, "{of_three:?}");
        // Three bounds of one side hold together in 95 % of studies.
        let shared = values.ratio().expect("ten pairs").interval(2.0 * 0.95f64.cbrt() - 1.0);
        assert!((of_three.worst - shared.low).abs() < 1e-6, "{of_three:?} {shared:?}");
        let few = RunValues::Unpaired(vec![1.0, 1.1], vec![1.0, 1.1, 1.2]);
        assert_eq!(RULE.gate(&few, ChangeBasis::Means, WorseSide::Less), None);
        let zero = RunValues::Paired(vec![(0.0, 1.0); 5]);
        assert_eq!(RULE.gate(&zero, ChangeBasis::Means, WorseSide::Less), None);
    }

    /// The probability is below 5 % where the gate fails, and nowhere else.
    #[test]
    fn a_gate_fails_by_its_probability() {
        for worse in SIDES {
            let sign = if worse == WorseSide::Less { -1.0 } else { 1.0 };
            for seed in 0..200 {
                let values = study(seed, CALM, sign * 0.04);
                for basis in [ChangeBasis::Means, ChangeBasis::Medians] {
                    let found = RULE.gate(&values, basis, worse);
                    let is_shown = matches!(found, Some(MarginGate::Shown(_)));
                    let p = RULE.gate_p(&values, basis, worse).expect("enough runs");
                    assert_eq!(p <= 0.05, is_shown, "{worse:?} {basis:?} {seed}: {p}");
                }
            }
            let of_means = |values: &RunValues| RULE.gate_p(values, ChangeBasis::Means, worse);
            let exact = |change: f64| RunValues::Paired(vec![(100.0, 100.0 * (1.0 + change)); 5]);
            assert!(of_means(&exact(sign * 0.5)).is_some_and(|p| p < 1e-6));
            assert_eq!(of_means(&exact(0.0)), Some(1.0));
            let few = RunValues::Unpaired(vec![1.0, 1.1], vec![1.0, 1.1, 1.2]);
            assert_eq!(of_means(&few), None);
        }
        let all = VerdictRule { margin: 1.0, ..RULE };
        let half = study(1, CALM, -0.5);
        for basis in [ChangeBasis::Means, ChangeBasis::Medians] {
            assert_eq!(all.gate_p(&half, basis, WorseSide::Less), Some(1.0));
        }
    }
}
