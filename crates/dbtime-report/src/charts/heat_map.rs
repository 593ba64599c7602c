//! How responses are distributed in every second, and beneath it what the server did then by its
//! own counters.

use super::Chart;
use super::axis::{plain_tick, time_tick};
use super::server_strips::{self, ServerStrip};
use super::svg::{Svg, TextAnchor};
use crate::format::{count, counted, finite, percent, us};
use dbtime_model::record::{ResponseSecond, Run, SeriesPhase};
use std::collections::BTreeMap;
use std::fmt::Write;

/// See the file.
pub(super) const CHART: Chart = Chart {
    name: "heat-map",
    title: "Every response, second by second",
    hint: "The darker, the more transactions ended in that second with that response; each cell \
        is half an octave high. Beneath it, where a server could be asked, what it did meanwhile \
        by its own counters: look under a slow second for what there was more of.",
    is_wide: true,
    draw,
};

const WIDTH: f64 = 1080.0;
pub(super) const LEFT: f64 = 74.0;
pub(super) const RIGHT: f64 = 1064.0;
const TOP: f64 = 24.0;

/// More columns than this cannot be told apart.
const MAX_COLUMNS: usize = 240;

/// More rows than this are damaged; sixty-four octaves are all that there are.
const MAX_ROWS: usize = 128;

/// Shades, from few transactions to the most of any cell.
const SHADES: usize = 8;

/// Where a stretch of time lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeScale {
    end_s: f64,
}

impl TimeScale {
    pub(super) fn at(self, second: f64) -> f64 {
        LEFT + finite(second).clamp(0.0, self.end_s) / self.end_s * (RIGHT - LEFT)
    }
}

/// The responses of neighbouring seconds.
struct HeatColumn {
    from_s: u32,
    to_s: u32,
    /// Counts by the place of their edge among all.
    counts: BTreeMap<usize, u64>,
}

fn draw(run: &Run) -> Option<String> {
    let edges = edges(&run.responses)?;
    let columns = columns(&run.responses, &edges);
    let last_s = columns.last()?.to_s.max(1);
    let x = TimeScale { end_s: f64::from(last_s) };
    let strips = server_strips::strips(run);
    let row = (260.0 / edges.len() as f64).clamp(3.0, 16.0);
    let bottom = TOP + row * edges.len() as f64;
    let height = bottom + strips.len() as f64 * ServerStrip::HEIGHT + 52.0;
    let described = described(&run.responses, &strips);
    let mut svg = Svg::new(CHART.name, (WIDTH, height), CHART.title, &described);
    let y = |index: usize| bottom - row * index as f64;
    cells(&mut svg, &columns, x, y);
    response_axis(&mut svg, &edges, row, y);
    phases(&mut svg, run, x, bottom);
    let mut top = bottom + 10.0;
    for strip in &strips {
        strip.draw(&mut svg, x, top);
        top += ServerStrip::HEIGHT;
    }
    seconds(&mut svg, x, top, &server_strips::cost(run));
    for column in &columns {
        let (from, to) = (x.at(column.from_s.into()), x.at(column.to_s.into()));
        svg.rect((from, TOP), (to - from, bottom - TOP), "hit", &tip(column, &edges));
    }
    Some(format!("<div class=\"wide-chart\">{}</div>", svg.finish()))
}

/// The upper edges of all buckets from the fastest to the slowest, without a gap.
fn edges(seconds: &[ResponseSecond]) -> Option<Vec<f64>> {
    let all = || seconds.iter().flat_map(|s| &s.buckets).filter(|b| b.count > 0);
    let sound = || all().map(|b| b.below_us).filter(|us| us.is_finite() && *us > 0.0);
    let (low, high) = (sound().fold(f64::INFINITY, f64::min), sound().fold(0.0, f64::max));
    let mut edges = Vec::new();
    let mut edge = low;
    while edge.is_finite() && edge <= high * 1.001 && edges.len() < MAX_ROWS {
        edges.push(edge);
        edge = next_edge(edge);
    }
    (!edges.is_empty()).then_some(edges)
}

