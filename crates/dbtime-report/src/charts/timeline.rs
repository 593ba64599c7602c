//! What the charts over time share: bins of seconds, the frame, warm-up and run-down shaded.

use super::axis::AxisScale;
use super::svg::{Svg, TextAnchor};
use dbtime_model::record::{Run, SeriesPhase, SeriesRow, SpanInfo};

/// The size of a chart over time.
pub(super) const SIZE: (f64, f64) = (520.0, 250.0);
pub(super) const LEFT: f64 = 58.0;
pub(super) const RIGHT: f64 = 434.0;
pub(super) const TOP: f64 = 22.0;
pub(super) const BOTTOM: f64 = 204.0;

/// More points than this cannot be told apart in the width of a chart.
const MAX_POINTS: usize = 360;

/// The rows of one point: neighbouring seconds of the same phase.
pub(super) struct TimeBin<'a> {
    rows: &'a [SeriesRow],
}

impl TimeBin<'_> {
    /// The first second.
    pub(super) fn start(&self) -> f64 {
        f64::from(self.rows[0].second)
    }

    /// The end of the last second.
    fn end(&self) -> f64 {
        f64::from(self.rows[self.rows.len() - 1].second) + 1.0
    }

    fn middle(&self) -> f64 {
        (self.start() + self.end()) / 2.0
    }

    /// The mean of a figure over its seconds.
    pub(super) fn mean(&self, of: impl Fn(&SeriesRow) -> f64) -> f64 {
        let sum: f64 = self.rows.iter().map(of).filter(|v| v.is_finite()).sum();
        sum / self.rows.len() as f64
    }

    /// The largest of a figure: for percentiles, which have no mean.
    pub(super) fn worst(&self, of: impl Fn(&SeriesRow) -> f64) -> f64 {
        self.rows.iter().map(of).filter(|v| v.is_finite()).fold(0.0, f64::max)
    }

    /// Whether any transaction ended in it.
    pub(super) fn any_ended(&self) -> bool {
        self.rows.iter().any(|row| row.completed > 0 || row.failed > 0)
    }

    /// Its seconds in words.
    pub(super) fn name(&self) -> String {
        let phase = &self.rows[0].phase;
        let phase =
            if *phase == SeriesPhase::Measure { String::new() } else { format!(" ({phase})") };
        match self.rows.len() {
            1 => format!("second {}{phase}", self.rows[0].second),
            _ => format!("seconds {}–{}{phase}", self.start(), self.end()),
        }
    }
}

/// A chart over time in the making.
pub(super) struct Timeline<'a> {
    pub(super) svg: Svg,
    pub(super) bins: Vec<TimeBin<'a>>,
    x: AxisScale,
}

/// Neighbouring seconds put together until there are few enough points.
pub(super) fn bins(run: &Run) -> Vec<TimeBin<'_>> {
    let size = run.series.len().div_ceil(MAX_POINTS).max(1);
    let phases = run.series.chunk_by(|a, b| a.phase == b.phase);
    phases.flat_map(|phase| phase.chunks(size)).map(|rows| TimeBin { rows }).collect()
}

impl<'a> Timeline<'a> {
    /// The frame with its shades; the caller draws the values.
    pub(super) fn new(run: &'a Run, name: &str, title: &str, description: &str) -> Option<Self> {
        let bins = bins(run);
        let end = bins.last()?.end();
        let mut timeline = Self {
            svg: Svg::new(name, SIZE, title, description),
            x: AxisScale::linear(end, (LEFT, RIGHT)).ending_at(end),
            bins,
        };
        timeline.shades(run);
        timeline.standstills(run);
        Some(timeline)
    }

    /// Horizontal lines with their values, and the seconds below.
    pub(super) fn grid(&mut self, y: &AxisScale, tick: fn(f64) -> String) {
        for value in y.ticks() {
            self.svg.line((LEFT, y.at(value)), (RIGHT, y.at(value)), "grid");
            self.svg.text((LEFT - 7.0, y.at(value) + 4.0), TextAnchor::End, "tick", &tick(value));
        }
        self.seconds(BOTTOM);
    }

