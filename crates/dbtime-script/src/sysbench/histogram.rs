//! sysbench's histogram: buckets whose values grow by the same factor, and its percentile.
//!
//! ```text
//!   0.001 ms   0.00102   0.00104   …   98215.462   100000 ms
//!     [0]        [1]       [2]            [1022]     [1023]
//! ```
//!
//! A latency is counted in the bucket whose value is nearest by ratio, and a percentile is the
//! value of a bucket: figures are as coarse as sysbench's (1.8 %), so that they are the same.
//! One thread counts and any other may read meanwhile; nothing is ever reset, intervals are
//! differences. dbtime's own reports use finer histograms.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// The longest bar, in stars.
const BAR_CHARS: u64 = 40;

/// Which values are counted together.
///
/// Unit: as the caller's; latencies are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BucketScale {
    buckets: usize,
    least: f64,
    /// Buckets per natural logarithm.
    density: f64,
}

impl BucketScale {
    /// sysbench's scale of latencies: 1024 buckets from 1 µs to 100 s, in milliseconds.
    pub(crate) fn latency() -> Self {
        Self::new(1024, 0.001, 100_000.0)
    }

    /// A scale of `buckets` from `least` to `most`. Shape: at least two buckets are made; what is
    /// not above zero or not in order is brought there.
    pub(crate) fn new(buckets: usize, least: f64, most: f64) -> Self {
        let buckets = buckets.max(2);
        let least = least.max(f64::MIN_POSITIVE);
        let logs = (most.max(least) / least).ln().max(f64::MIN_POSITIVE);
        Self { buckets, least, density: (buckets - 1) as f64 / logs }
    }

    /// The bucket of a value; the first and the last take what lies beyond.
    #[inline]
    pub(crate) fn bucket(&self, value: f64) -> usize {
        let position = (value / self.least).ln() * self.density + 0.5;
        // The cast takes what is negative, and no number at all, to the first.
        (position as usize).min(self.buckets - 1)
    }

    /// The value that a bucket stands for.
    pub(crate) fn value(&self, bucket: usize) -> f64 {
        (bucket as f64 / self.density).exp() * self.least
    }
}

/// A scale's buckets without its logarithm: the leading bits of a number say where to begin, and a
/// step or two upwards end in the same bucket.
#[derive(Debug)]
struct BucketSteps {
    /// The least value of each bucket but the first.
    bounds: Box<[f64]>,
    /// The bucket that the least number of these leading bits falls into.
    begin: Box<[u32]>,
    /// The leading bits that `begin` starts with.
    first: u64,
}

impl BucketSteps {
    /// Without sign, exponent and five bits of the fraction are left: numbers within 3 %.
    const SHIFT: u32 = 47;

    fn new(scale: BucketScale) -> Self {
        let bound = |bucket: usize| ((bucket as f64 - 0.5) / scale.density).exp() * scale.least;
        let [first, last] = [scale.value(0), scale.value(scale.buckets - 1)]
            .map(|value| value.to_bits() >> Self::SHIFT);
        let least = |bits: u64| f64::from_bits(bits << Self::SHIFT);
        Self {
            bounds: (1..scale.buckets).map(bound).collect(),
            begin: (first..=last).map(|bits| scale.bucket(least(bits)) as u32).collect(),
            first,
        }
    }

    /// The bucket of a value of `scale`.
    #[inline]
    fn bucket(&self, scale: &BucketScale, value: f64) -> usize {
        let bits = value.to_bits() >> Self::SHIFT;
        let Some(&begin) = self.begin.get(bits.wrapping_sub(self.first) as usize) else {
            return scale.bucket(value);
        };
        let begin = begin as usize;
        let above = self.bounds[begin..].iter().take_while(|bound| value >= **bound);
        begin + above.count()
    }
}

/// Counters that one thread writes and others read.
#[derive(Debug)]
pub(crate) struct SysbenchHistogram {
    scale: BucketScale,
    steps: BucketSteps,
    counts: Box<[AtomicU64]>,
}

impl Default for SysbenchHistogram {
    fn default() -> Self {
        Self::new(BucketScale::latency())
    }
}

impl SysbenchHistogram {
    /// An empty one.
    pub(crate) fn new(scale: BucketScale) -> Self {
        let counts = (0..scale.buckets).map(|_| AtomicU64::new(0)).collect();
        Self { scale, steps: BucketSteps::new(scale), counts }
    }

    /// Counts a value. Only one thread may do so: two would lose counts.
    #[inline]
    pub(crate) fn record(&self, value: f64) {
        let count = &self.counts[self.steps.bucket(&self.scale, value)];
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Everything counted so far.
    pub(crate) fn counts(&self) -> BucketCounts {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        BucketCounts { scale: self.scale, counts }
    }
}

/// What a histogram had counted at one instant, or in the time between two.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketCounts {
    scale: BucketScale,
    counts: Vec<u64>,
}

impl Default for BucketCounts {
    fn default() -> Self {
        Self::new(BucketScale::latency())
    }
}

impl BucketCounts {
    /// Nothing counted.
    pub(crate) fn new(scale: BucketScale) -> Self {
        Self { scale, counts: vec![0; scale.buckets] }
    }

