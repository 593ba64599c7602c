//! The ratio of two configurations, from the values of their runs.
//!
//! Student's t on the logarithms of run values: where nothing differs it finds a difference in 3.5
//! to 6.5 % of studies from three pairs on, with drift and with noise that lasts, and less often
//! with slow tails (`tests/it/false_alarms.rs`). The ratio with its interval is the form in which
//! Kalibera and Jones report a change (Quantifying Performance Changes with Effect Size Confidence
//! Intervals, 2020).

use crate::ConfidenceInterval;
use crate::MeanDifference;
use crate::multiplicity::level_of_each;
use crate::rounding::hidden_variances;

/// By how much the second of two configurations differs from the first, as the logarithm of the
/// ratio of their values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio(pub(crate) MeanDifference);

impl LogRatio {
    /// Of runs in pairs that shared whatever changed with time: the first of a pair of the first
    /// configuration. `None`: fewer than two pairs, or a value that has no logarithm.
    pub fn paired(pairs: &[(f64, f64)]) -> Option<Self> {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let [of_a, of_b] = hidden_variances(&a, &b);
        // Where one side varies, so do the differences.
        let least = if of_a > 0.0 && of_b > 0.0 { of_a + of_b } else { 0.0 };
        let logs: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a.ln(), b.ln())).collect();
        MeanDifference::paired_with(&logs, least).map(Self)
    }

    /// Of runs that had nothing in common. `None` as above, of either side.
    pub fn unpaired(a: &[f64], b: &[f64]) -> Option<Self> {
        let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
        MeanDifference::unpaired_with(&logs(a), &logs(b), hidden_variances(a, b)).map(Self)
    }

    /// The change as a share of the first configuration, 0.05 being five percent more, with its
    /// interval.
    pub fn interval(&self, level: f64) -> ConfidenceInterval {
        self.interval_among(level, 1)
    }

    /// The same where so many configurations are compared with one: all of their intervals cover
    /// their true values in `level` of all repetitions, or more.
    pub fn interval_among(&self, level: f64, comparisons: usize) -> ConfidenceInterval {
        let of_each = level_of_each(level, comparisons);
        ConfidenceInterval { level, ..self.0.interval(of_each) }.map(f64::exp_m1)
    }

    /// The probability of a ratio at least so far from one where both are the same.
    pub fn p_value(&self) -> f64 {
        self.0.p_value()
    }

    /// Whether both are the same but for the margin, a share: two one-sided tests of 5 % each,
    /// which is that the 90 % interval lies inside (Schuirmann 1987).
    #[cfg(test)]
    fn is_equivalent(&self, margin: f64) -> bool {
        self.interval(0.9).is_within(margin)
    }

    /// The standard deviation of one difference, as a share: of a pair, or of two single runs.
    pub fn deviation(&self, runs_a_side: usize) -> f64 {
        self.0.error * (runs_a_side as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: [f64; 6] = [102.0, 98.5, 101.2, 97.3, 100.4, 99.1];
    const B: [f64; 6] = [105.1, 103.0, 106.2, 99.9, 104.8, 104.0];

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
    }

    /// Oracle: scipy 1.17.1, `tests/oracle.py`.
    #[test]
    fn both_designs_agree_with_scipy() {
        let pairs: Vec<(f64, f64)> = A.into_iter().zip(B).collect();
        let paired = LogRatio::paired(&pairs).expect("six pairs");
        let unpaired = LogRatio::unpaired(&A, &B).expect("six runs");
        near(paired.interval(0.95).estimate, PAIRED[0]);
        near(paired.interval(0.95).low, PAIRED[1]);
        near(paired.interval(0.95).high, PAIRED[2]);
        near(paired.p_value(), PAIRED[3]);
        near(unpaired.interval(0.95).low, WELCH[0]);
        near(unpaired.interval(0.95).high, WELCH[1]);
        near(unpaired.p_value(), WELCH[2]);
    }

    const PAIRED: [f64; 4] =
        [0.04087339394133441, 0.03052733100633416, 0.05132332701644094, 0.00014773602513639387];
    const WELCH: [f64; 3] = [0.014746088680570233, 0.06767341535030716, 0.005765938539200289];

    #[test]
    fn what_has_no_logarithm_has_no_ratio() {
        assert_eq!(LogRatio::paired(&[(1.0, 0.0), (1.0, 1.0)]), None);
        assert_eq!(LogRatio::paired(&[(1.0, 1.0)]), None);
        assert_eq!(LogRatio::unpaired(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    }

    /// Three and three values of two digits: a rank test, too, cannot be sure of more than 10 %.
    #[test]
    fn values_that_are_all_equal_are_as_uncertain_as_their_last_digit() {
        let unpaired = LogRatio::unpaired(&[10.0; 3], &[11.0; 3]).expect("three a side");
        let interval = unpaired.interval(0.95);
        assert!((interval.estimate - 0.1).abs() < 1e-9, "{interval:?}");
        assert!(interval.low < 0.05 && interval.high > 0.15, "{interval:?}");
        assert!(unpaired.p_value() > 0.005, "{unpaired:?}");
        let paired = LogRatio::paired(&[(100.0, 110.0); 3]).expect("three pairs");
        let interval = paired.interval(0.95);
        assert!(0.08 < interval.low && interval.low < 0.095, "{interval:?}");
        assert!(paired.p_value() > 1e-6 && !paired.is_equivalent(0.05));
        let same = LogRatio::unpaired(&[10.0; 3], &[10.0; 3]).expect("three a side");
        assert!(same.p_value() > 0.99 && same.interval(0.95).high < 1e-9, "{same:?}");
    }

    proptest! {
        /// Which side is named first changes the sign of the logarithm, and nothing else.
        #[test]
        fn sides_can_be_swapped(
            pairs in prop::collection::vec((100.0f64..200.0, 100.0f64..200.0), 2..40)
        ) {
            let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
            let [one, other] = [&pairs, &swapped].map(|all| LogRatio::paired(all).expect("pairs"));
            let [one_in, other_in] = [one, other].map(|ratio| ratio.interval(0.95));
            prop_assert!(((1.0 + one_in.low) * (1.0 + other_in.high) - 1.0).abs() < 1e-6);
            prop_assert!((one.p_value() - other.p_value()).abs() < 1e-9);
        }
    }
}