/// From a power of two to one and a half times it, and from there to the next. Unit: microseconds;
/// the powers are those of nanoseconds.
fn next_edge(edge_us: f64) -> f64 {
    let exponent = (edge_us * 1e3).log2();
    let is_power = (exponent - exponent.round()).abs() < 0.05;
    edge_us * if is_power { 1.5 } else { 4.0 / 3.0 }
}

fn columns(seconds: &[ResponseSecond], edges: &[f64]) -> Vec<HeatColumn> {
    let last = seconds.iter().map(|second| second.second).max().unwrap_or(0);
    let width = (last as usize / MAX_COLUMNS + 1) as u32;
    let mut columns: BTreeMap<u32, HeatColumn> = BTreeMap::new();
    for second in seconds {
        let from_s = second.second / width * width;
        let column = columns.entry(from_s).or_insert_with(|| HeatColumn {
            from_s,
            to_s: from_s.saturating_add(width),
            counts: BTreeMap::new(),
        });
        for bucket in second.buckets.iter().filter(|bucket| bucket.count > 0) {
            let place = edges.partition_point(|edge| *edge < bucket.below_us * 0.999);
            if place < edges.len() {
                let sum = column.counts.entry(place).or_default();
                *sum = sum.saturating_add(bucket.count);
            }
        }
    }
    columns.into_values().collect()
}

/// The cells of each shade as one path: a run of an hour has thousands.
fn cells(svg: &mut Svg, columns: &[HeatColumn], x: TimeScale, y: impl Fn(usize) -> f64) {
    let most = columns.iter().flat_map(|column| column.counts.values()).max().copied().unwrap_or(1);
    let mut paths = vec![String::new(); SHADES];
    for column in columns {
        let [left, right] = [column.from_s, column.to_s].map(|s| super::svg::num(x.at(s.into())));
        for (place, n) in &column.counts {
            let [bottom, top] = [y(*place), y(place + 1)].map(super::svg::num);
            let path = &mut paths[shade(*n, most)];
            let _ = write!(path, "M{left} {bottom}L{right} {bottom}L{right} {top}L{left} {top}Z");
        }
    }
    for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        svg.filled(path, &format!("heat heat-{}", shade + 1));
    }
}

/// By the logarithm of the count: the few slow ones are what is looked for.
fn shade(n: u64, most: u64) -> usize {
    let share = (n.max(1) as f64).ln_1p() / (most.max(1) as f64).ln_1p();
    ((finite(share) * SHADES as f64).ceil() as usize).clamp(1, SHADES) - 1
}

fn response_axis(svg: &mut Svg, edges: &[f64], row: f64, y: impl Fn(usize) -> f64) {
    svg.line((LEFT, y(0)), (LEFT, y(edges.len())), "axis");
    svg.text((LEFT - 8.0, TOP - 8.0), TextAnchor::End, "caption", "response");
    let every = ((22.0 / row).ceil() as usize).max(1);
    for (index, edge) in edges.iter().enumerate().filter(|(index, _)| index % every == 0) {
        let at = y(index + 1);
        svg.line((LEFT - 4.0, at), (LEFT, at), "axis");
        svg.text((LEFT - 8.0, at + 4.0), TextAnchor::End, "tick", &time_tick(*edge));
    }
}

/// Where the warm-up ends and the run-down begins.
fn phases(svg: &mut Svg, run: &Run, x: TimeScale, bottom: f64) {
    for rows in run.series.chunk_by(|a, b| a.phase == b.phase) {
        let (from, to) = (f64::from(rows[0].second), f64::from(rows[rows.len() - 1].second) + 1.0);
        let (from, to) = (x.at(from), x.at(to));
        let (name, anchor, at, edge) = match rows[0].phase {
            SeriesPhase::Warmup => ("warm-up", TextAnchor::Start, from, to),
            SeriesPhase::Rundown => ("run-down", TextAnchor::End, to, from),
            _ => continue,
        };
        svg.line((edge, TOP), (edge, bottom), "edge");
        svg.text((at, TOP - 8.0), anchor, "caption", name);
    }
}

