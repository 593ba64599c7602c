//! Numbers and times as logs write them, without the detour of floating point, and numbers that
//! stand for texts.

use dbtime_model::Nanos;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Microseconds of a second and of a day.
pub(super) const SECOND_US: i64 = 1_000_000;
pub(super) const DAY_US: i64 = 86_400 * SECOND_US;

/// A whole number without a sign; `None`: it is none, or has more than 64 bits.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    text.iter().try_fold(0u64, |sum, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { sum.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// A decimal number of units of so many nanoseconds, such as `0.000012` seconds: what is below a
/// nanosecond is cut. `None`: it is no number, has a sign, or is longer than 64 bits of
/// nanoseconds.
pub(super) fn decimal(text: &[u8], unit_ns: u64) -> Option<Nanos> {
    // A number is too short for a search to pay.
    let point = text.iter().position(|byte| *byte == b'.');
    let (before, behind) = match point {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &text[..0]),
    };
    if before.is_empty() && behind.is_empty() {
        return None;
    }
    let units = if before.is_empty() { 0 } else { whole(before)? };
    let (mut rest, mut scale) = (0, unit_ns);
    for byte in behind {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        scale /= 10;
        rest += digit * scale;
    }
    units.checked_mul(unit_ns)?.checked_add(rest).map(Nanos)
}

/// A decimal number of seconds.
pub(super) fn seconds(text: &[u8]) -> Option<Nanos> {
    decimal(text, 1_000_000_000)
}

/// When a day of the Gregorian calendar began. Unit: microseconds since 1970-01-01; `None`: there
/// is no such day between the years 1 and 9999.
pub(super) fn day_us(year: u64, month: u64, day: u64) -> Option<i64> {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    const LENGTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let index = usize::try_from(month).ok()?.checked_sub(1)?;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = LENGTHS.get(index)? + u64::from(is_leap && month == 2);
    if !(1..=9999).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    let years = (year - 1).cast_signed();
    let leap_days = years / 4 - years / 100 + years / 400 + i64::from(is_leap && month > 2);
    // The first of January of the year 1 was so many days before that of 1970.
    let days = years * 365 + leap_days + BEFORE[index] + day.cast_signed() - 1 - 719_162;
    Some(days * DAY_US)
}

/// Seconds whose fraction a point or a comma precedes.
fn clock_seconds(text: &[u8]) -> Option<Nanos> {
    let Some(comma) = text.iter().position(|byte| *byte == b',') else {
        return seconds(text);
    };
    let mut bytes = [0; 32];
    let pointed = bytes.get_mut(..text.len())?;
    pointed.copy_from_slice(text);
    pointed[comma] = b'.';
    seconds(pointed)
}

/// A time of day: `21:43:52`, ` 8:51:20.058915`, with any number of digits behind the point. Unit:
/// microseconds since midnight; a leap second is the second before it.
pub(super) fn clock_us(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii_start();
    let mut fields = text.splitn(3, |byte| *byte == b':');
    let (hour, minute) = (whole(fields.next()?)?, whole(fields.next()?)?);
    let second = clock_seconds(fields.next()?)?.0 / 1000;
    if hour > 23 || minute > 59 || second >= 61 * SECOND_US.cast_unsigned() {
        return None;
    }
    let second = second.min(60 * SECOND_US.cast_unsigned() - 1);
    Some((hour * 3600 + minute * 60).cast_signed() * SECOND_US + second.cast_signed())
}

/// An instant in ISO 8601: `2021-10-12T01:13:38.132884Z`, `2021-10-12 01:13:38.132 +0200`, with or
/// without a zone. Unit: microseconds since 1970-01-01, and whether a zone was there: `Z`, `UTC`,
/// `GMT` or an offset; other names of zones are no offset.
pub(super) fn iso_us(text: &[u8]) -> Option<(i64, bool)> {
    let (day, rest) = (text.get(..10)?, text.get(11..)?);
    if day[4] != b'-' || day[7] != b'-' || !matches!(text[10], b'T' | b't' | b' ' | b'-') {
        return None;
    }
    let day = day_us(whole(&day[..4])?, whole(&day[5..7])?, whole(&day[8..])?)?;
    let length = rest
        .iter()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b':' | b'.' | b','))
        .unwrap_or(rest.len());
    let local = day + clock_us(&rest[..length])?;
    let zone = rest[length..].trim_ascii();
    match zone_us(zone) {
        Some(zone) => Some((local - zone, true)),
        None => Some((local, false)),
    }
}

/// How far a zone is east of Greenwich: `Z`, `+02:00`, `-0330`, `+02`. Unit: microseconds; `None`:
/// it is not known.
pub(super) fn zone_us(zone: &[u8]) -> Option<i64> {
    if matches!(zone, b"Z" | b"z" | b"UTC" | b"GMT") {
        return Some(0);
    }
    let (sign, digits) = match zone.split_first()? {
        (b'+', digits) => (1, digits),
        (b'-', digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (digits, &b"0"[..]),
        4 => digits.split_at(2),
        5 if digits[2] == b':' => (&digits[..2], &digits[3..]),
        _ => return None,
    };
    let (hours, minutes) = (whole(hours)?, whole(minutes)?);
    let is_known = hours <= 15 && minutes <= 59;
    is_known.then(|| sign * (hours * 60 + minutes).cast_signed() * 60 * SECOND_US)
}

/// A number that stands for a text: others have nearly always another one.
pub(super) fn text_hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_to_the_nanosecond() {
        assert_eq!(seconds(b"0.000012"), Some(Nanos(12_000)));
        assert_eq!(seconds(b"18446744073.5"), Some(Nanos(18_446_744_073_500_000_000)));
        assert_eq!(seconds(b"18446744073709.5"), None);
        assert_eq!(seconds(b"12"), Some(Nanos::from_secs(12)));
        assert_eq!(decimal(b"1.2345678901", 1_000_000), Some(Nanos(1_234_567)));
        for wrong in ["", ".", "-1", "1e3", "1.2.3", "1,5"] {
            assert_eq!(seconds(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn instants_are_read_with_and_without_a_zone() {
        let utc = 1_634_001_218_132_884;
        assert_eq!(iso_us(b"2021-10-12T01:13:38.132884Z"), Some((utc, true)));
        assert_eq!(iso_us(b"2021-10-12T03:13:38.132884+02:00"), Some((utc, true)));
        assert_eq!(iso_us(b"2021-10-12 01:13:38.132884 CET"), Some((utc, false)));
        assert_eq!(iso_us(b"2021-10-12 01:13:38.132884"), Some((utc, false)));
        assert_eq!(iso_us(b"2021-10-12 01:13:38,132884"), Some((utc, false)));
        assert_eq!(iso_us(b"2021-10-12 01:13:38,1,3"), None);
        assert_eq!(iso_us(b"2021-13-12 01:13:38"), None);
        assert_eq!(clock_us(b" 8:51:20"), Some((8 * 3600 + 51 * 60 + 20) * SECOND_US));
        assert_eq!(clock_us(b"25:00:00"), None);
    }

    proptest! {
        #[test]
        fn days_are_those_of_the_calendar(days in -700_000i64..2_900_000) {
            let date = jiff::civil::date(1970, 1, 1)
                .checked_add(jiff::Span::new().days(days))
                .expect("a day of the calendar");
            let [year, month, day] =
                [i64::from(date.year()), date.month().into(), date.day().into()];
            let [year, month, day] = [year, month, day].map(i64::cast_unsigned);
            prop_assert_eq!(day_us(year, month, day), Some(days * DAY_US));
        }
    }
}
