//! The mean of values that are compared by their ratios.

/// The geometric mean of these values; NaN: there is none, or one is below zero.
///
/// By way of the first: equal values, and one alone, are their own mean to the last digit.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let scale = values.first().copied().filter(|first| *first > 0.0).unwrap_or(1.0);
    let logs = values.iter().map(|value| (value / scale).ln());
    scale * (logs.sum::<f64>() / values.len() as f64).exp()
}
