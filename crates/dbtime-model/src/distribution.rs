//! Distributions of durations in the buckets of the kernel's side.

use crate::{Nanos, SparseCounts};
use serde::{Deserialize, Serialize};

/// Buckets to each power of two: `totals.fine` in `crates/dbtime-observe/bpf/capture.h`.
const BUCKETS_PER_POWER: u64 = 8;

/// Durations in eight buckets to each power of two nanoseconds: relative error at most 12.5 %. Each
/// nanosecond below eight has a bucket of its own. Most buckets are empty and take no memory.
///
/// Merging is the same as having counted all in one, and what has come since is the same as having
/// counted that alone, but for its extremes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogHistogram(SparseCounts);

impl LogHistogram {
    /// Counts so many durations of a bucket.
    pub fn add(&mut self, bucket: u32, count: u64) {
        self.0.add_to(bucket, count);
    }

    /// The durations of one bucket.
    pub fn of(&self, bucket: u32) -> u64 {
        self.0.of(bucket)
    }

    /// How many durations were counted.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// The duration that a share `q` in `0.0..=1.0` of all stay at or below, at most a bucket too
    /// long; zero when nothing was counted.
    pub(crate) fn quantile(&self, q: f64) -> Nanos {
        let rank = (self.count() as f64 * q).ceil().max(1.0) as u64;
        let mut seen = 0u64;
        let at = self.0.iter().find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        at.map_or(Nanos::ZERO, |(bucket, _)| Nanos(last_of(bucket)))
    }

    /// The longest, at most a bucket too long; zero when nothing was counted.
    pub(crate) fn max(&self) -> Nanos {
        self.0.ends().map_or(Nanos::ZERO, |(_, last)| Nanos(last_of(last)))
    }

    /// Counts everything that the other has counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.add(&other.0);
    }

    /// What has come since it was `before`.
    #[must_use]
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self(self.0.since(&before.0))
    }
}

/// Of the buckets from 0 on.
impl FromIterator<u64> for LogHistogram {
    fn from_iter<I: IntoIterator<Item = u64>>(counts: I) -> Self {
        Self(counts.into_iter().collect())
    }
}

/// Where a bucket begins; `None`: behind all durations.
fn first_of(bucket: u64) -> Option<u64> {
    if bucket < BUCKETS_PER_POWER {
        return Some(bucket);
    }
    let (power, step) = (bucket / BUCKETS_PER_POWER - 1, bucket % BUCKETS_PER_POWER);
    2u64.checked_pow(power.try_into().ok()?)?.checked_mul(BUCKETS_PER_POWER + step)
}

/// The longest that a bucket holds.
fn last_of(bucket: u32) -> u64 {
    first_of(u64::from(bucket) + 1).map_or(u64::MAX, |next| next - 1)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Histogram;
    use proptest::prelude::*;

    /// The kernel's side, in Rust (`fine_bucket` in
    /// `crates/dbtime-observe/bpf/totals.bpf.h`).
    pub(crate) fn bucket(value: u64) -> u32 {
        let power = u64::from(value.max(1).ilog2());
        if power < 3 {
            return value as u32;
        }
        (((power - 2) * 8) + (value >> (power - 3) & 7)) as u32
    }

    fn log_histogram(values: &[u64]) -> LogHistogram {
        let mut histogram = LogHistogram::default();
        values.iter().for_each(|value| histogram.add(bucket(*value), 1));
        histogram
    }

    fn hdr_histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::fine();
        values.iter().for_each(|value| histogram.record(Nanos(*value)));
        histogram
    }

    #[test]
    fn a_bucket_begins_where_the_one_before_it_ends() {
        for value in (0..100).chain((7..60).map(|power| (1 << power) + 12_345)) {
            let at = u64::from(bucket(value));
            let [first, next] = [at, at + 1].map(|at| first_of(at).expect("a duration"));
            assert!(first <= value && value < next, "{value}");
            assert!(value < 8 || next - first <= value / 8, "{value}");
        }
    }

    #[test]
    fn the_last_bucket_ends_with_the_longest_duration() {
        assert_eq!(last_of(bucket(u64::MAX)), u64::MAX);
        assert_eq!(last_of(u32::MAX), u64::MAX);
    }

    /// What every distribution has to be, with the widest of its buckets as a share.
    macro_rules! check_distribution {
        ($of:ident, $error:literal, $a:ident, $b:ident, $q:ident) => {
            let mut all = [&$a[..], &$b[..]].concat();
            let whole = $of(&all);
            let mut merged = $of(&$a);
            merged.merge(&$of(&$b));
            prop_assert_eq!(&merged, &whole);
            all.sort_unstable();
            prop_assert_eq!(whole.count(), all.len() as u64);
            let rank = (($q * all.len() as f64).ceil() as usize).clamp(1, all.len());
            let (exact, got) = (all[rank - 1] as f64, whole.quantile($q).0 as f64);
            let is_near = exact <= got + 1.0 && got <= exact * (1.0 + $error) + 1.0;
            prop_assert!(is_near, "{exact} {got}");
            prop_assert!(whole.max() >= whole.quantile($q));
        };
    }

    proptest! {
        #[test]
        fn both_are_distributions(
            a in prop::collection::vec(1u64..10_000_000_000, 1..200),
            b in prop::collection::vec(1u64..10_000_000_000, 1..200),
            q in 0.0f64..=1.0,
        ) {
            check_distribution!(log_histogram, 0.125, a, b, q);
            check_distribution!(hdr_histogram, 1.1e-3, a, b, q);
            let since = log_histogram(&[&a[..], &b[..]].concat()).since(&log_histogram(&a));
            prop_assert_eq!(since.count(), b.len() as u64);
            prop_assert_eq!(since.quantile(q), log_histogram(&b).quantile(q));
        }
    }
}
