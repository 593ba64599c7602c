//! The least squares of logarithms, by Levenberg's and Marquardt's method within bounds.
//!
//! λ stands alone in the logarithm of the law, so that the best one of given σ and κ is a mean. For
//! the other two the bounds are σ in 0..=1 and κ from 0: a parameter at a bound stays there while
//! the sum of squares would fall only beyond it.

use super::ScalabilityLaw;

/// More steps are not made; a fit takes about ten.
const MOST_STEPS: usize = 200;

/// A step that changes the sum of squares by less than this share is the last.
const LEAST_GAIN: f64 = 1e-14;

/// Places to begin at, of the summands of the denominator at the highest level.
const STARTS: [[f64; 6]; 2] =
    [[0.0, 0.1, 1.0, 5.0, 25.0, 200.0], [0.0, 0.05, 0.5, 3.0, 20.0, 150.0]];

/// The mean of the logarithms of the runs of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelMean {
    pub(super) n: f64,
    pub(super) log: f64,
    /// How many runs: its weight.
    pub(super) runs: f64,
}

/// The law with the least squares, weighted by runs; of three levels or more.
pub(super) fn fit(levels: &[LevelMean]) -> ScalabilityLaw {
    let curve = CurveFit::new(levels);
    let starts = STARTS[0].iter().flat_map(|a| STARTS[1].map(|b| [*a, b]));
    let mut starts: Vec<[f64; 2]> = starts.map(|at| curve.bounded(at)).collect();
    starts.sort_by(|a, b| curve.squares(*a).total_cmp(&curve.squares(*b)));
    let ends = starts.into_iter().take(2).map(|start| curve.descend(start));
    let best = ends.min_by(|a, b| curve.squares(*a).total_cmp(&curve.squares(*b)));
    curve.law(best.unwrap_or_default())
}

/// The same, of levels that differ little from those of a fit: from its law.
pub(super) fn refit(levels: &[LevelMean], near: ScalabilityLaw) -> ScalabilityLaw {
    let curve = CurveFit::new(levels);
    let start = [near.sigma * curve.units[0], near.kappa * curve.units[1]];
    curve.law(curve.descend(curve.bounded(start)))
}

/// A level as the method has it: the logarithm of throughput by client, and what σ and κ are
/// multiplied with, each one at the highest level.
struct FitPoint {
    per_client: f64,
    by: [f64; 2],
    weight: f64,
}

struct CurveFit {
    points: Vec<FitPoint>,
    /// What makes σ and κ of the parameters here.
    units: [f64; 2],
    weight: f64,
}

impl CurveFit {
    fn new(levels: &[LevelMean]) -> Self {
        let last = levels.iter().map(|level| level.n).fold(1.0, f64::max);
        let units = [last - 1.0, last * (last - 1.0)];
        let point = |level: &LevelMean| FitPoint {
            per_client: level.log - level.n.ln(),
            by: [(level.n - 1.0) / units[0], level.n * (level.n - 1.0) / units[1]],
            weight: level.runs,
        };
        let weight = levels.iter().map(|level| level.runs).sum();
        Self { points: levels.iter().map(point).collect(), units, weight }
    }

    fn bounded(&self, at: [f64; 2]) -> [f64; 2] {
        [at[0].clamp(0.0, self.units[0]), at[1].max(0.0)]
    }

    fn mean(&self, of: impl Fn(&FitPoint) -> f64) -> f64 {
        self.points.iter().map(|point| point.weight * of(point)).sum::<f64>() / self.weight
    }

    fn lambda_log(&self, at: [f64; 2]) -> f64 {
        self.mean(|point| point.per_client + denominator(point, at).ln())
    }

    fn squares(&self, at: [f64; 2]) -> f64 {
        let lambda = self.lambda_log(at);
        let residual = |point: &FitPoint| point.per_client + denominator(point, at).ln() - lambda;
        self.mean(|point| residual(point).powi(2))
    }

    /// Half the gradient of the squares, and half of what stands for their second derivatives.
    fn slopes(&self, at: [f64; 2]) -> ([f64; 2], [[f64; 2]; 2]) {
        let lambda = self.lambda_log(at);
        let slope = |point: &FitPoint, of: usize| point.by[of] / denominator(point, at);
        let means = [0, 1].map(|of| self.mean(|point| slope(point, of)));
        let centered = |point: &FitPoint, of: usize| slope(point, of) - means[of];
        let residual = |point: &FitPoint| point.per_client + denominator(point, at).ln() - lambda;
        let gradient = [0, 1].map(|of| self.mean(|p| residual(p) * centered(p, of)));
        let second = [0, 1].map(|a| [0, 1].map(|b| self.mean(|p| centered(p, a) * centered(p, b))));
        (gradient, second)
    }

    fn descend(&self, start: [f64; 2]) -> [f64; 2] {
        let (mut at, mut squares, mut damping) = (start, self.squares(start), 1e-3);
        for _ in 0..MOST_STEPS {
            let (gradient, second) = self.slopes(at);
            let free = [0, 1].map(|of| {
                let is_low = at[of] <= 0.0 && gradient[of] > 0.0;
                let is_high = of == 0 && at[0] >= self.units[0] && gradient[0] < 0.0;
                !is_low && !is_high
            });
            let step = damped_step(gradient, second, free, damping);
            let next = self.bounded([at[0] + step[0], at[1] + step[1]]);
            let next_squares = self.squares(next);
            if next_squares <= squares {
                let is_last = squares - next_squares <= LEAST_GAIN * squares;
                (at, squares, damping) = (next, next_squares, (damping / 10.0).max(1e-12));
                if is_last {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        at
    }

    fn law(&self, at: [f64; 2]) -> ScalabilityLaw {
        let [sigma, kappa] = [at[0] / self.units[0], at[1] / self.units[1]];
        ScalabilityLaw { lambda: self.lambda_log(at).exp(), sigma, kappa }
    }
}

fn denominator(point: &FitPoint, at: [f64; 2]) -> f64 {
    1.0 + point.by[0] * at[0] + point.by[1] * at[1]
}

/// Where to go from here, along the parameters that are free.
fn damped_step(
    gradient: [f64; 2],
    second: [[f64; 2]; 2],
    free: [bool; 2],
    damping: f64,
) -> [f64; 2] {
    let [a, d] = [0, 1].map(|of| second[of][of] * (1.0 + damping) + f64::MIN_POSITIVE);
    let b = second[0][1];
    match free {
        [true, true] => {
            let determinant = a * d - b * b;
            [b * gradient[1] - d * gradient[0], b * gradient[0] - a * gradient[1]]
                .map(|part| part / determinant)
        }
        [true, false] => [-gradient[0] / a, 0.0],
        [false, true] => [0.0, -gradient[1] / d],
        [false, false] => [0.0, 0.0],
    }
}
