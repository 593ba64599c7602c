//! The difference of the means of two configurations, from the values of their runs.

use crate::ConfidenceInterval;
use crate::student::{t_quantile, two_sided_p};

/// By how much the second of two configurations is above the first on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanDifference {
    pub(crate) mean: f64,
    pub(crate) error: f64,
    pub(crate) freedom: f64,
}

impl MeanDifference {
    /// Of runs in pairs that shared whatever changed with time: the first of a pair of the first
    /// configuration. `None`: fewer than two pairs, or a value that is no finite number.
    pub fn paired(pairs: &[(f64, f64)]) -> Option<Self> {
        Self::paired_with(pairs, 0.0)
    }

    /// The same of differences whose variance is known to be this at least.
    pub(crate) fn paired_with(pairs: &[(f64, f64)], least: f64) -> Option<Self> {
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        let moments = RunMoments::of(&differences)?;
        Some(Self {
            mean: moments.mean,
            error: (moments.variance.max(least) / moments.count).sqrt(),
            freedom: moments.count - 1.0,
        })
    }

    /// Of runs that had nothing in common (Welch 1947, degrees of freedom by Satterthwaite). `None`
    /// as above, of either side.
    pub fn unpaired(a: &[f64], b: &[f64]) -> Option<Self> {
        Self::unpaired_with(a, b, [0.0; 2])
    }

    /// The same of sides whose variances are known to be these at least.
    pub(crate) fn unpaired_with(a: &[f64], b: &[f64], least: [f64; 2]) -> Option<Self> {
        let [a, b] = [RunMoments::of(a)?, RunMoments::of(b)?];
        let of_a = a.variance.max(least[0]) / a.count;
        let of_b = b.variance.max(least[1]) / b.count;
        let squares = of_a * of_a / (a.count - 1.0) + of_b * of_b / (b.count - 1.0);
        let freedom = if squares > 0.0 {
            (of_a + of_b) * (of_a + of_b) / squares
        } else {
            a.count + b.count - 2.0
        };
        Some(Self { mean: b.mean - a.mean, error: (of_a + of_b).sqrt(), freedom })
    }

    /// The difference with its interval.
    pub fn interval(&self, level: f64) -> ConfidenceInterval {
        let half = t_quantile(0.5 + level / 2.0, self.freedom) * self.error;
        let (low, high) = (self.mean - half, self.mean + half);
        ConfidenceInterval { estimate: self.mean, low, high, level }
    }

    /// The probability of a difference at least so far from zero where both are the same.
    pub fn p_value(&self) -> f64 {
        match self.error > 0.0 {
            true => two_sided_p(self.mean / self.error, self.freedom),
            false if self.mean == 0.0 => 1.0,
            false => 0.0,
        }
    }
}

struct RunMoments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl RunMoments {
    fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        Some(Self { count, mean, variance: squares / (count - 1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student 1908, the additional hours of sleep of ten patients: 1.58 with a standard error of
    /// 0.389, so that with 9 degrees of freedom the 95 % interval is 0.70 .. 2.46.
    #[test]
    fn the_first_example_of_the_t_distribution_is_reproduced() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let pairs: Vec<(f64, f64)> = first.into_iter().zip(second).collect();
        let found = MeanDifference::paired(&pairs).expect("ten pairs").interval(0.95);
        assert!((found.estimate - 1.58).abs() < 1e-9, "{found:?}");
        assert!((found.low - 0.70).abs() < 5e-3 && (found.high - 2.46).abs() < 5e-3, "{found:?}");
        // The same as two groups (Welch): t = 1.861, 17.8 degrees of freedom, −0.21 .. 3.37.
        let found = MeanDifference::unpaired(&first, &second).expect("ten each").interval(0.95);
        assert!((found.low + 0.21).abs() < 6e-3 && (found.high - 3.37).abs() < 6e-3, "{found:?}");
    }

    #[test]
    fn of_one_pair_or_of_no_number_there_is_no_difference() {
        assert_eq!(MeanDifference::paired(&[(1.0, 2.0)]), None);
        assert_eq!(MeanDifference::unpaired(&[1.0, f64::NAN], &[1.0, 2.0]), None);
    }
}
