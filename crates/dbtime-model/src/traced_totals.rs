//! What traced statements come to in all: counts, parts and distributions, added up where they end.

use crate::Nanos;
use crate::traced::RequestParts;

/// Buckets to each power of two of the fine distribution.
const FINENESS: u64 = 8;

/// What the statements of one kind come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many have ended.
    pub count: u64,
    /// Their responses together.
    pub response: Nanos,
    /// Those that were answered with an error.
    pub errors: u64,
    /// The longest response.
    pub longest: Nanos,
    /// Where their responses went.
    pub parts: RequestParts,
    /// Responses in buckets, eight to each power of two nanoseconds.
    pub fine: Vec<u64>,
    /// Responses by powers of two microseconds: below 2 µs, below 4 µs, ….
    pub coarse: Vec<u64>,
}

impl Totals {
    /// Adds what others came to.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.response += other.response;
        self.errors += other.errors;
        self.longest = self.longest.max(other.longest);
        self.parts.add(&other.parts);
        add_all(&mut self.fine, &other.fine);
        add_all(&mut self.coarse, &other.coarse);
    }

    /// The mean response; `None` where there is none.
    pub fn mean(&self) -> Option<Nanos> {
        self.response.0.checked_div(self.count).map(Nanos)
    }

    /// The response that a share of all stay at or below: the upper end of its bucket, at most
    /// 12.5 % above, and never above the longest. `None` where there is none.
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        let wanted = (self.count as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bucket = self.fine.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(Nanos(below(bucket as u64 + 1).saturating_sub(1)).min(self.longest))
    }
}

/// Where a bucket begins.
fn below(bucket: u64) -> u64 {
    if bucket < FINENESS {
        return bucket;
    }
    let (shift, step) = (bucket / FINENESS - 1, bucket % FINENESS);
    (FINENESS + step) << shift
}

fn add_all(counts: &mut Vec<u64>, others: &[u64]) {
    counts.resize(counts.len().max(others.len()), 0);
    counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
}

/// Who had the CPU while statements could have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// The thread's name; `None`: all for whom the table had no room.
    pub name: Option<String>,
    /// How often.
    pub count: u64,
    /// For how long in all.
    pub length: Nanos,
}

/// Everything that was traced, in sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedTotals {
    /// Statements that kept the CPU as long as they wanted it.
    pub undisturbed: Totals,
    /// Statements that were pre-empted.
    pub preempted: Totals,
    /// Who pre-empted them, longest first.
    pub preemptors: Vec<Preemption>,
}

impl TracedTotals {
    /// All statements.
    pub fn all(&self) -> Totals {
        let mut all = self.undisturbed.clone();
        all.add(&self.preempted);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's side, in Rust (`fine_bucket` in `bpf/totals.bpf.h`).
    fn bucket(value: u64) -> usize {
        let power = u64::from(value.max(1).ilog2());
        if power < 3 {
            return value as usize;
        }
        (((power - 2) * 8) + (value >> (power - 3) & 7)) as usize
    }

    fn totals(lengths: &[u64]) -> Totals {
        let mut totals = Totals { fine: vec![0; 368], coarse: vec![0; 40], ..Totals::default() };
        for &length in lengths {
            totals.count += 1;
            totals.response.0 += length;
            totals.longest = totals.longest.max(Nanos(length));
            totals.fine[bucket(length)] += 1;
            totals.coarse[(length / 1000).max(1).ilog2() as usize] += 1;
        }
        totals
    }

    #[test]
    fn a_bucket_begins_where_the_one_before_it_ends() {
        for value in (0..100).chain((7..60).map(|power| (1 << power) + 12_345)) {
            let at = bucket(value) as u64;
            assert!(below(at) <= value && value < below(at + 1), "{value}");
            assert!(value < 8 || below(at + 1) - below(at) <= value / 8, "{value}");
        }
    }

    #[test]
    fn quantiles_are_within_a_bucket_and_never_above_the_longest() {
        let lengths: Vec<u64> = (1..=1000).map(|n| n * 1000).collect();
        let totals = totals(&lengths);
        for (share, exact) in [(0.5, 500_000), (0.99, 990_000), (0.999, 999_000)] {
            let found = totals.quantile(share).expect("some").0;
            assert!((exact..=exact + exact / 8).contains(&found), "{share} {found}");
        }
        assert_eq!(totals.quantile(1.0), Some(Nanos(1_000_000)));
        assert_eq!(totals.mean(), Some(Nanos(500_500)));
        assert_eq!(Totals::default().quantile(0.5), None);
        assert_eq!(Totals::default().mean(), None);
    }

    #[test]
    fn sums_add_up() {
        let all = TracedTotals {
            undisturbed: totals(&[1000, 2000]),
            preempted: totals(&[4_000_000]),
            preemptors: Vec::new(),
        }
        .all();
        assert_eq!((all.count, all.longest), (3, Nanos(4_000_000)));
        assert_eq!(all.coarse.iter().sum::<u64>(), 3);
        assert_eq!(all.fine.iter().sum::<u64>(), 3);
    }
}
