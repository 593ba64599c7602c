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
    /// Whether other work on the machine was in it.
    pub(crate) is_noisy: bool,
    /// What is shown of it on a pointer.
    pub(crate) text: String,
}

/// A side of the plot.
pub(crate) struct SequencedSide<'a> {
    /// What stands for it below the plot.
    pub(crate) letter: String,
    pub(crate) name: &'a str,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 880.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 232.0;
const DOT: f64 = 9.0;

/// A diamond has as much to see as a square.
const DIAMOND: f64 = 12.0;

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
    sides: &[SequencedSide<'_>],
    name: &str,
    is_time: bool,
) -> Option<String> {
    if runs.is_empty() {
        return None;
    }
    let scale = AxisScale::near(runs.iter().map(|run| run.value), (BOTTOM, TOP));
    let description = format!("{name} of each run, by their starts");
    let legend = legend(sides);
    let height = HEIGHT + LINE * legend.len() as f64;
    let mut svg = Svg::new("sequence", (WIDTH, height), "Runs by their starts", &description);
    for tick in scale.ticks() {
        let y = scale.at(tick);
        svg.line((LEFT, y), (RIGHT, y), "grid");
        let text = if is_time { time_tick(tick) } else { plain_tick(tick) };
        svg.text((LEFT - 8.0, y + 4.0), TextAnchor::End, "tick", &text);
    }
    svg.line((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis");
    let step = (RIGHT - LEFT) / runs.len() as f64;
    for (run, place) in runs.iter().zip(0u32..) {
        let at = (LEFT + step * (f64::from(place) + 0.5), scale.at(run.value));
        point(&mut svg, run, at);
        if let Some(side) = sides.get(run.side).filter(|_| runs.len() <= MOST_LETTERS) {
            svg.text((at.0, BOTTOM + 18.0), TextAnchor::Middle, "tick", &side.letter);
        }
    }
    let mut y = HEIGHT - 6.0;
    for line in [caption(runs, name, &scale)].iter().chain(&legend) {
        svg.text(((LEFT + RIGHT) / 2.0, y), TextAnchor::Middle, "caption", line);
        y += LINE;
    }
    Some(svg.finish())
}

/// A run, by its shape whether it counts and whether it is noisy.
fn point(svg: &mut Svg, run: &SequencedRun, (x, y): (f64, f64)) {
    let color = format!("line-{}", run.side % COLORS);
    let (place, size) = ((x - DOT / 2.0, y - DOT / 2.0), (DOT, DOT));
    match (run.is_excluded, run.is_noisy) {
        (true, _) => svg.rect(place, size, "hollow", &run.text),
        (false, true) => {
            svg.diamond((x, y), DIAMOND, &color);
            svg.rect(place, size, "hit", &run.text);
        }
        (false, false) => svg.rect(place, size, &color, &run.text),
    }
}

/// What the plot shows, and which signs are in it.
fn caption(runs: &[SequencedRun], name: &str, scale: &AxisScale) -> String {
    let mut caption = format!("{name}, runs by their starts");
    if runs.iter().any(|run| run.is_excluded) {
        caption += "; hollow: not in the verdict";
    }
    if runs.iter().any(|run| run.is_noisy && !run.is_excluded) {
        caption += "; diamond: noisy";
    }
    caption + scale.begin_note()
}

/// What the letters stand for, as lines that fit the plot.
fn legend(sides: &[SequencedSide<'_>]) -> Vec<String> {
    let named = sides.iter().filter(|side| side.letter != side.name);
    let entries = named.map(|side| format!("{}: {}", side.letter, side.name));
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
pub(crate) fn side_letter(side: usize) -> String {
    match u8::try_from(side) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => (side + 1).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides<'a>(names: &[&'a str]) -> Vec<SequencedSide<'a>> {
        let side = |(at, &name): (usize, &&'a str)| SequencedSide { letter: side_letter(at), name };
        names.iter().enumerate().map(side).collect()
    }

    fn run(side: usize, value: f64) -> SequencedRun {
        let text = format!("run of {side}");
        SequencedRun { side, value, is_excluded: false, is_noisy: false, text }
    }

    #[test]
    fn names_of_sides_have_lines_that_fit() {
        assert_eq!(legend(&sides(&["A", "B"])), Vec::<String>::new(), "letters alone");
        let lines = legend(&sides(&["pool-of-threads with 16 connections"; 4]));
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line) <= LINE_COLUMNS));
        assert!(lines[1].starts_with("D: pool"), "{lines:?}");
    }

    #[test]
    fn a_difference_of_five_percent_is_seen() {
        let runs = [run(0, 1000.0), run(1, 950.0)];
        let svg = run_sequence(&runs, &sides(&["A", "B"]), "throughput", false).expect("two runs");
        assert!(svg.contains(">980</text>") && !svg.contains(">0</text>"), "{svg}");
        assert!(svg.contains("the axis does not begin at 0"), "{svg}");
        let far = [run(0, 1000.0), run(1, 100.0)];
        let svg = run_sequence(&far, &sides(&["A", "B"]), "throughput", false).expect("two runs");
        assert!(svg.contains(">0</text>") && !svg.contains("does not begin"), "{svg}");
        assert!(svg.contains(">A</text>") && svg.contains(">B</text>"), "{svg}");
    }

    #[test]
    fn noisy_runs_and_those_of_no_verdict_have_shapes_of_their_own() {
        let plot = |run: SequencedRun| {
            run_sequence(&[run], &sides(&["A"]), "throughput", false).expect("a run")
        };
        let sound = plot(run(0, 5.0));
        assert!(!sound.contains("<path") && !sound.contains("noisy"), "{sound}");
        let noisy = plot(SequencedRun { is_noisy: true, ..run(0, 5.0) });
        assert!(noisy.contains("<path class=\"line line-0\""), "{noisy}");
        assert!(noisy.contains("diamond: noisy") && noisy.contains("run of 0"), "{noisy}");
        let left_out = plot(SequencedRun { is_excluded: true, ..run(0, 5.0) });
        assert!(left_out.contains("class=\"hollow\""), "{left_out}");
        assert!(left_out.contains("hollow: not in the verdict"), "{left_out}");
    }
}
