//! Intervals of what has no formula, by fits of resampled runs.
//!
//! Of each level as many runs are drawn as it has, each with all that was in it (the cluster
//! bootstrap: Field and Welsh 2007). Of few runs that alone is too narrow, so that the deviation of
//! a drawn run from its level is stretched by √(n/(n − 1)), and the interval by Student's quantile
//! against the normal one, with the degrees of freedom of the levels that decide the figure: κ is
//! decided by the highest levels alone. With those of all levels the interval of κ covered 82 % of
//! laws with three runs a level (`tests/it/scalability.rs`).

use super::least_squares::{self, LevelMean};
use super::{LEVEL, RunLogs, ScalabilityIntervals, ScalabilityLaw, freedom};
use crate::ConfidenceInterval;
use crate::student::t_quantile;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// How many fits.
const RESAMPLES: usize = 2_000;

/// Places of the curve besides the levels.
const PLACES: u32 = 24;

/// The 0.975 quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// What may be of a fit.
pub(super) struct FitBands {
    pub(super) intervals: ScalabilityIntervals,
    /// Of the throughput at each of the [`places`].
    pub(super) curve: Vec<[f64; 2]>,
}

/// The places of the curve: the levels, and others evenly on a logarithmic axis.
pub(super) fn places(levels: &[LevelMean]) -> Vec<f64> {
    let ends = levels.first().zip(levels.last());
    let (first, last) = ends.map_or((1.0, 1.0), |(first, last)| (first.n, last.n));
    let between = |at: u32| first * (last / first).powf(f64::from(at) / f64::from(PLACES));
    let mut all: Vec<f64> =
        (1..PLACES).map(between).chain(levels.iter().map(|level| level.n)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// `None`: a level has one run.
pub(super) fn of(levels: &[RunLogs], law: ScalabilityLaw, seed: u64) -> Option<FitBands> {
    freedom(levels)?;
    let refits = RefittedLaws::new(levels, law, seed);
    let mut sigma = refits.interval(|law| law.sigma);
    (sigma.low, sigma.high) = (sigma.low.max(0.0), sigma.high.min(1.0));
    let mut kappa = refits.interval(|law| law.kappa);
    kappa.low = kappa.low.max(0.0);
    let mut peak = refits.interval(|law| law.peak().ln()).map(f64::exp);
    peak.low = peak.low.max(1.0);
    let lambda = refits.interval(|law| law.lambda.ln()).map(f64::exp);
    let means: Vec<LevelMean> = levels.iter().map(RunLogs::mean).collect();
    let curve = places(&means).into_iter().map(|n| {
        let throughput = refits.interval(|law| law.throughput(n).ln()).map(f64::exp);
        [throughput.low, throughput.high]
    });
    let intervals = ScalabilityIntervals { lambda, sigma, kappa, peak };
    Some(FitBands { intervals, curve: curve.collect() })
}

/// The fits of resampled runs.
struct RefittedLaws<'a> {
    levels: &'a [RunLogs],
    law: ScalabilityLaw,
    /// How far the mean of each level was moved, and the law of it.
    laws: Vec<(Vec<f64>, ScalabilityLaw)>,
}

impl<'a> RefittedLaws<'a> {
    fn new(levels: &'a [RunLogs], law: ScalabilityLaw, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let draw = |_| {
            let shifts: Vec<f64> = levels.iter().map(|level| shift(level, &mut random)).collect();
            let moved = levels.iter().zip(&shifts).map(|(level, shift)| {
                let mean = level.mean();
                LevelMean { log: mean.log + shift, ..mean }
            });
            let law = least_squares::refit(&moved.collect::<Vec<_>>(), law);
            (shifts, law)
        };
        Self { levels, law, laws: (0..RESAMPLES).map(draw).collect() }
    }

    /// The middle 95 % of a figure, its ends moved away from the estimate.
    fn interval(&self, of: impl Fn(&ScalabilityLaw) -> f64) -> ConfidenceInterval {
        let (estimate, values) = (of(&self.law), self.laws.iter().map(|(_, law)| of(law)));
        let values: Vec<f64> = values.collect();
        let wider = t_quantile(0.5 + LEVEL / 2.0, self.freedom(&values)) / NORMAL;
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() as f64 - 1.0;
        let [low, high] = [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0].map(|share| {
            let end = sorted[(share * last).round() as usize];
            let is_finite = end.is_finite() && estimate.is_finite();
            // What is infinite has no difference.
            if is_finite { estimate + wider * (end - estimate) } else { end }
        });
        ConfidenceInterval { estimate, low, high, level: LEVEL }
    }

    /// The degrees of freedom of a figure (Satterthwaite 1946): as many as the runs of the levels
    /// that decide it. Its variance is the sum of what each level brings in, which is seen in how
    /// it follows the level.
    fn freedom(&self, values: &[f64]) -> f64 {
        let whole = self.laws.iter().zip(values).filter(|(_, value)| value.is_finite());
        let pairs: Vec<(&Vec<f64>, f64)> =
            whole.map(|((shifts, _), value)| (shifts, *value)).collect();
        let mean = pairs.iter().map(|(_, value)| value).sum::<f64>() / pairs.len() as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for (at, level) in self.levels.iter().enumerate() {
            let along = pairs.iter().map(|(shifts, value)| shifts[at] * (value - mean));
            let width = pairs.iter().map(|(shifts, _)| shifts[at] * shifts[at]).sum::<f64>();
            let part = along.sum::<f64>().powi(2) / width.max(f64::MIN_POSITIVE);
            sum += part;
            squares += part * part / (level.logs.len() as f64 - 1.0);
        }
        let all = freedom(self.levels).unwrap_or(1.0);
        // Where nothing varies, any number will do.
        if squares > 0.0 { (sum * sum / squares).clamp(1.0, all) } else { all }
    }
}

/// How far the mean of a level moves where as many runs are drawn with replacement.
fn shift(level: &RunLogs, random: &mut Xoshiro256PlusPlus) -> f64 {
    let mean = level.mean();
    let count = level.logs.len();
    // Of 64 bits the remainder by some runs is as good as even.
    let drawn = (0..count).map(|_| level.logs[(random.next_u64() % count as u64) as usize]);
    let stretch = (mean.runs / (mean.runs - 1.0)).sqrt();
    stretch * (drawn.sum::<f64>() / mean.runs - mean.log)
}
