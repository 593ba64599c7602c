//! Distributions of pauses: think times, and what a statement of `null` takes.

use crate::Nanos;
use crate::units::UnitError;
use std::fmt;
use std::str::FromStr;

/// A distribution of pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThinkTime {
    /// Always the same.
    Fixed(Nanos),
    /// Uniform between two durations.
    Uniform(Nanos, Nanos),
    /// Negative exponential with this mean, cut at ten times the mean as TPC-C asks (clause
    /// 5.2.5.4).
    Exponential(Nanos),
}

impl ThinkTime {
    /// What no pause is shorter than.
    pub fn least(self) -> Nanos {
        match self {
            Self::Fixed(pause) | Self::Uniform(pause, _) => pause,
            Self::Exponential(_) => Nanos::ZERO,
        }
    }

    /// The mean of the distribution, the cut included.
    pub fn mean(self) -> Nanos {
        match self {
            Self::Fixed(pause) => pause,
            Self::Uniform(low, high) => Nanos(low.0.midpoint(high.0)),
            // E[min(X, 10)] of a unit exponential is 1 − e⁻¹⁰.
            Self::Exponential(mean) => Nanos((mean.0 as f64 * (1.0 - (-10f64).exp())) as u64),
        }
    }
}

/// Why a text is no think time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThinkError {
    /// One of its durations is none.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The form is not known.
    #[error("`{0}` is not a think time: write 10ms, exp:10ms or uniform:5ms..15ms")]
    Form(String),
}

impl FromStr for ThinkTime {
    type Err = ThinkError;

    /// Reads `10ms`, `exp:10ms`, `uniform:5ms..15ms`.
    fn from_str(text: &str) -> Result<Self, ThinkError> {
        let form = || ThinkError::Form(text.to_owned());
        match text.split_once(':') {
            None => Ok(Self::Fixed(text.parse()?)),
            Some(("exp", mean)) => Ok(Self::Exponential(mean.parse()?)),
            Some(("uniform", range)) => {
                let (low, high) = range.split_once("..").ok_or_else(form)?;
                let (low, high): (Nanos, Nanos) = (low.parse()?, high.parse()?);
                if low <= high { Ok(Self::Uniform(low, high)) } else { Err(form()) }
            }
            Some(_) => Err(form()),
        }
    }
}

impl fmt::Display for ThinkTime {
    /// Writes what [`FromStr`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(pause) => write!(f, "{}", pause.exact()),
            Self::Uniform(low, high) => write!(f, "uniform:{}..{}", low.exact(), high.exact()),
            Self::Exponential(mean) => write!(f, "exp:{}", mean.exact()),
        }
    }
}

serde_as_text!(ThinkTime);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pause_is_shorter_than_the_least() {
        for (text, least_ms) in [("10ms", 10), ("uniform:5ms..15ms", 5), ("exp:10ms", 0)] {
            let think: ThinkTime = text.parse().expect(text);
            assert_eq!(think.least(), Nanos::from_millis(least_ms), "{text}");
            assert_eq!(think.to_string(), text);
        }
    }

    #[test]
    fn bad_forms_are_refused() {
        for bad in ["", "-10", "exp:", "uniform:5ms", "uniform:9ms..1ms", "normal:5ms"] {
            assert!(bad.parse::<ThinkTime>().is_err(), "{bad}");
        }
    }
}
