//! Durations counted in HdrHistogram buckets: constant relative error, exact merging.
//!
//! Two precisions: [`Histogram::fine`] (three significant digits) for what a run reports,
//! [`Histogram::coarse`] (two) for one second of it and for single statements.
//! Counters are 32-bit while they belong to one thread, 64-bit once merged.
//! Source: HdrHistogram, <https://hdrhistogram.github.io/HdrHistogram/>.

use crate::units::Nanos;
use hdrhistogram::{Counter, Histogram as Hdr};

/// The longest duration counted as itself: 64 hours. Longer ones count as this.
const MAX: Nanos = Nanos::from_secs(64 * 3600);

/// A histogram of durations. `C` is `u32` where a single thread counts and `u64` once merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram<C: Counter = u64> {
    hdr: Hdr<C>,
}

impl<C: Counter> Histogram<C> {
    /// An empty histogram with three significant digits: relative error at most 10⁻³.
    pub fn fine() -> Self {
        Self::with_digits(3)
    }

    /// An empty histogram with two significant digits: relative error at most 10⁻².
    pub fn coarse() -> Self {
        Self::with_digits(2)
    }

    fn with_digits(digits: u8) -> Self {
        let mut hdr = Hdr::new_with_bounds(1, Nanos::from_secs(2).0, digits)
            .expect("2 s is above twice the lowest value, and 2 and 3 digits are in range");
        // Room for 2 s is allocated at once, so that ordinary transactions never allocate; longer
        // ones grow it, at most six times.
        hdr.auto(true);
        Self { hdr }
    }

    /// Counts one duration. Cost: about 6 ns.
    #[inline]
    pub fn record(&mut self, duration: Nanos) {
        self.hdr.record(duration.0.min(MAX.0)).expect("the histogram grows by itself");
    }

    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.hdr.reset();
    }

    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.hdr.len()
    }

    /// The duration at quantile `q` in `0.0..=1.0`; zero when nothing was counted.
    pub fn quantile(&self, q: f64) -> Nanos {
        if self.count() == 0 { Nanos::ZERO } else { Nanos(self.hdr.value_at_quantile(q)) }
    }

    /// The arithmetic mean in nanoseconds, from bucket mid-points; zero when nothing was counted.
    pub fn mean_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.hdr.mean() }
    }

    /// The standard deviation in nanoseconds; zero when nothing was counted.
    pub(crate) fn stddev_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.hdr.stdev() }
    }

    /// The smallest duration, within the histogram's precision; zero when nothing was counted.
    pub(crate) fn min(&self) -> Nanos {
        if self.count() == 0 { Nanos::ZERO } else { Nanos(self.hdr.min()) }
    }

    /// The largest duration, within the histogram's precision.
    pub fn max(&self) -> Nanos {
        Nanos(self.hdr.max())
    }

    /// How many durations were longer than this.
    pub fn count_above(&self, limit: Nanos) -> u64 {
        self.above(limit).map(|(_, count)| count).sum()
    }

    /// By how much durations would have to be shorter, all together, for only so many to be longer
    /// than this: those next to it come first. Unit: nanoseconds.
    pub fn excess_ns(&self, limit: Nanos, allowed: u64) -> f64 {
        let mut too_many = self.count_above(limit).saturating_sub(allowed);
        let mut excess = 0.0;
        for (value, count) in self.above(limit) {
            let shortened = count.min(too_many);
            excess += shortened as f64 * (value - limit.0) as f64;
            too_many -= shortened;
        }
        excess
    }

    /// What is longer than this, shortest first, and how often it was counted.
    fn above(&self, limit: Nanos) -> impl Iterator<Item = (u64, u64)> {
        let steps = self.hdr.iter_recorded();
        let counts =
            steps.map(|step| (step.value_iterated_to(), step.count_since_last_iteration()));
        counts.filter(move |(value, _)| *value > limit.0)
    }

    /// Counts by power-of-two bucket: exclusive upper edge and count, empty buckets left out.
    pub fn powers_of_two(&self) -> Vec<(Nanos, u64)> {
        self.buckets(|value| 1u64 << (64 - value.leading_zeros()).min(63))
    }

    /// Counts by half octave: exclusive upper edge, a power of two or one and a half times one, and
    /// count; empty buckets left out.
    pub fn half_octaves(&self) -> Vec<(Nanos, u64)> {
        self.buckets(|value| {
            let power = 1u64 << (63 - value.max(2).leading_zeros()).min(61);
            let middle = power + power / 2;
            if value < middle { middle } else { 2 * power }
        })
    }

    /// Counts by bucket, in the order of the values' edges. A log may say anything.
    fn buckets(&self, edge_of: impl Fn(u64) -> u64) -> Vec<(Nanos, u64)> {
        let mut buckets: Vec<(Nanos, u64)> = Vec::new();
        for step in self.hdr.iter_recorded() {
            let edge = Nanos(edge_of(step.value_iterated_to()));
            let more = step.count_since_last_iteration();
            match buckets.last_mut() {
                Some((last, count)) if *last == edge => *count = count.saturating_add(more),
                _ => buckets.push((edge, more)),
            }
        }
        buckets
    }

    /// The underlying HdrHistogram, for the interval log.
    pub fn hdr(&self) -> &Hdr<C> {
        &self.hdr
    }
}

