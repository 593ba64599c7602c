//! Changes with their intervals, one below the other, against no change and the margin.

use super::axis::AxisScale;
use super::svg::{Svg, TextAnchor};
use crate::format::{fit, signed_us, width};

/// A row of the plot.
pub(crate) struct ForestRow<'a> {
    /// What changed.
    pub(crate) name: &'a str,
    /// The change and the ends of its interval, in the unit of the plot.
    pub(crate) change: [f64; 3],
    /// The same in words.
    pub(crate) text: &'a str,
}

/// What the changes of a plot are in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ForestUnit {
    /// Percent, with the margin, within which a change does not matter.
    Percent {
        /// The margin. Unit: percent.
        margin: f64,
    },
    /// Microseconds.
    Microseconds,
}

const WIDTH: f64 = 900.0;
const MIN_LEFT: f64 = 210.0;
const MAX_LEFT: f64 = 430.0;
const RIGHT: f64 = 862.0;
const ROW: f64 = 34.0;
const TOP: f64 = 12.0;

/// About as wide as a letter is, in names and captions.
const LETTER: f64 = 6.8;

/// Between a name and the plot.
const GAP: f64 = 12.0;

/// The plot as SVG with an id of its page, of changes of one thing against another; `None` without
/// rows.
pub(crate) fn forest_plot(
    id: &str,
    rows: &[ForestRow<'_>],
    unit: ForestUnit,
    title: &str,
) -> Option<String> {
    let (margin, explained) = match unit {
        ForestUnit::Percent { margin } => (margin, "with its interval; the band is the margin"),
        ForestUnit::Microseconds => (0.0, "with its interval"),
    };
    let ends = rows.iter().flat_map(|row| row.change);
    let reach = ends.chain([1.5 * margin]).map(f64::abs).fold(0.0, f64::max);
    if rows.is_empty() || !reach.is_finite() {
        return None;
    }
    let left = left_of_plot(rows);
    let middle = (left + RIGHT) / 2.0;
    let scale = AxisScale::linear(reach, (middle, RIGHT));
    let at = |pct: f64| if pct < 0.0 { 2.0 * middle - scale.at(-pct) } else { scale.at(pct) };
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::new(id, (WIDTH, bottom + 44.0), title, &format!("Each change {explained}"));
    if margin > 0.0 {
        let band = at(margin) - at(-margin);
        svg.rect((at(-margin), TOP), (band, bottom - TOP), "shade", "the margin");
    }
    for tick in scale.ticks() {
        for value in if tick == 0.0 { vec![0.0] } else { vec![-tick, tick] } {
            let class = if value == 0.0 { "axis" } else { "grid" };
            svg.line((at(value), TOP), (at(value), bottom), class);
            let text = unit.tick_text(value);
            svg.text((at(value), bottom + 18.0), TextAnchor::Middle, "tick", &text);
        }
    }
    for (row, place) in rows.iter().zip(0u32..) {
        let y = TOP + ROW * (f64::from(place) + 0.5);
        let [change, low, high] = row.change.map(at);
        let name = fit(row.name, ((left - GAP) / LETTER).round() as usize);
        svg.text((left - GAP, y + 5.0), TextAnchor::End, "", &name);
        svg.path(&[Some((low, y)), Some((high, y))], "line-0");
        svg.rect((change - 4.0, y - 4.0), (8.0, 8.0), "line-0", "");
        svg.rect((left, y - ROW / 2.0), (RIGHT - left, ROW), "hit", row.text);
    }
    let caption = fit(&format!("{title}, {explained}"), (WIDTH / LETTER) as usize);
    svg.text((WIDTH / 2.0, bottom + 38.0), TextAnchor::Middle, "caption", &caption);
    Some(svg.finish())
}

/// Where the plot begins: to its left every name has room, as far as there is some.
fn left_of_plot(rows: &[ForestRow<'_>]) -> f64 {
    let longest = rows.iter().map(|row| width(row.name)).max().unwrap_or(0);
    (longest as f64 * LETTER + GAP).clamp(MIN_LEFT, MAX_LEFT)
}

impl ForestUnit {
    fn tick_text(self, value: f64) -> String {
        let sign = match value {
            value if value < 0.0 => "−",
            0.0 => "",
            _ => "+",
        };
        match self {
            Self::Percent { .. } => format!("{sign}{} %", (value.abs() * 1e6).round() / 1e6),
            Self::Microseconds => signed_us(value),
        }
    }
}
