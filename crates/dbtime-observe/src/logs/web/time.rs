//! Instants as web servers write them: whole, or in parts that a format puts where it likes.

use crate::logs::numbers::{SECOND_US, clock_us, day_us, decimal, iso_us, whole, zone_us};
use dbtime_model::Nanos;
use dbtime_model::log_digest::UnreadReason;

/// A part of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimePart {
    /// All of it: `10/Oct/2000:13:55:36 -0700`.
    Local,
    /// All of it, in ISO 8601.
    Iso,
    /// All of it, as a number of units since 1970. Unit: nanoseconds.
    Epoch(u64),
    /// `2000-10-10`.
    IsoDay,
    /// `13:55:36`, with or without a fraction.
    Clock,
    /// Four digits.
    Year,
    /// The last two digits of the year, from 1969 on.
    ShortYear,
    /// Two digits.
    Month,
    /// `Oct`.
    MonthName,
    /// Two digits, or a blank and one.
    Day,
    /// `Tue`.
    Weekday,
    /// Two digits.
    Hour,
    /// Two digits.
    Minute,
    /// Two digits.
    Second,
    /// Three digits of the second's fraction.
    Millis,
    /// Six digits of the second's fraction.
    Micros,
    /// `-0700`.
    Zone,
}

impl TimePart {
    /// How long it is; `None`: what follows shows where it ends. Unit: bytes.
    pub(super) const fn width(self) -> Option<usize> {
        match self {
            Self::Local => Some(26),
            Self::Iso | Self::Epoch(_) | Self::IsoDay | Self::Clock => None,
            Self::Year => Some(4),
            Self::MonthName | Self::Weekday | Self::Millis => Some(3),
            Self::Micros => Some(6),
            Self::Zone => Some(5),
            Self::ShortYear
            | Self::Month
            | Self::Day
            | Self::Hour
            | Self::Minute
            | Self::Second => Some(2),
        }
    }
}

/// An instant that is put together from its parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InstantParts {
    has_any: bool,
    /// Everything but a fraction that is written apart.
    whole_us: Option<i64>,
    day_us: Option<i64>,
    year: u64,
    month: u64,
    day: u64,
    clock_us: i64,
    hour: i64,
    minute: i64,
    second: i64,
    fraction_us: i64,
    zone_us: i64,
}

impl InstantParts {
    /// Takes a part; `None`: the text is none.
    pub(super) fn add(&mut self, part: TimePart, text: &[u8], days: &mut DayCache) -> Option<()> {
        self.has_any = true;
        match part {
            TimePart::Local => self.whole_us = Some(days.local_us(text)?),
            TimePart::Iso => self.whole_us = Some(iso_us(text)?.0),
            TimePart::Epoch(unit_ns) => self.whole_us = Some(epoch_us(text, unit_ns)?),
            TimePart::IsoDay => self.day_us = Some(iso_day_us(text)?),
            TimePart::Clock => self.clock_us = clock_us(text)?,
            TimePart::Year => self.year = whole(text)?,
            TimePart::ShortYear => {
                let year = whole(text)?;
                self.year = year + if year < 69 { 2000 } else { 1900 };
            }
            TimePart::Month => self.month = whole(text)?,
            TimePart::MonthName => self.month = month_number(text)?,
            TimePart::Day => self.day = whole(text.trim_ascii_start())?,
            TimePart::Weekday => {}
            TimePart::Hour => self.hour = below(text, 24)?,
            TimePart::Minute => self.minute = below(text, 60)?,
            TimePart::Second => self.second = below(text, 61)?.min(59),
            TimePart::Millis => self.fraction_us = below(text, 1000)? * 1000,
            TimePart::Micros => self.fraction_us = below(text, SECOND_US)?,
            TimePart::Zone => self.zone_us = zone_us(text)?,
        }
        Some(())
    }

