//! The ratio of two means of which only moments are known.

use crate::ConfidenceInterval;
use crate::student::t_quantile;

/// What is known of the values of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueMoments {
    /// How many there are, each independent of the others.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The mean of their squares.
    pub mean_square: f64,
}

/// By which factor the mean of the second is larger than that of the first, with its interval: of
/// the logarithms of both means, whose variances are those of the means in the first order (delta
/// method), with Satterthwaite's degrees of freedom. Values that depend on each other (a burst of
/// slow statements) make the interval too narrow.
///
/// `None`: a side has fewer than two values, or a mean that is not above zero; or the values are so
/// far apart that the interval has no end.
pub fn mean_ratio(a: &ValueMoments, b: &ValueMoments, level: f64) -> Option<ConfidenceInterval> {
    let [of_a, of_b] = [a.relative_variance()?, b.relative_variance()?];
    let [free_a, free_b] = [a.count, b.count].map(|count| (count - 1) as f64);
    let sum = of_a + of_b;
    // Of their shares, because the squares of large variances are beyond all numbers.
    let [share_a, share_b] = [of_a, of_b].map(|of| of / sum);
    let freedom = if sum > 0.0 {
        1.0 / (share_a * share_a / free_a + share_b * share_b / free_b)
    } else {
        free_a + free_b
    };
    if !freedom.is_finite() {
        return None;
    }
    let estimate = (b.mean / a.mean).ln();
    let half = t_quantile(0.5 + level / 2.0, freedom) * sum.sqrt();
    let (low, high) = (estimate - half, estimate + half);
    let interval = ConfidenceInterval { estimate, low, high, level }.map(f64::exp);
    interval.high.is_finite().then_some(interval)
}

impl ValueMoments {
    /// The variance of the mean as a share of its square.
    fn relative_variance(&self) -> Option<f64> {
        let is_known = self.count >= 2 && self.mean > 0.0 && self.mean_square.is_finite();
        if !is_known || !self.mean.is_finite() {
            return None;
        }
        let free = (self.count - 1) as f64;
        // Rounding may leave less than nothing of equal values.
        Some((self.mean_square / (self.mean * self.mean) - 1.0).max(0.0) / free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[f64]) -> ValueMoments {
        let count = values.len() as f64;
        ValueMoments {
            count: values.len() as u64,
            mean: values.iter().sum::<f64>() / count,
            mean_square: values.iter().map(|value| value * value).sum::<f64>() / count,
        }
    }

    /// Of 1, 2, 3 the relative variance of the mean is 1/12; of two such sides that is 1/6 with 4
    /// degrees of freedom, whose quantile is 2.776: exp(±2.776 √(1/6)) = 0.322 .. 3.106.
    #[test]
    fn an_interval_is_that_of_the_logarithms() {
        let side = moments(&[1.0, 2.0, 3.0]);
        let ratio = mean_ratio(&side, &side, 0.95).expect("three values each");
        assert!((ratio.estimate - 1.0).abs() < 1e-12, "{ratio:?}");
        assert!((ratio.low - 0.322).abs() < 1e-3 && (ratio.high - 3.106).abs() < 1e-3, "{ratio:?}");
        let twice = mean_ratio(&side, &moments(&[2.0, 4.0, 6.0]), 0.95).expect("known");
        assert!((twice.estimate - 2.0).abs() < 1e-12 && twice.covers(1.0), "{twice:?}");
    }

    #[test]
    fn equal_values_leave_no_doubt_and_too_few_no_ratio() {
        let same = mean_ratio(&moments(&[2.0, 2.0]), &moments(&[3.0, 3.0]), 0.95);
        let same = same.expect("two values each");
        assert!((same.low - 1.5).abs() < 1e-9 && (same.high - 1.5).abs() < 1e-9, "{same:?}");
        let known = moments(&[1.0, 2.0]);
        for odd in [moments(&[1.0]), moments(&[0.0, 0.0]), moments(&[f64::NAN, 1.0])] {
            assert_eq!(mean_ratio(&known, &odd, 0.95), None, "{odd:?}");
        }
    }

    #[test]
    fn moments_that_no_values_have_give_no_ratio() {
        let known = moments(&[1.0, 2.0]);
        for mean_square in [1e200, 1e308, f64::MAX] {
            let odd = ValueMoments { mean_square, ..known };
            assert_eq!(mean_ratio(&known, &odd, 0.95), None, "{odd:?}");
            assert_eq!(mean_ratio(&odd, &odd, 0.95), None, "{odd:?}");
        }
    }
}
