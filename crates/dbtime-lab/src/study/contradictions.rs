//! Figures of a run's record that do not follow from its other files, or from each other.

use dbtime_model::record::{
    CountsInfo, HistogramBucket, OperationSummary, PrimaryMetric, Run, RunRecord, SeriesRow,
    TransactionRow, file,
};
use dbtime_model::units::{count_sum, counted, noun_for, percentile_share};
use std::collections::BTreeMap;

/// By which share a sum may be off for rounding.
const ROUNDING: f64 = 1e-6;

/// Parts are written to the nanosecond, so that their sum is off by less. Unit: microseconds.
const WRITTEN_US: f64 = 0.05;

/// What of a record does not follow from its files, or from itself.
pub(super) fn contradictions(run: &Run) -> Vec<String> {
    let record = &run.record;
    let checks = [
        throughput(record, &run.series),
        counts(record),
        operations(record),
        percentiles(record),
        extremes(record),
        parts(record),
    ];
    let of_files = [responses(run), kept(&run.transactions)];
    checks.into_iter().chain(of_files).flatten().collect()
}

/// What was completed in the window lies between the sums of all seconds within it, and of all that
/// are in it in part. Where it begins and ends with a second both are the same. Of a run that was
/// cut off also that counts which ended behind the cut.
fn throughput(record: &RunRecord, series: &[SeriesRow]) -> Option<String> {
    let length = record.window.measure_s;
    let [within, touched] = completed_range(record, series);
    let recorded = (record.throughput_tps * length).round();
    let is_between = within as f64 <= recorded && recorded <= touched as f64;
    let range = if within == touched { String::new() } else { format!("{within} to ") };
    (!is_between).then(|| {
        format!(
            "throughput_tps is {:.3}/s, and {} has {range}{touched} in {length} s",
            record.throughput_tps,
            file::SERIES
        )
    })
}

/// How many were completed in the seconds within the window, and in all that are in it in part.
fn completed_range(record: &RunRecord, series: &[SeriesRow]) -> [u64; 2] {
    let (from, length) = (record.window.warmup_s, record.window.measure_s);
    let until = if record.window.ended_early { f64::INFINITY } else { from + length };
    let ends = |row: &SeriesRow| (f64::from(row.second), f64::from(row.second) + 1.0);
    let sum = |is_of_it: &dyn Fn((f64, f64)) -> bool| {
        count_sum(series.iter().filter(|row| is_of_it(ends(row))).map(|row| row.completed))
    };
    let within = sum(&|(began, ended)| began >= from && ended <= from + length);
    let touched = sum(&|(began, ended)| began < until && ended > from);
    [within, touched]
}

/// Between which ends a throughput agrees with the seconds of its run. Unit: per second.
pub(super) fn throughput_range_tps(record: &RunRecord, series: &[SeriesRow]) -> [f64; 2] {
    completed_range(record, series).map(|completed| completed as f64 / record.window.measure_s)
}

/// The counts of the operations are those of the whole.
fn operations(record: &RunRecord) -> Option<String> {
    let sum = |of: fn(&OperationSummary) -> u64| count_sum(record.operations.iter().map(of));
    let counts = &record.counts;
    let pairs = [
        ("completed", sum(|operation| operation.count), counts.completed),
        ("failed", sum(|operation| operation.failed), counts.failed),
        ("retries", sum(|operation| operation.retries), counts.retries),
    ];
    let (name, sum, whole) = pairs.into_iter().find(|(_, sum, whole)| sum != whole)?;
    let text = || format!("{name} is {whole}, and the operations add up to {sum}");
    (!record.operations.is_empty()).then(text)
}

/// Each second has as many responses as transactions that ended in it.
fn responses(run: &Run) -> Option<String> {
    let logged = run.responses.iter().map(|second| (second.second, all(&second.buckets)));
    let logged: BTreeMap<u32, u64> = logged.collect();
    run.series.iter().find_map(|row| {
        let responses = *logged.get(&row.second)?;
        let ended = count_sum([row.completed, row.failed]);
        (responses != ended).then(|| {
            let noun = noun_for(ended, "transaction");
            format!(
                "second {} of {} has {ended} {noun}, and of {} {}",
                row.second,
                file::SERIES,
                file::LATENCY,
                counted(responses, "response")
            )
        })
    })
}

