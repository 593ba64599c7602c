//! Two forms of the same work, done for the same keys next to each other.
//!
//! What a key costs, and what else the machine was doing just then, both of a pair share: it is no
//! part of their ratio. Ratios that follow each other may be alike still, so that their mean is
//! judged by the means of batches (Law, Simulation Modeling and Analysis, chapter 9), and few of
//! them by their order alone.

use crate::effective_size::{batch_means, variance};
use crate::{ConfidenceInterval, LogRatio, MeanDifference};

/// Means of so many batches at least are needed to know their variance.
const FEWEST_BATCHES: usize = 12;

/// From this autocorrelation on batches are too short.
const MOST_CORRELATED: f64 = 0.2;

/// What is left of it where batches cannot be longer stretches the variance, up to this much.
const MOST_STRETCHED: f64 = 0.9;

/// Of fewer pairs the order alone is looked at.
const FEWEST_BATCHED_PAIRS: usize = 30;

/// Groups of pairs by their size: so many at most, of so many pairs at least.
const GROUPS: usize = 10;
const GROUP_PAIRS: usize = 10;

/// The level of intervals that show a difference.
const LEVEL: f64 = 0.95;

/// What both forms took for each key.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedKeys {
    times: Vec<(f64, f64)>,
    /// The logarithms of B by A.
    logs: Vec<f64>,
}

/// The ratio of B to A, with how its interval was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedRatio {
    /// The geometric mean of the pairs' ratios, or by their order the median.
    pub interval: ConfidenceInterval,
    /// Batches of pairs; 0: the interval is by the order of pairs alone.
    pub batches: usize,
    /// Pairs in each.
    pub batch_pairs: usize,
    /// Of the means of batches, at lag 1.
    pub autocorrelation: f64,
}

/// What may be said of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairedVerdict {
    /// It takes less time.
    Faster,
    /// It takes more time.
    Slower,
    /// It takes the same time but for the margin.
    Same,
    /// Neither is shown.
    Undecided,
}

/// Pairs of about the same size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGroup {
    /// The smallest size.
    pub from: u64,
    /// The largest.
    pub to: u64,
    /// How many pairs.
    pub pairs: usize,
    /// The geometric mean of their ratios.
    pub ratio: f64,
    /// The share of them in which B was faster.
    pub faster_share: f64,
}

impl PairedKeys {
    /// Of the times of A and B, in the order of their execution; in any unit. `None`: one is not
    /// above zero.
    pub fn new(times: Vec<(f64, f64)>) -> Option<Self> {
        let is_time = |time: f64| time > 0.0 && time.is_finite();
        let is_pair = |(a, b): &(f64, f64)| is_time(*a) && is_time(*b);
        if !times.iter().all(is_pair) {
            return None;
        }
        let logs = times.iter().map(|(a, b)| (b / a).ln()).collect();
        Some(Self { times, logs })
    }

    /// The ratio with the interval that covers it in `level` of all repetitions: from the means of
    /// batches, or of under 30 pairs by the sign test. `None`: too few pairs, for 95 % under six.
    pub fn ratio(&self, level: f64) -> Option<PairedRatio> {
        match self.logs.len() < FEWEST_BATCHED_PAIRS {
            true => self.signed(level),
            false => Some(self.batched(level)),
        }
    }

    fn batched(&self, level: f64) -> PairedRatio {
        let (logs, count) = (&self.logs, self.logs.len());
        let mut size = 1;
        let mut means = batch_means(logs, size);
        let mut correlation = autocorrelation(&means);
        while correlation >= MOST_CORRELATED && count / (2 * size) >= FEWEST_BATCHES {
            size *= 2;
            means = batch_means(logs, size);
            correlation = autocorrelation(&means);
        }
        let left = correlation.clamp(0.0, MOST_STRETCHED);
        let stretch = (1.0 + left) / (1.0 - left);
        // Pairs behind the last whole batch are in the mean.
        let of_mean = variance(&means) * stretch * size as f64 / count as f64;
        let freedom = (means.len() - 1) as f64;
        let change = MeanDifference { mean: mean(logs), error: of_mean.sqrt(), freedom };
        PairedRatio {
            interval: change.interval(level).map(f64::exp),
            batches: means.len(),
            batch_pairs: size,
            autocorrelation: correlation,
        }
    }