    /// Adds what another of the same scale has counted.
    pub(crate) fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// What was counted since an earlier instant.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let both = self.counts.iter().zip(&earlier.counts);
        Self { scale: self.scale, counts: both.map(|(a, b)| a.saturating_sub(*b)).collect() }
    }

    /// How many values were counted.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The value below or at which `percent` of all values lie: that of the first bucket with
    /// which the rounded share is reached. Zero where the share rounds to no value at all.
    pub(crate) fn percentile(&self, percent: u32) -> f64 {
        let expected = (self.total() as f64 * f64::from(percent) / 100.0 + 0.5).floor() as u64;
        if expected == 0 {
            return 0.0;
        }
        let mut sum = 0;
        let reached = self.counts.iter().position(|count| {
            sum += count;
            sum >= expected
        });
        self.scale.value(reached.unwrap_or(self.scale.buckets - 1))
    }

    /// A line for each bucket that counted something, with a bar, under a heading line.
    pub fn bars(&self) -> String {
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let mut text = "       value  ------------- distribution ------------- count\n".to_owned();
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        for (bucket, &count) in counted {
            let stars = (count as f64 * BAR_CHARS as f64 / most + 0.5) as usize;
            let value = self.scale.value(bucket);
            let bar = "*".repeat(stars);
            let _ = writeln!(text, "{value:12.3} |{bar:<40} {count}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(values: &[(f64, u64)]) -> BucketCounts {
        let histogram = SysbenchHistogram::default();
        for &(value, count) in values {
            (0..count).for_each(|_| histogram.record(value));
        }
        histogram.counts()
    }

    #[test]
    fn values_fall_into_the_buckets_that_sysbench_puts_them_into() {
        let once = [
            0.0001, 0.001, 0.00101, 0.0015, 1.0, 1.009, 1.0091, 5.81, 50.0, 50.4, 50.5, 50.6,
            99999.0, 100_000.0, 200_000.0, 99100.0,
        ];
        let counts = counted(&once.map(|value| (value, 1)));
        let expected = "
       value  ------------- distribution ------------- count
       0.001 |***************************              2
       0.001 |*************                            1
       0.002 |*************                            1
       1.007 |**************************************** 3
       5.774 |*************                            1
      50.107 |**************************************** 3
      51.018 |*************                            1
   98215.462 |*************                            1
  100000.000 |**************************************** 3
";
        assert_eq!(counts.bars(), expected[1..]);
    }

    #[test]
    fn bars_are_rounded_to_whole_stars() {
        let counts = counted(&[(0.336, 4772), (0.342, 82), (0.348, 345), (0.367, 20), (0.424, 1)]);
        let expected = "
       value  ------------- distribution ------------- count
       0.336 |**************************************** 4772
       0.342 |*                                        82
       0.348 |***                                      345
       0.367 |                                         20
       0.424 |                                         1
";
        assert_eq!(counts.bars(), expected[1..]);
    }

    #[test]
    fn a_percentile_is_the_value_of_the_bucket_where_the_rounded_share_is_reached() {
        // Two runs of ten events that sysbench gave 0.39 and 0.37 for.
        let counts = counted(&[(0.336, 5), (0.342, 2), (0.348, 1), (0.381, 1), (0.395, 1)]);
        assert_eq!(format!("{:.2}", counts.percentile(95)), "0.39");
        let counts = counted(&[(0.336, 6), (0.342, 2), (0.348, 1), (0.374, 1)]);
        assert_eq!(format!("{:.2}", counts.percentile(95)), "0.37");
        assert_eq!(format!("{:.3}", counts.percentile(94)), "0.348");
        assert_eq!(counted(&[(0.348, 1), (0.354, 1)]).percentile(1), 0.0);
        assert_eq!(BucketCounts::default().percentile(95), 0.0);
    }

    #[test]
    fn an_interval_is_a_difference() {
        let histogram = SysbenchHistogram::default();
        histogram.record(1.0);
        let earlier = histogram.counts();
        histogram.record(9.0);
        histogram.record(9.0);
        let interval = histogram.counts().since(&earlier);
        assert_eq!(interval.total(), 2);
        assert_eq!(format!("{:.2}", interval.percentile(50)), "9.06");
        let mut sum = interval;
        sum.add(&earlier);
        assert_eq!(sum, histogram.counts());
    }

    #[test]
    fn steps_lead_where_the_logarithm_does() {
        let scales = [
            BucketScale::latency(),
            BucketScale::new(2, 1.0, 1.5),
            BucketScale::new(300, 0.5, 7.0),
        ];
        for scale in scales {
            let steps = BucketSteps::new(scale);
            let values = (0..200_000).map(|index| (f64::from(index) * 1e-4 - 9.0).exp());
            let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, f64::MIN_POSITIVE];
            for value in values.chain(odd) {
                assert_eq!(steps.bucket(&scale, value), scale.bucket(value), "{value}");
            }
        }
    }

    #[test]
    fn odd_values_are_counted_at_the_ends() {
        let scale = BucketScale::latency();
        assert_eq!([f64::NAN, -1.0, 0.0].map(|value| scale.bucket(value)), [0; 3]);
        assert_eq!(scale.bucket(f64::INFINITY), 1023);
        assert_eq!(BucketScale::new(0, 0.0, -1.0).bucket(1.0), 1);
    }
}
