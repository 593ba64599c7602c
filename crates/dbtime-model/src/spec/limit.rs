//! Limits: what is required of an operation, or of the whole run, and whether it was met.

use crate::Nanos;
use crate::plain_text::abridged;
use crate::record::PrimaryMetric;
use crate::units::{exact, exact_ns, parse_rate, plain_number};
use std::fmt;
use std::str::FromStr;

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadLimit {
    /// What it is about.
    pub metric: LimitMetric,
    /// The value required, in the unit of [`LimitMetric`].
    pub required: f64,
    /// How far off the value may be, either way; only [`LimitMetric::Share`] has one.
    pub tolerance: f64,
    /// As it was written.
    pub text: String,
}

/// What a limit is about, and in which unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitMetric {
    /// Response time at this percentile (above 0, below 100) at most. Unit: nanoseconds.
    Percentile(f64),
    /// Mean response time at most. Unit: nanoseconds.
    Mean,
    /// Longest response time at most. Unit: nanoseconds.
    Max,
    /// Share of the operation in all transactions, within the tolerance. Unit: 0 to 1.
    Share,
    /// Failed transactions of those offered, at most. Unit: 0 to 1.
    Errors,
    /// Completed transactions per second at least.
    Throughput,
}

/// Why a text is no limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a limit: expected {expected}")]
pub struct LimitError {
    /// The text, cut where it is long.
    pub text: String,
    /// What would have been one.
    pub expected: &'static str,
}

const EXPECTED: &str = "a form such as `p90 <= 5ms`, `avg <= 2ms`, `max <= 1s`, `share 20% ± 2`, \
                        `errors <= 0.1%` or `throughput >= 500/s`";

impl WorkloadLimit {
    /// Whether a measured value meets it. Unit: that of the metric. NaN does not.
    pub fn passed(&self, measured: f64) -> bool {
        match self.metric {
            LimitMetric::Share => (measured - self.required).abs() <= self.tolerance,
            LimitMetric::Throughput => measured >= self.required,
            _ => measured <= self.required,
        }
    }

    /// What is required, for a table, with every digit it was given: `≤ 5 ms`, `20 % ± 2`,
    /// `≥ 12,345/s`.
    pub fn required_text(&self) -> String {
        match self.metric {
            LimitMetric::Share => {
                let required = self.required * 100.0;
                let tolerance = self.tolerance * 100.0;
                format!("{} % ± {}", exact(required), exact(tolerance))
            }
            LimitMetric::Errors => format!("≤ {} %", exact(self.required * 100.0)),
            LimitMetric::Throughput => format!("≥ {}/s", exact(self.required)),
            LimitMetric::Percentile(_) | LimitMetric::Mean | LimitMetric::Max => {
                format!("≤ {}", exact_ns(self.required))
            }
        }
    }
}

impl FromStr for WorkloadLimit {
    type Err = LimitError;

    /// Reads a limit: `p90 <= 5ms`, `p99.9 <= 20ms`, `avg <= 2ms`, `max <= 1s`, `share 20% ± 2`
    /// (or `+-`, both in percent), `errors <= 0.1%`, `throughput >= 500/s`.
    fn from_str(text: &str) -> Result<Self, LimitError> {
        let refuse = |expected| LimitError { text: abridged(text), expected };
        let trimmed = text.trim();
        if let Some(rest) = trimmed.strip_prefix("share") {
            let (required, tolerance) = share(rest)
                .ok_or_else(|| refuse("`share 20% ± 2` or `share 20% +- 2`, from 0 to 100"))?;
            return Ok(Self {
                metric: LimitMetric::Share,
                required,
                tolerance,
                text: trimmed.into(),
            });
        }
        let at = trimmed.find(['<', '>', '≤', '≥', '=']).ok_or_else(|| refuse(EXPECTED))?;
        let (name, rest) = trimmed.split_at(at);
        let metric = LimitMetric::parse(name.trim()).ok_or_else(|| refuse(EXPECTED))?;
        let [ascii, sign] =
            if metric == LimitMetric::Throughput { [">=", "≥"] } else { ["<=", "≤"] };
        let value = rest.strip_prefix(ascii).or_else(|| rest.strip_prefix(sign));
        let value = value.ok_or_else(|| {
            let at_least = metric == LimitMetric::Throughput;
            refuse(if at_least { "`>=` after throughput" } else { "`<=` after this metric" })
        })?;
        let required = match metric {
            LimitMetric::Errors => {
                percent(value).ok_or_else(|| refuse("a percentage such as 0.1%"))?
            }
            LimitMetric::Throughput => {
                parse_rate(value).map_err(|_| refuse("a rate such as 500/s after `>=`"))?
            }
            // What is meant by 5 is 5 ms, and what it would be is 5 s.
            _ if plain_number(value.trim()).is_some_and(|number| number > 0.0) => {
                return Err(refuse("a unit after the time, such as `5ms` or `5s`"));
            }
            _ => {
                value.parse::<Nanos>().map_err(|_| refuse("a duration such as 5ms after `<=`"))?.0
                    as f64
            }
        };
        Ok(Self { metric, required, tolerance: 0.0, text: trimmed.to_owned() })
    }
}

