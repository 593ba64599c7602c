//! Throughput against concurrency, as Gunther's universal scalability law has it.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)): λ is what one client would do alone, σ the share that is
//! done one after the other (contention), κ what each pair of clients costs to agree (crosstalk).
//! With κ above zero there is a peak, N = √((1 − σ)/κ), and behind it more clients do less
//! (Gunther, Guerrilla Capacity Planning, 2007). Here λ is fitted as well: taken from the runs of
//! one client alone it would bring their noise into every other figure.

mod bands;
mod least_squares;

#[cfg(test)]
mod tests;

use crate::ConfidenceInterval;
use crate::multiplicity::level_of_each;
use crate::student::t_quantile;
use least_squares::LevelMean;

/// Three parameters leave nothing to judge a fit by where there are three levels.
const FEWEST_LEVELS: usize = 4;

/// Levels nearer to the curve than this share fit: no system follows a law of three parameters to
/// less.
const LEAST_MISFIT: f64 = 0.05;

/// The level of intervals and bands.
const LEVEL: f64 = 0.95;

/// The law with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalabilityLaw {
    /// λ, the throughput of one client. Unit: that of the throughputs; above zero.
    pub lambda: f64,
    /// σ, contention. Shape: `0.0..=1.0`.
    pub sigma: f64,
    /// κ, crosstalk. Shape: zero or more.
    pub kappa: f64,
}

impl ScalabilityLaw {
    /// The throughput of `n` clients, which are one or more.
    pub fn throughput(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// The number of clients, one or more, at which throughput is highest; infinite where it grows
    /// with every client.
    pub fn peak(&self) -> f64 {
        ((1.0 - self.sigma) / self.kappa).sqrt().max(1.0)
    }
}

/// A level of concurrency beside the fitted curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalabilityLevel {
    /// Clients.
    pub n: f64,
    /// How many runs.
    pub runs: usize,
    /// Geometric mean of their throughputs.
    pub mean: f64,
    /// The same by the law.
    pub fitted: f64,
    /// By how much the mean is above the curve, as a share of it.
    pub residual: f64,
    /// Whether that is 5 % or more, and more than the noise of the runs explains (in 95 % of fits,
    /// for all levels together). `None`: a level has one run, so that noise is not known.
    pub is_misfit: Option<bool>,
}

/// A place of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Clients.
    pub n: f64,
    /// The throughput by the law.
    pub fitted: f64,
    /// The interval of it; `None` as of [`ScalabilityLevel::is_misfit`].
    pub band: Option<[f64; 2]>,
}

/// Intervals of the parameters, of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalabilityIntervals {
    /// Of λ.
    pub lambda: ConfidenceInterval,
    /// Of σ.
    pub sigma: ConfidenceInterval,
    /// Of κ.
    pub kappa: ConfidenceInterval,
    /// Of the number of clients at the peak; infinite ends where there may be none.
    pub peak: ConfidenceInterval,
}

/// The law that fits runs best.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalabilityFit {
    /// Its parameters.
    pub law: ScalabilityLaw,
    /// What these may be; `None` as of [`ScalabilityLevel::is_misfit`].
    pub intervals: Option<ScalabilityIntervals>,
    /// The number of clients at which throughput is highest, where a measured level lies beyond.
    /// A peak beyond all levels is anywhere: of runs up to a third of the true one, nine in ten
    /// fits have it between its half and infinity.
    pub peak: Option<f64>,
    /// What was measured, by the number of clients.
    pub levels: Vec<ScalabilityLevel>,
    /// The curve from the first level to the last, levels included.
    pub curve: Vec<CurvePoint>,
}

