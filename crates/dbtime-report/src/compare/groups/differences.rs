//! Percentiles and parts of the response, one by one, with intervals: where in the distribution the
//! change is, and in which part.

use super::exclusions::counted_for;
use super::unit_values::{UnitValues, arithmetic_mean};
use super::{PlacedRun, PlacedSides, geometric_mean};
use dbtime_model::Part;
use dbtime_model::record::{PrimaryMetric, RunFigure, RunRecord};
use dbtime_stats::{ConfidenceInterval, LogRatio, MeanDifference};
use serde::Serialize;

/// The level of each interval by itself.
const LEVEL: f64 = 0.95;

/// The percentiles that are compared, by their keys.
const PERCENTILES: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];

/// The change of a percentile of the response, from the percentiles of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PercentileChange {
    /// Which: `p50`, `p99.9`.
    pub name: &'static str,
    /// The change and its 95 % interval. Unit: percent.
    pub change_pct: [f64; 3],
}

/// The change of the mean of a part of the response.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartChange {
    /// The part; `total`: the response.
    pub name: &'static str,
    /// The change and its 95 % interval. Unit: microseconds per transaction.
    pub change_us: [f64; 3],
}

/// The changes of the percentiles, each of the runs that count for it; without those that a run
/// does not have, and of which there are too few runs.
pub(super) fn percentile_changes(sides: &PlacedSides<'_>) -> Vec<PercentileChange> {
    let change = |key: &str| {
        let figure = RunFigure::listed(key);
        let sides = counted_for(PrimaryMetric::named(key)?, sides);
        let value = |run: &PlacedRun<'_>| figure.value(run.record.run()?);
        let units = UnitValues::of(&sides, &value, geometric_mean)?;
        let ratio = match units.is_paired {
            true => LogRatio::paired(&units.pairs()),
            false => LogRatio::unpaired(&units.a, &units.b),
        };
        let change = ratio?.interval(LEVEL).map(|share| 100.0 * share);
        Some(PercentileChange { name: figure.key, change_pct: three(&change) })
    };
    PERCENTILES.into_iter().filter_map(change).collect()
}

/// The changes of all parts that the runs measured, the total first; empty unless all of them
/// measured the same.
pub(super) fn part_changes(sides: &PlacedSides<'_>) -> Vec<PartChange> {
    let change = |name: &'static str, of: &dyn Fn(&RunRecord) -> Option<f64>| {
        let value = |run: &PlacedRun<'_>| of(run.record.run()?);
        let units = UnitValues::of(sides, &value, arithmetic_mean)?;
        let difference = match units.is_paired {
            true => MeanDifference::paired(&units.pairs()),
            false => MeanDifference::unpaired(&units.a, &units.b),
        };
        Some(PartChange { name, change_us: three(&difference?.interval(LEVEL)) })
    };
    let total = change("total", &|run| Some(run.budget_us.as_ref()?.total));
    let parts = Part::ALL.into_iter().filter_map(|part| {
        change(part.name(), &move |run: &RunRecord| run.budget_us.as_ref()?.get(part))
    });
    // A part that is nothing in all runs is no part of a change.
    let parts = parts.filter(|part| part.change_us.iter().any(|us| *us != 0.0));
    total.into_iter().chain(parts).collect()
}

fn three(interval: &ConfidenceInterval) -> [f64; 3] {
    [interval.estimate, interval.low, interval.high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::BudgetUs;

    /// Runs whose response and lock are so much longer, one a minute from a minute on.
    fn side(more: f64, from: u32) -> Vec<RunRecord> {
        let run = |at: u32| {
            let noise = f64::from(at);
            let mut run = RunRecord {
                started_at: format!("2026-11-01T00:{:02}:00Z", 2 * at + from),
                ..RunRecord::default()
            };
            run.validity.valid = true;
            let response = &mut run.latency_us.response;
            (response.p50, response.p90, response.p95) = (100.0, 150.0 + noise, 200.0);
            (response.p99, response.p999) = (300.0 * (1.0 + more), 500.0);
            run.budget_us = Some(BudgetUs {
                total: 110.0 + 100.0 * more + noise,
                lock: Some(100.0 * more),
                cpu: Some(110.0 + noise),
                ..BudgetUs::default()
            });
            run
        };
        (0..4).map(run).collect()
    }

    fn placed(side: &[RunRecord]) -> Vec<PlacedRun<'_>> {
        let of = |record| PlacedRun { place: "r", record, excluded: None, unit: None };
        side.iter().map(|record| of(record.into())).collect()
    }

    #[test]
    fn the_percentile_and_the_part_that_changed_are_told_from_the_others() {
        let (a, b) = (side(0.0, 0), side(0.5, 1));
        let sides = [placed(&a), placed(&b)];
        let percentiles = percentile_changes(&sides);
        let changed: Vec<&str> =
            percentiles.iter().filter(|one| one.change_pct[1] > 1.0).map(|one| one.name).collect();
        assert_eq!((percentiles.len(), changed), (5, vec!["p99"]));
        assert!((percentiles[3].change_pct[0] - 50.0).abs() < 1e-9);
        let parts = part_changes(&sides);
        assert_eq!(parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["total", "lock"]);
        assert!((parts[1].change_us[0] - 50.0).abs() < 1e-9);
        // One pair has no interval.
        assert!(percentile_changes(&[sides[0][..1].to_vec(), sides[1][..1].to_vec()]).is_empty());
    }

    #[test]
    fn a_run_that_is_late_at_a_percentile_is_in_the_changes_of_the_others() {
        let (a, mut b) = (side(0.0, 0), side(0.5, 1));
        for run in &mut b[1..] {
            let set = &mut run.latency_us;
            set.without_lag = set.response;
            (set.without_lag.p99, set.lag.p999) = (300.0, 150.0);
            run.counts.completed = 1000;
        }
        let names = |changes: Vec<PercentileChange>| {
            changes.into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        let changes = percentile_changes(&[placed(&a), placed(&b)]);
        assert_eq!(names(changes), ["p50", "p90", "p95", "p99.9"], "one pair has no interval");
    }
}
