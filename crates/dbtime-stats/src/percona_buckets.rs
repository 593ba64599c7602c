//! Median, 95 % and standard deviation as Percona's tools have them, for figures that are laid
//! beside theirs: from 1,000 buckets, each five per cent wider than the one below it, whose lower
//! edge stands for all values in them. So median and 95 % are low by up to five per cent.

use std::collections::BTreeMap;

/// Values below it are in the first bucket, whose edge is zero.
const LOWEST: f64 = 1e-6;

/// How much wider a bucket is than the one below it, and the logarithm of that.
const STEP: f64 = 1.05;
const LOG_STEP: f64 = 0.048_790_164_169_432_05;

/// The bucket of the value 1, before it is cut to a whole number: the steps from [`LOWEST`] to it,
/// and one.
const OFFSET: f64 = 284.161_796_914_386_06;

const LAST: u16 = 999;

/// Fewer values are all below their 95 %.
const FEWEST: u64 = 10;

/// Values in the buckets of Percona's tools. Shape: times are seconds, as those tools read them,
/// others are plain numbers; memory goes by the buckets that have values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerconaBuckets {
    counts: BTreeMap<u16, u64>,
    count: u64,
    min: f64,
    max: f64,
}

/// Values summed up, in their own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerconaSummary {
    /// Their `median`.
    pub median: f64,
    /// Their `95%`.
    pub p95: f64,
    /// Their `stddev`: from the edges of buckets, at most half of the range.
    pub stddev: f64,
}

impl PerconaBuckets {
    /// Counts a value that is zero or more; others are left out.
    pub fn add(&mut self, value: f64) {
        if !(value >= 0.0 && value.is_finite()) {
            return;
        }
        (self.min, self.max) = match self.count {
            0 => (value, value),
            _ => (self.min.min(value), self.max.max(value)),
        };
        self.count += 1;
        *self.counts.entry(bucket_of(value)).or_default() += 1;
    }

    /// Sums the values up; `None`: there is none. One value, two, or equal ones are exact.
    pub fn summary(&self) -> Option<PerconaSummary> {
        let (min, max) = (self.min, self.max);
        match self.count {
            0 => None,
            _ if min == max => Some(PerconaSummary { median: max, p95: max, stddev: 0.0 }),
            2 => {
                let mean = f64::midpoint(min, max);
                let stddev = (2.0 * (max - mean).powi(2)).sqrt();
                Some(PerconaSummary { median: mean, p95: max, stddev })
            }
            _ => Some(PerconaSummary {
                median: self.median(),
                p95: self.p95(),
                stddev: self.stddev().min((max - min) / 2.0),
            }),
        }
    }

    /// How many values are not above the 95 %.
    fn below_cut(&self) -> u64 {
        if self.count >= FEWEST { (self.count as f64 * 0.95) as u64 } else { self.count }
    }

    /// The edge of the first bucket from above that leaves half of the values or fewer below it;
    /// where it has one value and the number below the cut is even, between it and the one before.
    fn median(&self) -> f64 {
        let is_odd = self.below_cut() % 2 == 1;
        let (mut left, mut previous) = (self.count, LAST);
        for (bucket, count) in self.counts.iter().rev() {
            left -= count;
            if left <= self.count / 2 {
                let edge = edge_of(*bucket);
                let is_alone = is_odd || *count > 1;
                return if is_alone { edge } else { f64::midpoint(edge, edge_of(previous)) };
            }
            previous = *bucket;
        }
        0.0
    }

    /// The edge of the first bucket from above that is not all above the cut.
    fn p95(&self) -> f64 {
        let above = self.count - self.below_cut();
        let mut excluded = 0;
        let at = self.counts.iter().rev().find(|(_, count)| {
            excluded += **count;
            excluded > above
        });
        at.map_or(0.0, |(bucket, _)| edge_of(*bucket))
    }

