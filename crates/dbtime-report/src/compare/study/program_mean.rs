//! Metrics of an external program over the runs of a configuration.
//!
//! The means of a metric are of one kind in all configurations: a geometric and an arithmetic one
//! cannot be held against each other.

use super::indexed_runs::IndexedRuns;
use crate::compare::figures::FigureUnit;
use crate::compare::groups::{self, GroupMetric};
use dbtime_model::study::TrialRecord;
use serde::Serialize;

/// How a mean is formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MeanKind {
    /// Of a metric that is above zero in all runs that count.
    Geometric,
    /// Of any other.
    Arithmetic,
}

/// A metric over the runs of a configuration that count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramMean {
    /// Its name, with its unit.
    pub name: String,
    /// The unit of the mean.
    pub unit: FigureUnit,
    /// How the mean is formed, as in all other configurations.
    pub kind: MeanKind,
    /// The mean.
    pub mean: f64,
}

impl MeanKind {
    /// Which one fits a metric with these values in all configurations.
    fn of(mut values: impl Iterator<Item = Option<f64>>) -> Self {
        match values.all(|value| value.is_none_or(|value| value > 0.0)) {
            true => Self::Geometric,
            false => Self::Arithmetic,
        }
    }

    /// `None`: a value is missing, or there is none.
    fn mean(self, values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
        let values: Vec<f64> = values.collect::<Option<_>>()?;
        let is_finite = !values.is_empty() && values.iter().all(|value| value.is_finite());
        is_finite.then(|| match self {
            Self::Geometric => groups::geometric_mean(&values),
            Self::Arithmetic => values.iter().sum::<f64>() / values.len() as f64,
        })
    }
}

/// Those of the metrics that all of these runs have, which are the ones of a configuration.
pub(super) fn program_means(runs: &IndexedRuns<'_>, records: &[&TrialRecord]) -> Vec<ProgramMean> {
    let Some(rules) = &runs.study.plan.program else { return Vec::new() };
    let cells = 0..runs.study.plan.cells.len();
    let all: Vec<&TrialRecord> = cells.flat_map(|cell| runs.counted(cell)).collect();
    let mean = |metric: GroupMetric| {
        let value = |record: &&TrialRecord| metric.of(record.placed());
        let kind = MeanKind::of(all.iter().map(value));
        let mean = kind.mean(records.iter().map(value))?;
        Some(ProgramMean { name: metric.name, unit: metric.unit, kind, mean })
    };
    groups::of_program(rules).into_iter().filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A metric that is zero is shown as that.
    #[test]
    fn what_is_zero_has_a_mean_and_what_is_missing_has_none() {
        let mean = |values: &[Option<f64>]| {
            let values = values.iter().copied();
            MeanKind::of(values.clone()).mean(values)
        };
        assert_eq!(mean(&[Some(0.0), Some(0.0)]), Some(0.0));
        assert_eq!(mean(&[Some(0.0), Some(3.0)]), Some(1.5));
        assert_eq!(mean(&[Some(3.0), Some(3.0)]), Some(3.0));
        assert_eq!((mean(&[Some(3.0), None]), mean(&[])), (None, None));
    }

    #[test]
    fn what_is_zero_in_one_configuration_has_arithmetic_means_in_all() {
        let (one, other) = ([Some(2.0), Some(8.0)], [Some(0.0), Some(1.0)]);
        let kind = MeanKind::of(one.into_iter().chain(other));
        assert_eq!(kind, MeanKind::Arithmetic);
        let means = [one, other].map(|values| kind.mean(values.into_iter()));
        assert_eq!(means, [Some(5.0), Some(0.5)]);
    }
}
