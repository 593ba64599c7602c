//! By how much two digests of logs differ in a class: its rate, and its mean duration.
//!
//! The records of each digest are taken as independent of each other, which they may not be: what
//! comes in bursts, or waits for the same lock, is less certain than these intervals. They are of
//! the chance within two logs, not of that between two lives of a server.

use crate::student::t_quantile;

/// The value that 97.5 % of the normal distribution stay below, for intervals that cover the true
/// ratio in 95 % of cases.
const NORMAL: f64 = 1.959_963_984_540_054;

/// From so many degrees of freedom on that of Student's t is the same to four digits.
const MANY: f64 = 10_000.0;

/// The durations of a class in a digest, by their sums. Unit: any, of both digests the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordMoments {
    /// How many records were logged.
    pub logged: u64,
    /// For how many they stand: `logged`, where each stands for itself.
    pub count: f64,
    /// The sum of the durations of all that they stand for.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

/// How often as much the second of two digests has of something, with the interval that covers the
/// true ratio in 95 % of cases where records are independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DigestChange {
    /// The second one over the first.
    pub ratio: f64,
    /// Where the interval begins; more than zero.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

impl DigestChange {
    /// The ratio of two mean durations, with the interval on the logarithmic scale (delta method:
    /// the variance of the logarithm of a mean is that of the mean over its square; degrees of
    /// freedom by Satterthwaite). `None`: a side has fewer than two records, or its mean is not
    /// above zero.
    pub fn of_means(a: &RecordMoments, b: &RecordMoments) -> Option<Self> {
        let [a, b] = [LogMean::of(a)?, LogMean::of(b)?];
        let variance = a.variance + b.variance;
        let squares = a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom;
        let freedom =
            if squares > 0.0 { variance * variance / squares } else { a.freedom + b.freedom };
        let quantile = if freedom < MANY { t_quantile(0.975, freedom) } else { NORMAL };
        let half = quantile * variance.sqrt();
        Some(Self::on_log_scale(b.mean / a.mean, half))
    }

    /// The ratio of two rates, of records in so many seconds each, whose numbers are those of
    /// Poisson. `None`: a side has no record or no time.
    pub fn of_rates(a: (&RecordMoments, f64), b: (&RecordMoments, f64)) -> Option<Self> {
        let rate = |(moments, seconds): (&RecordMoments, f64)| {
            let rate = moments.count / seconds;
            (moments.logged > 0 && rate.is_finite() && rate > 0.0).then_some(rate)
        };
        let ratio = rate(b)? / rate(a)?;
        let variance = 1.0 / a.0.logged as f64 + 1.0 / b.0.logged as f64;
        Some(Self::on_log_scale(ratio, NORMAL * variance.sqrt()))
    }

    fn on_log_scale(ratio: f64, half: f64) -> Self {
        Self { ratio, low: ratio * (-half).exp(), high: ratio * half.exp() }
    }
}

/// The mean of a side, and the variance of its logarithm.
struct LogMean {
    mean: f64,
    variance: f64,
    freedom: f64,
}

impl LogMean {
    fn of(moments: &RecordMoments) -> Option<Self> {
        let (logged, mean) = (moments.logged as f64, moments.sum / moments.count);
        if moments.logged < 2 || !mean.is_finite() || mean <= 0.0 {
            return None;
        }
        // Equal durations leave a little below zero, by rounding.
        let variance = (moments.squares / moments.count - mean * mean).max(0.0);
        Some(Self {
            mean,
            variance: variance / (logged - 1.0) / (mean * mean),
            freedom: logged - 1.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::SeededNoise;

    fn moments(values: impl Iterator<Item = f64>) -> RecordMoments {
        let zero = RecordMoments { logged: 0, count: 0.0, sum: 0.0, squares: 0.0 };
        values.fold(zero, |sums, value| RecordMoments {
            logged: sums.logged + 1,
            count: sums.count + 1.0,
            sum: sums.sum + value,
            squares: sums.squares + value * value,
        })
    }

    /// The share of pairs of digests whose interval covers the true ratio of means.
    fn coverage(mut value: impl FnMut() -> f64) -> f64 {
        const TRUE_RATIO: f64 = 1.3;
        let pairs = 2000;
        let covered = (0..pairs).filter(|_| {
            let a = moments((0..200).map(|_| value()));
            let b = moments((0..400).map(|_| value() * TRUE_RATIO));
            let change = DigestChange::of_means(&a, &b).expect("hundreds of records");
            (change.low..=change.high).contains(&TRUE_RATIO)
        });
        covered.count() as f64 / f64::from(pairs)
    }

    #[test]
    fn intervals_of_means_cover_the_true_ratio_in_95_of_100_cases() {
        let mut noise = SeededNoise::new(3);
        let exponential = coverage(|| -noise.uniform().max(1e-12).ln());
        let log_normal = coverage(|| noise.normal().exp());
        for share in [exponential, log_normal] {
            assert!((0.93..=0.97).contains(&share), "{exponential} {log_normal}");
        }
    }

    #[test]
    fn intervals_of_rates_cover_the_true_ratio_in_95_of_100_cases() {
        let mut noise = SeededNoise::new(4);
        // How many arrive in so many seconds, at one a second.
        let mut arrivals = |seconds: f64| {
            let mut at = 0.0;
            moments(std::iter::from_fn(|| {
                at -= noise.uniform().max(1e-12).ln();
                (at < seconds).then_some(1.0)
            }))
        };
        let covered = (0..2000).filter(|_| {
            let (a, b) = (arrivals(100.0), arrivals(200.0));
            let change = DigestChange::of_rates((&a, 100.0), (&b, 100.0)).expect("records");
            (change.low..=change.high).contains(&2.0)
        });
        let share = covered.count() as f64 / 2000.0;
        assert!((0.93..=0.97).contains(&share), "{share}");
    }

    #[test]
    fn a_sample_is_no_more_certain_for_what_it_stands_for() {
        let a = moments([1.0, 2.0, 3.0].into_iter());
        let sampled = RecordMoments {
            count: a.count * 100.0,
            sum: a.sum * 100.0,
            squares: a.squares * 100.0,
            ..a
        };
        let of = |b: &RecordMoments| DigestChange::of_means(&a, b).expect("three records");
        let (whole, sample) = (of(&a), of(&sampled));
        assert_eq!(whole.ratio, 1.0);
        assert!((whole.low - sample.low).abs() < 1e-9 && (whole.high - sample.high).abs() < 1e-9);
        let rates = DigestChange::of_rates((&a, 1.0), (&sampled, 1.0)).expect("three records");
        assert!((rates.ratio - 100.0).abs() < 1e-9 && rates.low < 30.0, "{rates:?}");
    }

    #[test]
    fn without_spread_or_records_there_is_no_interval() {
        let even = moments([5.0; 10].into_iter());
        let change = DigestChange::of_means(&even, &even).expect("ten records");
        assert_eq!((change.ratio, change.low, change.high), (1.0, 1.0, 1.0));
        let one = moments([5.0].into_iter());
        let none = moments([].into_iter());
        assert_eq!(DigestChange::of_means(&even, &one), None);
        assert_eq!(DigestChange::of_means(&moments([0.0; 3].into_iter()), &even), None);
        assert_eq!(DigestChange::of_rates((&even, 1.0), (&none, 1.0)), None);
        assert_eq!(DigestChange::of_rates((&even, 0.0), (&even, 1.0)), None);
    }
}
