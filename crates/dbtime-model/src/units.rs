//! Durations and instants in integer nanoseconds, and how people write them.
//!
//! Microseconds appear only at the JSON and text edge (see [`Nanos::as_micros`]).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// What no clock comes to: 73 years. Below it differences of instants and durations may be added
/// up, a few at a time, as signed numbers.
const IMPOSSIBLE_NS: u64 = 1 << 61;

/// What is wrong with a part of a file that has such a time.
pub(crate) const IMPOSSIBLE: &str = "it has a time of more than 73 years";

/// A duration. Unit: nanoseconds. Differences saturate at zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// An instant of `CLOCK_MONOTONIC`. Unit: nanoseconds since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonoNanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A duration of whole microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// A duration of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// A duration of whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s * 1_000_000_000)
    }

    /// A duration of `s` seconds, rounded to the nanosecond; negative and NaN give zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9).round() as u64)
    }

    /// Whether it can have been measured; a file may say anything.
    pub(crate) fn is_possible(self) -> bool {
        self.0 < IMPOSSIBLE_NS
    }

    /// The duration as it is written on a command line, exactly: `30s`, `1500us`.
    pub fn exact(self) -> String {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        let whole = units.into_iter().find(|(scale, _)| self.0.is_multiple_of(*scale));
        let (scale, unit) = whole.unwrap_or((1, "ns"));
        format!("{}{unit}", self.0 / scale)
    }

    /// The duration in microseconds.
    pub fn as_micros(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The duration in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The duration in nanoseconds as a number that can be subtracted from another one. What is
    /// longer than any is 292 years, so that no difference of two overflows.
    #[inline]
    pub fn signed(self) -> i64 {
        self.0.min(i64::MAX.cast_unsigned()).cast_signed()
    }
}

impl MonoNanos {
    /// Whether a clock can have shown it; a file may say anything.
    pub(crate) fn is_possible(self) -> bool {
        Nanos(self.0).is_possible()
    }

    /// Nanoseconds from `other` until this instant, negative where that is the later one. A
    /// difference of instants is a duration, and never negative.
    #[inline]
    pub(crate) fn signed_since(self, other: Self) -> i64 {
        self.0.wrapping_sub(other.0).cast_signed()
    }
}

/// Durations that come from outside may be anything: a sum ends with the longest there is.
impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Self::add)
    }
}

impl Add<Nanos> for MonoNanos {
    type Output = Self;
    #[inline]
    fn add(self, by: Nanos) -> Self {
        Self(self.0.saturating_add(by.0))
    }
}

impl Sub<Nanos> for MonoNanos {
    type Output = Self;
    #[inline]
    fn sub(self, by: Nanos) -> Self {
        Self(self.0.saturating_sub(by.0))
    }
}

impl Sub for MonoNanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, earlier: Self) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Serialize for Nanos {
    /// Microseconds, as everywhere in JSON; the field's name ends in `_us`. Binary formats, which
    /// only processes of one dbtime use among themselves, have the nanoseconds.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match to.is_human_readable() {
            true => to.serialize_f64(self.as_micros()),
            false => to.serialize_u64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Nanos {
    /// Reads what [`Nanos::serialize`] writes; negative microseconds and NaN give zero.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match from.is_human_readable() {
            true => f64::deserialize(from).map(|us| Self((us * 1e3).round() as u64)),
            false => u64::deserialize(from).map(Self),
        }
    }
}

impl Serialize for MonoNanos {
    /// Microseconds since boot; the field's name ends in `_us`.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Nanos(self.0).serialize(to)
    }
}

impl<'de> Deserialize<'de> for MonoNanos {
    /// Reads microseconds since boot.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Nanos::deserialize(from).map(|nanos| Self(nanos.0))
    }
}

/// Why a text is no duration or rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {quantity}: {why}; write {form}")]
pub struct UnitError {
    text: String,
    quantity: &'static str,
    form: &'static str,
    why: QuantityFault,
}

/// How a duration is written.
const DURATION_FORM: &str =
    "a number of seconds, or with a unit (ns, us, ms, s, m or h): 200us, 1.5ms, 30s";

/// How a rate is written.
const RATE_FORM: &str = "a number a second, or with a unit (/s, /m or /h): 500/s, 2.5k/s, 30/m";

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum QuantityFault {
    #[error("it is negative")]
    Negative,
    #[error("it is zero")]
    Zero,
    #[error("it has no number")]
    NoNumber,
    #[error("`{0}` is no unit")]
    Unit(String),
    #[error("it is too much")]
    TooMuch,
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// Reads `200us`, `1.5ms`, `30s`, `2m`, `1h`; a bare number is seconds.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (quantity, form) = ("duration", DURATION_FORM);
        let refuse = |why| UnitError { text: text.to_owned(), quantity, form, why };
        let trimmed = text.trim();
        if trimmed
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            return Err(refuse(QuantityFault::Negative));
        }
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
        if scaled(number, 1).is_none() {
            return Err(refuse(QuantityFault::NoNumber));
        }
        let scale = match unit.trim() {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" | "" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            other => return Err(refuse(QuantityFault::Unit(other.to_owned()))),
        };
        let ns = scaled(number, scale).ok_or_else(|| refuse(QuantityFault::NoNumber))?;
        // 2^63 ns is 292 years: longer than any run, and safe to add to an instant.
        let fits = u64::try_from(ns).ok().filter(|ns| *ns < 1 << 63);
        fits.map(Self).ok_or_else(|| refuse(QuantityFault::TooMuch))
    }
}

