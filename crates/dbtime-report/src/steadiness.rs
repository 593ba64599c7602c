//! What a window is worth, in sentences: how well its percentiles are known, and how it changed.

use crate::format::{count, counted, finite, us};
use dbtime_model::record::{PercentileRange, RunRecord, TrendMetric, WindowTrend};

/// Under the table of latencies.
pub(crate) fn sentences(record: &RunRecord) -> Vec<String> {
    let ranges = percentiles(record);
    ranges.into_iter().chain(record.trend.as_ref().map(trend)).collect()
}

fn percentiles(record: &RunRecord) -> Option<String> {
    let effective = record.effective_transactions?;
    let ranges = record.percentile_ranges.iter().map(range).collect::<Vec<_>>();
    let ended = record.counts.completed.saturating_add(record.counts.failed);
    let worth = finite(effective).round() as u64;
    let of = match worth >= ended {
        true => "independent of each other".to_owned(),
        false => format!("worth {} independent ones", count(worth)),
    };
    Some(format!(
        "95 % ranges within this run: {}; {}, {of}",
        ranges.join(", "),
        counted(ended, "transaction")
    ))
}

fn range(range: &PercentileRange) -> String {
    let name = format!("p{}", range.percentile);
    match range.low_us.zip(range.high_us) {
        Some((low, high)) => format!("{name} {} .. {}", us(low), us(high)),
        None => format!("{name} not known, too few"),
    }
}

fn trend(trend: &WindowTrend) -> String {
    let of = match trend.of {
        TrendMetric::Throughput => "throughput",
        TrendMetric::Response => "mean response",
    };
    format!(
        "{of} in the last third of the window against the first: {} % (99 % CI {} .. {})",
        signed(trend.change_pct),
        signed(trend.change_low_pct),
        signed(trend.change_high_pct)
    )
}

fn signed(pct: f64) -> String {
    format!("{:+.1}", finite(pct)).replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_said_and_too_few_are_named() {
        let mut record = RunRecord::default();
        assert!(sentences(&record).is_empty());
        record.counts.completed = 5000;
        record.effective_transactions = Some(1234.0);
        let known =
            PercentileRange { percentile: 50.0, low_us: Some(990.0), high_us: Some(1010.0) };
        let unknown = PercentileRange { percentile: 99.9, ..PercentileRange::default() };
        record.percentile_ranges = vec![known, unknown];
        record.trend = Some(WindowTrend {
            change_pct: -1.24,
            change_low_pct: -3.0,
            change_high_pct: 0.5,
            ..WindowTrend::default()
        });
        assert_eq!(
            sentences(&record),
            [
                "95 % ranges within this run: p50 990 µs .. 1.01 ms, p99.9 not known, too few; \
                 5,000 transactions, worth 1,234 independent ones",
                "throughput in the last third of the window against the first: −1.2 % (99 % CI −3.0 \
                 .. +0.5)"
            ]
        );
        record.effective_transactions = Some(5000.0);
        assert!(sentences(&record)[0].ends_with("5,000 transactions, independent of each other"));
    }
}