fn seconds(svg: &mut Svg, x: TimeScale, top: f64, cost: &str) {
    svg.line((LEFT, top), (RIGHT, top), "axis");
    let scale = super::axis::AxisScale::linear(x.end_s, (LEFT, RIGHT)).ending_at(x.end_s);
    for second in scale.ticks() {
        let at = x.at(second);
        svg.line((at, top), (at, top + 4.0), "axis");
        svg.text((at, top + 17.0), TextAnchor::Middle, "tick", &plain_tick(second));
    }
    let caption = format!("seconds since the start of the load{cost}");
    svg.text(((LEFT + RIGHT) / 2.0, top + 35.0), TextAnchor::Middle, "caption", &caption);
}

fn tip(column: &HeatColumn, edges: &[f64]) -> String {
    let all: u64 = column.counts.values().fold(0, |sum, n| sum.saturating_add(*n));
    let name = match column.to_s - column.from_s {
        1 => format!("second {}", column.from_s),
        _ => format!("seconds {}–{}", column.from_s, column.to_s),
    };
    let cell = |(place, n): (&usize, &u64)| {
        let share = percent(100.0 * *n as f64 / all.max(1) as f64);
        format!("below {}: {} ({share})", us(edges[*place]), count(*n))
    };
    let cells: Vec<_> = column.counts.iter().rev().map(cell).collect();
    format!("{name}: {} ended\n{}", count(all), cells.join("\n"))
}

fn described(seconds: &[ResponseSecond], strips: &[ServerStrip]) -> String {
    let all = seconds.iter().flat_map(|s| &s.buckets).fold(0u64, |n, b| n.saturating_add(b.count));
    let names: Vec<_> = strips.iter().map(ServerStrip::caption).collect();
    let beneath = match names.len() {
        0 => String::new(),
        _ => format!(" Beneath it, second by second: {}.", names.join(", ")),
    };
    format!(
        "The responses of {} over {}.{beneath}",
        counted(all, "transaction"),
        counted(seconds.len() as u64, "second")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::HistogramBucket;

    fn second(second: u32, buckets: &[(f64, u64)]) -> ResponseSecond {
        let bucket = |&(below_us, count): &(f64, u64)| HistogramBucket { below_us, count };
        ResponseSecond { second, buckets: buckets.iter().map(bucket).collect() }
    }

    #[test]
    fn edges_go_on_by_half_octaves_from_the_fastest_to_the_slowest() {
        let seconds = [second(0, &[(1.024, 3)]), second(1, &[(4.096, 1)])];
        let edges = edges(&seconds).expect("two buckets");
        let expected = [1.024, 1.536, 2.048, 3.072, 4.096];
        assert_eq!(edges.len(), expected.len());
        for (edge, expected) in edges.iter().zip(expected) {
            assert!((edge - expected).abs() < 1e-9, "{edges:?}");
        }
        let columns = columns(&seconds, &edges);
        assert_eq!((columns.len(), columns[1].counts.get(&4)), (2, Some(&1)));
    }

    #[test]
    fn a_damaged_record_makes_no_endless_chart() {
        let odd = [second(u32::MAX, &[(1e-300, 1), (f64::NAN, 1), (1e300, u64::MAX)])];
        let run = Run { responses: odd.to_vec(), ..Run::default() };
        let drawn = draw(&run).expect("something");
        assert!(drawn.len() < 100_000 && !drawn.contains("NaN"));
        assert_eq!(draw(&Run::default()), None);
    }

    #[test]
    fn an_hour_has_no_more_columns_than_can_be_told_apart() {
        let seconds: Vec<_> = (0..3_600).map(|s| second(s, &[(1.024, 5)])).collect();
        let columns = columns(&seconds, &[1.024]);
        assert!(columns.len() <= MAX_COLUMNS, "{}", columns.len());
        assert_eq!(columns.iter().map(|c| c.counts[&0]).sum::<u64>(), 18_000);
    }
}
