//! A figure of the runs of a sweep over the factor with the most values; other factors make lines
//! of their own.

use super::axis::{AxisScale, plain_tick, time_tick};
use super::svg::{Svg, TextAnchor};
use crate::format::{clean, if_any, rate, us};
use crate::labels::distinct_labels;
use crate::sweep_story::combination;
use dbtime_model::Nanos;
use dbtime_model::record::{RunFigure, RunFigureUnit, ValidityGrade, combination_text};
use dbtime_model::study::MadeRun;
use dbtime_model::units::parse_rate;

/// Lines of one chart; colours for more cannot be told apart.
pub(crate) const MAX_LINES: usize = 6;

/// A figure that is drawn.
pub(crate) struct SweepChart {
    /// Part of the ids in the page.
    pub(crate) name: &'static str,
    /// What stands above it.
    pub(crate) title: &'static str,
    /// The key of the figure.
    key: &'static str,
}

impl SweepChart {
    fn figure(&self) -> &'static RunFigure {
        RunFigure::listed(self.key)
    }

    /// `None`: a run does not have it, and no point.
    fn value(&self, run: &MadeRun<'_>) -> Option<f64> {
        self.figure().value(run.record)
    }

    fn is_time(&self) -> bool {
        self.figure().unit == RunFigureUnit::Us
    }

    fn shown(&self, value: f64) -> String {
        if self.is_time() { us(value) } else { format!("{}/s", rate(value)) }
    }
}

/// The charts of a sweep, in reading order.
pub(crate) const SWEEP_CHARTS: [SweepChart; 3] = [
    SweepChart {
        name: "sweep-throughput",
        title: "Throughput, transactions per second",
        key: "throughput",
    },
    SweepChart { name: "sweep-mean", title: "Mean response", key: "mean" },
    SweepChart { name: "sweep-p99", title: "99th percentile of the response", key: "p99" },
];

const SIZE: (f64, f64) = (520.0, 300.0);
const LEFT: f64 = 58.0;
const RIGHT: f64 = 500.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 252.0;

/// The runs of a sweep, ordered for drawing.
pub(crate) struct SweepLines<'a> {
    /// The factor that goes to the right; `None` where nothing was swept.
    pub(crate) factor: Option<String>,
    /// Its values, numbers in their order.
    pub(super) values: Vec<String>,
    /// The other factors of each line, and its runs by the place of their value.
    pub(crate) lines: Vec<(String, Vec<(usize, &'a MadeRun<'a>)>)>,
}