/// The parts of each kept transaction add up to its response.
fn kept(transactions: &[TransactionRow]) -> Option<String> {
    let mut rows = (1u64..).zip(transactions);
    rows.find_map(|(row, transaction)| {
        let budget = &transaction.budget;
        budget.unexplained?;
        let sum: f64 = budget.measured().map(|(_, us)| us).sum();
        ((sum - budget.total).abs() > WRITTEN_US).then(|| {
            format!(
                "the parts of row {row} of {} add up to {sum:.3} µs, and its total is {:.3} µs",
                file::TRANSACTIONS,
                budget.total
            )
        })
    })
}

/// Mean and maximum lie where the histogram has them.
fn extremes(record: &RunRecord) -> Option<String> {
    let top = record.histogram.iter().rfind(|bucket| bucket.count > 0)?.below_us;
    let response = &record.latency_us.response;
    let (mean, max) = (mean_range_us(record)?, range_below(top));
    let ends = [("mean", response.mean, mean), ("max", response.max, max)];
    ends.into_iter().find_map(|(name, value, range)| misplaced(name, value, range))
}

/// Between which ends a mean agrees with the histogram; `None`: that is empty. Unit: microseconds.
pub(super) fn mean_range_us(record: &RunRecord) -> Option<[f64; 2]> {
    let total = all(&record.histogram);
    let below = record.histogram.iter().map(|bucket| bucket.below_us * bucket.count as f64);
    (total > 0).then(|| range_below(below.sum::<f64>() / total as f64))
}

/// How many are in all buckets together.
fn all(histogram: &[HistogramBucket]) -> u64 {
    count_sum(histogram.iter().map(|bucket| bucket.count))
}

/// Values of the fine histogram are known to one in a thousand: where in a bucket they may lie, as
/// shares of its upper edge.
const LOWEST: f64 = 0.499;
const HIGHEST: f64 = 1.001;

/// Where in a bucket with this upper edge a value may lie. Unit: microseconds.
fn range_below(edge_us: f64) -> [f64; 2] {
    [LOWEST * edge_us, HIGHEST * edge_us]
}

/// That a value does not lie where the histogram has it.
fn misplaced(name: &str, value: f64, [low, high]: [f64; 2]) -> Option<String> {
    (value < low || value > high).then(|| {
        format!("the {name} is {value} µs, and the histogram has it in {low:.1} .. {high:.1} µs")
    })
}

fn counts(record: &RunRecord) -> Option<String> {
    let counts = &record.counts;
    let CountsInfo { completed, failed, unfinished, outstanding, .. } = *counts;
    let ended = count_sum([completed, failed, unfinished, outstanding]);
    let responses = all(&record.histogram);
    (responses != ended).then(|| {
        let noun = noun_for(ended, "transaction");
        format!("the histogram of {ended} {noun} has {}", counted(responses, "response"))
    })
}

/// The percentiles that a record has, by their keys.
const PERCENTILES: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];

