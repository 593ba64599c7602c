//! The clock of a recording, mapped to that of the driver.
//!
//! The offset between two clocks changes slowly: they run apart by at most [`MAX_DRIFT_PPM`]. So
//! each exchange that is known to be a request's bounds the offset at its own instant strictly, and
//! less and less so away from it:
//!
//! ```text
//!   offset ▲   ╲        ╱ ╲    ╱     the request had arrived after it was sent
//!          │    ╲──────╱   ╲──╱      ── upper bound
//!          │    ╱──╲  ╱──────╲       ── lower bound
//!          │   ╱    ╲╱        ╲      it was read before its answer had been read
//!          └──────────────────────►
//! ```
//!
//! The offset is taken in the middle of both; half their distance is its uncertainty. The middle
//! changes no faster than the bounds do, so that the order of events stays.

use dbtime_model::MonoNanos;

/// Clocks run apart by no more: what a kernel steers its clock by at most, to follow another's.
///
/// Source: adjtimex(2), MAXFREQ. Unit: parts in a million.
pub(super) const MAX_DRIFT_PPM: i64 = 500;

/// So many bounds before and behind one have to agree with it, by three quarters.
const NEIGHBOURS: usize = 16;

/// How far an offset may have gone in a stretch of time, either way. Unit: nanoseconds.
pub(super) fn drifted(ns: i64) -> i64 {
    ns.abs().saturating_mul(MAX_DRIFT_PPM) / 1_000_000 + 1
}

/// Between these the offset was, at an instant of the recording's clock: so much is to be taken
/// from an instant there for the driver's. Unit: nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetBound {
    pub(super) at: i64,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// How instants of a recording become the driver's.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockMapping {
    /// In the order of time, each bound by all others too; empty: it is one clock.
    knots: Vec<OffsetBound>,
}

impl ClockMapping {
    /// By what was known of the offset at some instants. What contradicts most of its neighbours
    /// is left out: a request was taken for another.
    pub(super) fn new(mut bounds: Vec<OffsetBound>) -> Self {
        bounds.sort_by_key(|bound| bound.at);
        let mut bounds = consistent(&bounds);
        for index in 1..bounds.len() {
            let before = bounds[index - 1];
            tighten(&mut bounds[index], before);
        }
        for index in (1..bounds.len()).rev() {
            let behind = bounds[index];
            tighten(&mut bounds[index - 1], behind);
        }
        Self { knots: bounds }
    }

    /// Whether both sides read one clock.
    pub(crate) fn is_same(&self) -> bool {
        self.knots.is_empty()
    }

    /// What is known of the offset at an instant of the recording's clock.
    pub(super) fn bound(&self, at: i64) -> OffsetBound {
        let behind = self.knots.partition_point(|knot| knot.at <= at);
        let mut bound = OffsetBound { at, low: i64::MIN, high: i64::MAX };
        let neighbours = [behind.checked_sub(1), Some(behind)].into_iter().flatten();
        for knot in neighbours.filter_map(|index| self.knots.get(index)) {
            tighten(&mut bound, *knot);
        }
        bound
    }

    /// The offset at an instant of the recording's clock. Unit: nanoseconds.
    pub(crate) fn offset(&self, at: MonoNanos) -> i64 {
        if self.is_same() { 0 } else { middle(self.bound(at.0.cast_signed())) }
    }

    /// The offset at an instant of the driver's clock is known to this, on either side. Unit:
    /// nanoseconds.
    pub(crate) fn uncertainty(&self, at: MonoNanos) -> i64 {
        let Some(first) = self.knots.first() else { return 0 };
        // Where a knot is not far, neither is the offset from that of another.
        let near = at.0.cast_signed().saturating_add(middle(*first));
        half_width(self.bound(near.saturating_add(self.moved(near))))
    }

    /// How far the offset has moved from the first knot to the one before an instant.
    fn moved(&self, at: i64) -> i64 {
        let behind = self.knots.partition_point(|knot| knot.at <= at);
        let knot = behind.checked_sub(1).and_then(|index| self.knots.get(index));
        knot.zip(self.knots.first()).map_or(0, |(knot, first)| middle(*knot) - middle(*first))
    }