    fn stddev(&self) -> f64 {
        let n = self.count as f64;
        let sums = self.counts.iter().rev().fold((0.0, 0.0), |(sum, squares), (bucket, count)| {
            let (edge, count) = (edge_of(*bucket), *count as f64);
            (sum + count * edge, squares + count * edge * edge)
        });
        let mean = sums.0 / n;
        (sums.1 / n - mean * mean).max(0.0).sqrt()
    }
}

/// The bucket of a value that is zero or more.
fn bucket_of(value: f64) -> u16 {
    if value < LOWEST {
        return 0;
    }
    ((OFFSET + value.ln() / LOG_STEP) as u16).min(LAST)
}

/// The lower edge of a bucket.
fn edge_of(bucket: u16) -> f64 {
    if bucket == 0 { 0.0 } else { STEP.powf(f64::from(bucket) - 1.0) * LOWEST }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(values: &[f64]) -> PerconaSummary {
        let mut buckets = PerconaBuckets::default();
        values.iter().for_each(|value| buckets.add(*value));
        buckets.summary().expect("values")
    }

    fn is_near(values: &[f64], [median, p95, stddev]: [f64; 3]) {
        let found = summary(values);
        for (found, expected) in [(found.median, median), (found.p95, p95), (found.stddev, stddev)]
        {
            assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected} {values:?}");
        }
    }

    #[test]
    fn few_values_are_exact() {
        assert_eq!(PerconaBuckets::default().summary(), None);
        let equal = PerconaSummary { median: 3.0, p95: 3.0, stddev: 0.0 };
        assert_eq!([summary(&[3.0]), summary(&[3.0; 7])], [equal; 2]);
        is_near(&[0.5, 1.5], [1.0, 1.5, 0.5f64.sqrt()]);
    }

    /// As Percona's `EventAggregator` computes it: the edges of 1, 2, 10 and 20 are 0.992…, 1.964…,
    /// 9.828… and 19.458….
    #[test]
    fn many_values_are_edges_of_buckets() {
        let many = [&[1.0; 18][..], &[2.0, 10.0]].concat();
        is_near(&many, [0.992_136_978_549_149_5, 1.964_363_354_801_79, 1.926_254_236_631_543_8]);
        is_near(
            &[1.0, 2.0, 10.0, 20.0],
            [14.643_503_418_313_056, 19.458_926_607_490_735, 7.419_115_618_199_297],
        );
        is_near(
            &[1.0, 2.0, 10.0],
            [1.964_363_354_801_79, 9.828_080_229_135_377, 3.956_108_642_676_544],
        );
        is_near(&[0.0, 0.0, 0.0, 1.0], [0.0, 0.992_136_978_549_149_5, 0.429_607_913_728_750_07]);
    }

    #[test]
    fn the_deviation_is_at_most_half_of_the_range() {
        assert_eq!(summary(&[1.0, 1.01, 1.02]).stddev, 0.0);
        // Two neighbours, whose edges are further apart than they are.
        let edge = edge_of(300);
        let close = summary(&[edge * 0.999_999, edge * 0.999_999, edge * 1.000_001]);
        assert!(close.stddev <= edge * 1.1e-6, "{close:?}");
    }

    #[test]
    fn values_of_any_size_have_a_bucket() {
        let values = [0.0, 9e-7, 1.0, 10.0, 1e30, f64::MAX];
        assert_eq!(values.map(bucket_of), [0, 0, 284, 331, 999, 999]);
        let mut buckets = PerconaBuckets::default();
        [f64::NAN, -1.0, f64::INFINITY].into_iter().for_each(|value| buckets.add(value));
        assert_eq!(buckets, PerconaBuckets::default());
    }

    proptest! {
        #[test]
        fn median_and_p95_are_low_by_one_bucket_at_most(
            values in prop::collection::vec(1e-5f64..1e6, 11..200),
        ) {
            let found = summary(&values);
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert!(found.p95 <= sorted[sorted.len() - 1]);
            prop_assert!(found.p95 * 1.051 >= sorted[sorted.len() * 9 / 10]);
            prop_assert!(found.median >= sorted[0] / 1.051 && found.median <= found.p95);
        }
    }
}