    /// The axis of seconds at height `bottom`.
    pub(super) fn seconds(&mut self, bottom: f64) {
        self.svg.line((LEFT, bottom), (RIGHT, bottom), "axis");
        for second in self.x.ticks() {
            let at = self.x.at(second);
            self.svg.line((at, bottom), (at, bottom + 4.0), "axis");
            let text = super::axis::plain_tick(second);
            self.svg.text((at, bottom + 17.0), TextAnchor::Middle, "tick", &text);
        }
        let middle = (LEFT + RIGHT) / 2.0;
        let caption = "seconds since the start of the load";
        self.svg.text((middle, bottom + 36.0), TextAnchor::Middle, "caption", caption);
    }

    /// One point per bin; `None` breaks the line.
    pub(super) fn line(
        &mut self,
        y: &AxisScale,
        class: &str,
        of: impl Fn(&TimeBin<'_>) -> Option<f64>,
    ) {
        let point = |bin: &TimeBin<'_>| of(bin).map(|value| (self.x.at(bin.middle()), y.at(value)));
        let points: Vec<_> = self.bins.iter().map(point).collect();
        self.svg.path(&points, class);
    }

    /// The band between two values of every bin.
    pub(super) fn band(
        &mut self,
        y: &AxisScale,
        class: &str,
        of: impl Fn(&TimeBin<'_>) -> (f64, f64),
    ) {
        let edge = |bin: &TimeBin<'_>| {
            let (low, high) = of(bin);
            // Steps, so that a single second is visible and no slope is invented.
            [bin.start(), bin.end()].map(|s| (self.x.at(s), y.at(low), y.at(high)))
        };
        let points: Vec<_> = self.bins.iter().flat_map(edge).collect();
        self.svg.area(&points, class);
    }

    /// Names at the right end, in the order from top to bottom, each at the height of its line as
    /// far as they do not lie on each other.
    pub(super) fn labels(&mut self, y: &AxisScale, labels: &[(&str, &str, f64)]) {
        let mut last = f64::NEG_INFINITY;
        for (class, text, value) in labels {
            let at = y.at(*value).max(last + 14.0);
            last = at;
            self.svg.text((RIGHT + 6.0, at + 4.0), TextAnchor::Start, class, text);
        }
    }

    /// Invisible stripes that say the values of their seconds while the pointer rests on them.
    pub(super) fn tips(&mut self, of: impl Fn(&TimeBin<'_>) -> String) {
        for bin in &self.bins {
            let (from, to) = (self.x.at(bin.start()), self.x.at(bin.end()));
            let tip = format!("{}: {}", bin.name(), of(bin));
            self.svg.rect((from, TOP), (to - from, BOTTOM - TOP), "hit", &tip);
        }
    }

    /// Times in which nothing was completed, and those in which the driver stood still.
    fn standstills(&mut self, run: &Run) {
        let record = &run.record;
        let end_s = self.bins.last().map_or(0.0, TimeBin::end);
        let span = |s: &SpanInfo| (s.from_s, s.until_s);
        let outages = record.connections.iter().flat_map(|info| &info.outages);
        let spans = (record.stalls.iter().map(span))
            .map(|span| (span, "stall", "nothing was completed"))
            .chain(outages.map(|o| {
                ((o.from_s, o.until_s.unwrap_or(end_s)), "stall", "outage: connections failed")
            }))
            .chain(
                record
                    .client
                    .standstills
                    .iter()
                    .map(span)
                    .map(|span| (span, "standstill", "the driver stood still")),
            );
        for ((from_s, until_s), class, what) in spans {
            let (from, until) = (self.x.at(from_s.min(end_s)), self.x.at(until_s.min(end_s)));
            let tip = format!("{what} from {from_s:.2} s to {until_s:.2} s");
            // One of a tenth of a second is still to be seen in an hour.
            self.svg.rect((from, TOP), ((until - from).max(1.5), BOTTOM - TOP), class, &tip);
        }
    }

    fn shades(&mut self, run: &Run) {
        for phase in run.series.chunk_by(|a, b| a.phase == b.phase) {
            let whole = TimeBin { rows: phase };
            let (from, to) = (self.x.at(whole.start()), self.x.at(whole.end()));
            // A run-down of a second leaves no room for its name between its edges.
            let (name, at, anchor) = match phase[0].phase {
                SeriesPhase::Warmup => ("warm-up", from, TextAnchor::Start),
                SeriesPhase::Rundown => ("run-down", to, TextAnchor::End),
                _ => continue,
            };
            self.svg.rect((from, TOP), (to - from, BOTTOM - TOP), "shade", name);
            self.svg.text((at, TOP - 6.0), anchor, "caption", name);
        }
    }
}
