//! How many runs a question takes, and what some runs can tell.

use crate::student::t_quantile;

/// How often a difference of that size is to be found.
const POWER: f64 = 0.8;

/// More pairs are not counted: nobody runs them.
const MOST_PAIRS: usize = 100_000;

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
