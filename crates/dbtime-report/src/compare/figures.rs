//! One figure of both sides, with what it changed by.

use crate::format::{NONE, bytes, count, factor, finite, if_any, percent, rate, signed_us, us};
use dbtime_model::record::{CounterUnit, RunFigureUnit};
use serde::Serialize;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// Microseconds.
    Us,
    /// Microseconds that may be below zero.
    SignedUs,
    /// A number, such as one per second or per transaction.
    Number,
    /// A whole number.
    Count,
    /// Percent.
    Percent,
    /// Bytes.
    Bytes,
}

impl From<CounterUnit> for FigureUnit {
    fn from(unit: CounterUnit) -> Self {
        match unit {
            CounterUnit::Count => Self::Number,
            CounterUnit::Bytes => Self::Bytes,
            CounterUnit::Ms => Self::Us,
        }
    }
}

impl From<RunFigureUnit> for FigureUnit {
    fn from(unit: RunFigureUnit) -> Self {
        match unit {
            RunFigureUnit::Us => Self::Us,
            RunFigureUnit::PerSecond | RunFigureUnit::PerTransaction => Self::Number,
            RunFigureUnit::Count => Self::Count,
            RunFigureUnit::Percent => Self::Percent,
            RunFigureUnit::Bytes => Self::Bytes,
        }
    }
}

impl FigureUnit {
    pub(super) fn shown(self, value: f64) -> String {
        match self {
            Self::Us => us(value),
            Self::SignedUs => signed_us(value),
            Self::Number => rate(value),
            Self::Count => count(value as u64),
            Self::Percent => percent(value),
            // Less than a byte of each transaction is still something.
            Self::Bytes if value < 9.5 && value.fract() != 0.0 => format!("{} B", rate(value)),
            Self::Bytes => bytes(value.round() as u64),
        }
    }

    /// The name of an axis, with the unit where bare ticks do not have it.
    pub(super) fn axis_name(self, name: &str) -> String {
        match self {
            Self::Bytes => format!("{name}, bytes"),
            Self::Percent => format!("{name}, percent"),
            Self::Us | Self::SignedUs | Self::Number | Self::Count => name.to_owned(),
        }
    }

    /// A difference with its sign.
    pub(super) fn signed(self, value: f64) -> String {
        match self {
            Self::Us | Self::SignedUs => signed_us(value),
            _ if value == 0.0 => self.shown(0.0),
            _ => format!("{}{}", if value < 0.0 { "−" } else { "+" }, self.shown(value.abs())),
        }
    }
}

/// One figure of both sides. Shape: every number finite; `None` where a side has no such figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigurePair {
    /// What it is.
    pub name: String,
    /// The unit of `a`, `b` and `difference`.
    pub unit: FigureUnit,
    /// The first side.
    pub a: Option<f64>,
    /// The second.
    pub b: Option<f64>,
    /// `b − a`; `None` unless both are known.
    pub difference: Option<f64>,
    /// `b / a`; `None` unless both are known, of a unit without a sign, and `a` is above zero.
    pub ratio: Option<f64>,
}

impl FigurePair {
    pub(super) fn new(name: &str, unit: FigureUnit, pair: [impl Into<Option<f64>>; 2]) -> Self {
        let [a, b] = pair.map(|figure| figure.into().map(finite));
        let both = a.zip(b);
        // What may be below zero has no ratio that means anything.
        let is_sized = |(a, b): &(f64, f64)| unit != FigureUnit::SignedUs && *a > 0.0 && *b >= 0.0;
        let quotient = both.filter(is_sized).map(|(a, b)| b / a);
        Self {
            name: name.to_owned(),
            unit,
            a,
            b,
            difference: both.map(|(a, b)| finite(b - a)),
            // The least of numbers may divide to more than there is a number for.
            ratio: quotient.filter(|ratio| ratio.is_finite()),
        }
    }

    /// By how much it changed, in its unit; what one side does not have counts whole.
    pub(super) fn change(&self) -> f64 {
        (self.b.unwrap_or(0.0) - self.a.unwrap_or(0.0)).abs()
    }

    /// How many times larger one side is than the other, as a logarithm; more than any number
    /// where the other is nothing, and less than any where a side has no such figure.
    pub(super) fn change_of_ratio(&self) -> f64 {
        let Some(both) = self.a.zip(self.b) else { return f64::NEG_INFINITY };
        match both {
            (a, b) if a == b => 0.0,
            (a, b) if a <= 0.0 || b <= 0.0 => f64::INFINITY,
            (a, b) => (b / a).ln().abs(),
        }
    }

    /// Both figures as they are shown.
    pub(super) fn both(&self) -> [String; 2] {
        [self.a, self.b].map(|figure| if_any(figure, |value| self.unit.shown(value)))
    }

    pub(super) fn difference_text(&self) -> String {
        if_any(self.difference, |difference| self.unit.signed(difference))
    }

    pub(super) fn ratio_text(&self) -> String {
        match self.ratio {
            Some(ratio) if ratio > 0.0 && ratio < 9.95 => format!("{ratio:.3}"),
            Some(ratio) if ratio >= 1e3 => count(ratio.round() as u64),
            Some(ratio) => factor(ratio),
            None => NONE.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_its_unit_in_its_ticks_or_its_name() {
        let name = |unit: RunFigureUnit| FigureUnit::from(unit).axis_name("it");
        assert_eq!(name(RunFigureUnit::Bytes), "it, bytes");
        assert_eq!(name(RunFigureUnit::Percent), "it, percent");
        assert_eq!([RunFigureUnit::Us, RunFigureUnit::PerSecond].map(name), ["it", "it"]);
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let pair = |a: f64, b: f64| FigurePair::new("x", FigureUnit::Us, [a, b]);
        assert_eq!(pair(0.0, 3.0).ratio, None);
        assert_eq!(pair(f64::NAN, f64::INFINITY).difference, Some(0.0));
        assert_eq!(pair(1e-300, 1e300).ratio, None);
        assert_eq!(pair(2.0, 3.0).ratio_text(), "1.500");
        assert_eq!(pair(1.0, 12_345.0).ratio_text(), "12,345");
        assert_eq!(FigurePair::new("x", FigureUnit::SignedUs, [1.0, 2.0]).ratio, None);
        assert_eq!(pair(2.0, 3.0).difference_text(), "+1.00 µs");
        assert_eq!(pair(0.0, 3.0).change_of_ratio(), f64::INFINITY);
        let one_side = FigurePair::new("x", FigureUnit::Count, [None, Some(2.0)]);
        assert_eq!((one_side.both(), one_side.change()), ([NONE.to_owned(), "2".to_owned()], 2.0));
        assert_eq!(one_side.change_of_ratio(), f64::NEG_INFINITY);
    }
}
