//! Values in 32 buckets to each power of two: relative error at most 1.6 %.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The buckets of each power of two, as a power of two.
const STEP_BITS: u32 = 5;

/// Values counted in 32 buckets to each power of two; those below 32 have a bucket each. Merging is
/// the same as having counted all in one, in any order. Most buckets are empty and take no memory.
/// As JSON it is an object: counts by the number of the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<u16, u64>", from = "BTreeMap<u16, u64>")]
pub struct FineHistogram {
    /// The buckets that have a count, smallest first: side by side, they are found in the time of a
    /// few steps.
    buckets: Vec<u16>,
    /// Their counts.
    counts: Vec<u64>,
}

impl FineHistogram {
    /// Counts a value so many times.
    #[inline]
    pub fn add(&mut self, value: u64, count: u64) {
        self.add_to(bucket_of(value), count);
    }

    fn add_to(&mut self, bucket: u16, count: u64) {
        let at = self.buckets.partition_point(|own| *own < bucket);
        if self.buckets.get(at) == Some(&bucket) {
            self.counts[at] = self.counts[at].saturating_add(count);
        } else {
            self.buckets.insert(at, bucket);
            self.counts.insert(at, count);
        }
    }

    /// Counts everything that the other has counted.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in other.buckets.iter().zip(&other.counts) {
            self.add_to(*bucket, *count);
        }
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The value that a share `q` in `0.0..=1.0` of all stay at or below, in the middle of its
    /// bucket; zero when nothing was counted.
    pub fn quantile(&self, q: f64) -> u64 {
        let rank = (self.count() as f64 * q).ceil().max(1.0) as u64;
        let mut seen = 0u64;
        let at = self.iter().find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        at.map_or(0, |(middle, _)| middle)
    }

    /// The middle of each bucket with its count, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().zip(&self.counts).map(|(bucket, count)| (middle_of(*bucket), *count))
    }
}

impl From<FineHistogram> for BTreeMap<u16, u64> {
    fn from(histogram: FineHistogram) -> Self {
        histogram.buckets.into_iter().zip(histogram.counts).collect()
    }
}

impl From<BTreeMap<u16, u64>> for FineHistogram {
    fn from(counts: BTreeMap<u16, u64>) -> Self {
        let (buckets, counts) = counts.into_iter().unzip();
        Self { buckets, counts }
    }
}

fn bucket_of(value: u64) -> u16 {
    let power = value.max(1).ilog2();
    if power < STEP_BITS {
        return value as u16;
    }
    let step = (value >> (power - STEP_BITS)) & ((1 << STEP_BITS) - 1);
    (((power - STEP_BITS + 1) << STEP_BITS) as u64 + step) as u16
}

fn middle_of(bucket: u16) -> u64 {
    let (power, step) =
        (u32::from(bucket) >> STEP_BITS, u64::from(bucket) & ((1 << STEP_BITS) - 1));
    if power == 0 {
        return step;
    }
    // A file may name any bucket.
    let shift = (power - 1).min(63 - STEP_BITS);
    let width = 1u64 << shift;
    (((1 << STEP_BITS) + step) << shift) + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_is_near_the_middle_of_its_bucket(value in any::<u64>()) {
            let middle = middle_of(bucket_of(value));
            prop_assert!(value.abs_diff(middle) <= value / 32);
        }

        #[test]
        fn merging_is_counting_all_in_one(
            a in prop::collection::vec(any::<u64>(), 0..50),
            b in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let of = |values: &[u64]| {
                let mut histogram = FineHistogram::default();
                values.iter().for_each(|value| histogram.add(*value, 1));
                histogram
            };
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(merged, of(&[a, b].concat()));
        }
    }

    #[test]
    fn as_json_it_is_counts_by_bucket() {
        let mut histogram = FineHistogram::default();
        [3, 40, 3].into_iter().for_each(|value| histogram.add(value, 2));
        let json = serde_json::to_string(&histogram).expect("JSON");
        assert_eq!(json, r#"{"3":4,"40":2}"#);
        assert_eq!(serde_json::from_str::<FineHistogram>(&json).expect("the same"), histogram);
    }

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut histogram = FineHistogram::default();
        (1..=1000).for_each(|value| histogram.add(value * 1000, 1));
        for (q, exact) in [(0.5, 500_000u64), (0.99, 990_000), (1.0, 1_000_000)] {
            assert!(histogram.quantile(q).abs_diff(exact) <= exact / 32, "{q}");
        }
        assert_eq!((histogram.count(), FineHistogram::default().quantile(0.5)), (1000, 0));
    }
}
