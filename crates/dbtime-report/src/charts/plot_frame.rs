//! The frame of a plot of a study: grid, ticks, caption.

use super::axis::{AxisScale, plain_tick, time_tick};
use super::svg::{Svg, TextAnchor};
use crate::format::{clean, fit};

pub(super) const SIZE: (f64, f64) = (900.0, 330.0);
pub(super) const LEFT: f64 = 76.0;
pub(super) const RIGHT: f64 = 800.0;
pub(super) const TOP: f64 = 16.0;
pub(super) const BOTTOM: f64 = 270.0;

/// The range of coordinates of a vertical axis.
pub(super) const UPWARD: (f64, f64) = (BOTTOM, TOP);

const DOT: f64 = 5.0;
const HIT: f64 = 14.0;

/// Lines across with their values.
pub(super) fn values(svg: &mut Svg, scale: &AxisScale, is_time: bool) {
    for tick in scale.ticks() {
        let y = scale.at(tick);
        svg.line((LEFT, y), (RIGHT, y), "grid");
        let text = if is_time { time_tick(tick) } else { plain_tick(tick) };
        svg.text((LEFT - 8.0, y + 4.0), TextAnchor::End, "tick", &text);
    }
    svg.line((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis");
}

/// A value below the plot.
pub(super) fn below(svg: &mut Svg, x: f64, text: &str) {
    svg.line((x, BOTTOM), (x, BOTTOM + 4.0), "axis");
    svg.text((x, BOTTOM + 18.0), TextAnchor::Middle, "tick", &fit(&clean(text), 14));
}

/// What the plot shows.
pub(super) fn caption(svg: &mut Svg, text: &str) {
    let middle = (LEFT + RIGHT) / 2.0;
    svg.text((middle, BOTTOM + 44.0), TextAnchor::Middle, "caption", text);
}

/// A run, with what is shown of it on a pointer.
pub(super) fn dot(svg: &mut Svg, at: (f64, f64), class: &str, tip: &str) {
    let square = |side: f64| ((at.0 - side / 2.0, at.1 - side / 2.0), (side, side));
    let (place, size) = square(DOT);
    svg.rect(place, size, &format!("dot {class}"), "");
    let (place, size) = square(HIT);
    svg.rect(place, size, "hit", tip);
}

/// Coordinates of texts at the right, in the order of the values, moved apart where they would lie
/// on each other.
pub(super) fn apart(at: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..at.len()).collect();
    order.sort_by(|a, b| at[*a].total_cmp(&at[*b]));
    let (mut placed, mut least) = (at.to_vec(), f64::NEG_INFINITY);
    for one in order {
        placed[one] = placed[one].max(least);
        least = placed[one] + 14.0;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_one_place_stand_below_each_other() {
        assert_eq!(apart(&[100.0, 20.0, 101.0]), [100.0, 20.0, 114.0]);
        assert_eq!(apart(&[]), Vec::<f64>::new());
    }
}
