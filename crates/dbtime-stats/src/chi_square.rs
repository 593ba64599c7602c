//! The distribution of sums of squares: how little few values tell of their scatter.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The value that a share `p` in `0.0..1.0` stays below, with so many degrees of freedom, which are
/// more than zero.
pub(crate) fn chi_square_quantile(p: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).expect("more than no degree of freedom").inverse_cdf(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fisher and Yates, Statistical Tables, table IV.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, freedom, value) in [
            (0.9, 2.0, 4.605),
            (0.1, 2.0, 0.211),
            (0.95, 9.0, 16.919),
            (0.1, 9.0, 4.168),
            (0.9, 29.0, 39.087),
        ] {
            assert!((chi_square_quantile(p, freedom) - value).abs() < 1e-3, "{p} {freedom}");
        }
    }
}
