//! Response over achieved throughput: the median and the 99th percentile of each run, and lines
//! through the means of the levels.

use super::axis::{AxisScale, plain_tick};
use super::plot_frame::{LEFT, RIGHT, SIZE, TOP, UPWARD, apart, below, caption, dot, values};
use super::svg::{Svg, TextAnchor};
use crate::format::{rate, us};

/// A level of what was varied: its runs.
pub(crate) struct LatencyPlace {
    /// Its value in words.
    pub(crate) label: String,
    /// Throughput of each run a second, its median and 99th percentile. Unit: microseconds.
    pub(crate) runs: Vec<(f64, [Option<f64>; 2])>,
}

/// The names of the two percentiles, which are classes of the style sheet.
const NAMES: [&str; 2] = ["p50", "p99"];

/// The plot as SVG; `None` where fewer than two levels have a percentile.
///
/// `place` is the number of the plot on its page, `factor` what was varied.
pub(crate) fn latency_curve(places: &[LatencyPlace], place: usize, factor: &str) -> Option<String> {
    let drawn = |of: usize| places.iter().filter(move |place| mean(place, of).is_some()).count();
    if drawn(0).max(drawn(1)) < 2 {
        return None;
    }
    let all = || places.iter().flat_map(|place| &place.runs);
    let most = all().map(|(throughput, _)| *throughput).fold(0.0, f64::max);
    let x = AxisScale::linear(most, (LEFT, RIGHT));
    let y = AxisScale::fitting(all().flat_map(|(_, us)| us.iter().flatten().copied()), UPWARD);
    let name = format!("latency-{place}");
    let mut svg = Svg::new(&name, SIZE, "Response over throughput", &described(places));
    values(&mut svg, &y, true);
    x.ticks().into_iter().for_each(|tick| below(&mut svg, x.at(tick), &plain_tick(tick)));
    let mut ends = Vec::new();
    for (of, name) in NAMES.into_iter().enumerate() {
        let means = places.iter().filter_map(|place| mean(place, of));
        let line: Vec<_> = means.map(|(tps, us)| Some((x.at(tps), y.at(us)))).collect();
        svg.path(&line, name);
        ends.extend(line.last().copied().flatten().map(|(_, at)| (name, at)));
        for place in places {
            for (throughput, figures) in &place.runs {
                let Some(value) = figures[of] else { continue };
                let (label, tps) = (&place.label, rate(*throughput));
                let tip = format!("{factor} {label}: {tps}/s, {name} {}", us(value));
                let class = format!("line-{of}");
                dot(&mut svg, (x.at(*throughput), y.at(value)), &class, &tip);
            }
        }
    }
    let heights = apart(&ends.iter().map(|(_, at)| *at).collect::<Vec<_>>());
    for ((name, _), height) in ends.iter().zip(heights) {
        let class = format!("label {name}");
        svg.text((RIGHT + 8.0, height + 4.0), TextAnchor::Start, &class, name);
    }
    labels(&mut svg, places, &x, &y);
    let kind = if y.is_log() { "; time on a log scale" } else { "" };
    let text = format!("achieved throughput per second; points: runs, numbers: {factor}{kind}");
    caption(&mut svg, &text);
    Some(svg.finish())
}

/// The levels above their points, where there is room for each.
fn labels(svg: &mut Svg, places: &[LatencyPlace], x: &AxisScale, y: &AxisScale) {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for place in places {
        let Some((tps, us)) = mean(place, 1).or_else(|| mean(place, 0)) else { continue };
        let at = (x.at(tps), (y.at(us) - 9.0).max(TOP));
        let is_free = |(x, y): &(f64, f64)| (x - at.0).abs() > 40.0 || (y - at.1).abs() > 12.0;
        if taken.iter().all(is_free) {
            svg.text(at, TextAnchor::Middle, "tick", &place.label);
            taken.push(at);
        }
    }
}

/// Means of throughput and of a percentile over the runs that have it.
fn mean(place: &LatencyPlace, of: usize) -> Option<(f64, f64)> {
    let runs: Vec<(f64, f64)> =
        place.runs.iter().filter_map(|(tps, us)| Some((*tps, us[of]?))).collect();
    let count = runs.len() as f64;
    let sum = runs.into_iter().reduce(|a, b| (a.0 + b.0, a.1 + b.1))?;
    Some((sum.0 / count, sum.1 / count))
}

fn described(places: &[LatencyPlace]) -> String {
    let words = |place: &LatencyPlace| {
        let figure = |of: usize| {
            mean(place, of)
                .map_or(String::new(), |(_, value)| format!(", {} {}", NAMES[of], us(value)))
        };
        let (throughput, _) = mean(place, 0).or_else(|| mean(place, 1))?;
        Some(format!("{}: {}/s{}{}", place.label, rate(throughput), figure(0), figure(1)))
    };
    places.iter().filter_map(words).collect::<Vec<_>>().join("; ")
}