impl ScalabilityFit {
    /// Of runs: clients, and throughput. Errors count as shares: the sum of squares is of
    /// logarithms. Intervals are of 2,000 resamples of the runs of each level, by this seed.
    ///
    /// `None`: fewer than four levels, one below one client, or a throughput that is not above
    /// zero. Cost: 2,000 fits over the levels.
    pub fn of(runs: &[(f64, f64)], seed: u64) -> Option<Self> {
        let levels = level_logs(runs)?;
        let means: Vec<LevelMean> = levels.iter().map(RunLogs::mean).collect();
        let law = least_squares::fit(&means);
        let bands = bands::of(&levels, law, seed);
        let last = means.last().map_or(1.0, |level| level.n);
        let reach = noise_reach(&levels);
        let level = |logs: &RunLogs| {
            let (n, log) = (logs.n, logs.mean().log);
            let residual = log - law.throughput(n).ln();
            let beyond = |reach: f64| {
                let own = reach / (logs.logs.len() as f64).sqrt();
                residual.abs() > own && residual.exp_m1().abs() >= LEAST_MISFIT
            };
            ScalabilityLevel {
                n,
                runs: logs.logs.len(),
                mean: log.exp(),
                fitted: law.throughput(n),
                residual: residual.exp_m1(),
                is_misfit: reach.map(beyond),
            }
        };
        let curve = bands::places(&means).into_iter().enumerate().map(|(at, n)| CurvePoint {
            n,
            fitted: law.throughput(n),
            band: bands.as_ref().map(|bands| bands.curve[at]),
        });
        Some(Self {
            law,
            intervals: bands.as_ref().map(|bands| bands.intervals),
            peak: Some(law.peak()).filter(|peak| *peak < last),
            levels: levels.iter().map(level).collect(),
            curve: curve.collect(),
        })
    }

    /// The levels that the law does not fit.
    pub fn misfits(&self) -> impl Iterator<Item = &ScalabilityLevel> {
        self.levels.iter().filter(|level| level.is_misfit == Some(true))
    }
}

/// The runs of a level as logarithms.
struct RunLogs {
    n: f64,
    logs: Vec<f64>,
}

impl RunLogs {
    fn mean(&self) -> LevelMean {
        let runs = self.logs.len() as f64;
        LevelMean { n: self.n, log: self.logs.iter().sum::<f64>() / runs, runs }
    }

    fn squares(&self) -> f64 {
        let mean = self.mean().log;
        self.logs.iter().map(|log| (log - mean) * (log - mean)).sum()
    }
}

/// The runs by their level; `None` as of [`ScalabilityFit::of`].
fn level_logs(runs: &[(f64, f64)]) -> Option<Vec<RunLogs>> {
    let is_whole =
        |(n, value): &(f64, f64)| n.is_finite() && *n >= 1.0 && value.is_finite() && *value > 0.0;
    if !runs.iter().all(is_whole) {
        return None;
    }
    let mut sorted = runs.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let level = |runs: &[(f64, f64)]| RunLogs {
        n: runs[0].0,
        logs: runs.iter().map(|(_, value)| value.ln()).collect(),
    };
    let levels: Vec<RunLogs> = sorted.chunk_by(|a, b| a.0 == b.0).map(level).collect();
    (levels.len() >= FEWEST_LEVELS).then_some(levels)
}

/// Degrees of freedom of the noise from run to run; `None`: a level has one run.
fn freedom(levels: &[RunLogs]) -> Option<f64> {
    let is_repeated = levels.iter().all(|level| level.logs.len() > 1);
    is_repeated.then(|| levels.iter().map(|level| level.logs.len() as f64 - 1.0).sum())
}

/// How far a single run may be from the mean of its level, as a logarithm, so that all levels are
/// within: the noise is that within all levels.
fn noise_reach(levels: &[RunLogs]) -> Option<f64> {
    let freedom = freedom(levels)?;
    let variance = levels.iter().map(RunLogs::squares).sum::<f64>() / freedom;
    let each = level_of_each(LEVEL, levels.len());
    Some(t_quantile(0.5 + each / 2.0, freedom) * variance.sqrt())
}
