//! A row as bytes that are the same for the same values, whatever their types are called, and the
//! hash of these.
//!
//! ```text
//!   NULL                             0
//!   1, BIGINT 1, DECIMAL 1.00, 1e0   number   sign, scale, digits   (short ones as an integer)
//!   double precision                 its bits; rounded: as a number of 12 digits
//!   text, date, bytes                length and bytes, of long ones the hash of these
//! ```
//!
//! A row of any length is encoded in a bounded buffer.

use dbtime_engines::server::CellValue;
use std::io::Write;
use twox_hash::XxHash3_128;

/// Longer texts are hashed by themselves, and so is what was encoded of a row that is longer.
/// Unit: bytes.
const LONG_TEXT: usize = 4096;
const LONG_ROW: usize = 65_536;

/// Before each value, so that none is another one's beginning.
const NULL: u8 = 0;
const INTEGER: u8 = 1;
const NUMBER: u8 = 2;
const FLOAT: u8 = 3;
const TEXT: u8 = 4;
const LONG: u8 = 5;
const FOLDED: u8 = 6;

/// Encodes one row after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct RowEncoder {
    seed: u64,
    /// Whether floating-point numbers count by their first 12 digits.
    rounds: bool,
    row: Vec<u8>,
    /// A floating-point number's digits.
    digits: Vec<u8>,
    has_reals: bool,
}

impl RowEncoder {
    pub(super) fn new(seed: u64, rounds: bool) -> Self {
        Self { seed, rounds, ..Self::default() }
    }

    /// Whether there was a floating-point number in any row.
    pub(super) fn has_reals(&self) -> bool {
        self.has_reals
    }

    /// Adds a value to the row.
    #[inline]
    pub(super) fn push(&mut self, value: CellValue<'_>) {
        match value {
            CellValue::Null => self.row.push(NULL),
            CellValue::Integer(value) => self.push_integer(i128::from(value)),
            CellValue::Unsigned(value) => self.push_integer(i128::from(value)),
            CellValue::Real(value) => self.push_real(value),
            CellValue::Decimal(text) => self.push_decimal(text),
            CellValue::Text(bytes) | CellValue::Bytes(bytes) => self.push_bytes(bytes),
        }
        if self.row.len() > LONG_ROW {
            let hash = self.hash_of(&self.row);
            self.row.clear();
            self.push_hash(FOLDED, hash);
        }
    }

    /// The hash of the row, behind which the next one begins.
    #[inline]
    pub(super) fn finish(&mut self) -> u128 {
        let hash = self.hash_of(&self.row);
        self.row.clear();
        hash
    }

    /// Forgets what was seen.
    pub(super) fn restart(&mut self) {
        self.row.clear();
        self.has_reals = false;
    }

    fn hash_of(&self, bytes: &[u8]) -> u128 {
        XxHash3_128::oneshot_with_seed(self.seed, bytes)
    }

    fn push_hash(&mut self, kind: u8, hash: u128) {
        self.row.push(kind);
        self.row.extend_from_slice(&hash.to_le_bytes());
    }

    fn push_integer(&mut self, value: i128) {
        self.row.push(INTEGER);
        self.row.extend_from_slice(&value.to_le_bytes());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        if bytes.len() > LONG_TEXT {
            let hash = self.hash_of(bytes);
            return self.push_hash(LONG, hash);
        }
        self.row.push(TEXT);
        self.row.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.row.extend_from_slice(bytes);
    }

    fn push_real(&mut self, value: f64) {
        self.has_reals = true;
        if self.rounds && value.is_finite() {
            let mut digits = std::mem::take(&mut self.digits);
            digits.clear();
            // Writing into memory never fails.
            let _ = write!(digits, "{value:.11e}");
            self.push_decimal(&digits);
            self.digits = digits;
            return;
        }
        // There are many that are no number, and they are all alike.
        let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        self.row.push(FLOAT);
        self.row.extend_from_slice(&bits.to_le_bytes());
    }

