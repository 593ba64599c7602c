//! How many transactions are wanted by when: constant, in steps, or as a ramp.

use crate::Nanos;
use crate::units::{UnitError, parse_rate};
use std::fmt;
use std::str::FromStr;

/// The wanted rate over the time of the load.
///
/// Everything is defined through the cumulative count Λ(t) = ∫ rate: arrival number `x` is wanted
/// at Λ⁻¹(x), so steps and ramps need no special case in any arrival process.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// The same throughout. Unit: transactions per second.
    Constant(f64),
    /// From each offset on, its rate; the first offset is zero.
    Steps(Vec<(Nanos, f64)>),
    /// Linear from one rate to another over the whole length of the load.
    Ramp(f64, f64),
}

/// Why a text or a rate cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RateError {
    /// A rate or duration in it is none.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The form is not known.
    #[error(
        "`{0}` is no rate: write 500/s, 0s:100/s,30s:500/s, ramp:100/s..2000/s or auto (auto:50%)"
    )]
    Form(String),
    /// Steps are out of order.
    #[error("the steps of `{0}` must start at 0s and come in ascending order")]
    Steps(String),
    /// More than any machine can offer.
    #[error("{rate} transactions a second cannot be offered: the limit is {limit} a second")]
    Impossible {
        /// What was asked for.
        rate: f64,
        /// `Rate::MAX_RATE_TPS`.
        limit: f64,
    },
}

impl Rate {
    /// The highest rate taken: one transaction a 50 nanoseconds, below what one clock read costs
    /// twice.
    const MAX_RATE_TPS: f64 = 20e6;

    /// The rate at a moment, in transactions per second.
    pub fn at(&self, offset: Nanos, length: f64) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) => {
                let begun = steps.iter().take_while(|(from, _)| *from <= offset);
                begun.last().map_or(0.0, |(_, rate)| *rate)
            }
            Self::Ramp(from, to) => {
                let share = if length > 0.0 { (offset.as_secs() / length).min(1.0) } else { 1.0 };
                from + (to - from) * share
            }
        }
    }

    /// The mean rate over `start..end` of a load that lasts `end`, in transactions per second.
    pub fn mean(&self, start: Nanos, end: Nanos) -> f64 {
        if end <= start {
            return self.at(start, end.as_secs());
        }
        let length = end.as_secs();
        match self {
            Self::Constant(rate) => *rate,
            Self::Ramp(..) => self.at(start, length).midpoint(self.at(end, length)),
            Self::Steps(steps) => {
                let ends = steps.iter().skip(1).map(|(from, _)| *from).chain([Nanos(u64::MAX)]);
                let spans = steps.iter().zip(ends).map(|((from, rate), to)| {
                    let overlap = to.min(end) - (*from).max(start);
                    overlap.as_secs() * rate
                });
                spans.sum::<f64>() / (end - start).as_secs()
            }
        }
    }

    /// The highest it ever is. Unit: transactions per second.
    pub fn highest(&self) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) => steps.iter().map(|(_, rate)| *rate).fold(0.0, f64::max),
            Self::Ramp(from, to) => from.max(*to),
        }
    }

    /// Refuses rates above `Rate::MAX_RATE_TPS`.
    ///
    /// # Errors
    /// Names the rate and the limit.
    pub fn check(&self) -> Result<(), RateError> {
        let highest = self.highest();
        if highest <= Self::MAX_RATE_TPS {
            return Ok(());
        }
        Err(RateError::Impossible { rate: highest, limit: Self::MAX_RATE_TPS })
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let rate = match text.strip_prefix("ramp:") {
            Some(range) => {
                let (from, to) =
                    range.split_once("..").ok_or_else(|| RateError::Form(text.to_owned()))?;
                // `ramp:100..2000/m`: the unit once is enough.
                let unit = to.split_once('/').map_or("s", |(_, unit)| unit);
                let from =
                    if from.contains('/') { from.to_owned() } else { format!("{from}/{unit}") };
                Self::Ramp(parse_rate(&from)?, parse_rate(to)?)
            }
            None if text.contains(':') => parse_steps(text)?,
            // What begins like a number was meant as one.
            None if text.starts_with(['-', '+', '.'])
                || text.contains(|c: char| c.is_ascii_digit()) =>
            {
                Self::Constant(parse_rate(text)?)
            }
            None => return Err(RateError::Form(text.to_owned())),
        };
        rate.check()?;
        Ok(rate)
    }
}

fn parse_steps(text: &str) -> Result<Rate, RateError> {
    let mut steps: Vec<(Nanos, f64)> = Vec::new();
    for step in text.split(',') {
        let (from, rate) = step.split_once(':').ok_or_else(|| RateError::Form(text.to_owned()))?;
        let from: Nanos = from.trim().parse()?;
        let in_order = steps.last().map_or(from == Nanos::ZERO, |(last, _)| *last < from);
        if !in_order {
            return Err(RateError::Steps(text.to_owned()));
        }
        steps.push((from, parse_rate(rate)?));
    }
    Ok(Rate::Steps(steps))
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(rate) => write!(f, "{rate}/s"),
            Self::Ramp(from, to) => write!(f, "ramp:{from}/s..{to}/s"),
            Self::Steps(steps) => {
                for (index, (from, rate)) in steps.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{}s:{rate}/s", from.as_secs())?;
                }
                Ok(())
            }
        }
    }
}

serde_as_text!(Rate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_and_written() {
        for text in ["500/s", "0s:100/s,30s:500/s", "ramp:100/s..2000/s"] {
            let rate: Rate = text.parse().expect(text);
            assert_eq!(rate.to_string(), text);
        }
        assert_eq!("ramp:100..2000/s".parse(), Ok(Rate::Ramp(100.0, 2000.0)));
        assert_eq!("ramp:100..2000".parse(), Ok(Rate::Ramp(100.0, 2000.0)));
        assert_eq!("ramp:60..120/m".parse(), Ok(Rate::Ramp(1.0, 2.0)));
        assert_eq!("500".parse(), Ok(Rate::Constant(500.0)));
        let steps = Rate::Steps(vec![(Nanos::ZERO, 100.0), (Nanos::from_secs(30), 500.0)]);
        assert_eq!("0:100,30:500".parse(), Ok(steps));
    }

    #[test]
    fn impossible_and_malformed_rates_are_refused() {
        for bad in
            ["1e9/s", "5s:100/s", "0s:1/s,0s:2/s", "ramp:5/s", "0/s", "ramp:0/s..9/s", "-5/s", ""]
        {
            assert!(bad.parse::<Rate>().is_err(), "{bad} was taken");
        }
        let negative = "-5/s".parse::<Rate>().expect_err("below zero").to_string();
        assert!(negative.contains("`-5/s` is no rate: it is negative"), "{negative}");
    }

    #[test]
    fn a_rate_is_known_at_each_moment_and_on_average() {
        let steps: Rate = "0s:100/s,10s:500/s".parse().expect("steps");
        assert!((steps.mean(Nanos::ZERO, Nanos::from_secs(20)) - 300.0).abs() < 1e-9);
        assert_eq!([9, 10].map(|s| steps.at(Nanos::from_secs(s), 20.0)), [100.0, 500.0]);
        let ramp = Rate::Ramp(100.0, 300.0);
        assert!((ramp.at(Nanos::from_secs(5), 10.0) - 200.0).abs() < 1e-9);
        assert_eq!([steps.highest(), ramp.highest()], [500.0, 300.0]);
    }
}
