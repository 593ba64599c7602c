//! How the budget of slow transactions differs from that of ordinary ones.
//!
//! A mean cannot explain a p99; the record's budgets by response bucket can.
//! The buckets are powers of two, so the slowest "1 %" is whatever whole buckets come closest to
//! it, and the report states the share it really is.

use crate::means::PartMeans;
use dbtime_model::record::{BudgetUs, OperationSummary};
use std::collections::BTreeMap;

/// A set of whole response buckets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TailSlice {
    /// Its share of the sampled transactions, in percent.
    pub(crate) share: f64,
    /// Responses at or above this. Unit: microseconds.
    pub(crate) from_us: f64,
    /// Responses below this. Unit: microseconds.
    pub(crate) below_us: f64,
    /// Its mean parts, and how many transactions it holds.
    pub(crate) means: PartMeans,
}

/// All transactions, the bucket of the median, and the slowest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResponseTail {
    pub(crate) all: TailSlice,
    pub(crate) median: TailSlice,
    pub(crate) slow: TailSlice,
}

type TailBucket<'a> = (f64, Vec<(&'a BudgetUs, u64)>);

/// The buckets of the given operations put together, one slice each, fastest first.
pub(crate) fn buckets<'a>(
    operations: impl Iterator<Item = &'a OperationSummary>,
) -> Vec<TailSlice> {
    let buckets = merged(operations);
    let total = sum(buckets.iter().map(size));
    buckets.chunks(1).map(|bucket| slice(bucket, total)).collect()
}

/// The transactions of one operation by how slow they are among their like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PercentileBand {
    /// The percentiles that it lies between. Unit: percent of the operation's transactions.
    pub(crate) percentiles: (f64, f64),
    pub(crate) slice: TailSlice,
}

/// The slowest so many percent begin a band of their own, as far as whole buckets allow.
const BAND_SHARES: [f64; 3] = [50.0, 10.0, 1.0];

/// All transactions of an operation, and the bands around 0–50, 50–90, 90–99 and 99–100 %. Each
/// ends with a bucket, so that they are where whole buckets come closest to that, and fewer where
/// one bucket holds several.
pub(crate) fn bands(operation: &OperationSummary) -> Option<(TailSlice, Vec<PercentileBand>)> {
    let buckets = merged(std::iter::once(operation));
    let total = sum(buckets.iter().map(size));
    if total == 0 {
        return None;
    }
    let mut edges: Vec<usize> =
        BAND_SHARES.map(|share| slowest(&buckets, total, share / 100.0)).into();
    edges.insert(0, 0);
    edges.push(buckets.len());
    edges.dedup();
    let mut below = 0.0;
    let band = |edges: &[usize]| {
        let slice = slice(&buckets[edges[0]..edges[1]], total);
        let from = below;
        below += slice.share;
        PercentileBand { percentiles: (from, below.min(100.0)), slice }
    };
    Some((slice(&buckets, total), edges.windows(2).map(band).collect()))
}

/// What to compare, over all operations; `None` with fewer than two buckets.
pub(crate) fn tail(operations: &[OperationSummary]) -> Option<ResponseTail> {
    let buckets = merged(operations.iter());
    let total = sum(buckets.iter().map(size));
    if buckets.len() < 2 || total == 0 {
        return None;
    }
    let mut below = 0u64;
    let median = buckets.iter().position(|bucket| {
        below = below.saturating_add(size(bucket));
        below >= total - below
    })?;
    let slow = slowest(&buckets, total, 0.01).max(median + 1);
    (slow < buckets.len()).then(|| ResponseTail {
        all: slice(&buckets, total),
        median: slice(&buckets[median..=median], total),
        slow: slice(&buckets[slow..], total),
    })
}

/// Where the buckets begin that together come closest to this share of the slowest, by ratio.
fn slowest(buckets: &[TailBucket<'_>], total: u64, share: f64) -> usize {
    let mut above = 0u64;
    let mut best = (f64::INFINITY, buckets.len() - 1);
    for index in (0..buckets.len()).rev() {
        above = above.saturating_add(size(&buckets[index]));
        let distance = (above as f64 / total as f64 / share).ln().abs();
        if distance < best.0 {
            best = (distance, index);
        }
    }
    best.1
}

fn merged<'a>(operations: impl Iterator<Item = &'a OperationSummary>) -> Vec<TailBucket<'a>> {
    // Positive floats sort by their bits.
    let mut buckets: BTreeMap<u64, TailBucket<'a>> = BTreeMap::new();
    for operation in operations {
        for bucket in operation.budget_buckets.iter().filter(|bucket| bucket.count > 0) {
            let edge = bucket.below_us.abs();
            let entry = buckets.entry(edge.to_bits()).or_insert_with(|| (edge, Vec::new()));
            entry.1.push((&bucket.budget_us, bucket.count));
        }
    }
    buckets.into_values().collect()
}

fn size(bucket: &TailBucket<'_>) -> u64 {
    sum(bucket.1.iter().map(|(_, count)| *count))
}

/// Saturating: a damaged record may hold any number.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn slice(buckets: &[TailBucket<'_>], total: u64) -> TailSlice {
    let means = PartMeans::of(buckets.iter().flat_map(|bucket| bucket.1.iter().copied()));
    TailSlice {
        share: means.count as f64 / total.max(1) as f64 * 100.0,
        from_us: buckets.first().map_or(0.0, |bucket| bucket.0 / 2.0),
        below_us: buckets.last().map_or(0.0, |bucket| bucket.0),
        means,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_model::record::BudgetBucket;

    fn operation(buckets: &[(f64, u64)]) -> OperationSummary {
        let bucket = |&(below_us, count): &(f64, u64)| BudgetBucket {
            below_us,
            count,
            budget_us: BudgetUs { total: below_us * 0.75, ..BudgetUs::default() },
        };
        let budget_buckets = buckets.iter().map(bucket).collect();
        OperationSummary { budget_buckets, ..OperationSummary::default() }
    }

    #[test]
    fn the_slowest_are_the_whole_buckets_nearest_to_one_percent() {
        let operations = [
            operation(&[(1.0, 400), (2.0, 200), (4.0, 2)]),
            operation(&[(1.0, 390), (4.0, 5), (8.0, 3)]),
        ];
        let tail = tail(&operations).expect("four buckets");
        assert_eq!((tail.all.means.count, tail.median.means.count), (1000, 790));
        assert_eq!((tail.slow.means.count, tail.slow.from_us), (10, 2.0));
        assert!((tail.slow.share - 1.0).abs() < 1e-9);
    }

    #[test]
    fn bands_are_whole_buckets_that_cover_all() {
        let shares = [(1.0, 480), (2.0, 430), (4.0, 70), (8.0, 12), (16.0, 8)];
        let (all, bands) = bands(&operation(&shares)).expect("transactions");
        assert_eq!(all.means.count, 1000);
        let seen: Vec<_> = bands.iter().map(|b| (b.slice.means.count, b.slice.from_us)).collect();
        assert_eq!(seen, [(480, 0.5), (430, 1.0), (82, 2.0), (8, 8.0)]);
        assert_eq!(bands[0].percentiles, (0.0, 48.0));
        assert!((bands[3].percentiles.0 - 99.2).abs() < 1e-9);
        let (_, one) = super::bands(&operation(&[(1.0, 400)])).expect("transactions");
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].percentiles, (0.0, 100.0));
        assert_eq!(super::bands(&operation(&[])), None);
    }

    #[test]
    fn one_bucket_has_no_tail() {
        assert_eq!(tail(&[operation(&[(1.0, 400)])]), None);
        assert_eq!(tail(&[]), None);
    }
}