    /// The instant, if the record has one. Unit: microseconds since 1970-01-01. Errors: its parts
    /// make none.
    pub(super) fn instant_us(&self) -> Result<Option<i64>, UnreadReason> {
        if !self.has_any {
            return Ok(None);
        }
        if let Some(whole) = self.whole_us {
            return Ok(Some(whole + self.fraction_us));
        }
        let day = self.day_us.or_else(|| day_us(self.year, self.month, self.day));
        let clock = (self.hour * 3600 + self.minute * 60 + self.second) * SECOND_US;
        let behind_day = self.clock_us + clock + self.fraction_us - self.zone_us;
        Ok(Some(day.ok_or(UnreadReason::Time)? + behind_day))
    }
}

/// The day of the line before, which the next one mostly shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct DayCache {
    text: [u8; 11],
    day_us: i64,
    /// Whether an instant had no zone.
    pub(super) has_local: bool,
}

impl Default for DayCache {
    fn default() -> Self {
        Self { text: *b"01/Jan/1970", day_us: 0, has_local: false }
    }
}

impl DayCache {
    /// An instant such as `10/Oct/2000:13:55:36 -0700`. Unit: microseconds since 1970-01-01.
    pub(super) fn local_us(&mut self, text: &[u8]) -> Option<i64> {
        let (day, rest) = text.split_at_checked(self.text.len())?;
        if day != self.text {
            self.day_us = local_day_us(day)?;
            self.text.copy_from_slice(day);
        }
        let [b':', clock @ .., b' ', z0, z1, z2, z3, z4] = rest else {
            return None;
        };
        let &[h0, h1, b':', m0, m1, b':', s0, s1] = clock else {
            return None;
        };
        let hour = below(&[h0, h1], 24)?;
        let minute = below(&[m0, m1], 60)?;
        let second = below(&[s0, s1], 61)?.min(59);
        let zone = zone_us(&[*z0, *z1, *z2, *z3, *z4])?;
        Some(self.day_us + (hour * 3600 + minute * 60 + second) * SECOND_US - zone)
    }

    /// An instant in any of the forms that values of JSON have: ISO 8601, the form above, or
    /// seconds, milliseconds, microseconds or nanoseconds since 1970, by their size. Unit:
    /// microseconds since 1970-01-01.
    pub(super) fn any_us(&mut self, text: &[u8]) -> Option<i64> {
        match text.get(2..5)? {
            [b'/', ..] => self.local_us(text),
            [_, _, b'-'] => {
                let (at, has_zone) = iso_us(text)?;
                self.has_local |= !has_zone;
                Some(at)
            }
            _ => {
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                epoch_us(text, epoch_unit_ns(digits))
            }
        }
    }
}

/// What a number of so many digits before its point counts: until 2286 seconds have ten.
const fn epoch_unit_ns(digits: usize) -> u64 {
    match digits {
        0..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1_000,
        _ => 1,
    }
}

fn epoch_us(text: &[u8], unit_ns: u64) -> Option<i64> {
    i64::try_from(decimal(text, unit_ns)?.0 / 1000).ok()
}

/// A number below the limit.
fn below(text: &[u8], limit: i64) -> Option<i64> {
    i64::try_from(whole(text)?).ok().filter(|number| *number < limit)
}

/// `10/Oct/2000`.
fn local_day_us(text: &[u8]) -> Option<i64> {
    let &[d0, d1, b'/', m0, m1, m2, b'/', y0, y1, y2, y3] = text else {
        return None;
    };
    day_us(whole(&[y0, y1, y2, y3])?, month_number(&[m0, m1, m2])?, whole(&[d0, d1])?)
}

/// `2000-10-10`.
fn iso_day_us(text: &[u8]) -> Option<i64> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text else {
        return None;
    };
    day_us(whole(&[y0, y1, y2, y3])?, whole(&[m0, m1])?, whole(&[d0, d1])?)
}

/// `Jan` is 1.
fn month_number(name: &[u8]) -> Option<u64> {
    const NAMES: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let index = NAMES.chunks_exact(3).position(|month| month == name)?;
    Some(index as u64 + 1)
}

