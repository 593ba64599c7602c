//! What was required and what was measured: the limits of workload and command line, and two
//! checks that every mix and every think time gets (Faban's deviation checks).

use dbtime_load::workload::{Limit, Metric, Operation};
use dbtime_model::record::{Check, CheckUnit, OperationSummary};
use dbtime_model::recorder::{Counts, Latencies, OperationRecorder};

/// How far an operation's share may be off its weight, in percent points, unless the workload says
/// otherwise (Faban's default).
const MIX_DEVIATION: f64 = 2.0;

/// How far the mean think time may be off what was asked for, in percent (Faban's default).
const THINK_DEVIATION: f64 = 2.0;

/// Fewer transactions than this say nothing about a mix or a mean.
const ENOUGH: u64 = 1000;

/// Every check of one operation.
///
/// `offered` counts all operations of the run, `window_s` is the length of the window.
pub fn of_operation(
    operation: &Operation,
    extra: &[Limit],
    recorded: &OperationRecorder<u64>,
    summary: &OperationSummary,
    (offered, window_s): (u64, f64),
) -> Vec<Check> {
    let extra = extra.iter().filter(|limit| !is_of_run(limit));
    let limits = operation.limits.iter().chain(extra);
    let seen = Seen {
        latencies: &recorded.latencies,
        counts: &recorded.counts,
        share: summary.share,
        throughput_tps: recorded.completed_within as f64 / window_s.max(1e-9),
    };
    let mut checks: Vec<Check> = limits.map(|limit| seen.check(limit)).collect();
    let has_share = operation.limits.iter().any(|limit| limit.metric == Metric::Share);
    if !has_share && summary.share_wanted < 1.0 && offered >= ENOUGH {
        checks.push(of_mix(summary));
    }
    checks.extend(summary.think.filter(|think| think.count >= ENOUGH).map(|think| {
        let deviation = 100.0 * (think.taken_us / think.wanted_us.max(1e-9) - 1.0);
        Check {
            metric: "think".to_owned(),
            text: format!("mean within ± {THINK_DEVIATION} % of {:.3} ms", think.wanted_us / 1e3),
            unit: CheckUnit::Percent,
            required: THINK_DEVIATION,
            measured: deviation,
            passed: deviation.abs() <= THINK_DEVIATION,
        }
    }));
    checks
}

/// The share that the weight asks for, kept within Faban's deviation.
fn of_mix(summary: &OperationSummary) -> Check {
    let (wanted, measured) = (100.0 * summary.share_wanted, 100.0 * summary.share);
    Check {
        metric: "share".to_owned(),
        text: format!("{wanted:.1} % ± {MIX_DEVIATION}"),
        unit: CheckUnit::Percent,
        required: wanted,
        measured,
        passed: (measured - wanted).abs() <= MIX_DEVIATION,
    }
}

/// The checks of the whole run: the workload's own, and what the command line requires of no single
/// operation.
pub fn of_run(
    limits: &[Limit],
    extra: &[Limit],
    (latencies, counts): (&Latencies<u64>, &Counts),
    (completed_within, window_s): (u64, f64),
) -> Vec<Check> {
    let throughput_tps = completed_within as f64 / window_s.max(1e-9);
    let seen = Seen { latencies, counts, share: 1.0, throughput_tps };
    let extra = extra.iter().filter(|limit| is_of_run(limit));
    limits.iter().chain(extra).map(|limit| seen.check(limit)).collect()
}

/// A throughput is required of the run; everything else holds for each operation.
fn is_of_run(limit: &Limit) -> bool {
    limit.metric == Metric::Throughput
}

/// What limits are held against.
struct Seen<'a> {
    latencies: &'a Latencies<u64>,
    counts: &'a Counts,
    share: f64,
    throughput_tps: f64,
}

impl Seen<'_> {
    fn check(&self, limit: &Limit) -> Check {
        let (response, counts) = (&self.latencies.response, self.counts);
        let measured = match limit.metric {
            Metric::Percentile(p) => response.quantile(p / 100.0).0 as f64,
            Metric::Mean => response.mean_ns(),
            Metric::Max => response.max().0 as f64,
            Metric::Share => self.share,
            Metric::Errors => counts.failed as f64 / counts.offered.max(1) as f64,
            Metric::Throughput => self.throughput_tps,
        };
        // Nothing measured is no proof that a response time holds.
        let shown =
            counts.completed > 0 || matches!(limit.metric, Metric::Share | Metric::Throughput);
        let (unit, scale) = match limit.metric {
            Metric::Percentile(_) | Metric::Mean | Metric::Max => (CheckUnit::Us, 1e-3),
            Metric::Share | Metric::Errors => (CheckUnit::Percent, 100.0),
            Metric::Throughput => (CheckUnit::PerSecond, 1.0),
        };
        Check {
            metric: limit.metric.to_string(),
            text: limit.required_text(),
            unit,
            required: limit.required * scale,
            measured: measured * scale,
            passed: shown && limit.passed(measured),
        }
    }
}
