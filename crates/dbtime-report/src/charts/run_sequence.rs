//! The values of runs in the order of their starts: drift, order and groups are seen here.

use super::axis::{AxisScale, plain_tick, time_tick};
use super::svg::{Svg, TextAnchor};
use crate::format::{fit, width};

/// A run of the plot.
pub(crate) struct SequencedRun {
    /// Which of the sides it is of, from 0.
    pub(crate) side: usize,
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

/// More runs than this have no letters below them: there is no room.
const MOST_LETTERS: usize = 60;

/// Between two lines below the plot.
const LINE: f64 = 18.0;

/// Letters of such a line.
const LINE_COLUMNS: usize = 120;

/// There are so many colours.
const COLORS: usize = 6;

/// The plot as SVG, with the names of the sides in its legend where they are more than letters;
/// `None` without runs.
pub(crate) fn run_sequence(
    runs: &[SequencedRun],
    sides: &[&str],
    name: &str,
    is_time: bool,
) -> Option<String> {
    let most = runs.iter().map(|run| run.value).fold(0.0, f64::max);
    if runs.is_empty() {
        return None;
    }
    let scale = AxisScale::linear(most, (BOTTOM, TOP));
    let description = format!("{name} of each run, by their starts");
    let legend = legend(sides);
    let height = HEIGHT + LINE * legend.len() as f64;
    let mut svg = Svg::new("sequence", (WIDTH, height), "Runs by their starts", &description);
    for tick in scale.ticks() {
        let y = scale.at(tick);
        svg.line((LEFT, y), (RIGHT, y), if tick == 0.0 { "axis" } else { "grid" });
        let text = if is_time { time_tick(tick) } else { plain_tick(tick) };
        svg.text((LEFT - 8.0, y + 4.0), TextAnchor::End, "tick", &text);
    }
    let step = (RIGHT - LEFT) / runs.len() as f64;
    for (run, place) in runs.iter().zip(0u32..) {
        let (x, y) = (LEFT + step * (f64::from(place) + 0.5), scale.at(run.value));
        let color = format!("line-{}", run.side % COLORS);
        let class = if run.is_excluded { "hollow" } else { &color };
        svg.rect((x - DOT / 2.0, y - DOT / 2.0), (DOT, DOT), class, &run.text);
        if runs.len() <= MOST_LETTERS {
            svg.text((x, BOTTOM + 18.0), TextAnchor::Middle, "tick", &letter(run.side));
        }
    }
    let caption = format!("{name}, runs by their starts; hollow: not in the verdict");
    let mut y = HEIGHT - 6.0;
    for line in [caption].iter().chain(&legend) {
        svg.text(((LEFT + RIGHT) / 2.0, y), TextAnchor::Middle, "caption", line);
        y += LINE;
    }
    Some(svg.finish())
}

/// What the letters stand for, as lines that fit the plot.
fn legend(sides: &[&str]) -> Vec<String> {
    let named = sides.iter().enumerate().filter(|(at, side)| letter(*at) != **side);
    let entries = named.map(|(at, side)| format!("{}: {side}", letter(at)));
    let mut lines: Vec<String> = Vec::new();
    for entry in entries {
        match lines.last_mut() {
            Some(line) if width(line) + width(&entry) + 2 <= LINE_COLUMNS => {
                *line += "; ";
                *line += &entry;
            }
            _ => lines.push(fit(&entry, LINE_COLUMNS)),
        }
    }
    lines
}

/// `A`, `B`, …, and numbers from 27 on.
fn letter(side: usize) -> String {
    match u8::try_from(side) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => (side + 1).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sides_have_lines_that_fit() {
        assert_eq!(legend(&["A", "B"]), Vec::<String>::new(), "letters alone");
        let names = ["pool-of-threads with 16 connections"; 4];
        let lines = legend(&names);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line) <= LINE_COLUMNS));
        assert!(lines[1].starts_with("D: pool"), "{lines:?}");
    }
}
