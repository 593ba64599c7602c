//! Throughput over the run, with what was offered.

use super::Chart;
use super::axis::{AxisScale, plain_tick};
use super::timeline::{BOTTOM, TOP, TimeBin, Timeline, bins};
use crate::format::rate;
use dbtime_model::record::{Run, SeriesPhase};

/// See the file.
pub(super) const CHART: Chart = Chart {
    name: "throughput-over-time",
    title: "Throughput over the run",
    hint: "Where completed stays below offered, a backlog grows.",
    is_wide: false,
    draw,
};

fn draw(run: &Run) -> Option<String> {
    let all = bins(run);
    let most = all.iter().map(|bin| completed(bin).max(offered(bin).unwrap_or(0.0)));
    let most = most.fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let y = AxisScale::linear(most * 1.05, (BOTTOM, TOP));
    let description = format!(
        "Transactions completed in each second; {} per second over the measured window.",
        rate(run.record.throughput_tps)
    );
    let mut timeline = Timeline::new(run, CHART.name, CHART.title, &description)?;
    timeline.grid(&y, plain_tick);
    timeline.line(&y, "offered", offered);
    timeline.line(&y, "completed", |bin| Some(completed(bin)));
    let any_failed = all.iter().any(|bin| failed(bin) > 0.0);
    if any_failed {
        timeline.line(&y, "failed", |bin| Some(failed(bin)));
    }
    timeline.labels(&y, &labels(run, any_failed));
    timeline.tips(tip);
    Some(timeline.svg.finish())
}

/// The last second of the window stands for the ends of the lines: the run-down goes to zero.
fn labels(run: &Run, any_failed: bool) -> Vec<(&'static str, &'static str, f64)> {
    let measured = run.series.iter().rev().find(|row| row.phase == SeriesPhase::Measure);
    let Some(row) = measured.or(run.series.last()) else {
        return Vec::new();
    };
    let offered = row.offered.map(|n| ("label offered", "offered", n as f64));
    let completed = ("label completed", "completed", row.completed as f64);
    let mut labels: Vec<_> = offered.into_iter().chain([completed]).collect();
    labels.sort_by(|a, b| b.2.total_cmp(&a.2));
    if any_failed {
        labels.push(("label failed", "failed", row.failed as f64));
    }
    labels
}

fn completed(bin: &TimeBin<'_>) -> f64 {
    bin.mean(|row| row.completed as f64)
}

fn failed(bin: &TimeBin<'_>) -> f64 {
    bin.mean(|row| row.failed as f64)
}

fn offered(bin: &TimeBin<'_>) -> Option<f64> {
    // NaN marks seconds of a closed loop, which offers nothing.
    let any = bin.worst(|row| row.offered.map_or(f64::NAN, |n| n as f64 + 1.0)) > 0.0;
    any.then(|| bin.mean(|row| row.offered.unwrap_or(0) as f64))
}

fn tip(bin: &TimeBin<'_>) -> String {
    let offered = offered(bin).map_or(String::new(), |n| format!(", offered {}/s", rate(n)));
    format!("completed {}/s{offered}, failed {}/s", rate(completed(bin)), rate(failed(bin)))
}
