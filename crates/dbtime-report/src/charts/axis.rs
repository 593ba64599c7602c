//! Scales from a quantity to a coordinate, with ticks people would choose.

use crate::format::{finite, us};

/// Values that differ by less than this share are drawn as if they differed by as much: noise is no
/// landscape.
const LEAST_RANGE: f64 = 0.01;

/// A range of values drawn onto a range of coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AxisScale {
    low: f64,
    high: f64,
    log: bool,
    /// The coordinates of `low` and `high`.
    to: (f64, f64),
}

impl AxisScale {
    /// From zero to a round number at or above `high`.
    pub(crate) fn linear(high: f64, to: (f64, f64)) -> Self {
        let high = if finite(high) > 0.0 { finite(high) } else { 1.0 };
        let step = step(high, 4.0);
        Self { low: 0.0, high: (high / step).ceil() * step, log: false, to }
    }

    /// From a round number below the lowest value to one above the highest, where all are above
    /// half of the highest: on an axis from zero they would look alike. Elsewhere from zero.
    pub(crate) fn near(values: impl Iterator<Item = f64>, to: (f64, f64)) -> Self {
        let values = values.filter(|value| value.is_finite());
        let (low, high) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), value| (l.min(value), h.max(value)));
        // Nor is there anything to see where there are no values, or not above zero.
        if !low.is_finite() || low <= 0.5 * high.max(0.0) {
            return Self::linear(high, to);
        }
        let step = step((high - low).max(LEAST_RANGE * high), 4.0);
        let low = (low / step - 1e-9).floor() * step;
        Self { low, high: (high / step + 1e-9).ceil() * step, log: false, to }
    }

    /// Logarithmic when the positive values span more than a factor of twenty, else from zero.
    ///
    /// Times of a steady database differ by little and belong on a scale with a zero; where the
    /// tail is long, a linear scale would show nothing but the tail.
    pub(crate) fn fitting(values: impl Iterator<Item = f64>, to: (f64, f64)) -> Self {
        let values = values.filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        if !low.is_finite() || high / low <= 20.0 {
            return Self::linear(high, to);
        }
        Self { low: round_down(low), high: round_up(high), log: true, to }
    }

    /// The same with its end moved to `high`, round or not: time ends when the run does.
    pub(crate) fn ending_at(self, high: f64) -> Self {
        Self { high: if finite(high) > 0.0 { high } else { 1.0 }, ..self }
    }

    /// What a caption says of an axis on which a length is no value; empty: it is one.
    pub(crate) fn begin_note(&self) -> &'static str {
        if !self.log && self.low > 0.0 { "; the axis does not begin at 0" } else { "" }
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> f64 {
        self.high
    }

    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// The coordinate of a value, held within the range.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = finite(value).clamp(self.low, self.high);
        let share = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.to.0 + finite(share) * (self.to.1 - self.to.0)
    }

    /// Round values within the range.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        if !self.log {
            let step = step(self.high - self.low, 4.0);
            let first = (self.low / step - 1e-9).ceil() as usize;
            let last = (self.high / step + 1e-9).floor() as usize;
            return (first..=last).map(|i| i as f64 * step).collect();
        }
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = match decades {
            d if d < 2.1 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        // Many decades: every second or third is enough.
        let skip = (decades / 6.0).ceil().max(1.0) as i32;
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let ticks = (first..=last).step_by(skip as usize);
        let ticks = ticks.flat_map(|e| digits.iter().map(move |d| d * 10f64.powi(e)));
        ticks.filter(|t| *t >= self.low * 0.999 && *t <= self.high * 1.001).collect()
    }
}

/// A step of 1, 2 or 5 times a power of ten that divides `high` into about `parts`.
fn step(high: f64, parts: f64) -> f64 {
    let rough = high / parts;
    let power = 10f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|d| d * power >= rough * 0.999);
    digit.unwrap_or(10.0) * power
}

fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|d| d * power).find(|v| *v <= value).unwrap_or(power)
}

fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|d| d * power).find(|v| *v >= value).unwrap_or(10.0 * power)
}

/// A tick of a time axis: the shortest way to write it. Unit: microseconds.
pub(crate) fn time_tick(value_us: f64) -> String {
    let text = us(value_us);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => {
            if value_us == 0.0 {
                "0".to_owned()
            } else {
                text
            }
        }
    }
}

/// A tick of a count or percent axis.
pub(crate) fn plain_tick(value: f64) -> String {
    if value.abs() >= 1000.0 || value.fract() == 0.0 {
        crate::format::count(finite(value).max(0.0).round() as u64)
    } else {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_scales_start_at_zero_and_end_at_a_round_number() {
        let scale = AxisScale::linear(487.0, (100.0, 0.0));
        assert_eq!((scale.at(0.0), scale.at(600.0)), (100.0, 0.0));
        assert_eq!(scale.ticks(), [0.0, 200.0, 400.0, 600.0]);
    }

    #[test]
    fn values_near_each_other_get_a_scale_of_their_own() {
        let near = |values: &[f64]| AxisScale::near(values.iter().copied(), (100.0, 0.0));
        let scale = near(&[952.0, 1001.0, 960.0]);
        assert_eq!((scale.low, scale.high), (940.0, 1020.0));
        assert_eq!(scale.ticks(), [940.0, 960.0, 980.0, 1000.0, 1020.0]);
        assert_eq!(scale.begin_note(), "; the axis does not begin at 0");
        assert_eq!((scale.at(940.0), scale.at(1020.0)), (100.0, 0.0));
        assert_eq!(near(&[100.0, 900.0]).low, 0.0, "apart by more than half");
        assert_eq!(near(&[-5.0, 900.0]).begin_note(), "");
        assert_eq!((near(&[]).low, near(&[0.0]).low), (0.0, 0.0));
        let alike = near(&[100.0, 100.0]);
        assert!(alike.low <= 100.0 && alike.high > 100.0 - 1e-9, "{alike:?}");
        assert!(alike.high > alike.low && alike.high - alike.low < 5.0, "{alike:?}");
    }

    #[test]
    fn long_tails_get_a_logarithmic_scale() {
        let scale = AxisScale::fitting([300.0, 80_000.0].into_iter(), (0.0, 100.0));
        assert!(scale.is_log());
        assert_eq!(scale.ticks(), [1000.0, 10_000.0, 100_000.0]);
        assert!(!AxisScale::fitting([300.0, 900.0].into_iter(), (0.0, 100.0)).is_log());
    }

    #[test]
    fn no_value_makes_a_coordinate_that_is_no_number() {
        for values in [vec![], vec![0.0], vec![f64::NAN, f64::INFINITY], vec![1e-300, 1e300]] {
            let scale = AxisScale::fitting(values.into_iter(), (0.0, 100.0));
            for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
                assert!(scale.at(value).is_finite());
            }
            assert!(scale.ticks().len() < 40 && scale.ticks().iter().all(|t| t.is_finite()));
        }
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!([0.0, 500.0, 1000.0, 2.5e6].map(time_tick), ["0", "500 µs", "1 ms", "2.5 s"]);
        assert_eq!([0.0, 0.25, 1500.0].map(plain_tick), ["0", "0.25", "1,500"]);
    }
}
