//! The rate of an open loop: as given, or a share of what the target carries.

use super::{Rate, RateError};
use std::fmt;
use std::str::FromStr;

/// The rate of an open loop.
#[derive(Clone, Debug, PartialEq)]
pub enum RateChoice {
    /// As given.
    Given(Rate),
    /// This share of the flat-out rate, which is measured first. Unit: percent.
    Auto(f64),
}

/// The share of the flat-out rate that `auto` alone stands for. Unit: percent.
pub const AUTO_SHARE_PCT: f64 = 50.0;

/// The largest share that can be chosen. Unit: percent.
const MAX_SHARE_PCT: f64 = 10_000.0;

/// Why a text is no rate of an open loop.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RateChoiceError {
    /// Not that of a rate.
    #[error(transparent)]
    Rate(#[from] RateError),
    /// Begins with `auto`, and goes on wrong.
    #[error(
        "`{0}` is no share of the flat-out rate: write auto or auto:50%, more than 0 and at most \
         {MAX_SHARE_PCT} %"
    )]
    Share(String),
}

impl FromStr for RateChoice {
    type Err = RateChoiceError;

    /// Reads what [`Rate`] reads, `auto` and `auto:50%`.
    fn from_str(text: &str) -> Result<Self, RateChoiceError> {
        let Some(share) = text.strip_prefix("auto") else { return Ok(Self::Given(text.parse()?)) };
        if share.is_empty() {
            return Ok(Self::Auto(AUTO_SHARE_PCT));
        }
        let number = share.strip_prefix(':').and_then(|share| share.strip_suffix('%'));
        let number = number.and_then(|number| number.parse::<f64>().ok());
        match number.filter(|share| *share > 0.0 && *share <= MAX_SHARE_PCT) {
            Some(share) => Ok(Self::Auto(share)),
            None => Err(RateChoiceError::Share(text.to_owned())),
        }
    }
}

impl fmt::Display for RateChoice {
    /// Writes what [`FromStr`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(rate) => write!(f, "{rate}"),
            Self::Auto(share_pct) => write!(f, "auto:{share_pct}%"),
        }
    }
}

serde_as_text!(RateChoice);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        for text in ["500/s", "ramp:100/s..2000/s", "0s:100/s,30s:500/s", "auto:50%", "auto:0.5%"] {
            assert_eq!(text.parse::<RateChoice>().expect(text).to_string(), text);
        }
        assert_eq!("auto".parse(), Ok(RateChoice::Auto(AUTO_SHARE_PCT)));
        for bad in ["auto:0%", "auto:-1%", "auto:10001%", "auto:50", "automatic", "auto:NaN%"] {
            let error = bad.parse::<RateChoice>().expect_err(bad).to_string();
            assert!(error.contains("more than 0 and at most 10000 %"), "{error}");
        }
    }
}
