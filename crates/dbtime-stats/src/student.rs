//! Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value that a share `p` in `0.0..1.0` stays below, with so many degrees of freedom, which are
/// more than zero.
pub(crate) fn t_quantile(p: f64, freedom: f64) -> f64 {
    distribution(freedom).inverse_cdf(p)
}

/// The probability of a value at least so far from zero.
pub(crate) fn two_sided_p(t: f64, freedom: f64) -> f64 {
    (2.0 * distribution(freedom).cdf(-t.abs())).min(1.0)
}

fn distribution(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("more than no degree of freedom")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fisher and Yates, Statistical Tables, table III.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [(0.975, 1.0, 12.706), (0.975, 9.0, 2.262), (0.95, 9.0, 1.833)];
        for (p, freedom, t) in table.into_iter().chain([(0.975, 29.0, 2.045), (0.8, 4.0, 0.941)]) {
            assert!((t_quantile(p, freedom) - t).abs() < 5e-4, "{p} {freedom}");
        }
        assert!((two_sided_p(2.262, 9.0) - 0.05).abs() < 1e-4);
        assert!((two_sided_p(-2.262, 9.0) - 0.05).abs() < 1e-4);
    }
}
