//! Changes with their intervals, one below the other, against no change and the margin.

use super::axis::AxisScale;
use super::svg::{Svg, TextAnchor};

/// A row of the plot.
pub(crate) struct ForestRow<'a> {
    /// What changed.
    pub(crate) name: &'a str,
    /// The change and the ends of its interval. Unit: percent.
    pub(crate) change_pct: [f64; 3],
    /// The same in words.
    pub(crate) text: &'a str,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 880.0;
const ROW: f64 = 34.0;
const TOP: f64 = 12.0;

/// The plot as SVG, of changes of one thing against another; `None` without rows.
pub(crate) fn forest_plot(rows: &[ForestRow<'_>], margin_pct: f64, title: &str) -> Option<String> {
    let ends = rows.iter().flat_map(|row| row.change_pct);
    let reach = ends.chain([1.5 * margin_pct]).map(f64::abs).fold(0.0, f64::max);
    if rows.is_empty() || !reach.is_finite() {
        return None;
    }
    let middle = (LEFT + RIGHT) / 2.0;
    let scale = AxisScale::linear(reach, (middle, RIGHT));
    let at = |pct: f64| if pct < 0.0 { 2.0 * middle - scale.at(-pct) } else { scale.at(pct) };
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::new(
        "forest",
        (WIDTH, bottom + 44.0),
        title,
        "Each change with its interval; the band is the margin",
    );
    let band = at(margin_pct) - at(-margin_pct);
    svg.rect((at(-margin_pct), TOP), (band, bottom - TOP), "shade", "the margin");
    for tick in scale.ticks() {
        for pct in if tick == 0.0 { vec![0.0] } else { vec![-tick, tick] } {
            let class = if pct == 0.0 { "axis" } else { "grid" };
            svg.line((at(pct), TOP), (at(pct), bottom), class);
            svg.text((at(pct), bottom + 18.0), TextAnchor::Middle, "tick", &tick_text(pct));
        }
    }
    for (row, place) in rows.iter().zip(0u32..) {
        let y = TOP + ROW * (f64::from(place) + 0.5);
        let [change, low, high] = row.change_pct.map(at);
        svg.text((LEFT - 12.0, y + 5.0), TextAnchor::End, "", row.name);
        svg.path(&[Some((low, y)), Some((high, y))], "line-0");
        svg.rect((change - 4.0, y - 4.0), (8.0, 8.0), "line-0", "");
        svg.rect((LEFT, y - ROW / 2.0), (RIGHT - LEFT, ROW), "hit", row.text);
    }
    let caption = format!("{title}, with its interval; the band is the margin");
    svg.text((middle, bottom + 38.0), TextAnchor::Middle, "caption", &caption);
    Some(svg.finish())
}

fn tick_text(pct: f64) -> String {
    let sign = match pct {
        pct if pct < 0.0 => "−",
        0.0 => "",
        _ => "+",
    };
    format!("{sign}{} %", (pct.abs() * 1e6).round() / 1e6)
}
