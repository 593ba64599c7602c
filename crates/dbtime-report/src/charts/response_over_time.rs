//! Response time over the run: median, 90th and 99th percentile of every second.

use super::Chart;
use super::axis::{AxisScale, time_tick};
use super::timeline::{BOTTOM, TOP, TimeBin, Timeline, bins};
use crate::format::us;
use dbtime_model::record::{Run, SeriesRow};

/// See the file.
pub(super) const CHART: Chart = Chart {
    name: "response-over-time",
    title: "Response time over the run",
    hint: "Level lines are a steady database; a step or a slope means the mean of the run \
        describes no moment of it.",
    is_wide: false,
    draw,
};

type SeriesFigure = fn(&SeriesRow) -> f64;

const LINES: [(&str, &str, SeriesFigure); 3] = [
    ("p99", "p99", |row| row.response_p99_us),
    ("p90", "p90", |row| row.response_p90_us),
    ("p50", "p50", |row| row.response_p50_us),
];

fn draw(run: &Run) -> Option<String> {
    let all = bins(run);
    let values = || all.iter().flat_map(|bin| LINES.map(|(_, _, of)| bin.worst(of)));
    if !values().any(|us| us > 0.0) {
        return None;
    }
    let y = AxisScale::fitting(values(), (BOTTOM, TOP));
    let worst = values().fold(0.0, f64::max);
    let description = format!(
        "Median, 90th and 99th percentile of the response time in each second; the largest \
            99th percentile is {}.",
        us(worst)
    );
    let mut timeline = Timeline::new(run, CHART.name, CHART.title, &description)?;
    timeline.grid(&y, time_tick);
    for (class, _, of) in LINES.into_iter().rev() {
        timeline.line(&y, class, |bin| bin.any_ended().then(|| bin.worst(of)));
    }
    let last = |of: SeriesFigure| {
        all.iter().rev().find(|bin| bin.any_ended()).map_or(0.0, |bin| bin.worst(of))
    };
    let labels = LINES.map(|(_, name, of)| (format!("label {name}"), name, last(of)));
    let labels: Vec<_> =
        labels.iter().map(|(class, name, at)| (class.as_str(), *name, *at)).collect();
    timeline.labels(&y, &labels);
    timeline.tips(tip);
    Some(timeline.svg.finish())
}

fn tip(bin: &TimeBin<'_>) -> String {
    if !bin.any_ended() {
        return "no transaction ended".to_owned();
    }
    let shown = LINES.map(|(_, name, of)| format!("{name} {}", us(bin.worst(of))));
    format!("{}, max {}", shown.join(", "), us(bin.worst(|row| row.response_max_us)))
}
