//! How the due instants of an open loop fall around its rate.

use super::Rate;
use crate::Nanos;
use std::fmt;
use std::str::FromStr;

/// How due instants fall around the wanted rate. To add a process, add a variant, and its
/// line in `Schedule` of `dbtime-load`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// One each period, moved by a uniform jitter of this width around its absolute instant; by
    /// default a tenth of the period at that moment. No drift, whatever the jitter.
    Steady {
        /// Width of the jitter.
        jitter: Option<Nanos>,
    },
    /// Independent arrivals: exponential gaps.
    Poisson,
    /// Gaps uniform between zero and twice the period.
    Uniform,
    /// So many at once, the next group after as many periods.
    Burst(u64),
    /// All at the start.
    AtOnce,
}

impl Default for Arrivals {
    fn default() -> Self {
        Self::Steady { jitter: None }
    }
}

impl Arrivals {
    /// Refuses a jitter that is wider than the shortest period of a rate: at the edges of the
    /// window more or fewer would be due than the rate says.
    ///
    /// # Errors
    /// Says how wide it may be.
    pub fn check(&self, rate: &Rate) -> Result<(), JitterError> {
        let Self::Steady { jitter: Some(jitter) } = *self else { return Ok(()) };
        let period = Nanos::from_secs_f64(1.0 / rate.highest());
        if jitter <= period { Ok(()) } else { Err(JitterError { jitter, period }) }
    }
}

/// Why a jitter cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a jitter of {} is wider than the period of {}, so that other transactions would be due in \
     the window than the rate says: make it narrower, or write --arrivals uniform or poisson in \
     its place",
    .jitter.exact(), .period.exact()
)]
pub struct JitterError {
    /// What was given.
    pub jitter: Nanos,
    /// The shortest period of the rate.
    pub period: Nanos,
}

impl FromStr for Arrivals {
    type Err = ArrivalsError;

    /// Reads `steady`, `poisson`, `uniform`, `burst:20`, `at-once`.
    fn from_str(text: &str) -> Result<Self, ArrivalsError> {
        match text {
            "steady" => Ok(Self::default()),
            "poisson" => Ok(Self::Poisson),
            "uniform" => Ok(Self::Uniform),
            "at-once" => Ok(Self::AtOnce),
            _ => match text.strip_prefix("burst:").map(str::parse) {
                Some(Ok(size)) if size > 0 => Ok(Self::Burst(size)),
                _ => Err(ArrivalsError(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for Arrivals {
    /// Writes what [`FromStr`] reads; a jitter is a flag and a field of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steady { .. } => write!(f, "steady"),
            Self::Poisson => write!(f, "poisson"),
            Self::Uniform => write!(f, "uniform"),
            Self::Burst(size) => write!(f, "burst:{size}"),
            Self::AtOnce => write!(f, "at-once"),
        }
    }
}

serde_as_text!(Arrivals);

/// Why a text names no arrival process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no arrival process: write steady, poisson, uniform, burst:20 or at-once")]
pub struct ArrivalsError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jitter_is_no_wider_than_the_period() {
        let steady = |us| Arrivals::Steady { jitter: Some(Nanos::from_micros(us)) };
        let steps = Rate::Steps(vec![
            (Nanos::ZERO, 100.0),
            (Nanos::from_secs(1), 1000.0),
            (Nanos::from_secs(2), 10.0),
        ]);
        for rate in [Rate::Constant(1000.0), steps, Rate::Ramp(10.0, 1000.0)] {
            assert_eq!(steady(1000).check(&rate), Ok(()));
            let error = steady(1001).check(&rate).expect_err("too wide").to_string();
            assert!(
                error.starts_with("a jitter of 1001us is wider than the period of 1ms"),
                "{error}"
            );
        }
        assert_eq!(Arrivals::default().check(&Rate::Constant(1e6)), Ok(()));
        assert_eq!(Arrivals::Poisson.check(&Rate::Constant(1e6)), Ok(()));
    }
}
