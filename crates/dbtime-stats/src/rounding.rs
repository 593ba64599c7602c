//! What rounding hides: values that are all equal differ by less than a unit of their last digit,
//! but not by nothing.

/// The least variance of the logarithms of each side's values: of a side whose values are all equal
/// that of a uniform error of half a unit of the last digit that both sides have; 0 where values
/// differ, and of sides that equal each other, as counts do.
///
/// Shape: of A, of B.
pub(crate) fn hidden_variances(a: &[f64], b: &[f64]) -> [f64; 2] {
    let [of_a, of_b] = [a, b].map(constant);
    if of_a == of_b {
        return [0.0; 2];
    }
    let unit = last_digit(a.iter().chain(b));
    let variance = |value: f64| (unit / value) * (unit / value) / 12.0;
    [of_a, of_b].map(|value| value.map_or(0.0, variance))
}

/// The value that all of them are; `None`: they differ, or there is none.
fn constant(values: &[f64]) -> Option<f64> {
    let (first, rest) = values.split_first()?;
    rest.iter().all(|value| value == first).then_some(*first)
}

/// A unit of the last digit that is written of any of them, 1 or a tenth part of it.
fn last_digit<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let digits = |value: &f64| {
        let text = value.to_string();
        text.split_once('.').map_or(0, |(_, behind)| behind.len())
    };
    0.1f64.powi(values.map(digits).max().unwrap_or(0) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_that_are_all_equal_have_the_variance_of_their_last_digit() {
        let near = |found: [f64; 2], wanted: [f64; 2]| {
            let is_near = |at: usize| (found[at] - wanted[at]).abs() <= 1e-6 * wanted[at];
            assert!(is_near(0) && is_near(1), "{found:?} {wanted:?}");
        };
        let of = |share: f64| share * share / 12.0;
        near(hidden_variances(&[10.0; 3], &[11.0; 3]), [of(0.1), of(1.0 / 11.0)]);
        near(hidden_variances(&[0.5; 3], &[0.61, 0.6]), [of(0.02), 0.0]);
        near(hidden_variances(&[10.0, 11.0], &[11.0, 12.0]), [0.0; 2]);
        near(hidden_variances(&[10.0; 3], &[10.0; 2]), [0.0; 2]);
        near(hidden_variances(&[], &[10.0; 2]), [0.0, of(0.1)]);
        near(hidden_variances(&[], &[]), [0.0; 2]);
    }
}
