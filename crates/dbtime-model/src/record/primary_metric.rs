//! What a verdict can be on: a figure of which more or less is better, or any percentile of the
//! response.

use super::RunRecord;
use super::figures::{BetterWay, FIGURES, RunFigure, RunFigureUnit};
use crate::near_names::hint;
use crate::units::{count_sum, percentile_share, plain_number};

/// The metric that the verdict is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrimaryMetric {
    place: MetricPlace,
    better: BetterWay,
}

/// Where a record has it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MetricPlace {
    /// It is a figure.
    Figure(&'static RunFigure),
    /// The response at a percentile that no figure is of, above 0 and below 100.
    Percentile(f64),
}

/// Why a text names no metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrimaryMetricError {
    /// No figure has this name.
    #[error("a verdict is on a figure of a run, or on a percentile such as p75{hint}")]
    Unknown {
        /// The nearest name, or all of them.
        hint: String,
    },
    /// No response is longer than 100 % of them.
    #[error("a percentile is above 0 and below 100; the longest response is `max`")]
    Percentile,
    /// It is a figure that only describes a run.
    #[error("neither a higher nor a lower value is better, so no verdict can be on it")]
    Neither,
}

impl PrimaryMetric {
    /// What a verdict is on unless somebody says: throughput of a closed loop, else the mean
    /// response.
    pub fn usual(is_closed: bool) -> Self {
        let name = if is_closed { "throughput" } else { "mean" };
        Self::named(name).expect("both have a better way")
    }

    /// The metric of this name, or one that limits have for it.
    ///
    /// # Errors
    /// There is none, with the names that are near.
    pub fn parse(name: &str) -> Result<Self, PrimaryMetricError> {
        let percentile = name.strip_prefix('p').and_then(plain_number);
        let spelt = percentile.map(|percentile| format!("p{percentile}"));
        if let Some(figure) = RunFigure::named(spelt.as_deref().unwrap_or(name)) {
            let better = figure.better.ok_or(PrimaryMetricError::Neither)?;
            return Ok(Self { place: MetricPlace::Figure(figure), better });
        }
        match percentile {
            Some(percentile) if percentile > 0.0 && percentile < 100.0 => {
                let place = MetricPlace::Percentile(percentile);
                Ok(Self { place, better: BetterWay::LessIsFaster })
            }
            Some(_) => Err(PrimaryMetricError::Percentile),
            None => {
                let known = FIGURES.iter().filter(|figure| figure.better.is_some());
                Err(PrimaryMetricError::Unknown { hint: hint(name, known.map(|known| known.key)) })
            }
        }
    }

    /// The metric of this name; `None`: there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name).ok()
    }

    /// Its name on a command line, and in the plan of a study.
    pub fn key(self) -> String {
        match self.place {
            MetricPlace::Figure(figure) => figure.key.to_owned(),
            MetricPlace::Percentile(percentile) => format!("p{percentile}"),
        }
    }

    /// Its name in words, with how it is known where a record does not have it itself.
    pub fn name(self) -> String {
        match self.place {
            MetricPlace::Figure(figure) => figure.name.to_owned(),
            MetricPlace::Percentile(percentile) if begins_tenth(percentile) => {
                format!("response p{percentile}")
            }
            MetricPlace::Percentile(percentile) => format!("response p{percentile} (interpolated)"),
        }
    }

    /// Its unit.
    pub fn unit(self) -> RunFigureUnit {
        match self.place {
            MetricPlace::Figure(figure) => figure.unit,
            MetricPlace::Percentile(_) => RunFigureUnit::Us,
        }
    }

    /// Which way it is better.
    pub fn better(self) -> BetterWay {
        self.better
    }

    /// Which percentile of the response it is; `None`: another figure.
    pub fn percentile(self) -> Option<f64> {
        match self.place {
            MetricPlace::Figure(figure) => figure.key.strip_prefix('p').and_then(plain_number),
            MetricPlace::Percentile(percentile) => Some(percentile),
        }
    }

    /// Its value in a run; `None`: it has none.
    pub fn value(self, record: &RunRecord) -> Option<f64> {
        match self.place {
            MetricPlace::Figure(figure) => figure.value(record),
            MetricPlace::Percentile(percentile) => response_at(record, percentile),
        }
    }
}

/// Whether what is left above a percentile is a tenth, a hundredth and so on: a record has the
/// response there in its points, or so few that it is the longest.
fn begins_tenth(percentile: f64) -> bool {
    let tenths = (1.0 - percentile_share(percentile)).log10();
    tenths < -0.5 && (tenths - tenths.round()).abs() < 1e-9
}

