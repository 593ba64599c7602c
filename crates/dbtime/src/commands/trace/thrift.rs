//! `--max-cost`: watching that takes too much does less.

use crate::exit::Failure;
use dbtime_machine::now;
use dbtime_model::{MonoNanos, Nanos};
use dbtime_observe::trace::{Capture, Depth};
use dbtime_report::percent;

/// How long it is looked at before it is judged.
const INTERVAL: Nanos = Nanos(1_000_000_000);

/// What watching may take, and how far it has been reduced for that.
pub(super) struct Thrift {
    /// Unit: percent of one CPU.
    most: f64,
    depth: Depth,
    /// Whether requests are handed on one by one as long as nothing is reduced.
    streams: bool,
    /// When it was judged last, and what it had taken by then.
    last: (MonoNanos, Nanos),
    since: MonoNanos,
    /// When it was reduced last.
    reduced: MonoNanos,
    /// Whether it was told that nothing can be reduced any more.
    is_at_end: bool,
}

impl Thrift {
    pub(super) fn new(most: f64, streams: bool, since: MonoNanos) -> Self {
        Self {
            most,
            depth: Depth::Everything,
            streams,
            last: (since, Nanos::ZERO),
            since,
            reduced: since,
            is_at_end: false,
        }
    }

    /// How long statements were added up, where that has ended.
    pub(super) fn added_up(&self) -> Option<Nanos> {
        (self.depth == Depth::Counts).then(|| self.reduced - self.since)
    }

    /// Looks at what watching takes, and reduces it; what there is to say of it.
    pub(super) fn look(&mut self, capture: &mut Capture) -> Result<Option<String>, Failure> {
        let (at, (since, before)) = (now(), self.last);
        if at < since + INTERVAL || self.is_at_end {
            return Ok(None);
        }
        let spent = capture.cost()?.all();
        self.last = (now(), spent);
        let share = 100.0 * (spent - before).as_secs() / (at - since).as_secs();
        if share <= self.most {
            return Ok(None);
        }
        let (depth, what) = match (self.depth, self.streams) {
            (Depth::Everything, true) => (Depth::Sums, "from here on requests are only added up"),
            (Depth::Counts, _) => (Depth::Counts, "and it does no more than it has to"),
            _ => (Depth::Counts, "from here on requests are only counted"),
        };
        if depth == self.depth {
            self.is_at_end = true;
        } else {
            capture.reduce(depth)?;
            (self.depth, self.reduced) = (depth, at);
        }
        let [share, most] = [share, self.most].map(percent);
        Ok(Some(format!("watching takes {share} of one CPU, more than {most}: {what}")))
    }
}
