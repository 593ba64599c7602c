//! How many bits a link passes per second, and how people write it.

use crate::Nanos;
use std::fmt;
use std::str::FromStr;

/// The bits that a link passes. Unit: bits per second; prefixes are powers of a thousand, as on
/// network cards and in tc(8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(pub u64);

/// Prefixes with what they stand for, the largest first.
const PREFIXES: [(&str, u64); 4] = [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000), ("", 1)];

/// Ways to write the unit behind a prefix, in lower case.
const UNITS: [&str; 4] = ["bit/s", "bit", "b/s", "bps"];

/// More than network cards pass, and few enough that a packet takes whole nanoseconds.
const MAX_BITS: f64 = 1e12;

impl BitRate {
    /// How long so many bytes take to pass, rounded up.
    ///
    /// Shape: zero for a rate of zero, which stands for no limit.
    #[inline]
    pub fn time_of(self, bytes: u64) -> Nanos {
        if self.0 == 0 {
            return Nanos::ZERO;
        }
        let ns = (u128::from(bytes) * 8 * 1_000_000_000).div_ceil(self.0.into());
        Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

/// Why a text is no bit rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no bit rate: {why}; write bits per second with a unit: 1Gbit/s, 100Mbit/s, \
     512kbit/s, or 0 for no limit"
)]
pub struct BitRateError {
    text: String,
    why: &'static str,
}

impl FromStr for BitRate {
    type Err = BitRateError;

    /// Reads `1Gbit/s`, `100Mbit`, `2.5gbit`, `512 kbit/s`, `0`.
    fn from_str(text: &str) -> Result<Self, BitRateError> {
        let refuse = |why| BitRateError { text: text.to_owned(), why };
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
        let number: f64 = number.parse().map_err(|_| refuse("it has no number"))?;
        let unit = unit.trim();
        if number == 0.0 && unit.is_empty() {
            return Ok(Self(0));
        }
        if ["B/s", "Bps"].iter().any(|bytes| unit.ends_with(bytes))
            || unit.to_ascii_lowercase().contains("byte")
        {
            return Err(refuse("bytes are not bits"));
        }
        let unit = unit.to_ascii_lowercase();
        let is_unit = |scale: &&(&str, u64)| {
            let prefix = scale.0.to_ascii_lowercase();
            unit.strip_prefix(&prefix).is_some_and(|rest| UNITS.contains(&rest))
        };
        let (_, scale) = PREFIXES.iter().find(is_unit).ok_or_else(|| refuse("it has no unit"))?;
        match number * *scale as f64 {
            bits if bits > MAX_BITS => Err(refuse("it is too much")),
            bits if bits.round() < 1.0 && number > 0.0 => Err(refuse("it is too little")),
            bits => Ok(Self(bits.round() as u64)),
        }
    }
}

impl fmt::Display for BitRate {
    /// As it is written on a command line, exactly: `1Gbit/s`, `2500Mbit/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0");
        }
        let whole = PREFIXES.iter().find(|(_, scale)| self.0.is_multiple_of(*scale));
        let (prefix, scale) = whole.unwrap_or(&("", 1));
        write!(f, "{}{prefix}bit/s", self.0 / scale)
    }
}

serde_as_text!(BitRate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_rates_are_read_as_people_write_them() {
        let one_gigabit = Ok(BitRate(1_000_000_000));
        for text in ["1Gbit/s", "1gbit", "1 Gb/s", "1000Mbit/s", "1Gbps", " 1.0 Gbit/s "] {
            assert_eq!(text.parse(), one_gigabit, "{text}");
        }
        assert_eq!("2.5Mbit/s".parse(), Ok(BitRate(2_500_000)));
        assert_eq!("9600bit/s".parse(), Ok(BitRate(9_600)));
        assert_eq!("0".parse(), Ok(BitRate(0)));
        let refused = [
            ("", "it has no number"),
            ("Gbit", "it has no number"),
            ("-1Gbit", "it has no number"),
            ("1.2.3Gbit", "it has no number"),
            ("1000", "it has no unit"),
            ("1 Gibbit/s", "it has no unit"),
            ("125MB/s", "bytes are not bits"),
            ("125MBps", "bytes are not bits"),
            ("125 Mbyte", "bytes are not bits"),
            ("2000Gbit", "it is too much"),
            ("0.1bit", "it is too little"),
        ];
        for (text, why) in refused {
            let error = text.parse::<BitRate>().expect_err(text).to_string();
            assert!(
                error.starts_with(&format!("`{text}` is no bit rate: {why}; write")),
                "{error}"
            );
        }
    }

    #[test]
    fn bytes_take_their_time() {
        let link = BitRate(1_000_000_000);
        assert_eq!(link.time_of(125), Nanos(1_000));
        assert_eq!(link.time_of(1_250_000_000), Nanos::from_secs(10));
        assert_eq!(
            (BitRate(0).time_of(9), BitRate(1).time_of(u64::MAX)),
            (Nanos(0), Nanos(u64::MAX))
        );
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(bits in 0u64..1_000_000_000_000) {
            proptest::prop_assert_eq!(BitRate(bits).to_string().parse(), Ok(BitRate(bits)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,20}") {
            let _ = text.parse::<BitRate>();
        }
    }
}