impl fmt::Display for WorkloadLimit {
    /// Writes it as it was read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

serde_as_text!(WorkloadLimit);

impl LimitMetric {
    /// By the names that figures have for verdicts too.
    fn parse(name: &str) -> Option<Self> {
        let metric = PrimaryMetric::named(name)?;
        let percentile = metric.percentile().map(Self::Percentile);
        percentile.or_else(|| match metric.key().as_str() {
            "mean" => Some(Self::Mean),
            "max" => Some(Self::Max),
            "errors" => Some(Self::Errors),
            "throughput" => Some(Self::Throughput),
            _ => None,
        })
    }
}

impl fmt::Display for LimitMetric {
    /// Writes `p99.9`, `avg`, `max`, `share`, `errors`, `throughput`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percentile) => f.pad(&format!("p{percentile}")),
            Self::Mean => f.pad("avg"),
            Self::Max => f.pad("max"),
            Self::Share => f.pad("share"),
            Self::Errors => f.pad("errors"),
            Self::Throughput => f.pad("throughput"),
        }
    }
}

/// `20% ± 2`, also with `=` before it.
fn share(text: &str) -> Option<(f64, f64)> {
    let text = text.trim_start().trim_start_matches('=');
    let (required, tolerance) = text.split_once('±').or_else(|| text.split_once("+-"))?;
    let tolerance = plain_number(tolerance.trim().trim_end_matches('%').trim_end())?;
    Some((percent(required)?, tolerance / 100.0))
}

/// A percentage as a part of 1.
fn percent(text: &str) -> Option<f64> {
    let value = plain_number(text.trim().strip_suffix('%')?.trim_end())?;
    (value <= 100.0).then_some(value / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> WorkloadLimit {
        text.parse().expect(text)
    }

    #[test]
    fn limits_are_read_and_judged() {
        assert_eq!(limit("p90 <= 5ms").metric, LimitMetric::Percentile(90.0));
        assert!(limit("p90<=5ms").passed(5e6) && !limit("p90 ≤ 5ms").passed(5.1e6));
        assert_eq!(limit("p99.9 <= 20us").metric, LimitMetric::Percentile(99.9));
        assert!(limit("throughput >= 500/s").passed(500.0));
        assert!(!limit("throughput>=0.5k/s").passed(499.9));
        assert!(limit("share 20% ± 2").passed(0.215) && !limit("share 20% +- 2%").passed(0.23));
        assert!(limit("errors <= 0.1%").passed(0.001));
        assert!(limit("errors <= 0%").passed(0.0));
        assert!(!limit("avg <= 1s").passed(f64::NAN));
    }

    #[test]
    fn requirements_are_printed() {
        let text = |t| limit(t).required_text();
        assert_eq!(text("avg <= 2ms"), "≤ 2 ms");
        assert_eq!(text("share 20% +- 2"), "20 % ± 2");
        assert_eq!(text("errors <= 0.1%"), "≤ 0.1 %");
        assert_eq!(text("throughput >= 500/s"), "≥ 500/s");
        assert_eq!(text("throughput>=12345/s"), "≥ 12,345/s");
        assert_eq!(text("avg<=1.23456ms"), "≤ 1.23456 ms");
        assert_eq!(text("errors <= 7%"), "≤ 7 %");
        assert_eq!(limit("p99.9<=1s").metric.to_string(), "p99.9");
        assert_eq!(limit("p99.9<=1s").to_string(), "p99.9<=1s");
    }

    #[test]
    fn a_verdict_can_be_on_every_figure_that_a_limit_takes() {
        let forms = EXPECTED.split('`').skip(1).step_by(2);
        // Of a whole run the share is always all.
        let forms = forms.filter(|form| !form.starts_with("share"));
        let forms: Vec<&str> = forms.chain(["p99.9 <= 1s", "p87.5 <= 1s", "mean <= 1s"]).collect();
        assert!(forms.len() > 7, "{forms:?}");
        for form in forms {
            let metric = limit(form).metric;
            let primary = PrimaryMetric::parse(&metric.to_string()).expect(form);
            assert_eq!(LimitMetric::parse(&primary.key()), Some(metric), "{form}");
            assert_eq!(primary.better().is_higher(), form.contains(">="), "{form}");
        }
        for other in ["server-cpu <= 5ms", "completed <= 5", "p95x <= 5ms"] {
            assert!(other.parse::<WorkloadLimit>().is_err(), "{other}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "p90",
            "p90 < 5ms",
            "p90 >= 5ms",
            "p90 <= 5x",
            "p0 <= 1s",
            "p100 <= 1s",
            "pNaN <= 1s",
            "p-5 <= 1s",
            "share 20%",
            "share 120% ± 2",
            "share 20 ± 2",
            "errors <= 2",
            "max <= x",
            "throughput <= 5/s",
            "throughput >= x",
            "speed <= 1s",
            "<= 1s",
            "p1e1 <= 1s",
            "=",
        ] {
            assert!(bad.parse::<WorkloadLimit>().is_err(), "{bad}");
        }
        for bare in ["p95<=5", "avg <= 2.5", "max <= 1"] {
            let error = bare.parse::<WorkloadLimit>().expect_err(bare).to_string();
            assert!(error.contains("`5ms` or `5s`"), "{error}");
        }
        assert_eq!(limit("max <= 0").required, 0.0, "in every unit");
        let error = "p90 <= 5x".parse::<WorkloadLimit>().expect_err("no unit").to_string();
        assert!(error.contains("`p90 <= 5x`") && error.contains("5ms"), "{error}");
    }
}