impl Histogram<u64> {
    /// One that was read from an interval log.
    pub(crate) fn from_hdr(hdr: Hdr<u64>) -> Self {
        Self { hdr }
    }

    /// Counts everything the other histogram counted: the same as having counted it here.
    pub fn merge<C: Counter>(&mut self, other: &Histogram<C>) {
        for step in other.hdr.iter_recorded() {
            self.hdr
                .record_n(step.value_iterated_to(), step.count_since_last_iteration())
                .expect("the histogram grows by itself");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_is_all_zero() {
        let h = Histogram::<u64>::fine();
        assert_eq!(
            (h.quantile(0.99), h.mean_ns(), h.max(), h.min()),
            (Nanos(0), 0.0, Nanos(0), Nanos(0))
        );
    }

    #[test]
    fn durations_beyond_the_range_count_as_the_longest() {
        let mut h = Histogram::<u32>::coarse();
        h.record(Nanos(u64::MAX));
        assert_eq!(h.count(), 1);
        assert!(h.max() >= MAX);
    }

    #[test]
    fn what_is_too_long_is_shortened_from_the_shortest_on() {
        let mut h = Histogram::<u64>::fine();
        for ns in [100, 200, 300, 400] {
            h.record(Nanos(ns));
        }
        assert_eq!((h.count_above(Nanos(200)), h.count_above(Nanos(400))), (2, 0));
        // Of the two that are longer than 200 ns one may be: that of 400 ns.
        assert_eq!(h.excess_ns(Nanos(200), 1), 100.0);
        assert_eq!(h.excess_ns(Nanos(200), 0), 300.0);
        assert_eq!(h.excess_ns(Nanos(200), 2), 0.0);
    }

    #[test]
    fn powers_of_two_count_everything_once() {
        let mut h = Histogram::<u64>::fine();
        for ns in [1, 2, 3, 4, 1000, 1023, 1024] {
            h.record(Nanos(ns));
        }
        let buckets = h.powers_of_two();
        assert_eq!(
            buckets,
            vec![(Nanos(2), 1), (Nanos(4), 2), (Nanos(8), 1), (Nanos(1024), 2), (Nanos(2048), 1)]
        );
    }

    proptest! {
        // The oracle is the sorted list: quantile q is the value at rank ceil(q·n), as HdrHistogram
        // defines it; a bucket may report any value that is equal within its precision.
        #[test]
        fn quantiles_of_merged_parts_match_exact_ones(
            a in prop::collection::vec(1u64..10_000_000_000, 1..200),
            b in prop::collection::vec(1u64..10_000_000_000, 1..200),
            q in 0.0f64..=1.0,
        ) {
            let mut first = Histogram::<u32>::fine();
            let mut second = Histogram::<u32>::fine();
            a.iter().for_each(|&ns| first.record(Nanos(ns)));
            b.iter().for_each(|&ns| second.record(Nanos(ns)));
            let mut merged = Histogram::<u64>::fine();
            merged.merge(&first);
            merged.merge(&second);

            let mut all = [a, b].concat();
            all.sort_unstable();
            let rank = ((q * all.len() as f64).ceil() as usize).clamp(1, all.len());
            let exact = all[rank - 1] as f64;
            let got = merged.quantile(q).0 as f64;
            prop_assert!((got - exact).abs() <= exact * 1.1e-3 + 1.0, "q {} exact {} got {}", q, exact, got);
            prop_assert_eq!(merged.count(), all.len() as u64);
        }
    }
}
