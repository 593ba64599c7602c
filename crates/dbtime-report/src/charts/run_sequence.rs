//! The values of runs in the order of their starts: drift, order and groups are seen here.

use super::axis::{AxisScale, plain_tick, time_tick};
use super::svg::{Svg, TextAnchor};

/// A run of the plot.
pub(crate) struct SequencedRun {
    /// Whether it is of the first of both sides.
    pub(crate) is_first_side: bool,
    /// Its value.
    pub(crate) value: f64,
    /// Whether no verdict has it.
    pub(crate) is_excluded: bool,
    /// What is shown of it on a pointer.
    pub(crate) text: String,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 880.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 232.0;
const DOT: f64 = 9.0;

/// The plot as SVG; `None` without runs.
pub(crate) fn run_sequence(runs: &[SequencedRun], name: &str, is_time: bool) -> Option<String> {
    let most = runs.iter().map(|run| run.value).fold(0.0, f64::max);
    if runs.is_empty() {
        return None;
    }
    let scale = AxisScale::linear(most, (BOTTOM, TOP));
    let description = format!("{name} of each run, by their starts");
    let mut svg = Svg::new("sequence", (WIDTH, HEIGHT), "Runs by their starts", &description);
    for tick in scale.ticks() {
        let y = scale.at(tick);
        svg.line((LEFT, y), (RIGHT, y), if tick == 0.0 { "axis" } else { "grid" });
        let text = if is_time { time_tick(tick) } else { plain_tick(tick) };
        svg.text((LEFT - 8.0, y + 4.0), TextAnchor::End, "tick", &text);
    }
    let step = (RIGHT - LEFT) / runs.len() as f64;
    for (run, place) in runs.iter().zip(0u32..) {
        let (x, y) = (LEFT + step * (f64::from(place) + 0.5), scale.at(run.value));
        let color = if run.is_first_side { "line-0" } else { "line-1" };
        let class = if run.is_excluded { "hollow" } else { color };
        svg.rect((x - DOT / 2.0, y - DOT / 2.0), (DOT, DOT), class, &run.text);
        let side = if run.is_first_side { "A" } else { "B" };
        svg.text((x, BOTTOM + 18.0), TextAnchor::Middle, "tick", side);
    }
    let caption = format!("{name}, runs by their starts; hollow: not in the verdict");
    svg.text(((LEFT + RIGHT) / 2.0, HEIGHT - 6.0), TextAnchor::Middle, "caption", &caption);
    Some(svg.finish())
}
