//! The load of logs over time, in steps of one length.

use super::axis::{AxisScale, time_tick};
use super::plot_frame::{BOTTOM, LEFT, RIGHT, SIZE, TOP, UPWARD, below, caption, values};
use super::svg::Svg;

/// What happened in a step.
pub(crate) struct LoadPoint {
    /// The figure that is drawn.
    pub(crate) value: f64,
    /// What is shown while the pointer rests on the step.
    pub(crate) tip: String,
}

/// What a plot is of.
pub(crate) struct LoadPlot<'a> {
    /// Makes the ids on its page.
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    /// Below the axis of time.
    pub(crate) caption: &'a str,
    /// The length of a step. Unit: seconds.
    pub(crate) step_s: f64,
}

/// The plot as SVG; `None` where fewer than two steps are given, or none has a value above zero.
pub(crate) fn load_over_time(points: &[LoadPoint], plot: &LoadPlot<'_>) -> Option<String> {
    let most = points.iter().map(|point| point.value).fold(0.0, f64::max);
    if points.len() < 2 || most <= 0.0 {
        return None;
    }
    let whole_us = points.len() as f64 * plot.step_s * 1e6;
    let x = AxisScale::linear(whole_us, (LEFT, RIGHT)).ending_at(whole_us);
    let y = AxisScale::linear(most * 1.05, UPWARD);
    let described = format!("{} in {} steps; {}.", plot.title, points.len(), plot.caption);
    let mut svg = Svg::new(plot.name, SIZE, plot.title, &described);
    values(&mut svg, &y, false);
    x.ticks().into_iter().for_each(|tick| below(&mut svg, x.at(tick), &time_tick(tick)));
    let at = |step: usize| x.at(step as f64 * plot.step_s * 1e6);
    // Steps, so that a single one is visible and no slope is invented.
    let edges = |(step, point): (usize, &LoadPoint)| {
        [step, step + 1].map(|edge| Some((at(edge), y.at(point.value))))
    };
    let line: Vec<_> = points.iter().enumerate().flat_map(edges).collect();
    svg.path(&line, "line-0");
    for (step, point) in points.iter().enumerate() {
        let (from, until) = (at(step), at(step + 1));
        svg.rect((from, TOP), (until - from, BOTTOM - TOP), "hit", &point.tip);
    }
    caption(&mut svg, plot.caption);
    Some(svg.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_drawn_with_their_tips_and_nothing_else() {
        let plot = LoadPlot { name: "load", title: "Load <1>", caption: "since then", step_s: 4.0 };
        let point = |value: f64| LoadPoint { value, tip: format!("{value} <at once>") };
        let svg = load_over_time(&[point(1.0), point(0.0), point(3.0)], &plot).expect("a plot");
        assert!(svg.contains("Load &lt;1&gt;") && svg.contains("3 &lt;at once&gt;"), "{svg}");
        assert_eq!(svg.matches("class=\"hit\"").count(), 3);
        assert!(!svg.contains("NaN") && !svg.contains("<at once>"), "{svg}");
        for few in [vec![], vec![point(1.0)], vec![point(0.0), point(f64::NAN)]] {
            assert!(load_over_time(&few, &plot).is_none());
        }
    }
}
