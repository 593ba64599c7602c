//! Whether the figures of a run's record follow from its other files.

use dbtime_model::record::{
    CountsInfo, PrimaryMetric, RunRecord, SeriesPhase, SeriesRow, file, read_run,
};
use dbtime_model::study::{RecordedStudy, TrialRecord};
use dbtime_model::units::{count_sum, counted, noun_for, percentile_share};
use std::path::Path;

/// By which share a sum may be off for rounding.
const ROUNDING: f64 = 1e-6;

/// How many runs of dbtime that count were looked at, and what is wrong in them, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsVerified {
    /// How many runs.
    pub runs: usize,
    /// What contradicts what.
    pub problems: Vec<String>,
}

/// Recomputes the figures of all runs that count from their series, histograms and parts.
pub fn verify_runs(folder: &Path, study: &RecordedStudy) -> RunsVerified {
    let mut verified = RunsVerified::default();
    for (run, record) in study.history.runs.iter().zip(&study.records) {
        if !run.counts() || !matches!(record, Some(TrialRecord::Run(_))) {
            continue;
        }
        verified.runs += 1;
        let place = &run.trial.folder;
        let problems = match read_run(&folder.join(place)) {
            Ok(run) => contradictions(&run.record, &run.series),
            Err(error) => vec![error.to_string()],
        };
        verified.problems.extend(problems.into_iter().map(|problem| format!("{place}: {problem}")));
    }
    verified
}

/// What of a record does not follow from its series, or from itself.
fn contradictions(record: &RunRecord, series: &[SeriesRow]) -> Vec<String> {
    let checks = [throughput(record, series), counts(record), percentiles(record), parts(record)];
    checks.into_iter().flatten().collect()
}

/// Seconds at the edges of a window that does not begin with one are of two phases.
fn throughput(record: &RunRecord, series: &[SeriesRow]) -> Option<String> {
    let seconds = series.iter().filter(|row| row.phase == SeriesPhase::Measure);
    let completed = count_sum(seconds.clone().map(|row| row.completed));
    // Of a window under a second there is none that is all of it.
    let most = seconds.map(|row| row.completed).max()?;
    let recorded = record.throughput_tps * record.window.measure_s;
    let is_whole = record.window.warmup_s.fract() == 0.0 && record.window.measure_s.fract() == 0.0;
    let slack = if is_whole { 0.5 } else { 2.0 * most as f64 };
    ((recorded - completed as f64).abs() > slack).then(|| {
        format!(
            "throughput_tps is {:.3}/s, and {} has {completed} in {} s",
            record.throughput_tps,
            file::SERIES,
            record.window.measure_s
        )
    })
}

fn counts(record: &RunRecord) -> Option<String> {
    let counts = &record.counts;
    let CountsInfo { completed, failed, unfinished, outstanding, .. } = *counts;
    let ended = count_sum([completed, failed, unfinished, outstanding]);
    let responses = count_sum(record.histogram.iter().map(|bucket| bucket.count));
    (responses != ended).then(|| {
        let noun = noun_for(ended, "transaction");
        format!("the histogram of {ended} {noun} has {}", counted(responses, "response"))
    })
}

/// The percentiles that a record has, by their keys.
const PERCENTILES: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];

/// A percentile lies in the bucket in which the histogram has its share.
fn percentiles(record: &RunRecord) -> Option<String> {
    let total = count_sum(record.histogram.iter().map(|bucket| bucket.count));
    PERCENTILES.into_iter().find_map(|name| {
        let metric = PrimaryMetric::named(name)?;
        let (percentile, value) = (metric.percentile()?, metric.value(record)?);
        let rank = (percentile_share(percentile) * total as f64).ceil();
        let mut below = 0u64;
        let bucket = record.histogram.iter().find(|bucket| {
            below = below.saturating_add(bucket.count);
            below as f64 >= rank
        })?;
        // Values of the fine histogram are known to one in a thousand.
        let (low, high) = (0.499 * bucket.below_us, 1.001 * bucket.below_us);
        (value < low || value > high).then(|| {
            format!(
                "the {name} is {value} µs, and the histogram has it in {low:.1} .. {high:.1} µs"
            )
        })
    })
}

fn parts(record: &RunRecord) -> Option<String> {
    let budget = record.budget_us.as_ref()?;
    let sum: f64 = budget.measured().map(|(_, us)| us).sum();
    ((sum - budget.total).abs() > ROUNDING * budget.total.abs().max(1.0)).then(|| {
        format!("the parts add up to {sum:.3} µs, and the total is {:.3} µs", budget.total)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{BudgetUs, HistogramBucket};

    fn consistent() -> (RunRecord, Vec<SeriesRow>) {
        let mut record = RunRecord { throughput_tps: 50.0, ..RunRecord::default() };
        record.window.measure_s = 2.0;
        record.counts.completed = 100;
        let bucket = |below_us, count| HistogramBucket { below_us, count };
        record.histogram = vec![bucket(1024.0, 90), bucket(2048.0, 10)];
        let response = &mut record.latency_us.response;
        (response.p50, response.p90, response.p95) = (700.0, 1000.0, 1200.0);
        (response.p99, response.p999) = (1500.0, 1900.0);
        record.budget_us = Some(BudgetUs {
            total: 800.0,
            cpu: Some(300.0),
            unexplained: Some(500.0),
            ..BudgetUs::default()
        });
        let row = |second| SeriesRow {
            second,
            phase: SeriesPhase::Measure,
            completed: 50,
            ..SeriesRow::default()
        };
        (record, vec![row(0), row(1)])
    }

    #[test]
    fn a_record_that_follows_from_its_files_has_no_contradiction() {
        let (record, series) = consistent();
        assert_eq!(contradictions(&record, &series), Vec::<String>::new());
    }

    #[test]
    fn each_figure_that_was_changed_is_named() {
        let (record, series) = consistent();
        let found = |change: fn(&mut RunRecord)| {
            let mut record = record.clone();
            change(&mut record);
            contradictions(&record, &series).join("; ")
        };
        assert!(found(|r| r.throughput_tps = 55.0).contains("throughput_tps is 55.000/s"));
        assert!(found(|r| r.counts.completed = 101).contains("histogram of 101"));
        assert!(found(|r| r.counts.outstanding = 1).contains("histogram of 101"));
        assert!(found(|r| r.latency_us.response.p99 = 900.0).contains("the p99 is 900"));
        assert!(found(|r| r.latency_us.response.p95 = 900.0).contains("the p95 is 900"));
        assert!(found(|r| r.latency_us.response.p999 = 0.0).contains("the p99.9 is 0"));
        let parts = found(|r| r.budget_us.as_mut().expect("parts").cpu = Some(200.0));
        assert!(parts.contains("add up to 700.000 µs"), "{parts}");
    }
}
