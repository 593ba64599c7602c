//! Whether the window is of one steady state, and what its transactions are worth.

use super::warning;
use dbtime_model::Histogram;
use dbtime_model::record::{
    LoadMode, PercentileRange, RunRecord, SeriesPhase, SeriesRow, TrendMetric, Warning,
    WarningKind, WindowTrend,
};
use dbtime_model::units::percentile_share;
use dbtime_stats::{autocorrelation_time, quantile_ranks, series_trend};

/// A change from the first third of the window to its last that is known to be larger makes it no
/// steady state. Unit: percent.
const MAX_TREND_PCT: f64 = 10.0;

/// The percentiles of which is said how well they are known.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// Means of fewer seconds do not show how alike neighbours are.
const FEWEST_SECONDS: usize = 8;

/// Writes what the seconds of the window show.
pub(crate) fn fill_steadiness(record: &mut RunRecord, series: &[SeriesRow], response: &Histogram) {
    let seconds: Vec<&SeriesRow> =
        series.iter().filter(|row| row.phase == SeriesPhase::Measure).collect();
    record.trend = trend(record, &seconds);
    record.effective_transactions = effective(record, &seconds);
    let Some(effective) = record.effective_transactions else { return };
    record.percentile_ranges =
        PERCENTILES.iter().map(|percentile| range(response, effective, *percentile)).collect();
}

/// Of a closed loop the throughput shows a change, and else the response.
fn trend(record: &RunRecord, seconds: &[&SeriesRow]) -> Option<WindowTrend> {
    let (of, value): (_, fn(&SeriesRow) -> f64) = match record.load.mode {
        LoadMode::Open => (TrendMetric::Response, |row| row.response_mean_us),
        _ => (TrendMetric::Throughput, |row| row.completed as f64),
    };
    let values: Vec<f64> = seconds.iter().map(|row| value(row)).collect();
    let trend = series_trend(&values)?;
    let percent = trend.change.map(|logarithm| 100.0 * logarithm.exp_m1());
    Some(WindowTrend {
        of,
        seconds: values.len() as u32,
        change_pct: percent.estimate,
        change_low_pct: percent.low,
        change_high_pct: percent.high,
        settled_after_s: trend.settled_after.map(|seconds| seconds as u32),
    })
}

/// By the variance of the means of seconds, and of longer stretches, against that of single
/// transactions: what a second has in common makes its mean vary more.
fn effective(record: &RunRecord, seconds: &[&SeriesRow]) -> Option<f64> {
    let ended = (record.counts.completed + record.counts.failed) as f64;
    let means: Vec<f64> =
        seconds.iter().filter(|row| row.completed > 0).map(|row| row.response_mean_us).collect();
    // What is under way all the time makes single responses vary, and is in no second.
    let is_known = ended > 0.0 && record.counts.outstanding == 0 && record.counts.held == 0;
    if means.len() < FEWEST_SECONDS || !is_known {
        return None;
    }
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let squares = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let of_seconds = squares / (means.len() - 1) as f64;
    let of_single = record.latency_us.response.stddev.powi(2);
    let a_second = ended / means.len() as f64;
    let time = match of_single > 0.0 {
        true => a_second * of_seconds / of_single * autocorrelation_time(&means),
        false => 1.0,
    };
    Some(ended / time.max(1.0))
}

fn range(response: &Histogram, effective: f64, percentile: f64) -> PercentileRange {
    let count = response.count();
    let ranks = quantile_ranks(count, effective, percentile_share(percentile));
    let at = |rank: u64| response.quantile(rank as f64 / count as f64).as_micros();
    PercentileRange {
        percentile,
        low_us: ranks.map(|(low, _)| at(low)),
        high_us: ranks.map(|(_, high)| at(high)),
    }
}

/// Figures of a window in which the database was still warming up, or slowed down, are of no state
/// that would come again.
pub(super) fn not_steady(record: &RunRecord) -> Option<Warning> {
    let trend = record.trend.as_ref()?;
    let least = match trend.change_pct < 0.0 {
        true => -trend.change_high_pct,
        false => trend.change_low_pct,
    };
    // In percent of the first third a fall has less room than a rise.
    let most = match trend.change_pct < 0.0 {
        true => 100.0 * MAX_TREND_PCT / (100.0 + MAX_TREND_PCT),
        false => MAX_TREND_PCT,
    };
    if least <= most {
        return None;
    }
    let what = match trend.of {
        TrendMetric::Throughput => "throughput",
        TrendMetric::Response => "the mean response",
    };
    let way = if trend.change_pct < 0.0 { "fell" } else { "rose" };
    let text = format!(
        "not steady: {what} {way} by {:.0} % from the first third of the window to the last (99 % CI \
         {} .. {})",
        trend.change_pct.abs(),
        signed(trend.change_low_pct),
        signed(trend.change_high_pct)
    );
    let remedy = match trend.settled_after_s {
        Some(seconds) if seconds > 0 => {
            let warmup = record.window.warmup_s + f64::from(seconds);
            format!("it settles after {seconds} s of the window: --warmup {:.0}s", warmup.ceil())
        }
        _ => "it does not settle within the window: warm up for longer, or find what changes (the \
              data grow, a cache fills)"
            .to_owned(),
    };
    warning(WarningKind::NotSteady, text, &remedy)
}

