//! The one run that makes an interval wide.

use crate::{ConfidenceInterval, RunValues, VerdictRule};

/// As many pairs, or runs of its side, must be left without it.
const FEWEST_LEFT: usize = 4;

/// A wide interval is less than this part of its width without the run.
const NARROWER: f64 = 0.5;

/// A run, or a pair, without which an undecided change would be known much better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OddRun {
    /// Which.
    pub place: OddPlace,
    /// The change without it, a share.
    pub without: ConfidenceInterval,
}

/// Where a value stands among those that are compared, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OddPlace {
    /// A pair.
    Pair(usize),
    /// A run of side 0 or 1.
    Run {
        /// 0: A; 1: B.
        side: usize,
        /// Which of that side.
        at: usize,
    },
}

impl OddRun {
    /// The one without which the interval is narrowest, where it is half as wide without it, or
    /// shows a difference; `change` is the one with all.
    ///
    /// Cost: the square of the number of runs.
    pub(crate) fn find(
        rule: &VerdictRule,
        values: &RunValues,
        change: &ConfidenceInterval,
    ) -> Option<Self> {
        let of = |place: OddPlace| {
            let ratio = place.without(values)?.ratio()?;
            Some(Self { place, without: rule.change(&ratio) })
        };
        let all = OddPlace::all(values).into_iter().filter_map(of);
        let odd = all.min_by(|one, other| width(&one.without).total_cmp(&width(&other.without)))?;
        let is_narrower = width(&odd.without) < NARROWER * width(change);
        (is_narrower || !odd.without.covers(0.0)).then_some(odd)
    }
}

impl OddPlace {
    fn all(values: &RunValues) -> Vec<Self> {
        match values {
            RunValues::Paired(pairs) => (0..pairs.len()).map(Self::Pair).collect(),
            RunValues::Unpaired(a, b) => {
                let of =
                    |side: usize, count: usize| (0..count).map(move |at| Self::Run { side, at });
                of(0, a.len()).chain(of(1, b.len())).collect()
            }
        }
    }

    /// The values without this one; `None`: too few are left.
    fn without(self, values: &RunValues) -> Option<RunValues> {
        let mut left = values.clone();
        let count = match (self, &mut left) {
            (Self::Pair(at), RunValues::Paired(pairs)) => {
                pairs.remove(at);
                pairs.len()
            }
            (Self::Run { side, at }, RunValues::Unpaired(a, b)) => {
                let of_side = if side == 0 { a } else { b };
                of_side.remove(at);
                of_side.len()
            }
            _ => return None,
        };
        (count >= FEWEST_LEFT).then_some(left)
    }
}

/// How wide an interval of a change is as one of logarithms.
fn width(change: &ConfidenceInterval) -> f64 {
    change.high.ln_1p() - change.low.ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd(values: &RunValues) -> Option<OddRun> {
        let rule = VerdictRule::new(0.01);
        let ratio = values.ratio().expect("enough runs");
        OddRun::find(&rule, values, &rule.change(&ratio))
    }

    #[test]
    fn the_run_that_makes_the_interval_wide_is_found() {
        let pair = |at: usize| (1000.0, if at == 3 { 200.0 } else { 1000.0 + at as f64 });
        let found = odd(&RunValues::Paired((0..6).map(pair).collect())).expect("an odd pair");
        assert_eq!(found.place, OddPlace::Pair(3));
        assert!(found.without.low > -0.01 && found.without.high < 0.01, "{found:?}");
        let a = vec![1000.0; 6];
        let b = (0..6).map(|at| pair(at).1).collect();
        let found = odd(&RunValues::Unpaired(a, b)).expect("an odd run");
        assert_eq!(found.place, OddPlace::Run { side: 1, at: 3 });
    }

    #[test]
    fn of_even_noise_and_of_few_runs_none_is_odd() {
        let even = |at: u32| (1000.0, 1000.0 + if at.is_multiple_of(2) { 30.0 } else { -30.0 });
        assert_eq!(odd(&RunValues::Paired((0..10).map(even).collect())), None);
        let few = vec![(1000.0, 1000.0), (1000.0, 1001.0), (1000.0, 1002.0), (1000.0, 200.0)];
        assert_eq!(odd(&RunValues::Paired(few)), None);
    }
}