/// A percentile lies in the bucket in which the histogram has its share.
fn percentiles(record: &RunRecord) -> Option<String> {
    let total = all(&record.histogram);
    PERCENTILES.into_iter().find_map(|name| {
        let metric = PrimaryMetric::named(name)?;
        let (percentile, value) = (metric.percentile()?, metric.value(record)?);
        let rank = (percentile_share(percentile) * total as f64).ceil();
        let mut below = 0u64;
        let bucket = record.histogram.iter().find(|bucket| {
            below = below.saturating_add(bucket.count);
            below as f64 >= rank
        })?;
        misplaced(name, value, range_below(bucket.below_us))
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
    use dbtime_model::record::{BudgetUs, ResponseSecond};

    fn consistent() -> Run {
        let mut record = RunRecord { throughput_tps: 50.0, ..RunRecord::default() };
        record.window.measure_s = 2.0;
        record.counts.completed = 100;
        let operation = |name: &str, count| OperationSummary {
            name: name.to_owned(),
            count,
            ..OperationSummary::default()
        };
        record.operations = vec![operation("read", 60), operation("write", 40)];
        let bucket = |below_us, count| HistogramBucket { below_us, count };
        record.histogram = vec![bucket(1024.0, 90), bucket(2048.0, 10)];
        let response = &mut record.latency_us.response;
        (response.p50, response.p90, response.p95) = (700.0, 1000.0, 1200.0);
        (response.p99, response.p999) = (1500.0, 1900.0);
        (response.mean, response.max) = (800.0, 1950.0);
        let budget = BudgetUs {
            total: 800.0,
            cpu: Some(300.0),
            unexplained: Some(500.0),
            ..BudgetUs::default()
        };
        record.budget_us = Some(budget);
        let row = |second| SeriesRow { second, completed: 50, ..SeriesRow::default() };
        let logged = |second| ResponseSecond { second, buckets: vec![bucket(1024.0, 50)] };
        let kept = TransactionRow { budget, ..TransactionRow::default() };
        Run {
            record,
            series: vec![row(0), row(1), row(2)],
            responses: vec![logged(0), logged(1)],
            transactions: vec![kept],
            ..Run::default()
        }
    }

    fn found(change: fn(&mut Run)) -> String {
        let mut run = consistent();
        change(&mut run);
        contradictions(&run).join("; ")
    }

    #[test]
    fn a_record_that_follows_from_its_files_has_no_contradiction() {
        assert_eq!(contradictions(&consistent()), Vec::<String>::new());
    }

    #[test]
    fn each_figure_that_was_changed_is_named() {
        assert!(found(|r| r.record.throughput_tps = 55.0).contains("throughput_tps is 55.000/s"));
        assert!(found(|r| r.record.throughput_tps = 50.5).contains("series.csv has 100 in 2 s"));
        assert!(found(|r| r.record.counts.completed = 101).contains("histogram of 101"));
        assert!(found(|r| r.record.counts.outstanding = 1).contains("histogram of 101"));
        let operation = found(|r| r.record.operations[0].failed = 3);
        assert!(operation.contains("failed is 0, and the operations add up to 3"));
        assert!(found(|r| r.record.latency_us.response.p99 = 900.0).contains("the p99 is 900"));
        assert!(found(|r| r.record.latency_us.response.p95 = 900.0).contains("the p95 is 900"));
        assert!(found(|r| r.record.latency_us.response.p999 = 0.0).contains("the p99.9 is 0"));
        assert!(found(|r| r.record.latency_us.response.mean = 400.0).contains("the mean is 400"));
        assert!(found(|r| r.record.latency_us.response.max = 4e3).contains("the max is 4000"));
        let parts = found(|r| r.record.budget_us.as_mut().expect("parts").cpu = Some(200.0));
        assert!(parts.contains("add up to 700.000 µs"), "{parts}");
    }

    /// A file of another run has other sums.
    #[test]
    fn files_that_are_not_of_the_run_are_named() {
        let series = found(|r| r.series[1].completed = 51);
        assert!(series.contains("series.csv has 101 in 2 s"), "{series}");
        let logged = "second 1 of series.csv has 51 transactions, and of latency.hlog 50 responses";
        assert!(series.contains(logged), "{series}");
        let kept = found(|r| r.transactions[0].budget.total = 900.0);
        assert!(kept.contains("row 1 of transactions.csv add up to 800.000 µs"), "{kept}");
    }

    /// Of a window that ends within a second it is not known which of its transactions were in it.
    #[test]
    fn seconds_that_are_in_the_window_in_part_leave_it_open_by_what_is_in_them() {
        let at = |completed: f64| {
            let mut run = consistent();
            (run.record.window.warmup_s, run.record.window.measure_s) = (0.0, 2.5);
            run.record.throughput_tps = completed / 2.5;
            throughput(&run.record, &run.series)
        };
        assert_eq!([100.0, 120.0, 150.0].map(at), [None, None, None]);
        assert!(at(99.0).is_some_and(|text| text.contains("has 100 to 150 in 2.5 s")));
        assert!(at(151.0).is_some());
    }
}
