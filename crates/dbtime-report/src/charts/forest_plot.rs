//! Changes with their intervals, one below the other, against no change and the margin.

use super::axis::AxisScale;
use super::svg::{Svg, TextAnchor};
use crate::format::{fit, signed_us, width};
use crate::labels::distinct_labels;

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
    Microseconds,
}

/// A ratio falls by all of it and no more. Unit: percent.
pub(crate) const MOST_FALL_PCT: f64 = 100.0;

/// What few runs leave open is drawn to so many times the largest change.
const MOST_OPEN: f64 = 4.0;

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
    let changes = rows.iter().map(|row| row.change);
    let (margin, most_fall, reach, explained) = match unit {
        ForestUnit::Percent { margin } => {
            let explained = "with its interval; the band is the margin";
            (margin, MOST_FALL_PCT, forest_reach(changes, margin), explained)
        }
        ForestUnit::Microseconds => {
            let reach = changes.flatten().map(f64::abs).fold(0.0, f64::max);
            (0.0, f64::INFINITY, reach, "with its interval")
        }
    };
    if rows.is_empty() || !reach.is_finite() {
        return None;
    }
    let left = left_of_plot(rows);
    let high = AxisScale::linear(reach, (left, RIGHT)).end();
    let low = high.min(most_fall);
    let zero = left + (RIGHT - left) * low / (low + high);
    let scale = AxisScale::linear(reach, (zero, RIGHT));
    let at = |value: f64| match value < 0.0 {
        true => (2.0 * zero - scale.at(-value)).max(left),
        false => scale.at(value),
    };
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::new(id, (WIDTH, bottom + 44.0), title, &format!("Each change {explained}"));
    if margin > 0.0 {
        let band = at(margin) - at(-margin);
        svg.rect((at(-margin), TOP), (band, bottom - TOP), "shade", "the margin");
    }
    for value in tick_values(&scale, low) {
        let class = if value == 0.0 { "axis" } else { "grid" };
        svg.line((at(value), TOP), (at(value), bottom), class);
        let text = unit.tick_text(value);
        svg.text((at(value), bottom + 18.0), TextAnchor::Middle, "tick", &text);
    }
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let names = distinct_labels(&names, ((left - GAP) / LETTER).round() as usize);
    for ((row, name), place) in rows.iter().zip(&names).zip(0u32..) {
        let y = TOP + ROW * (f64::from(place) + 0.5);
        let [change, low, high] = row.change.map(at);
        svg.text((left - GAP, y + 5.0), TextAnchor::End, "", name);
        svg.path(&[Some((low, y)), Some((high, y))], "line-0");
        if row.change[2] > scale.end() {
            let arrow = [(-6.0, -5.0), (0.0, 0.0), (-6.0, 5.0)];
            svg.path(&arrow.map(|(right, down)| Some((high + right, y + down))), "line-0");
        }
        svg.rect((change - 4.0, y - 4.0), (8.0, 8.0), "line-0", "");
        svg.rect((left, y - ROW / 2.0), (RIGHT - left, ROW), "hit", row.text);
    }
    let caption = fit(&format!("{title}, {explained}"), (WIDTH / LETTER) as usize);
    svg.text((WIDTH / 2.0, bottom + 38.0), TextAnchor::Middle, "caption", &caption);
    Some(svg.finish())
}

/// How far a drawing of changes with the ends of their intervals reaches to each side: as far as
/// they do, and an interval not many times as far as the largest change. Unit: percent.
pub(crate) fn forest_reach(changes: impl Iterator<Item = [f64; 3]> + Clone, margin: f64) -> f64 {
    let of_changes = changes.clone().map(|[change, ..]| change.abs());
    let largest = of_changes.fold(1.5 * margin, f64::max);
    let most = (MOST_OPEN * largest).max(MOST_FALL_PCT);
    let ends = changes.flatten().filter(|end| !end.is_nan()).map(|end| end.abs().min(most));
    ends.fold(largest, f64::max)
}

/// Where the axis has its lines: at round values, and at its lower end.
fn tick_values(scale: &AxisScale, low: f64) -> Vec<f64> {
    let ticks = scale.ticks();
    let below = ticks.iter().filter(|tick| **tick > 0.0 && **tick < low).map(|tick| -tick);
    [-low].into_iter().chain(below).chain(ticks.iter().copied()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(change: [f64; 3], unit: ForestUnit) -> String {
        let rows = [ForestRow { name: "x", change, text: "x" }];
        forest_plot("forest", &rows, unit, "change").expect("a row")
    }

    /// Of few pairs the interval of a ratio has an upper end that is far away.
    #[test]
    fn no_axis_goes_beyond_what_a_ratio_can_fall_by() {
        let unit = ForestUnit::Percent { margin: 1.0 };
        let wide = plot([50.0, -80.0, 900.0], unit);
        assert!(wide.contains("−100 %") && wide.contains("+200 %"), "{wide}");
        assert!(!wide.contains("−200 %") && !wide.contains("900 %"), "{wide}");
        let paths = |svg: &str| svg.matches("<path").count();
        assert_eq!(paths(&wide), 2, "the interval, and that it goes on: {wide}");
        let narrow = plot([5.0, -8.0, 20.0], unit);
        assert!(narrow.contains("−20 %") && narrow.contains("+20 %"), "{narrow}");
        assert_eq!(paths(&narrow), 1, "{narrow}");
        let times = plot([50.0, -800.0, 900.0], ForestUnit::Microseconds);
        assert_eq!(paths(&times), 1, "a difference falls as far as it rises: {times}");
    }

    #[test]
    fn what_few_runs_leave_open_does_not_hide_the_changes() {
        let reach = |changes: &[[f64; 3]]| forest_reach(changes.iter().copied(), 1.0);
        assert_eq!(reach(&[[2.0, -3.0, 9.0]]), 9.0);
        assert_eq!(reach(&[[2.0, -30.0, 9e9]]), 100.0);
        assert_eq!(reach(&[[300.0, 200.0, 9e9]]), 1200.0);
        assert_eq!(reach(&[[f64::NAN; 3]]), 1.5, "the margin");
    }
}
