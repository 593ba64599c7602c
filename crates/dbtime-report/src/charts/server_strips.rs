//! What a server did over a run, a strip for each of its counters: rates of what counts, values of
//! what does not.

use super::heat_map::{LEFT, RIGHT, TimeScale};
use super::svg::{Svg, TextAnchor};
use crate::format::{count, rate, short_bytes, us};
use dbtime_model::counters::CounterKind;
use dbtime_model::record::{CounterUnit, Run, SampledCounter};

/// More points than this cannot be told apart.
const MAX_POINTS: usize = 480;

/// One counter over the run.
pub(super) struct ServerStrip {
    name: String,
    meaning: String,
    unit: CounterUnit,
    is_rate: bool,
    /// From when until when it was so much.
    steps: Vec<(f64, f64, f64)>,
}

/// A strip for each counter that did anything, and the server's CPU where it was seen.
pub(super) fn strips(run: &Run) -> Vec<ServerStrip> {
    let sampled = run.record.sampled_counters.iter().enumerate();
    let counters = sampled.map(|(place, counter)| of_counter(run, place, counter));
    cpu(run).into_iter().chain(counters).filter(ServerStrip::has_values).collect()
}

/// What reading the counters took, to be said behind what else there is to say.
pub(super) fn cost(run: &Run) -> String {
    let mut took: Vec<f64> = run.server_seconds.iter().map(|second| second.took_us).collect();
    took.sort_by(f64::total_cmp);
    took.get(took.len() / 2).map_or(String::new(), |median| {
        format!("; the counters were read once a second, in {} in the median", us(*median))
    })
}

fn of_counter(run: &Run, place: usize, counter: &SampledCounter) -> ServerStrip {
    let is_rate = counter.kind == CounterKind::Counter;
    let value = |at: usize| {
        let second = run.server_seconds.get(at)?;
        let value = second.values.get(place).copied().flatten();
        value.filter(|v| v.is_finite() && second.at_s.is_finite()).map(|v| (second.at_s, v))
    };
    let step = |at: usize| {
        let ((from, before), (to, after)) = (value(at)?, value(at + 1)?);
        // What fell was set to zero: nothing is known of that second.
        let known = !is_rate || after >= before;
        let figure = if is_rate { (after - before) / (to - from) } else { after };
        (to > from && known).then_some((from, to, figure))
    };
    let steps = (0..run.server_seconds.len().saturating_sub(1)).filter_map(step).collect();
    ServerStrip {
        name: counter.name.clone(),
        meaning: counter.meaning.clone(),
        unit: counter.unit,
        is_rate,
        steps: thinned(steps),
    }
}

/// The CPU of the server, which every second of the series has.
fn cpu(run: &Run) -> Option<ServerStrip> {
    let step = |row: &dbtime_model::record::SeriesRow| {
        let from = f64::from(row.second);
        Some((from, from + 1.0, row.server_pct.filter(|pct| pct.is_finite())?))
    };
    let steps: Vec<_> = run.series.iter().filter_map(step).collect();
    (!run.server_seconds.is_empty() && !steps.is_empty()).then(|| ServerStrip {
        name: "server CPU".to_owned(),
        meaning: "percent of one CPU".to_owned(),
        unit: CounterUnit::Count,
        is_rate: false,
        steps: thinned(steps),
    })
}

/// Neighbours put together until there are few enough; of each group the largest.
fn thinned(steps: Vec<(f64, f64, f64)>) -> Vec<(f64, f64, f64)> {
    let size = steps.len().div_ceil(MAX_POINTS).max(1);
    let group = |group: &[(f64, f64, f64)]| {
        let most = group.iter().map(|step| step.2).fold(f64::NEG_INFINITY, f64::max);
        (group[0].0, group[group.len() - 1].1, most)
    };
    steps.chunks(size).map(group).collect()
}

impl ServerStrip {
    /// The room that one takes. Unit: pixels of the drawing.
    pub(super) const HEIGHT: f64 = 50.0;

