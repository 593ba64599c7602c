//! Values of expressions: what they are taken for, and how they are written.

use std::fmt;

/// A value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ScriptValue {
    /// SQL NULL.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Double(f64),
}

impl ScriptValue {
    /// The name of its type, as in error messages.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// Taken for a truth value: nothing else is one.
    ///
    /// # Errors
    /// What it is instead.
    pub(crate) fn as_bool(self) -> Result<bool, String> {
        match self {
            Self::Bool(value) => Ok(value),
            other => Err(format!("cannot coerce {} to boolean", other.type_name())),
        }
    }

    /// Taken for an integer: a double is rounded, halves to the even neighbour.
    ///
    /// # Errors
    /// A double that does not fit, or what it is instead of a number.
    pub(crate) fn as_int(self) -> Result<i64, String> {
        match self {
            Self::Int(value) => Ok(value),
            Self::Double(value) => {
                let rounded = value.round_ties_even();
                // 2⁶³ itself is a double, the greatest integer below it is not.
                let limit = -(i64::MIN as f64);
                if rounded >= -limit && rounded < limit {
                    return Ok(rounded as i64);
                }
                Err(format!("double to int overflow for {}", FixedDecimal(rounded)))
            }
            other => Err(format!("cannot coerce {} to int", other.type_name())),
        }
    }

    /// Taken for a double.
    ///
    /// # Errors
    /// What it is instead of a number.
    pub(crate) fn as_double(self) -> Result<f64, String> {
        match self {
            Self::Double(value) => Ok(value),
            Self::Int(value) => Ok(value as f64),
            other => Err(format!("cannot coerce {} to double", other.type_name())),
        }
    }

    /// Whether a condition with this value holds: numbers other than zero do, NULL does not.
    pub(crate) fn holds(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Double(value) => value != 0.0,
        }
    }

    /// Writes it as it goes into SQL.
    pub(crate) fn write(self, out: &mut String) {
        match self {
            Self::Null => out.push_str("NULL"),
            Self::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Self::Int(value) => out.push_str(itoa::Buffer::new().format(value)),
            Self::Double(value) => write_double(value, out),
        }
    }

    /// What a text stands for: `null`, a truth value or the beginning of one, an integer, a double.
    ///
    /// # Errors
    /// A text that is none of them, called `name` in the message; an integer that does not fit.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, String> {
        let malformed = || format!("malformed variable \"{name}\" value: \"{text}\"");
        if text.is_empty() {
            return Err(malformed());
        }
        if text.eq_ignore_ascii_case("null") {
            return Ok(Self::Null);
        }
        let begins = |word: &str| {
            word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text))
        };
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if begins("true") || begins("yes") || is("on") {
            return Ok(Self::Bool(true));
        }
        if begins("false") || begins("no") || is("off") || is("of") {
            return Ok(Self::Bool(false));
        }
        if looks_like_int(text) {
            let parsed = text.trim_ascii().parse::<i64>();
            let too_large = |_| format!("value \"{text}\" is out of range for type bigint");
            return parsed.map(Self::Int).map_err(too_large);
        }
        let number = text.trim_ascii_start().parse::<f64>().map_err(|_| malformed())?;
        let is_named = text.bytes().any(|byte| matches!(byte, b'n' | b'N'));
        if number.is_infinite() && !is_named { Err(malformed()) } else { Ok(Self::Double(number)) }
    }
}

/// Blanks, a sign, digits and nothing else.
fn looks_like_int(text: &str) -> bool {
    let digits = text.trim_ascii_start();
    let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Significant digits of a double in SQL: those that every double keeps.
const DIGITS: i32 = 15;

/// As `%.15g` writes it.
fn write_double(value: f64, out: &mut String) {
    if !value.is_finite() {
        return out.push_str(not_finite(value));
    }
    let scientific = format!("{value:.*e}", (DIGITS - 1) as usize);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let fixed = format!("{value:.*}", (DIGITS - 1 - exponent) as usize);
        return out.push_str(without_zeros(&fixed));
    }
    out.push_str(without_zeros(mantissa));
    let sign = if exponent < 0 { '-' } else { '+' };
    out.push_str(&format!("e{sign}{:02}", exponent.abs()));
}

/// Without the zeros that end a fraction.
fn without_zeros(number: &str) -> &str {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.')
}

fn not_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// As `%f` writes it.
pub(super) struct FixedDecimal(pub f64);

impl fmt::Display for FixedDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_finite() {
            write!(f, "{:.6}", self.0)
        } else {
            f.write_str(not_finite(self.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64) -> String {
        let mut out = String::new();
        ScriptValue::Double(value).write(&mut out);
        out
    }

    #[test]
    fn doubles_have_fifteen_digits() {
        let cases = [
            (1.0, "1"),
            (2f64.sqrt(), "1.4142135623731"),
            (1e15, "1e+15"),
            (999_999_999_999_999.9, "1e+15"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (-0.0, "-0"),
            (1e100, "1e+100"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, text) in cases {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn a_text_is_taken_for_what_it_looks_like() {
        let of = |text: &str| ScriptValue::parse(text, "v");
        assert_eq!(of("NULL"), Ok(ScriptValue::Null));
        for text in ["t", "TRUE", "y", "yes", "on"] {
            assert_eq!(of(text), Ok(ScriptValue::Bool(true)), "{text}");
        }
        for text in ["f", "No", "n", "off", "of"] {
            assert_eq!(of(text), Ok(ScriptValue::Bool(false)), "{text}");
        }
        assert_eq!(of(" +7"), Ok(ScriptValue::Int(7)));
        assert_eq!(of("-7.5e1"), Ok(ScriptValue::Double(-75.0)));
        assert_eq!(of("o").unwrap_err(), "malformed variable \"v\" value: \"o\"");
        assert!(of("").is_err() && of("1x").is_err() && of("1e999").is_err());
        let error = of("9223372036854775808").unwrap_err();
        assert_eq!(error, "value \"9223372036854775808\" is out of range for type bigint");
    }

    #[test]
    fn values_are_taken_for_what_they_can_be() {
        assert_eq!(ScriptValue::Double(2.5).as_int(), Ok(2));
        assert_eq!(ScriptValue::Double(-(i64::MIN as f64)).as_int().ok(), None);
        assert_eq!(ScriptValue::Double(i64::MIN as f64).as_int(), Ok(i64::MIN));
        assert_eq!(ScriptValue::Null.as_int().unwrap_err(), "cannot coerce null to int");
        assert_eq!(ScriptValue::Int(1).as_bool().unwrap_err(), "cannot coerce int to boolean");
        assert_eq!(
            ScriptValue::Bool(true).as_double().unwrap_err(),
            "cannot coerce boolean to double"
        );
        let overflow = ScriptValue::Double(f64::NAN).as_int().unwrap_err();
        assert_eq!(overflow, "double to int overflow for NaN");
    }
}