/// A duration as values of JSON have it: a number of units, with an exponent (`4.2e-05`) or
/// without, or a number with its own unit (`1.5ms`). `None`: it is none, or has a sign.
pub(super) fn span_of_time(text: &[u8], unit_ns: u64) -> Option<Nanos> {
    const UNITS: [(&[u8], u64); 6] = [
        (b"ns", 1),
        (b"us", 1_000),
        ("µs".as_bytes(), 1_000),
        ("μs".as_bytes(), 1_000),
        (b"ms", 1_000_000),
        (b"s", 1_000_000_000),
    ];
    let own = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(*name)?, *unit)));
    let (number, unit_ns) = own.unwrap_or((text, unit_ns));
    match memchr::memchr2(b'e', b'E', number) {
        None => decimal(number, unit_ns),
        Some(at) => scaled(&number[..at], &number[at + 1..], unit_ns),
    }
}

/// A number times ten to a power.
fn scaled(mantissa: &[u8], exponent: &[u8], unit_ns: u64) -> Option<Nanos> {
    let (is_below, digits) = match exponent.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, exponent),
    };
    if !mantissa.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let power = i64::try_from(whole(digits)?).ok().filter(|power| *power < 400)?;
    let (mut number, mut fraction) = (0u128, 0i64);
    let mut is_behind = false;
    for byte in mantissa {
        match byte {
            b'.' if !is_behind => is_behind = true,
            b'0'..=b'9' => {
                number = number.checked_mul(10)?.checked_add(u128::from(byte - b'0'))?;
                fraction += i64::from(is_behind);
            }
            _ => return None,
        }
    }
    let signed = if is_below { -power } else { power };
    let power = signed - fraction;
    let factor = 10u128.checked_pow(u32::try_from(power.abs()).ok()?);
    let number = number.checked_mul(u128::from(unit_ns))?;
    let scaled = match factor {
        Some(factor) if power < 0 => number / factor,
        Some(factor) => number.checked_mul(factor)?,
        None if power < 0 || number == 0 => 0,
        None => return None,
    };
    u64::try_from(scaled).ok().map(Nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_of_access_logs_are_read() {
        let mut days = DayCache::default();
        let at = 971_211_336 * SECOND_US;
        assert_eq!(days.local_us(b"10/Oct/2000:13:55:36 -0700"), Some(at));
        assert_eq!(days.local_us(b"10/Oct/2000:20:55:37 +0000"), Some(at + SECOND_US));
        assert_eq!(days.local_us(b"01/Jan/1970:00:00:01 +0000"), Some(SECOND_US));
        for wrong in [
            "10/Oct/0000:13:55:36 -0700",
            "10/Okt/2000:13:55:36 -0700",
            "31/Feb/2000:13:55:36 -0700",
            "10/Oct/2000:24:55:36 -0700",
            "10/Oct/2000:13:55:36",
            "\0\0\0\0\0\0\0\0\0\0\0:13:55:36 -0700",
            "",
        ] {
            assert_eq!(days.local_us(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn instants_of_json_are_read_in_every_form() {
        let mut days = DayCache::default();
        for text in [
            "10/Oct/2000:13:55:36 -0700",
            "2000-10-10T20:55:36Z",
            "971211336",
            "971211336.000",
            "971211336000",
            "971211336000000",
            "971211336000000000",
        ] {
            assert_eq!(days.any_us(text.as_bytes()), Some(971_211_336 * SECOND_US), "{text}");
        }
        for wrong in ["", "-", "now and then", "-971211336"] {
            assert_eq!(days.any_us(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn durations_are_read_with_exponents_and_units() {
        let second = 1_000_000_000;
        for (text, ns) in [
            ("0.000929675", 929_675),
            ("4.2e-05", 42_000),
            ("1E1", 10 * second),
            ("1e-300", 0),
            ("1.5ms", 1_500_000),
            ("12.5µs", 12_500),
            ("2s", 2 * second),
        ] {
            assert_eq!(span_of_time(text.as_bytes(), second), Some(Nanos(ns)), "{text}");
        }
        for wrong in ["", "-1", "e5", "1e", "1e99", "1e999999", "1.2.3e1", "ms", "1m"] {
            assert_eq!(span_of_time(wrong.as_bytes(), second), None, "{wrong}");
        }
    }
}