    /// A decimal number; what is none, such as `NaN`, counts as a text.
    fn push_decimal(&mut self, text: &[u8]) {
        let Some(number) = DecimalNumber::parse(text) else { return self.push_bytes(text) };
        if let Some(value) = number.as_integer() {
            return self.push_integer(value);
        }
        let DecimalNumber { is_negative, whole, fraction, exponent } = number;
        self.row.push(NUMBER);
        self.row.push(u8::from(is_negative));
        self.row.extend_from_slice(&exponent.to_le_bytes());
        let length = whole.len() + fraction.len();
        if length > LONG_TEXT {
            let hash = self.hash_of(&[whole, fraction].concat());
            return self.push_hash(LONG, hash);
        }
        self.row.extend_from_slice(&(length as u32).to_le_bytes());
        self.row.extend_from_slice(whole);
        self.row.extend_from_slice(fraction);
    }
}

/// A decimal number without the zeros that make no difference: its digits as one integer, times a
/// power of ten. Zero has no digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DecimalNumber<'a> {
    is_negative: bool,
    /// The digits, in two pieces.
    whole: &'a [u8],
    fraction: &'a [u8],
    /// The power of ten that the last digit stands for.
    exponent: i64,
}

impl<'a> DecimalNumber<'a> {
    /// Reads `-12.50`, `1e3`, `.5`; `None`: it is no such number.
    fn parse(text: &'a [u8]) -> Option<Self> {
        let (is_negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let at = rest.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (number, power) = match at {
            Some(at) => {
                let power = std::str::from_utf8(&rest[at + 1..]).ok()?;
                // So that no sum of it with a length overflows.
                (&rest[..at], i64::from(power.parse::<i32>().ok()?))
            }
            None => (rest, 0),
        };
        let dot = number.iter().position(|byte| *byte == b'.');
        let (whole, fraction) = match dot {
            Some(at) => (&number[..at], &number[at + 1..]),
            None => (number, &number[number.len()..]),
        };
        let is_number = whole.iter().chain(fraction).all(u8::is_ascii_digit);
        if !is_number || whole.is_empty() && fraction.is_empty() {
            return None;
        }
        Some(Self { is_negative, whole, fraction, exponent: power }.trimmed())
    }

    /// The same without zeros around its digits.
    fn trimmed(self) -> Self {
        let mut fraction = without_last_zeros(self.fraction);
        let mut exponent = self.exponent - fraction.len() as i64;
        let mut whole = without_first_zeros(self.whole);
        if fraction.is_empty() {
            let significant = without_last_zeros(whole);
            exponent += (whole.len() - significant.len()) as i64;
            whole = significant;
        }
        if whole.is_empty() {
            fraction = without_first_zeros(fraction);
        }
        match whole.is_empty() && fraction.is_empty() {
            true => Self { is_negative: false, whole, fraction, exponent: 0 },
            false => Self { is_negative: self.is_negative, whole, fraction, exponent },
        }
    }

    /// Its value where it is a whole number of at most 20 digits.
    fn as_integer(&self) -> Option<i128> {
        let digits = self.whole.len() + self.fraction.len();
        let zeros = u32::try_from(self.exponent).ok()?;
        if digits + zeros as usize > 20 {
            return None;
        }
        let digits = self.whole.iter().chain(self.fraction);
        let value = digits.fold(0, |value, digit| 10 * value + i128::from(digit - b'0'));
        let value = value * 10_i128.pow(zeros);
        Some(if self.is_negative { -value } else { value })
    }
}

fn without_first_zeros(digits: &[u8]) -> &[u8] {
    let from = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
    &digits[from..]
}

fn without_last_zeros(digits: &[u8]) -> &[u8] {
    let end = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    &digits[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use CellValue::{Bytes, Decimal, Integer, Null, Real, Text, Unsigned};

    fn hash(rounds: bool, row: &[CellValue<'_>]) -> u128 {
        let mut encoder = RowEncoder::new(7, rounds);
        row.iter().for_each(|value| encoder.push(*value));
        encoder.finish()
    }

    fn exact(value: CellValue<'_>) -> u128 {
        hash(false, &[value])
    }

    #[test]
    fn the_same_number_is_the_same_in_every_type() {
        for (same, others) in [
            (Integer(1), ["1", "1.00", "+1", "0001", "10e-1", "0.1e1"]),
            (Integer(0), ["0", "-0", "0.000", "-0.0e7", ".0", "0."]),
            (Integer(-1200), ["-1200", "-1200.0", "-12e2", "-0.12e4", "-1.2E3", "-001200"]),
            (Decimal(b"12.5"), ["12.50", "+12.5", "1.25e1", "0012.500", "125e-1", "0.125e2"]),
            (Decimal(b"1e30"), ["10e29", "1e+30", "1.0e30", "0.1e31", "01e30", "100e28"]),
        ] {
            for other in others {
                assert_eq!(exact(same), exact(Decimal(other.as_bytes())), "{same:?} {other}");
            }
        }
        for most in ["18446744073709551615", "1844674407370955161.5e1", "18446744073709551615.0"] {
            assert_eq!(exact(Unsigned(u64::MAX)), exact(Decimal(most.as_bytes())));
        }
        assert_eq!(exact(Integer(5)), exact(Unsigned(5)));
        assert_eq!(exact(Text(b"a")), exact(Bytes(b"a")));
    }

    #[test]
    fn other_values_are_others() {
        let numbers = [Integer(0), Integer(1), Integer(-1), Real(1.0), Real(0.0), Real(-0.0)];
        let decimals = ["0.1", "-0.1", "0.01", "1e30", "1e29", "NaN"];
        let texts = ["", "1", "0", "a", "A", "a "];
        let mut values = vec![Null, Real(f64::NAN)];
        values.extend(numbers);
        values.extend(decimals.map(|text| Decimal(text.as_bytes())));
        values.extend(texts.map(|text| Text(text.as_bytes())));
        for (at, one) in values.iter().enumerate() {
            for other in &values[at + 1..] {
                assert_ne!(exact(*one), exact(*other), "{one:?} {other:?}");
            }
        }
        let pairs = [[Text(b"ab"), Text(b"c")], [Text(b"a"), Text(b"bc")], [Text(b"abc"), Null]];
        let hashes = pairs.map(|row| hash(false, &row));
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    }

    #[test]
    fn rounded_numbers_have_twelve_digits() {
        let rounded = |value| hash(true, &[value]);
        let sum = Real(0.1 + 0.2);
        assert_ne!(exact(sum), exact(Real(0.3)));
        for same in [Real(0.3), Decimal(b"0.3")] {
            assert_eq!(rounded(sum), rounded(same));
        }
        assert_eq!(rounded(Real(-0.0)), rounded(Integer(0)));
        assert_ne!(rounded(Real(1.000_000_001)), rounded(Real(1.0)));
        assert_eq!(rounded(Real(f64::INFINITY)), exact(Real(f64::INFINITY)));
    }

    #[test]
    fn a_long_row_takes_a_bounded_buffer() {
        let long = vec![b'7'; 3 * LONG_ROW];
        let mut encoder = RowEncoder::new(7, false);
        for _ in 0..1000 {
            for value in [Text(&long[..LONG_TEXT]), Text(&long), Decimal(&long)] {
                encoder.push(value);
                assert!(encoder.row.len() <= LONG_ROW);
            }
        }
        let one = encoder.finish();
        let mut other = long.clone();
        other[100] = b'8';
        assert_ne!(hash(false, &[Text(&long)]), hash(false, &[Text(&other)]));
        assert_ne!(hash(false, &[Decimal(&long)]), hash(false, &[Decimal(&other)]));
        assert_ne!(one, encoder.finish());
        assert!(encoder.row.capacity() <= 4 * LONG_ROW);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_taken_for_a_decimal(
            text in "[-+]?[0-9.eE+-]{0,30}",
            zeros in 0_usize..5,
            value in proptest::num::i64::ANY,
        ) {
            exact(Decimal(text.as_bytes()));
            let padded = format!("{value}.{}", "0".repeat(zeros));
            proptest::prop_assert_eq!(exact(Decimal(padded.as_bytes())), exact(Integer(value)));
        }
    }
}
