//! One value of a counter: an exact number, or a text.

use serde::{Deserialize, Serialize};

/// A value. Exactly as it was printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CounterValue {
    /// A whole number from zero on.
    Unsigned(u64),
    /// A whole number below zero.
    Signed(i64),
    /// A finite number with a fraction.
    Float(f64),
    /// Anything else: `ON`, a version, a number beyond 64 bits.
    Text(String),
}

impl CounterValue {
    /// What a database printed.
    pub fn parse(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
        let whole = if is_whole { text.parse::<i128>().ok().and_then(Self::exact) } else { None };
        let with_fraction = || {
            let value = text.parse::<f64>().ok().filter(|_| is_number && !is_whole);
            value.filter(|value| value.is_finite()).map(Self::Float)
        };
        whole.or_else(with_fraction).unwrap_or_else(|| Self::Text(text.to_owned()))
    }

    /// The number, if it is one. Whole numbers beyond 2^53 are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Unsigned(n) => Some(*n as f64),
            Self::Signed(n) => Some(*n as f64),
            Self::Float(x) => Some(*x),
            Self::Text(_) => None,
        }
    }

    /// Whether it is a number and below zero.
    pub fn is_negative(&self) -> bool {
        self.as_f64().is_some_and(|value| value < 0.0)
    }

    /// Whether it is the number zero.
    pub fn is_zero(&self) -> bool {
        self.as_f64() == Some(0.0)
    }

    /// `self − earlier`, exact between whole numbers; `None` where either is a text or the
    /// difference fits no number.
    pub fn minus(&self, earlier: &Self) -> Option<Self> {
        match (self.whole(), earlier.whole()) {
            (Some(later), Some(earlier)) => Self::exact(later - earlier),
            _ => Self::finite(self.as_f64()? - earlier.as_f64()?),
        }
    }

    /// `self + other`, exact between whole numbers; `None` as in [`Self::minus`].
    pub fn plus(&self, other: &Self) -> Option<Self> {
        match (self.whole(), other.whole()) {
            (Some(one), Some(other)) => Self::exact(one + other),
            _ => Self::finite(self.as_f64()? + other.as_f64()?),
        }
    }

    fn whole(&self) -> Option<i128> {
        match self {
            Self::Unsigned(n) => Some(i128::from(*n)),
            Self::Signed(n) => Some(i128::from(*n)),
            Self::Float(_) | Self::Text(_) => None,
        }
    }

    fn exact(value: i128) -> Option<Self> {
        let unsigned = u64::try_from(value).ok().map(Self::Unsigned);
        unsigned.or_else(|| i64::try_from(value).ok().map(Self::Signed))
    }

    fn finite(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Float(value))
    }
}

impl std::fmt::Display for CounterValue {
    /// As a database prints it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsigned(n) => n.fmt(f),
            Self::Signed(n) => n.fmt(f),
            Self::Float(x) => x.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CounterValue::{Float, Signed, Text, Unsigned};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_that_are_no_plain_numbers_stay_texts() {
        for text in ["", "ON", "-", "+5", "1.2.3", "0x10", "NaN", "inf", "1e999", "-.", "5e", " 5"]
        {
            assert_eq!(CounterValue::parse(text), Text(text.to_owned()));
        }
        // One more than 64 bits hold.
        assert_eq!(CounterValue::parse("18446744073709551616").as_f64(), None);
        assert_eq!(CounterValue::parse("18446744073709551615"), Unsigned(u64::MAX));
        assert_eq!(CounterValue::parse("-7"), Signed(-7));
        assert_eq!(CounterValue::parse("0.250000"), Float(0.25));
        assert_eq!(CounterValue::parse("1e-05"), Float(1e-5));
    }

    #[test]
    fn differences_are_exact_or_absent() {
        let minus = |later: CounterValue, earlier| later.minus(&earlier);
        assert_eq!(minus(Unsigned(u64::MAX), Unsigned(1)), Some(Unsigned(u64::MAX - 1)));
        assert_eq!(minus(Unsigned(1), Unsigned(3)), Some(Signed(-2)));
        assert_eq!(minus(Signed(i64::MIN), Unsigned(u64::MAX)), None);
        assert_eq!(minus(Float(1.5), Unsigned(1)), Some(Float(0.5)));
        assert_eq!(minus(Float(f64::MAX), Float(-f64::MAX)), None);
        assert_eq!(minus(Text("5".into()), Unsigned(1)), None);
        assert_eq!(Unsigned(2).plus(&Signed(-3)), Some(Signed(-1)));
    }

    proptest! {
        #[test]
        fn whole_numbers_come_back_as_they_were_printed(n in any::<i128>()) {
            let text = n.to_string();
            prop_assert_eq!(CounterValue::parse(&text).to_string(), text);
        }

        #[test]
        fn json_keeps_every_value(text in "\\PC{0,12}", number in any::<u64>(), x in any::<i32>()) {
            let parts = [&text, &number.to_string(), &x.to_string(), &format!("{x}.{number}")];
            for value in parts.map(|text| CounterValue::parse(text)) {
                let json = serde_json::to_string(&value).expect("plain data");
                prop_assert_eq!(serde_json::from_str::<CounterValue>(&json).expect("it was"), value);
            }
        }
    }
}