    /// By the order statistics that the sign test of the median does not refuse.
    fn signed(&self, level: f64) -> Option<PairedRatio> {
        let mut logs = self.logs.clone();
        logs.sort_by(f64::total_cmp);
        let left_out = signs_left_out(logs.len(), level)?;
        let [low, high] = [logs[left_out], logs[logs.len() - 1 - left_out]];
        let interval = ConfidenceInterval { estimate: median(&logs), low, high, level };
        let interval = interval.map(f64::exp);
        Some(PairedRatio { interval, batches: 0, batch_pairs: 0, autocorrelation: 0.0 })
    }

    /// What the same times would say if they were not in pairs; `None`: under two pairs.
    pub fn unpaired(&self, level: f64) -> Option<ConfidenceInterval> {
        let (a, b): (Vec<f64>, Vec<f64>) = self.times.iter().copied().unzip();
        let change = LogRatio::unpaired(&a, &b)?.interval(level);
        Some(change.map(|share| 1.0 + share))
    }

    /// What may be said with an error of 5 %. The margin is the smallest change of interest, a
    /// share: what is shown to be less is [`PairedVerdict::Same`], even where it is shown.
    pub fn verdict(&self, margin: f64) -> PairedVerdict {
        let change = |level| Some(self.ratio(level)?.interval.map(|ratio| ratio - 1.0));
        // Two one-sided tests of 5 % each are that the 90 % interval lies inside (Schuirmann 1987).
        if change(0.9).is_some_and(|within| within.is_within(margin)) {
            return PairedVerdict::Same;
        }
        match change(LEVEL) {
            Some(found) if found.high < 0.0 => PairedVerdict::Faster,
            Some(found) if found.low > 0.0 => PairedVerdict::Slower,
            _ => PairedVerdict::Undecided,
        }
    }

    /// How many pairs there are.
    pub fn count(&self) -> usize {
        self.logs.len()
    }

    /// The median of the pairs' ratios; `None` without pairs.
    pub fn median_ratio(&self) -> Option<f64> {
        let mut logs = self.logs.clone();
        logs.sort_by(f64::total_cmp);
        (!logs.is_empty()).then(|| median(&logs).exp())
    }

    /// The share of pairs in which B was faster; 0 without pairs.
    pub fn faster_share(&self) -> f64 {
        faster_share(&self.logs)
    }

    /// The ratios by the sizes of pairs, smallest first: at most ten groups of about as many pairs,
    /// and all pairs of one size in one group. Empty where that is one group, which tells nothing.
    ///
    /// # Panics
    /// Where there are not as many sizes as pairs.
    pub fn by_size(&self, sizes: &[u64]) -> Vec<PairGroup> {
        assert_eq!(sizes.len(), self.logs.len(), "a size for each pair");
        let mut pairs: Vec<(u64, f64)> =
            sizes.iter().copied().zip(self.logs.iter().copied()).collect();
        pairs.sort_by_key(|(size, _)| *size);
        let most = (pairs.len() / GROUP_PAIRS).clamp(1, GROUPS);
        let mut groups = Vec::new();
        let mut from = 0;
        for nth in 1..=most {
            let mut to = pairs.len() * nth / most;
            while 0 < to && to < pairs.len() && pairs[to].0 == pairs[to - 1].0 {
                to += 1;
            }
            if from < to {
                groups.push(PairGroup::of(&pairs[from..to]));
                from = to;
            }
        }
        if groups.len() < 2 { Vec::new() } else { groups }
    }
}