    /// Its name with what it is.
    pub(super) fn caption(&self) -> String {
        let per = if self.is_rate { ", per second" } else { "" };
        if self.meaning.is_empty() {
            return format!("{}{per}", self.name);
        }
        format!("{}: {}{per}", self.name, self.meaning)
    }

    fn has_values(&self) -> bool {
        self.steps.iter().any(|step| step.2 > 0.0)
    }

    fn figure(&self, value: f64) -> String {
        let per = if self.is_rate { "/s" } else { "" };
        match self.unit {
            CounterUnit::Bytes => format!("{}B{per}", short_bytes(value)),
            _ if value >= 1e4 => format!("{}{per}", count(value.round() as u64)),
            _ => format!("{}{per}", rate((value * 100.0).round() / 100.0)),
        }
    }

    /// Draws it below `top`.
    pub(super) fn draw(&self, svg: &mut Svg, x: TimeScale, top: f64) {
        let (head, bottom) = (top + 17.0, top + Self::HEIGHT - 4.0);
        let most = self.steps.iter().map(|step| step.2).fold(0.0, f64::max);
        let y = |value: f64| bottom - (value / most).clamp(0.0, 1.0) * (bottom - head);
        let point = |step: &(f64, f64, f64)| {
            [(x.at(step.0), bottom, y(step.2)), (x.at(step.1), bottom, y(step.2))]
        };
        svg.text((LEFT, top + 12.0), TextAnchor::Start, "strip-name", &self.caption());
        svg.text((LEFT - 8.0, head + 8.0), TextAnchor::End, "tick", &self.figure(most));
        // A gap in what is known is one in the drawing.
        for steps in self.steps.chunk_by(|a, b| b.0 <= a.1 + 1e-6) {
            svg.area(&steps.iter().flat_map(point).collect::<Vec<_>>(), "strip");
        }
        svg.line((LEFT, bottom), (RIGHT, bottom), "grid");
        for step in &self.steps {
            let tip = format!("{:.1}–{:.1} s: {}", step.0, step.1, self.figure(step.2));
            let (from, to) = (x.at(step.0), x.at(step.1));
            svg.rect((from, head), (to - from, bottom - head), "hit", &tip);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::ServerSecond;

    fn run(kind: CounterKind, values: &[Option<f64>]) -> Run {
        let counter = SampledCounter {
            name: "pages".to_owned(),
            kind,
            unit: CounterUnit::Count,
            meaning: "pages flushed".to_owned(),
        };
        let second = |(at, value): (usize, &Option<f64>)| ServerSecond {
            at_s: at as f64 * 0.5,
            took_us: 1.0,
            values: vec![*value],
        };
        let mut run = Run::default();
        run.record.sampled_counters = vec![counter];
        run.server_seconds = values.iter().enumerate().map(second).collect();
        run
    }

    #[test]
    fn what_counts_is_shown_as_its_rate_and_a_reset_as_nothing() {
        let strips = strips(&run(CounterKind::Counter, &[Some(4.0), Some(9.0), Some(1.0), None]));
        assert_eq!(strips.len(), 1);
        assert_eq!(strips[0].steps, [(0.0, 0.5, 10.0)]);
        assert_eq!(strips[0].caption(), "pages: pages flushed, per second");
        let run = run(CounterKind::Counter, &[Some(4.0), None, None]);
        assert_eq!(cost(&run), "; the counters were read once a second, in 1.00 µs in the median");
        assert_eq!(cost(&Run::default()), "");
    }

    #[test]
    fn what_is_a_value_is_shown_as_it_is_and_nothing_as_no_strip() {
        let gauge = strips(&run(CounterKind::Gauge, &[Some(4.0), Some(9.0), Some(1.0)]));
        assert_eq!(gauge[0].steps, [(0.0, 0.5, 9.0), (0.5, 1.0, 1.0)]);
        let idle = strips(&run(CounterKind::Counter, &[Some(4.0), Some(4.0)]));
        assert!(idle.is_empty());
    }
}
