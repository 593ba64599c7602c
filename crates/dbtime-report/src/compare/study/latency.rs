//! Response over achieved throughput, of configurations that differ in rate or clients.

use super::capacity::captioned;
use super::cell_figures::geometric_mean;
use super::factors::{self, FactorSeries};
use super::indexed_runs::IndexedRuns;
use super::scalability::CLIENTS;
use crate::charts::{LatencyPlace, latency_curve};
use crate::compare::tables::{TextTable, figure, wrapped};
use crate::format::{clean, if_any, rate, us};
use dbtime_model::study::{RecordedStudy, TrialRecord};
use serde::Serialize;

/// A run of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyRun {
    /// The rate that it was offered, a second, or its clients.
    pub level: f64,
    /// Transactions completed a second.
    pub throughput_tps: f64,
    /// Median response; `null`: not measured. Unit: microseconds.
    pub p50_us: Option<f64>,
    /// 99th percentile of the response; `null`: not measured. Unit: microseconds.
    pub p99_us: Option<f64>,
}

/// Response over throughput, of one combination of the other factors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencySeries {
    /// What differs: `rate`, `connections`.
    pub factor: String,
    /// The other factors; empty: there are none.
    pub others: String,
    /// The runs that count, by their level.
    pub runs: Vec<LatencyRun>,
}

/// All series of a study whose runs have a median or a 99th percentile.
pub(super) fn series(runs: &IndexedRuns<'_>) -> Vec<LatencySeries> {
    let names: Vec<&str> = CLIENTS.into_iter().chain(["rate"]).collect();
    let all = factors::series(&runs.study.plan, &names);
    let all = all.into_iter().map(|series| one(runs, series));
    all.filter(|series| series.runs.iter().any(|run| run.p50_us.or(run.p99_us).is_some())).collect()
}

fn one(runs: &IndexedRuns<'_>, series: FactorSeries) -> LatencySeries {
    let run = |level: f64, record: &TrialRecord| {
        Some(LatencyRun {
            level,
            throughput_tps: record.value("throughput")?,
            p50_us: response_us(runs.study, record, "p50"),
            p99_us: response_us(runs.study, record, "p99"),
        })
    };
    let counted = series
        .cells
        .iter()
        .flat_map(|(level, cell)| runs.counted(*cell).filter_map(|record| run(*level, record)));
    let runs = counted.collect();
    LatencySeries { factor: series.factor, others: series.others, runs }
}

/// A percentile; of an external program where its unit is known. Unit: microseconds.
fn response_us(study: &RecordedStudy, record: &TrialRecord, name: &str) -> Option<f64> {
    let value = record.value(name)?;
    let Some(rules) = &study.plan.program else { return Some(value) };
    let metric = rules.metrics.iter().find(|metric| metric.name == name)?;
    match metric.unit.as_str() {
        "us" | "µs" => Some(value),
        "ms" => Some(1e3 * value),
        "s" => Some(1e6 * value),
        _ => None,
    }
}

impl LatencySeries {
    /// The curve.
    pub(super) fn chart(&self, place: usize) -> Option<String> {
        let level = |runs: &[LatencyRun]| LatencyPlace {
            label: rate(runs[0].level),
            runs: runs.iter().map(|run| (run.throughput_tps, [run.p50_us, run.p99_us])).collect(),
        };
        let places: Vec<LatencyPlace> = self.levels().map(level).collect();
        let svg = latency_curve(&places, place, &clean(&self.factor))?;
        Some(captioned(&self.others, &svg))
    }

    fn levels(&self) -> impl Iterator<Item = &[LatencyRun]> {
        self.runs.chunk_by(|a, b| a.level == b.level)
    }
}

/// The levels, means of their runs.
pub(super) fn table(all: &[LatencySeries]) -> TextTable {
    let row = |series: &LatencySeries, runs: &[LatencyRun]| {
        let mean = |of: fn(&LatencyRun) -> Option<f64>| geometric_mean(runs.iter().map(of));
        vec![
            clean(&series.others),
            clean(&series.factor),
            rate(runs[0].level),
            runs.len().to_string(),
            if_any(mean(|run| Some(run.throughput_tps)), rate),
            if_any(mean(|run| run.p50_us), us),
            if_any(mean(|run| run.p99_us), us),
        ]
    };
    let rows = all.iter().flat_map(|series| series.levels().map(move |runs| row(series, runs)));
    TextTable {
        title: "Response over throughput",
        headings: vec![
            wrapped(""),
            wrapped("Of"),
            figure("Level"),
            figure("Runs"),
            figure("Achieved tps"),
            figure("p50"),
            figure("p99"),
        ],
        rows: rows.collect(),
        note: "geometric means; the percentiles are those of each run".to_owned(),
    }
}