fn signed(pct: f64) -> String {
    format!("{pct:+.0}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::super::tests::quiet;
    use super::*;
    use dbtime_model::Nanos;

    /// A closed loop whose seconds had so many transactions, each of about 1 ms.
    fn seconds(of: impl Fn(u32) -> u64, count: u32) -> (RunRecord, Vec<SeriesRow>, Histogram) {
        let mut record = quiet();
        record.load.mode = LoadMode::Closed;
        record.window.warmup_s = 2.0;
        record.latency_us.response.stddev = 100.0;
        let row = |second: u32| SeriesRow {
            second,
            phase: if second < 2 { SeriesPhase::Warmup } else { SeriesPhase::Measure },
            completed: of(second),
            response_mean_us: 1000.0 + 5.0 * f64::from(second % 3),
            ..SeriesRow::default()
        };
        let mut response = Histogram::fine();
        (0..5000).for_each(|at| response.record(Nanos::from_micros(900 + at % 200)));
        let rows: Vec<SeriesRow> = (0..count).map(row).collect();
        fill_steadiness(&mut record, &rows, &response);
        (record, rows, response)
    }

    #[test]
    fn a_window_that_warms_up_is_not_steady_and_its_remedy_is_a_longer_warm_up() {
        let rising =
            |second| if second < 8 { 300 + second as u64 } else { 500 + second as u64 % 3 };
        let (record, ..) = seconds(rising, 32);
        let found = not_steady(&record).expect("it rose");
        assert!(found.text.contains("throughput rose by"), "{}", found.text);
        assert!(
            found.remedy.ends_with("settles after 6 s of the window: --warmup 8s"),
            "{found:?}"
        );
        let falling = |second| 1000 - 20 * u64::from(second);
        let (record, ..) = seconds(falling, 32);
        let found = not_steady(&record).expect("it fell");
        assert!(found.text.contains("throughput fell by"), "{}", found.text);
        assert!(found.remedy.contains("does not settle"), "{found:?}");
    }

    #[test]
    fn a_steady_window_is_steady_and_a_short_one_is_not_judged() {
        let (record, ..) = seconds(|second| 500 + second as u64 % 7, 32);
        assert_eq!(not_steady(&record), None);
        let trend = record.trend.expect("30 seconds");
        assert_eq!((trend.seconds, trend.of), (30, TrendMetric::Throughput));
        let (record, ..) = seconds(|second| 100 * u64::from(second), 10);
        assert_eq!(record.trend, None, "eight seconds");
        assert!(record.effective_transactions.is_some(), "eight seconds");
        let (record, ..) = seconds(|second| 100 * u64::from(second), 9);
        assert_eq!((record.effective_transactions, record.percentile_ranges), (None, vec![]));
    }

    /// The means of seconds differ by 5 µs where independent transactions would make them differ
    /// by 100 µs / √167.
    #[test]
    fn seconds_that_differ_make_transactions_worth_less() {
        let (mut record, rows, response) = seconds(|_| 167, 32);
        let independent = record.effective_transactions.expect("30 seconds");
        assert!((independent - 5000.0).abs() < 1.0, "{independent}");
        let narrow = record.percentile_ranges.clone();
        record.latency_us.response.stddev = 10.0;
        fill_steadiness(&mut record, &rows, &response);
        let alike = record.effective_transactions.expect("30 seconds");
        assert!((100.0..250.0).contains(&alike), "{alike}");
        let width =
            |range: &PercentileRange| range.low_us.zip(range.high_us).map(|(low, high)| high - low);
        assert!(width(&record.percentile_ranges[0]) > width(&narrow[0]));
        assert_eq!(width(&record.percentile_ranges[2]), None, "a p99 of 170 has no rank above it");
        assert!(width(&narrow[2]).is_some());
    }
}
