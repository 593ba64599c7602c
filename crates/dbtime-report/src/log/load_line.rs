//! Load over time in a line of signs.

use crate::format::{factor, finite, percent, seconds};
use dbtime_model::log_digest::{DigestTimeline, TimelineBin};

/// Heights of a sign, in eighths of a line.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What stands for no load: a blank that neither pages nor Markdown leave out.
const PAUSE: char = '\u{a0}';

/// How many signs there are at most.
const MOST_CELLS: usize = 60;

/// A stretch of time, and what fell into it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LoadCell {
    /// When it begins. Unit: microseconds.
    pub(super) start_us: i64,
    /// How many records ended in it.
    pub(super) count: u64,
    /// How many of them failed; `None`: unknown.
    pub(super) errors: Option<u64>,
    /// The time of records in it. Unit: microseconds.
    pub(super) busy_us: f64,
}

/// Load in stretches of one length.
pub(super) struct LoadCells {
    /// Unit: seconds.
    pub(super) length_s: f64,
    pub(super) cells: Vec<LoadCell>,
}

impl LoadCells {
    /// At most so many stretches, those without load too, from the first step to the last; none of
    /// a log without times, or whose steps lie too far apart to be of one log.
    pub(super) fn of(timeline: &DigestTimeline, most: usize) -> Self {
        let none = Self { length_s: 0.0, cells: Vec::new() };
        let step_us = i128::from(timeline.step_s) * 1_000_000;
        let bins = &timeline.bins;
        let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return none };
        let begin = i128::from(first.start_us);
        // A file may have them in any order.
        let span = i128::from(last.start_us) - begin;
        if step_us == 0 || span < 0 {
            return none;
        }
        let steps = span / step_us + 1;
        let merged = (steps + most as i128 - 1) / most.max(1) as i128;
        let length_us = merged * step_us;
        let start = |at: i128| i64::try_from(begin + at * length_us).unwrap_or(i64::MAX);
        let count = (steps + merged - 1) / merged;
        let mut cells: Vec<LoadCell> =
            (0..count).map(|at| LoadCell { start_us: start(at), ..LoadCell::default() }).collect();
        for bin in bins {
            let at = (i128::from(bin.start_us) - begin) / length_us;
            if let Some(cell) = usize::try_from(at).ok().and_then(|at| cells.get_mut(at)) {
                cell.add(bin);
            }
        }
        Self { length_s: length_us as f64 / 1e6, cells }
    }

    /// How many records ran at once in a stretch, on average.
    pub(super) fn at_once(&self, cell: &LoadCell) -> f64 {
        finite(cell.busy_us / (self.length_s * 1e6)).max(0.0)
    }

    /// How many records ended in a stretch a second.
    pub(super) fn per_s(&self, cell: &LoadCell) -> f64 {
        finite(cell.count as f64 / self.length_s)
    }
}

impl LoadCell {
    fn add(&mut self, bin: &TimelineBin) {
        self.count = self.count.saturating_add(bin.count);
        let known = [self.errors, bin.errors].into_iter().flatten();
        self.errors = known.reduce(u64::saturating_add);
        self.busy_us += finite(bin.busy_us).max(0.0);
    }
}

/// The line, and what its highest sign means: of a log without durations by count. `None`: there is
/// nothing to draw, or only one stretch.
pub(super) fn load_line(timeline: &DigestTimeline, has_times: bool) -> Option<String> {
    let load = LoadCells::of(timeline, MOST_CELLS);
    let value = |cell: &LoadCell| if has_times { load.at_once(cell) } else { load.per_s(cell) };
    let most = load.cells.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
    let top = value(most);
    if load.cells.len() < 2 || top <= 0.0 {
        return None;
    }
    let signs: String = load.cells.iter().map(|cell| sign(value(cell) / top)).collect();
    let what = if has_times { "running" } else { "a second" };
    let at = super::instant_text(most.start_us);
    let length = seconds(load.length_s);
    let failed = failed_share(most);
    Some(format!("{signs} peak {} {what}, {at}{failed}; each bar {length}", factor(top)))
}

/// Nothing of nothing, so that a pause is not taken for a little load.
fn sign(share: f64) -> char {
    if share <= 0.0 {
        return PAUSE;
    }
    let at = (share * HEIGHTS.len() as f64).ceil() as usize;
    HEIGHTS[at.clamp(1, HEIGHTS.len()) - 1]
}

fn failed_share(cell: &LoadCell) -> String {
    let Some(errors) = cell.errors.filter(|errors| *errors > 0) else { return String::new() };
    let share = errors as f64 / cell.count.max(1) as f64;
    format!(", {} of those that ended then failed", percent(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(bins: &[(i64, f64)]) -> DigestTimeline {
        let bin = |&(start_s, busy_s): &(i64, f64)| TimelineBin {
            start_us: start_s * 1_000_000,
            count: 4,
            busy_us: busy_s * 1e6,
            ..TimelineBin::default()
        };
        DigestTimeline { step_s: 4, bins: bins.iter().map(bin).collect() }
    }

    #[test]
    fn steps_without_load_are_blanks() {
        let line = load_line(&timeline(&[(0, 4.0), (8, 8.0), (12, 1.0)]), true);
        let expected = "▄\u{a0}█▁ peak 2 running, 1970-01-01 00:00:08; each bar 4 s";
        assert_eq!(line.as_deref(), Some(expected));
        let line = load_line(&timeline(&[(0, 4.0), (4, 8.0)]), false).expect("two steps");
        assert!(line.starts_with("██ peak 1 a second, "), "{line}");
    }

    #[test]
    fn many_steps_share_a_sign_and_nothing_is_lost() {
        let bins: Vec<(i64, f64)> = (0..1000).map(|step| (step * 4, 2.0)).collect();
        let load = LoadCells::of(&timeline(&bins), MOST_CELLS);
        assert_eq!(load.cells.len(), 59);
        assert_eq!(load.cells.iter().map(|cell| cell.count).sum::<u64>(), 4000);
        assert!((load.at_once(&load.cells[0]) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn any_timeline_is_drawn_or_left_out() {
        let odd: [&[(i64, f64)]; 4] =
            [&[], &[(5, 1.0)], &[(8, 1.0), (0, 1.0)], &[(0, f64::NAN), (4, -1.0)]];
        for bins in odd {
            assert_eq!(load_line(&timeline(bins), true), None, "{bins:?}");
        }
        let far = DigestTimeline {
            step_s: u64::MAX,
            bins: [i64::MIN, i64::MAX]
                .map(|start_us| TimelineBin { start_us, count: 1, ..TimelineBin::default() })
                .to_vec(),
        };
        assert!(LoadCells::of(&far, 5).cells.len() <= 5);
    }
}