    /// The largest uncertainty between the first knot and the last. Unit: nanoseconds.
    pub(crate) fn worst_uncertainty(&self) -> i64 {
        let of_knots = self.knots.iter().map(|knot| half_width(*knot));
        let between = self
            .knots
            .windows(2)
            .map(|pair| half_width(self.bound(pair[0].at.midpoint(pair[1].at))));
        of_knots.chain(between).max().unwrap_or(0)
    }

    /// The offset in the middle of what is known, and by how much the recording's clock was faster
    /// over all of that, where it was. Units: nanoseconds; parts in a million.
    pub(crate) fn summary(&self) -> (i64, Option<f64>) {
        let Some((first, last)) = self.knots.first().zip(self.knots.last()) else {
            return (0, None);
        };
        let centre = middle(self.bound(first.at.midpoint(last.at)));
        let moved = middle(*last) - middle(*first);
        let is_known = moved.abs() > half_width(*first) + half_width(*last);
        let ppm = moved as f64 / (last.at - first.at).max(1) as f64 * 1e6;
        (centre, is_known.then_some(ppm))
    }
}

/// Those that agree with most of what was seen around them.
fn consistent(bounds: &[OffsetBound]) -> Vec<OffsetBound> {
    let agrees = |(index, bound): &(usize, &OffsetBound)| {
        let around = &bounds[index.saturating_sub(NEIGHBOURS)..];
        let around = &around[..around.len().min(2 * NEIGHBOURS + 1)];
        let contradicts = |other: &&OffsetBound| {
            let drift = drifted(bound.at - other.at);
            bound.low > other.high.saturating_add(drift)
                || other.low > bound.high.saturating_add(drift)
        };
        2 * around.iter().filter(contradicts).count() <= around.len() / 2
    };
    bounds.iter().enumerate().filter(agrees).map(|(_, bound)| *bound).collect()
}

/// Bounds an offset by that at another instant.
fn tighten(bound: &mut OffsetBound, other: OffsetBound) {
    let drift = drifted(bound.at - other.at);
    bound.low = bound.low.max(other.low.saturating_sub(drift));
    bound.high = bound.high.min(other.high.saturating_add(drift));
}

fn middle(bound: OffsetBound) -> i64 {
    bound.low.midpoint(bound.high)
}

/// Bounds that contradict each other are off by as much as they do.
fn half_width(bound: OffsetBound) -> i64 {
    (bound.high.saturating_sub(bound.low).saturating_abs()) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_clock_is_exact() {
        let same = ClockMapping::default();
        assert!(same.is_same());
        assert_eq!((same.offset(MonoNanos(7)), same.uncertainty(MonoNanos(7))), (0, 0));
        assert_eq!((same.worst_uncertainty(), same.summary()), (0, (0, None)));
    }

    #[test]
    fn what_is_known_at_an_instant_fades_with_the_distance() {
        let bound = |at, low, high| OffsetBound { at, low, high };
        let mapping = ClockMapping::new(vec![bound(2_000_000, 0, 200), bound(0, 90, 110)]);
        // 500 ppm of two milliseconds are one microsecond: the first does not bound the second.
        assert_eq!(mapping.offset(MonoNanos(0)), 100);
        assert_eq!(mapping.offset(MonoNanos(2_000_000)), 100);
        assert_eq!(half_width(mapping.bound(0)), 11);
        assert_eq!(half_width(mapping.bound(100_000)), 61);
        assert_eq!(mapping.worst_uncertainty(), 511);
    }

    #[test]
    fn a_drift_is_told_where_it_is_more_than_the_uncertainty() {
        let bound = |at: i64, offset: i64, half: i64| OffsetBound {
            at,
            low: offset - half,
            high: offset + half,
        };
        let steep = ClockMapping::new(vec![bound(0, 0, 10), bound(1_000_000_000, 100_000, 10)]);
        let (centre, ppm) = steep.summary();
        assert!((centre - 50_000).abs() < 10, "{centre}");
        assert!(ppm.is_some_and(|ppm| (ppm - 100.0).abs() < 0.1), "{ppm:?}");
        let flat = ClockMapping::new(vec![bound(0, 0, 10), bound(1_000_000_000, 15, 10)]);
        assert_eq!(flat.summary().1, None);
    }
}