/// A decimal number times `scale`, rounded to a whole one; `None` for what is no number. Exact where
/// a floating-point number is not: what was written is read.
fn scaled(number: &str, scale: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = |text: &str| -> Option<u128> {
        text.bytes().try_fold(0u128, |value, digit| {
            let digit = char::from(digit).to_digit(10)?;
            // What is too large to be a duration stays so.
            Some(value.saturating_mul(10).saturating_add(digit.into()))
        })
    };
    digits(fraction)?;
    // Eighteen of them are far below the smallest part of the largest unit.
    let fraction = &fraction[..fraction.len().min(18)];
    let base = 10u128.pow(fraction.len() as u32);
    let part = (digits(fraction)? * u128::from(scale) + base / 2) / base;
    Some(digits(whole)?.saturating_mul(scale.into()).saturating_add(part))
}

impl fmt::Display for Nanos {
    /// Writes three significant digits in the unit a reader would choose: `512 ns`, `51.2 µs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&human_ns(self.0 as f64))
    }
}

/// A duration in nanoseconds, signed, as people read it: three significant digits and a unit.
pub fn human_ns(ns: f64) -> String {
    let (scale, unit) = unit_of(ns);
    let value = ns / scale;
    if unit == "ns" { format!("{value:.0} ns") } else { format!("{} {unit}", three_digits(value)) }
}

/// The unit that a reader would choose, and how many nanoseconds it has.
fn unit_of(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        m if m < 999.5 => (1.0, "ns"),
        m if m < 999.5e3 => (1e3, "µs"),
        m if m < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// Nanoseconds in the unit of [`human_ns`] with every digit there is: `1.23456 ms`.
pub fn exact_ns(ns: f64) -> String {
    let (scale, unit) = unit_of(ns);
    format!("{} {unit}", exact(ns / scale))
}

/// A number that was given, with every digit up to the ninth decimal: `12,345`, `0.1`.
///
/// Shape: `value` is not negative.
pub fn exact(value: f64) -> String {
    let text = format!("{value:.9}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse().map_or(whole.to_owned(), count);
    match decimals.trim_end_matches('0') {
        "" => whole,
        decimals => format!("{whole}.{decimals}"),
    }
}

/// Counts together. Those that come from outside may be anything: a sum ends with the largest
/// there is.
pub fn count_sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// A count with thousands separators; from 10¹⁵ on with an exponent.
pub fn count(n: u64) -> String {
    if n >= 1_000_000_000_000_000 {
        return format!("{:.2e}", n as f64);
    }
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 transaction`, `2,500 transactions`, `3 processes`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {}", count(n), noun_for(n, noun))
}

/// The noun behind a number: of one, or of several.
pub fn noun_for(n: u64, noun: &str) -> String {
    let ending = match n {
        1 => "",
        _ if noun.ends_with('s') || noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{noun}{ending}")
}

/// A number with three significant digits, without exponent: `0.0512`, `5.12`, `51.2`, `512`, `5120`.
pub fn three_digits(value: f64) -> String {
    // What stays below the next power of ten however it is rounded: several times as fast.
    match value {
        1.0..9.99 => return format!("{value:.2}"),
        10.0..99.9 => return format!("{value:.1}"),
        100.0..999.0 => return format!("{value:.0}"),
        _ => {}
    }
    any_three_digits(value)
}

fn any_three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    // The exponent of the rounded value, so that 9.999 becomes 10.0 and not 10.00.
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let decimals = (2 - rounded.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{rounded:.decimals$}")
}

/// Reads a number of digits and a point: no sign, no exponent, no infinity.
pub fn plain_number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|_| plain)
}

/// A percentile as a share, as near as a number comes to it: 99.9 divided by 100 is a little more,
/// and the rank of that among a thousand one too high.
pub fn percentile_share(percentile: f64) -> f64 {
    format!("{percentile}e-2").parse().unwrap_or(percentile / 100.0)
}

/// Reads a rate: `500/s`, `30/m`, `1.5k/s`; a bare number is per second. Unit of the result: events
/// per second, above zero.
///
/// # Errors
/// Says what is wrong with the text, and how to write it.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let (quantity, form) = ("rate", RATE_FORM);
    let refuse = |why| UnitError { text: text.to_owned(), quantity, form, why };
    let (number, per) = match text.trim().split_once('/') {
        Some((number, per)) => (number.trim(), per.trim()),
        None => (text.trim(), "s"),
    };
    let seconds = match per {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(refuse(QuantityFault::Unit(format!("/{per}")))),
    };
    let (digits, scale) = match number.strip_suffix('k') {
        Some(digits) => (digits, 1e3),
        None => (number, 1.0),
    };
    let value: f64 = digits.parse().map_err(|_| refuse(QuantityFault::NoNumber))?;
    match value * scale / seconds {
        rate if rate.is_nan() => Err(refuse(QuantityFault::NoNumber)),
        rate if rate.is_infinite() => Err(refuse(QuantityFault::TooMuch)),
        rate if rate < 0.0 => Err(refuse(QuantityFault::Negative)),
        0.0 => Err(refuse(QuantityFault::Zero)),
        rate => Ok(rate),
    }
}

#[cfg(test)]
mod tests;
