//! Instants as the family's logs write them.

use crate::logs::numbers::{clock_us, day_us, iso_us, whole};

/// An instant: `071015 21:43:52`, `130601  8:01:06.058915`, or in ISO 8601. Unit: microseconds
/// since 1970-01-01, and whether a zone was there; without one it is the server's local time.
pub(super) fn instant_us(text: &[u8]) -> Option<(i64, bool)> {
    match text.get(SHORT_DATE) {
        Some(b' ' | b'\t') => short_us(text).map(|instant| (instant, false)),
        _ => iso_us(text),
    }
}

/// The length of a date of six digits.
const SHORT_DATE: usize = 6;

/// The last year of two digits that belongs to this century.
const LAST_YEAR: u64 = 69;

fn short_us(text: &[u8]) -> Option<i64> {
    let (date, clock) = text.split_at_checked(SHORT_DATE)?;
    let (year, month, day) = (whole(&date[..2])?, whole(&date[2..4])?, whole(&date[4..])?);
    let century = if year <= LAST_YEAR { 2000 } else { 1900 };
    Some(day_us(century + year, month, day)? + clock_us(clock)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let at = 1_192_484_632_000_000;
        assert_eq!(instant_us(b"071015 21:43:52"), Some((at, false)));
        assert_eq!(instant_us(b"2007-10-15T21:43:52Z"), Some((at, true)));
        assert_eq!(instant_us(b"2007-10-15-21:43:52.5 +0000"), Some((at + 500_000, true)));
        let early = instant_us(b"130601  8:01:06.0589151234");
        assert_eq!(early, Some((1_370_073_666_058_915, false)));
        assert_eq!(instant_us(b"700101 00:00:01"), Some((1_000_000, false)));
        for wrong in ["", "071015", "071315 21:43:52", "07x015 21:43:52", "071015 21:43"] {
            assert_eq!(instant_us(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