/// The response at a percentile of which a record has no figure: what lies between the points of
/// its distribution on a straight line. Unit: microseconds.
fn response_at(record: &RunRecord, percentile: f64) -> Option<f64> {
    let points = &record.percentiles;
    if let Some(point) = points.iter().find(|point| point.percentile == percentile) {
        return Some(point.response_us);
    }
    let responses = count_sum(record.histogram.iter().map(|bucket| bucket.count)) as f64;
    if responses > 0.0 && (percentile_share(percentile) * responses).ceil() >= responses {
        return Some(record.latency_us.response.max);
    }
    let above = points.iter().position(|point| point.percentile > percentile)?;
    let (lower, upper) = (&points[above.checked_sub(1)?], &points[above]);
    let share = (percentile - lower.percentile) / (upper.percentile - lower.percentile);
    Some(lower.response_us + share * (upper.response_us - lower.response_us))
}

#[cfg(test)]
mod tests {
    use super::super::{HistogramBucket, PercentilePoint};
    use super::*;

    #[test]
    fn every_figure_that_is_better_one_way_is_a_metric_by_its_key() {
        for figure in FIGURES {
            let metric = PrimaryMetric::parse(figure.key);
            let Some(better) = figure.better else {
                assert_eq!(metric, Err(PrimaryMetricError::Neither), "{}", figure.key);
                continue;
            };
            let metric = metric.expect(figure.key);
            assert_eq!((metric.key().as_str(), metric.better()), (figure.key, better));
            assert_eq!((metric.name().as_str(), metric.unit()), (figure.name, figure.unit));
        }
        assert_eq!(PrimaryMetric::usual(true).key(), "throughput");
        assert_eq!(PrimaryMetric::usual(false).key(), "mean");
        assert_eq!(PrimaryMetric::named("avg"), PrimaryMetric::named("mean"));
    }

    #[test]
    fn every_percentile_is_a_metric_however_it_is_spelt() {
        let named = |name: &str| PrimaryMetric::parse(name).expect(name);
        assert_eq!(named("p95.0"), named("p95"));
        assert_eq!(named("p95").name(), "response p95");
        assert_eq!(named("p099.90").percentile(), Some(99.9));
        assert_eq!(named("p75").name(), "response p75 (interpolated)");
        assert_eq!(named("p99.99").name(), "response p99.99");
        assert_eq!(named("p99.999").name(), "response p99.999");
        assert_eq!(named("p0.0000000001").name(), "response p0.0000000001 (interpolated)");
        assert_eq!((named("p75").key().as_str(), named("p75").percentile()), ("p75", Some(75.0)));
        assert!(!named("p75").better().is_higher() && named("throughput").better().is_higher());
        assert_eq!(named("max").percentile(), None);
    }

    #[test]
    fn what_is_no_metric_is_answered_with_the_near_names() {
        let refused = |name: &str| PrimaryMetric::parse(name).expect_err(name).to_string();
        assert!(refused("thruput").ends_with(", did you mean `throughput`?"));
        assert!(refused("xyz").contains("; known: throughput, mean, p50, p90, p95, "));
        assert!(!refused("xyz").contains("foreign-cpu"), "no verdict is on that");
        for percentile in ["p0", "p100", "p1000"] {
            assert!(refused(percentile).contains("above 0 and below 100"), "{percentile}");
        }
        assert!(refused("completed").starts_with("neither a higher nor a lower"));
        for name in ["", "p", "p.", "p-5", "p1e1", "pNaN"] {
            assert!(refused(name).starts_with("a verdict is on a figure"), "{name}");
        }
    }

    /// A thousand responses.
    fn run() -> RunRecord {
        let point = |percentile: f64, response_us: f64| PercentilePoint {
            percentile,
            response_us,
            ..PercentilePoint::default()
        };
        let below = [point(0.0, 1.0), point(72.0, 10.0), point(81.0, 19.0)];
        let mut run = RunRecord {
            percentiles: below.into_iter().chain([point(99.9, 50.0), point(100.0, 80.0)]).collect(),
            histogram: vec![HistogramBucket { below_us: 128.0, count: 1000 }],
            ..RunRecord::default()
        };
        run.counts.completed = 1000;
        (run.latency_us.response.p95, run.latency_us.response.max) = (40.0, 80.0);
        run
    }

    #[test]
    fn a_percentile_without_a_figure_lies_between_the_recorded_points() {
        let at = |name: &str, run: &RunRecord| PrimaryMetric::named(name).expect(name).value(run);
        let run = run();
        assert!((at("p75", &run).expect("between two") - 13.0).abs() < 1e-9);
        assert_eq!(at("p81", &run), Some(19.0), "it is a point");
        // Of a thousand nothing but the longest is above it.
        assert_eq!(at("p99.99", &run), Some(80.0));
        assert_eq!(at("p95", &run), Some(run.latency_us.response.p95), "it is a figure");
        assert_eq!(at("p75", &RunRecord::default()), None);
        let first = RunRecord { percentiles: run.percentiles[1..].to_vec(), ..run.clone() };
        assert_eq!(at("p50.5", &first), None, "nothing is known below");
    }
}
