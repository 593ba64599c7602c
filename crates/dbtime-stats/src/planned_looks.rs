//! Ending early by a rule that was made before: planned looks with the bounds of O'Brien and
//! Fleming (1979).
//!
//! Whoever looks after every pair and stops at the first difference finds one in 23 % of studies
//! where there is none. With these bounds, which are far apart at first, it stays at 5 %.

use statrs::distribution::{ContinuousCDF, Normal};

/// The bound of the last of so many looks, in deviations, from one on: Jennison and Turnbull, Group
/// Sequential Methods (2000), table 2.3, 5 % two-sided.
const LAST_BOUNDS: [f64; 5] = [1.960, 1.977, 2.004, 2.024, 2.040];

/// The most looks that there are bounds for.
pub const MOST_LOOKS: u32 = LAST_BOUNDS.len() as u32;

/// The level of the interval that shows a difference at a look, from 1, of so many.
///
/// `None`: there is no such look.
pub fn look_level(look: u32, looks: u32) -> Option<f64> {
    let last = LAST_BOUNDS.get(usize::try_from(looks).ok()?.checked_sub(1)?)?;
    let bound = last * (f64::from(looks) / f64::from(look)).sqrt();
    (1..=looks).contains(&look).then(|| 2.0 * Normal::standard().cdf(bound) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_looks_need_far_clearer_differences() {
        let alphas = [1, 2, 3].map(|look| 1.0 - look_level(look, 3).expect("three looks"));
        for (alpha, expected) in alphas.into_iter().zip([0.00052, 0.0141, 0.0451]) {
            assert!((alpha / expected - 1.0).abs() < 0.01, "{alphas:?}");
        }
        assert!((look_level(1, 1).expect("one look") - 0.95).abs() < 1e-4);
        for (look, looks) in [(0, 3), (4, 3), (1, 0), (1, MOST_LOOKS + 1)] {
            assert_eq!(look_level(look, looks), None);
        }
    }
}
