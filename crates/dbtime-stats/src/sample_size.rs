//! How many runs a question takes, and what some runs can tell.

use crate::ConfidenceInterval;
use crate::chi_square::chi_square_quantile;
use crate::student::t_quantile;

/// How often a difference of that size is to be found.
const POWER: f64 = 0.8;

/// More pairs are not counted: nobody runs them.
const MOST_PAIRS: usize = 100_000;

/// The level of the range that a deviation has by few values.
const RANGE_LEVEL: f64 = 0.8;

/// The change that is found in 80 % of cases at the 5 % level, with so many pairs (or runs a side)
/// whose differences have this standard deviation, a share. Student's quantiles stand for those of
/// the noncentral distribution: that is 5 % too small with three pairs, 1 % with five, nothing with
/// ten (`tests/oracle.py`). `None`: fewer than two.
pub fn detectable_change(deviation: f64, pairs: usize) -> Option<f64> {
    (pairs >= 2).then(|| {
        let freedom = pairs as f64 - 1.0;
        let quantiles = t_quantile(0.975, freedom) + t_quantile(POWER, freedom);
        quantiles * deviation / (pairs as f64).sqrt()
    })
}

/// The same with its 80 % interval, since the deviation is known from so many values alone: of
/// three it may be a third less, or three times as much. `None`: fewer than two values or pairs.
///
/// Source: the interval of a variance by the chi-square distribution, of normal values.
pub fn detectable_range(deviation: f64, values: usize, pairs: usize) -> Option<ConfidenceInterval> {
    let estimate = detectable_change(deviation, pairs)?;
    let freedom = values.checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    let at = |p: f64| estimate * (freedom / chi_square_quantile(p, freedom)).sqrt();
    let tail = (1.0 - RANGE_LEVEL) / 2.0;
    Some(ConfidenceInterval { estimate, low: at(1.0 - tail), high: at(tail), level: RANGE_LEVEL })
}

/// The fewest pairs that find a change of this share; `None`: more than 100,000.
pub fn pairs_needed(deviation: f64, change: f64) -> Option<usize> {
    let is_enough =
        |pairs: usize| detectable_change(deviation, pairs).is_some_and(|found| found <= change);
    // A power of two that is enough, then the fewest below it.
    let mut high = 2;
    while !is_enough(high) {
        if high > MOST_PAIRS {
            return None;
        }
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle }
    }
    (high <= MOST_PAIRS).then_some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With many pairs it is the textbook's (1.960 + 0.842)^2 (deviation / change)^2, 7.85 times.
    #[test]
    fn many_pairs_follow_the_rule_of_eight() {
        let pairs = pairs_needed(0.1, 0.01).expect("some hundreds") as f64;
        assert!((pairs / 785.0 - 1.0).abs() < 0.01, "{pairs}");
    }

    /// -2 ln 0.1 and -2 ln 0.9 are the quantiles of two degrees of freedom.
    #[test]
    fn few_values_leave_the_change_open_and_many_do_not() {
        let few = detectable_range(0.02, 3, 10).expect("three values");
        assert_eq!(Some(few.estimate), detectable_change(0.02, 10));
        assert!((few.low / few.estimate - 0.659).abs() < 1e-3, "{few:?}");
        assert!((few.high / few.estimate - 3.081).abs() < 1e-3, "{few:?}");
        let many = detectable_range(0.02, 100, 10).expect("a hundred values");
        assert!(many.low > 0.9 * many.estimate && many.high < 1.11 * many.estimate, "{many:?}");
        assert_eq!((detectable_range(0.02, 1, 10), detectable_range(0.02, 3, 1)), (None, None));
    }

    #[test]
    fn pairs_are_the_fewest_that_are_enough() {
        for (deviation, change) in [(0.02, 0.01), (0.02, 0.05), (0.014, 0.013), (1.0, 0.01)] {
            let pairs = pairs_needed(deviation, change).expect("not too many");
            assert!(detectable_change(deviation, pairs).expect("two or more") <= change);
            let fewer = detectable_change(deviation, pairs - 1);
            assert!(fewer.is_none_or(|found| found > change), "{deviation} {change} {pairs}");
        }
        assert_eq!(pairs_needed(0.0, 0.01), Some(2));
        assert_eq!(pairs_needed(1.0, 1e-9), None);
        assert_eq!(detectable_change(0.1, 1), None);
    }
}