impl<'a> SweepLines<'a> {
    /// Of the runs in which something was completed.
    pub(crate) fn new(runs: &'a [MadeRun<'a>]) -> Self {
        let factor = widest(runs);
        let mut lines = Self { values: values(runs, factor.as_deref()), factor, lines: Vec::new() };
        for run in runs.iter().filter(|run| run.record.counts.completed > 0) {
            let value = lines.factor.as_deref().map_or("", |name| value_of(run, name));
            let Some(place) = lines.values.iter().position(|known| known == value) else {
                continue;
            };
            let rest = run.factors.iter().filter(|f| Some(&f.name) != lines.factor.as_ref());
            let name = combination_text(rest);
            match lines.lines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push((place, run)),
                None => lines.lines.push((name, vec![(place, run)])),
            }
        }
        lines.lines.iter_mut().for_each(|(_, points)| points.sort_by_key(|(place, _)| *place));
        lines
    }

    /// The chart; `None` without at least two points to compare.
    pub(crate) fn draw(&self, chart: &SweepChart) -> Option<String> {
        let points = self.lines.iter().map(|(_, points)| points.len()).sum::<usize>();
        if points < 2 {
            return None;
        }
        let shown = &self.lines[..self.lines.len().min(MAX_LINES)];
        let all =
            || shown.iter().flat_map(|(_, points)| points).filter_map(|(_, run)| chart.value(run));
        let y = match AxisScale::fitting(all(), (BOTTOM, TOP)) {
            log if log.is_log() => log,
            _ => AxisScale::near(all(), (BOTTOM, TOP)),
        };
        let mut svg = Svg::new(chart.name, SIZE, chart.title, &self.described(chart));
        self.grid(&mut svg, chart, &y);
        for (index, (_, points)) in shown.iter().enumerate() {
            let class = format!("line-{index}");
            svg.path(&self.means(chart, points, &y), &class);
            for (place, run) in points {
                let Some(value) = chart.value(run) else { continue };
                let (x, y) = (self.x(*place), y.at(value));
                let tip =
                    format!("{}, {}: {}", run.trial.folder, combination(run), chart.shown(value));
                mark(&mut svg, run, (x, y), &class);
                svg.rect((x - 7.0, y - 7.0), (14.0, 14.0), "hit", &tip);
            }
        }
        Some(svg.finish())
    }

    fn x(&self, place: usize) -> f64 {
        LEFT + (place as f64 + 0.5) / self.values.len().max(1) as f64 * (RIGHT - LEFT)
    }

    /// A line through the means of repetitions.
    fn means(
        &self,
        chart: &SweepChart,
        points: &[(usize, &MadeRun<'_>)],
        y: &AxisScale,
    ) -> Vec<Option<(f64, f64)>> {
        let mean = |runs: &[(usize, &MadeRun<'_>)]| {
            let sum: Option<f64> = runs.iter().map(|(_, run)| chart.value(run)).sum();
            Some((self.x(runs[0].0), y.at(sum? / runs.len() as f64)))
        };
        points.chunk_by(|a, b| a.0 == b.0).map(mean).collect()
    }

    fn grid(&self, svg: &mut Svg, chart: &SweepChart, y: &AxisScale) {
        for tick in y.ticks() {
            let at = y.at(tick);
            svg.line((LEFT, at), (RIGHT, at), "grid");
            let text = if chart.is_time() { time_tick(tick) } else { plain_tick(tick) };
            svg.text((LEFT - 6.0, at + 4.0), TextAnchor::End, "tick", &text);
        }
        svg.line((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis");
        // Labels side by side: about nine signs of each, fewer labels where there are many.
        let every = self.values.len().div_ceil(8).max(1);
        let labels = distinct_labels(&self.values, 12);
        for (place, label) in labels.iter().enumerate().step_by(every) {
            svg.text((self.x(place), BOTTOM + 18.0), TextAnchor::Middle, "tick", label);
        }
        let caption = clean(self.factor.as_deref().unwrap_or("runs")) + y.begin_note();
        let middle = (LEFT + RIGHT) / 2.0;
        svg.text((middle, BOTTOM + 38.0), TextAnchor::Middle, "caption", &caption);
    }

    /// The chart in words.
    fn described(&self, chart: &SweepChart) -> String {
        let mut words: Vec<String> = Vec::new();
        for (name, points) in self.lines.iter().take(MAX_LINES) {
            let point = |(place, run): &(usize, &MadeRun<'_>)| {
                let shown = if_any(chart.value(run), |value| chart.shown(value));
                format!("{}: {shown}", self.values[*place])
            };
            let points = points.iter().map(point).collect::<Vec<_>>().join(", ");
            // One line needs no name.
            words.push(if self.lines.len() > 1 { format!("{name} {points}") } else { points });
        }
        words.join("; ")
    }
}

/// The point of a run: of one that is noisy a diamond, of one that is not valid a hollow square.
fn mark(svg: &mut Svg, run: &MadeRun<'_>, (x, y): (f64, f64), class: &str) {
    match run.record.validity.grade() {
        ValidityGrade::Sound => {
            svg.rect((x - 2.0, y - 2.0), (4.0, 4.0), &format!("dot {class}"), "");
        }
        ValidityGrade::Noisy => svg.diamond((x, y), 9.0, class),
        ValidityGrade::Invalid => svg.rect((x - 3.0, y - 3.0), (6.0, 6.0), "hollow", ""),
    }
}

fn value_of<'a>(run: &'a MadeRun<'_>, factor: &str) -> &'a str {
    run.factors.iter().find(|f| f.name == factor).map_or("", |f| f.value.as_str())
}

/// The factor with the most values, the first of equals.
fn widest(runs: &[MadeRun<'_>]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for factor in runs.iter().flat_map(|run| &run.factors) {
        if !names.contains(&factor.name.as_str()) {
            names.push(&factor.name);
        }
    }
    let most = names.iter().map(|name| values(runs, Some(name)).len()).max()?;
    let widest = names.into_iter().find(|name| values(runs, Some(name)).len() == most);
    widest.map(str::to_owned)
}

/// The values of a factor: in the order of the runs, numbers in their own.
fn values(runs: &[MadeRun<'_>], factor: Option<&str>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for run in runs {
        let value = factor.map_or("", |name| value_of(run, name));
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    sort_values(&mut values);
    values
}

/// Numbers, rates and durations in their order; what has none keeps its own.
pub(crate) fn sort_values(values: &mut [String]) {
    let is_of_all = |of: &SizeOf| values.iter().all(|value| of(value).is_some());
    if let Some(of) = KINDS.into_iter().find(is_of_all) {
        let size = |value: &String| of(value).unwrap_or(0.0);
        values.sort_by(|a, b| size(a).total_cmp(&size(b)));
    }
}

/// How much a value is, where it is of this kind.
type SizeOf = fn(&str) -> Option<f64>;

/// Numbers, rates, durations.
const KINDS: [SizeOf; 3] = [
    |text| text.parse().ok(),
    |text| parse_rate(text).ok(),
    |text| text.parse().ok().map(|Nanos(ns)| ns as f64),
];

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::{FactorValue, RunRecord};
    use dbtime_model::study::StudyTrial;

    fn run(pairs: &[(&str, &str)], tps: f64) -> MadeRun<'static> {
        let factor = |(name, value): &(&str, &str)| FactorValue {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        let mut record = RunRecord { throughput_tps: tps, ..RunRecord::default() };
        record.counts.completed = 1;
        record.validity.valid = true;
        MadeRun {
            trial: Box::leak(Box::new(StudyTrial::default())),
            factors: pairs.iter().map(factor).collect(),
            combination: 0,
            record: Box::leak(Box::new(record)),
        }
    }

    #[test]
    fn the_widest_factor_goes_to_the_right_and_the_others_make_lines() {
        let runs: Vec<MadeRun<'_>> = ["40", "10", "4"]
            .iter()
            .flat_map(|w| ["on", "off"].map(|s| run(&[("sync", s), ("workers", w)], 5.0)))
            .collect();
        let lines = SweepLines::new(&runs);
        assert_eq!(lines.factor.as_deref(), Some("workers"));
        assert_eq!(lines.values, ["4", "10", "40"]);
        let names: Vec<&str> = lines.lines.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["sync=on", "sync=off"]);
        let drawn = lines.draw(&SWEEP_CHARTS[0]).expect("six points");
        assert!(drawn.contains("line-1") && drawn.matches("class=\"hit\"").count() == 6);
        assert!(SweepLines::new(&runs[..1]).draw(&SWEEP_CHARTS[0]).is_none());
    }

    #[test]
    fn noisy_and_invalid_runs_have_shapes_of_their_own() {
        let graded = |grade: ValidityGrade| {
            let mut one = run(&[("workers", "1")], 5.0);
            let mut record = one.record.clone();
            record.validity.valid = grade != ValidityGrade::Invalid;
            record.validity.grade = Some(grade);
            one.record = Box::leak(Box::new(record));
            one
        };
        let drawn = |grade: ValidityGrade| {
            let runs = [graded(grade), run(&[("workers", "2")], 5.0)];
            SweepLines::new(&runs).draw(&SWEEP_CHARTS[0]).expect("two points")
        };
        let paths = |svg: &str| svg.matches("<path").count();
        let sound = drawn(ValidityGrade::Sound);
        assert!(paths(&sound) == 1 && !sound.contains("hollow"), "{sound}");
        assert_eq!(paths(&drawn(ValidityGrade::Noisy)), 2, "the line, and a diamond");
        assert!(drawn(ValidityGrade::Invalid).contains("class=\"hollow\""));
    }

    #[test]
    fn rates_and_durations_stand_in_their_order_whatever_their_unit() {
        let ordered = |given: &[&str]| {
            let runs = given.iter().map(|value| run(&[("x", value)], 1.0));
            values(&runs.collect::<Vec<_>>(), Some("x"))
        };
        assert_eq!(ordered(&["2k/s", "90/m", "500/s"]), ["90/m", "500/s", "2k/s"]);
        assert_eq!(ordered(&["1ms", "0", "500us"]), ["0", "500us", "1ms"]);
        assert_eq!(ordered(&["10", "9", "-1.5"]), ["-1.5", "9", "10"]);
        // What has no order keeps that of the runs.
        assert_eq!(ordered(&["2k/s", "auto", "500/s"]), ["2k/s", "auto", "500/s"]);
        assert_eq!(ordered(&["2k/s", "1ms"]), ["2k/s", "1ms"]);
    }

    #[test]
    fn repetitions_are_points_of_one_line() {
        let runs = [run(&[("workers", "1")], 4.0), run(&[("workers", "1")], 6.0)];
        let lines = SweepLines::new(&runs);
        let y = AxisScale::linear(10.0, (100.0, 0.0));
        let line = lines.means(&SWEEP_CHARTS[0], &lines.lines[0].1, &y);
        assert_eq!(line.iter().map(|p| p.expect("a point").1).collect::<Vec<_>>(), [50.0]);
    }
}
