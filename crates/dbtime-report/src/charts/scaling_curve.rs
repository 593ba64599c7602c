//! Throughput over clients: the runs, and the law that was fitted to them with its band.

use super::axis::AxisScale;
use super::plot_frame::{BOTTOM, LEFT, RIGHT, SIZE, TOP, UPWARD, below, caption, dot, values};
use super::svg::{Svg, TextAnchor};
use crate::format::rate;
use dbtime_stats::ScalabilityFit;

/// A run of the plot.
pub(crate) struct ScalingPoint {
    /// Clients, one or more.
    pub(crate) n: f64,
    /// Transactions a second.
    pub(crate) throughput: f64,
}

/// The plot as SVG, on a logarithmic axis of base two; `None` without runs.
///
/// `place` is the number of the plot on its page, `clients` what they are called.
pub(crate) fn scaling_curve(
    points: &[ScalingPoint],
    fit: Option<&ScalabilityFit>,
    place: usize,
    clients: &str,
) -> Option<String> {
    let ends = |of: fn(f64, f64) -> f64| points.iter().map(|point| point.n).reduce(of);
    let (first, last) = (ends(f64::min)?, ends(f64::max)?);
    let x = |n: f64| {
        let width = (last / first).log2();
        let share = if width > 0.0 { (n / first).log2() / width } else { 0.5 };
        LEFT + 20.0 + share * (RIGHT - LEFT - 40.0)
    };
    let bands = fit.iter().flat_map(|fit| &fit.curve).filter_map(|place| place.band);
    let high = points.iter().map(|point| point.throughput).chain(bands.map(|[_, high]| high));
    let y = AxisScale::linear(high.fold(0.0, f64::max), UPWARD);
    let name = format!("scaling-{place}");
    let title = format!("Throughput over {clients}");
    let mut svg = Svg::new(&name, SIZE, &title, &described(points, clients));
    values(&mut svg, &y, false);
    let mut levels: Vec<f64> = points.iter().map(|point| point.n).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels.iter().for_each(|n| below(&mut svg, x(*n), &rate(*n)));
    if let Some(fit) = fit {
        curve(&mut svg, fit, &x, &y);
    }
    for point in points {
        let tip = format!("{} {clients}: {}/s", rate(point.n), rate(point.throughput));
        dot(&mut svg, (x(point.n), y.at(point.throughput)), "line-1", &tip);
    }
    let law = if fit.is_some() { "; line and band: the fitted law, 95 %" } else { "" };
    caption(&mut svg, &format!("{clients}, to base 2; points: runs, per second{law}"));
    Some(svg.finish())
}

fn curve(svg: &mut Svg, fit: &ScalabilityFit, x: &impl Fn(f64) -> f64, y: &AxisScale) {
    let band = fit.curve.iter().filter_map(|place| {
        let [low, high] = place.band?;
        Some((x(place.n), y.at(low), y.at(high)))
    });
    svg.area(&band.collect::<Vec<_>>(), "shade");
    let line = fit.curve.iter().map(|place| Some((x(place.n), y.at(place.fitted))));
    svg.path(&line.collect::<Vec<_>>(), "line-0");
    if let Some(peak) = fit.peak {
        svg.line((x(peak), TOP), (x(peak), BOTTOM), "edge");
        let text = format!("peak at {}", rate(peak.round()));
        svg.text((x(peak) + 5.0, TOP + 10.0), TextAnchor::Start, "tick", &text);
    }
}

fn described(points: &[ScalingPoint], clients: &str) -> String {
    let point =
        |point: &ScalingPoint| format!("{} {clients}: {}/s", rate(point.n), rate(point.throughput));
    points.iter().map(point).collect::<Vec<_>>().join("; ")
}