impl PairGroup {
    /// Of pairs in the order of their sizes, at least one.
    fn of(pairs: &[(u64, f64)]) -> Self {
        let logs: Vec<f64> = pairs.iter().map(|(_, log)| *log).collect();
        Self {
            from: pairs[0].0,
            to: pairs[pairs.len() - 1].0,
            pairs: pairs.len(),
            ratio: mean(&logs).exp(),
            faster_share: faster_share(&logs),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Of values in ascending order, at least one.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

fn faster_share(logs: &[f64]) -> f64 {
    logs.iter().filter(|log| **log < 0.0).count() as f64 / logs.len().max(1) as f64
}

/// Of neighbours; 0 where all values are equal.
fn autocorrelation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products = values.windows(2).map(|two| (two[0] - mean) * (two[1] - mean));
    if squares > 0.0 { products.sum::<f64>() / squares } else { 0.0 }
}

/// How many values at each end lie outside of the sign test's interval of the median: as many as
/// that few heads of so many coins have together a probability of at most (1 − `level`) / 2.
/// `None`: there are too few values for any.
fn signs_left_out(count: usize, level: f64) -> Option<usize> {
    let most = (1.0 - level) / 2.0;
    let mut of_heads = 0.5f64.powi(i32::try_from(count).ok()?);
    let mut below = of_heads;
    let mut left_out = None;
    for heads in 0..count / 2 {
        if below > most {
            break;
        }
        left_out = Some(heads);
        of_heads *= (count - heads) as f64 / (heads + 1) as f64;
        below += of_heads;
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    /// Keys whose costs spread over a decade, and B by this much slower on each.
    fn keys(seed: u64, count: usize, ratio: f64) -> PairedKeys {
        let mut noise = SeededNoise::new(seed);
        let pair = |_| {
            let cost = 10f64.powf(noise.uniform());
            let mut took = |scale: f64| scale * cost * (0.05 * noise.normal()).exp();
            (took(1.0), took(ratio))
        };
        PairedKeys::new((0..count).map(pair).collect()).expect("times above zero")
    }

    /// Critical values of the sign test at 5 %, two-sided (Conover, Practical Nonparametric
    /// Statistics, table A3): none of five, 0 of six, 1 of ten, 5 of twenty.
    #[test]
    fn as_many_order_statistics_are_left_out_as_the_tables_say() {
        let found = [0, 5, 6, 8, 9, 10, 20].map(|count| signs_left_out(count, 0.95));
        assert_eq!(found, [None, None, Some(0), Some(0), Some(1), Some(1), Some(5)]);
        assert_eq!(signs_left_out(5, 0.9), Some(0));
    }

    #[test]
    fn few_pairs_have_a_median_with_the_interval_of_their_order() {
        let times = [1.2, 1.1, 1.3, 0.9, 1.25, 1.15, 9.0].map(|b| (1.0, b)).to_vec();
        let keys = PairedKeys::new(times).expect("times");
        let found = keys.ratio(0.95).expect("seven pairs");
        assert_eq!((found.batches, found.batch_pairs), (0, 0));
        assert!((found.interval.estimate - 1.2).abs() < 1e-9, "{found:?}");
        assert!((found.interval.low - 0.9).abs() < 1e-9, "{found:?}");
        assert!((found.interval.high - 9.0).abs() < 1e-9, "{found:?}");
        assert_eq!(keys.verdict(0.02), PairedVerdict::Undecided);
        let five = PairedKeys::new(vec![(1.0, 2.0); 5]).expect("times");
        assert_eq!((five.ratio(0.95), five.verdict(0.02)), (None, PairedVerdict::Undecided));
        let seven = PairedKeys::new(vec![(1.0, 2.0); 7]).expect("times");
        assert_eq!(seven.verdict(0.02), PairedVerdict::Slower);
    }

    #[test]
    fn pairs_are_many_times_as_exact_as_the_same_times_without_them() {
        let keys = keys(1, 400, 1.1);
        let paired = keys.ratio(0.95).expect("many pairs").interval;
        let unpaired = keys.unpaired(0.95).expect("many pairs");
        assert!((paired.estimate - 1.1).abs() < 0.02, "{paired:?}");
        assert!((paired.estimate - unpaired.estimate).abs() < 1e-9, "{unpaired:?}");
        let widths = [paired, unpaired].map(|interval| (interval.high / interval.low).ln());
        assert!(3.0 * widths[0] < widths[1], "{widths:?}");
        assert!((keys.median_ratio().expect("pairs") - 1.1).abs() < 0.02);
    }

    #[test]
    fn each_verdict_is_given_where_it_is_due() {
        let verdict = |ratio, margin| keys(2, 400, ratio).verdict(margin);
        assert_eq!(verdict(0.9, 0.02), PairedVerdict::Faster);
        assert_eq!(verdict(1.1, 0.02), PairedVerdict::Slower);
        assert_eq!(verdict(1.0, 0.02), PairedVerdict::Same);
        // It is shown, and of no interest.
        assert_eq!(verdict(1.1, 0.2), PairedVerdict::Same);
        let pair = |at: usize| if at.is_multiple_of(2) { (1.0, 1.05) } else { (1.05, 1.0) };
        let even = PairedKeys::new((0..100).map(pair).collect()).expect("times");
        assert_eq!(even.verdict(0.001), PairedVerdict::Undecided);
    }

    #[test]
    fn ratios_that_are_like_their_neighbours_are_taken_in_long_batches() {
        let mut noise = SeededNoise::new(3);
        let mut level = 0.0;
        let pair = |_| {
            level = 0.9 * level + 0.02 * noise.normal();
            (1.0, f64::exp(level))
        };
        let times: Vec<(f64, f64)> = (0..4000).map(pair).collect();
        let found = PairedKeys::new(times).expect("times").ratio(0.95).expect("pairs");
        assert!(found.batch_pairs >= 8 && found.batches >= FEWEST_BATCHES, "{found:?}");
        assert!(found.autocorrelation < MOST_CORRELATED, "{found:?}");
        let alone = keys(4, 400, 1.0).ratio(0.95).expect("pairs");
        assert_eq!((alone.batch_pairs, alone.batches), (1, 400), "{alone:?}");
    }

    #[test]
    fn ratios_are_told_apart_by_size() {
        // B is twice as fast on small keys, and half as fast on large ones.
        let times: Vec<(f64, f64)> =
            (0..100).map(|at| if at < 50 { (2.0, 1.0) } else { (1.0, 2.0) }).collect();
        let keys = PairedKeys::new(times).expect("times");
        let groups = keys.by_size(&(0..100).collect::<Vec<u64>>());
        assert_eq!(groups.len(), 10);
        assert_eq!((groups[0].from, groups[0].to, groups[0].pairs), (0, 9, 10));
        assert!((groups[0].ratio - 0.5).abs() < 1e-9 && groups[0].faster_share == 1.0);
        assert!((groups[9].ratio - 2.0).abs() < 1e-9 && groups[9].faster_share == 0.0);
        assert!((keys.faster_share() - 0.5).abs() < 1e-9);
        assert!(keys.by_size(&[1; 100]).is_empty());
        // 70 of one size are together.
        let sizes: Vec<u64> = (0..100).map(|at| if at < 70 { 1 } else { at }).collect();
        let groups = keys.by_size(&sizes);
        assert_eq!((groups[0].to, groups[0].pairs, groups.len()), (1, 70, 4), "{groups:?}");
        assert_eq!(groups.iter().map(|group| group.pairs).sum::<usize>(), 100);
    }

    #[test]
    fn what_takes_no_time_has_no_ratio() {
        assert_eq!(PairedKeys::new(vec![(1.0, 0.0)]), None);
        assert_eq!(PairedKeys::new(vec![(f64::NAN, 1.0)]), None);
        let none = PairedKeys::new(Vec::new()).expect("no pairs");
        assert_eq!((none.ratio(0.95), none.median_ratio(), none.count()), (None, None, 0));
        assert!(none.by_size(&[]).is_empty());
    }
}
