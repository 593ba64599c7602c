//! Ratios of times as people read them.

use crate::format::{NONE, percent};
use dbtime_model::query::RatioInterval;
use dbtime_model::units::three_digits;

/// A ratio with as many digits as an interval has use for: `0.083`, `0.98`, `12.0`.
pub(super) fn ratio(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v < 0.001 => format!("{value:.1e}"),
        v if v < 0.01 => format!("{value:.4}"),
        v if v < 0.1 => format!("{value:.3}"),
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 1e6 => three_digits(value),
        _ => format!("{value:.1e}"),
    }
}

/// How often the smaller time is in the larger one: `12.0`.
pub(super) fn times(value: f64) -> String {
    let larger = if value < 1.0 { 1.0 / value } else { value };
    match larger.is_finite() {
        true if larger < 1e6 => three_digits(larger),
        true => format!("{larger:.1e}"),
        false => NONE.to_owned(),
    }
}

/// The ends of an interval: `0.079 .. 0.088`.
pub(super) fn ends(interval: RatioInterval) -> String {
    format!("{} .. {}", end(interval.low), end(interval.high))
}

/// An end with as many digits as tell it from 1, on one side of which it may show a difference.
fn end(value: f64) -> String {
    match (value - 1.0).abs() {
        off if off > 0.0 && off < 0.0005 => format!("{value:.4}"),
        off if off > 0.0 && off < 0.005 => format!("{value:.3}"),
        _ => ratio(value),
    }
}

/// The same with how often such an interval covers the truth: `95 % CI 0.079 .. 0.088`.
pub(super) fn interval_text(interval: RatioInterval) -> String {
    format!("{} CI {}", percent(interval.level * 100.0), ends(interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_the_digits_that_are_of_use() {
        let values = [0.0, 0.000_04, 0.0042, 0.083, 0.984, 1.0, 12.04, 3e9, f64::NAN];
        let shown = ["0", "4.0e-5", "0.0042", "0.083", "0.98", "1.00", "12.0", "3.0e9", NONE];
        assert_eq!(values.map(ratio), shown);
        assert_eq!([0.083, 3.2, 0.0].map(times), ["12.0", "3.20", NONE]);
    }

    #[test]
    fn intervals_say_how_often_they_cover_the_truth() {
        let interval = RatioInterval { ratio: 0.083, low: 0.079, high: 0.088, level: 0.95 };
        assert_eq!(interval_text(interval), "95 % CI 0.079 .. 0.088");
        let close = RatioInterval { low: 0.9974, high: 1.0002, ..interval };
        assert_eq!(ends(close), "0.997 .. 1.0002");
        assert_eq!(ends(RatioInterval { low: 0.95, high: 1.0, ..interval }), "0.95 .. 1.00");
    }
}
