//! The response distribution on an axis that gives every nine the same room.

use super::Chart;
use super::axis::{AxisScale, time_tick};
use super::svg::{Svg, TextAnchor};
use crate::format::us;
use crate::story;
use dbtime_model::record::{CountsInfo, PercentilePoint, Run, RunRecord};

/// See the file.
pub(super) const CHART: Chart = Chart {
    name: "percentiles",
    title: "Response distribution",
    hint: "Each step to the right is ten times rarer. The gap between the lines is waiting \
        before the transaction was sent.",
    is_wide: false,
    draw,
};

const SIZE: (f64, f64) = (520.0, 300.0);
const LEFT: f64 = 58.0;
const RIGHT: f64 = 434.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 252.0;

fn draw(run: &Run) -> Option<String> {
    let points: Vec<(f64, &PercentilePoint)> = placed(run)?;
    let furthest = points.last().map_or(1.0, |(nines, _)| *nines).max(1.0);
    let x = |nines: f64| LEFT + nines / furthest * (RIGHT - LEFT);
    let values = points.iter().flat_map(|(_, p)| [p.response_us, p.service_us]);
    let y = AxisScale::fitting(values, (BOTTOM, TOP));
    let mut svg = Svg::new("percentiles", SIZE, CHART.title, &described(&run.record));
    grid(&mut svg, &y, furthest, &x);
    let line = |of: fn(&PercentilePoint) -> f64| -> Vec<Option<(f64, f64)>> {
        let point = |(nines, p): &(f64, &PercentilePoint)| {
            of(p).is_finite().then(|| (x(*nines), y.at(of(p))))
        };
        points.iter().map(point).collect()
    };
    svg.path(&line(|p| p.service_us), "service");
    svg.path(&line(|p| p.response_us), "response");
    labels(&mut svg, &y, points.last().map(|(_, p)| *p)?);
    tips(&mut svg, &points, &x);
    Some(svg.finish())
}

/// Invisible stripes that say their figures while the pointer rests on them.
fn tips(svg: &mut Svg, points: &[(f64, &PercentilePoint)], x: &impl Fn(f64) -> f64) {
    for (nines, p) in points {
        let tip = format!(
            "{} % of responses took at most {} (service {})",
            p.percentile,
            us(p.response_us),
            us(p.service_us)
        );
        svg.rect((x(*nines) - 4.0, TOP), (8.0, BOTTOM - TOP), "hit", &tip);
    }
}

/// The distribution in words.
fn described(record: &RunRecord) -> String {
    let response = &record.latency_us.response;
    format!(
        "Response time at each percentile: median {}, 90th {}, 99th {}, 99.9th {}, maximum {}. {}.",
        us(response.p50),
        us(response.p90),
        us(response.p99),
        us(response.p999),
        us(response.max),
        story::basis(record)
    )
}

/// The points with their number of nines; the maximum stands where one in all of them lies.
fn placed(run: &Run) -> Option<Vec<(f64, &PercentilePoint)>> {
    let CountsInfo { completed, failed, unfinished, outstanding, .. } = run.record.counts;
    let all = [completed, failed, unfinished, outstanding].map(|n| n as f64);
    let all = all.iter().sum::<f64>().max(2.0);
    let nines = |p: &PercentilePoint| {
        let beyond = (1.0 - p.percentile / 100.0).clamp(0.0, 1.0).max(1.0 / all);
        -beyond.log10()
    };
    let points = run.record.percentiles.iter().filter(|p| p.percentile.is_finite());
    let mut points: Vec<_> = points.map(|p| (nines(p), p)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.percentile.total_cmp(&b.1.percentile)));
    let any = points.iter().any(|(_, p)| p.response_us > 0.0);
    (points.len() > 1 && any).then_some(points)
}

fn grid(svg: &mut Svg, y: &AxisScale, furthest: f64, x: &impl Fn(f64) -> f64) {
    for tick in y.ticks() {
        svg.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "grid");
        svg.text((LEFT - 7.0, y.at(tick) + 4.0), TextAnchor::End, "tick", &time_tick(tick));
    }
    let named = [(0.0, "0"), (0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9")];
    let rarer = [(0.9999, "99.99"), (0.99999, "99.999"), (0.999_999, "99.9999")];
    for (p, name) in named.into_iter().chain(rarer) {
        let nines = -(1.0f64 - p).log10();
        if nines <= furthest * 1.001 {
            svg.line((x(nines), TOP), (x(nines), BOTTOM), "grid");
            svg.text((x(nines), BOTTOM + 17.0), TextAnchor::Middle, "tick", name);
        }
    }
    svg.line((LEFT, BOTTOM), (RIGHT, BOTTOM), "axis");
    let kind = if y.is_log() { " · time on a log scale" } else { "" };
    let caption = format!("percentile of transactions{kind}");
    svg.text(((LEFT + RIGHT) / 2.0, BOTTOM + 38.0), TextAnchor::Middle, "caption", &caption);
}

/// Names at the right ends of the lines, moved apart where they would lie on each other.
fn labels(svg: &mut Svg, y: &AxisScale, last: &PercentilePoint) {
    let (response, mut service) = (y.at(last.response_us), y.at(last.service_us));
    service = service.max(response + 14.0);
    svg.text((RIGHT + 6.0, response + 4.0), TextAnchor::Start, "label response", "response");
    svg.text((RIGHT + 6.0, service + 4.0), TextAnchor::Start, "label service", "service");
}
