//! The limit on what watching costs: where it takes too much, it does less.

use crate::error::LabError;
use dbtime_machine::now;
use dbtime_model::units::three_digits;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::{Capture, CaptureDepth};

/// How long the cost is measured before it is judged.
const CHECK_INTERVAL: Nanos = Nanos(1_000_000_000);

/// What watching may take, and how far it has been reduced for that.
pub(super) struct CostLimiter {
    /// Unit: percent of one CPU.
    max_pct: f64,
    depth: CaptureDepth,
    /// Whether requests are handed on one by one as long as nothing is reduced.
    streams: bool,
    /// When it was judged last, and what it had taken by then.
    last: (MonoNanos, Nanos),
    since: MonoNanos,
    /// When it was reduced last.
    reduced: MonoNanos,
    /// Whether it was noted that nothing can be reduced any more.
    is_at_end: bool,
}

impl CostLimiter {
    pub(super) fn new(max_pct: f64, streams: bool, since: MonoNanos) -> Self {
        Self {
            max_pct,
            depth: CaptureDepth::Everything,
            streams,
            last: (since, Nanos::ZERO),
            since,
            reduced: since,
            is_at_end: false,
        }
    }

    /// How long statements were added up, where that has ended.
    pub(super) fn added_up(&self) -> Option<Nanos> {
        (self.depth == CaptureDepth::Counts).then(|| self.reduced - self.since)
    }

    /// Checks what watching takes, and reduces it. Returns a note on it.
    pub(super) fn check(&mut self, capture: &mut Capture) -> Result<Option<String>, LabError> {
        let (at, (since, before)) = (now(), self.last);
        if at < since + CHECK_INTERVAL || self.is_at_end {
            return Ok(None);
        }
        let spent = capture.cost()?.all();
        self.last = (now(), spent);
        let share = 100.0 * (spent - before).as_secs() / (at - since).as_secs();
        if share <= self.max_pct {
            return Ok(None);
        }
        let (depth, what) = match (self.depth, self.streams) {
            (CaptureDepth::Everything, true) => {
                (CaptureDepth::Sums, "from here on requests are only added up")
            }
            (CaptureDepth::Counts, _) => {
                (CaptureDepth::Counts, "and it does no more than it has to")
            }
            _ => (CaptureDepth::Counts, "from here on requests are only counted"),
        };
        if depth == self.depth {
            self.is_at_end = true;
        } else {
            capture.reduce(depth)?;
            (self.depth, self.reduced) = (depth, at);
        }
        let [share, most] = [share, self.max_pct].map(three_digits);
        Ok(Some(format!("watching takes {share} % of one CPU, more than {most} %: {what}")))
    }
}
