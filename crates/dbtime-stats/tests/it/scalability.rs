//! How often the intervals of a fitted law are wrong, on simulated runs of which the law is known.

use dbtime_stats::{ScalabilityFit, ScalabilityLaw};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Each is 2,000 fits.
const STUDIES: u64 = 40;

const LEVELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// A peak at 56 clients.
const LAW: ScalabilityLaw = ScalabilityLaw { lambda: 800.0, sigma: 0.06, kappa: 3e-4 };

fn study(seed: u64, runs: u32, noise: f64) -> ScalabilityFit {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut run = |n: f64| {
        let error: f64 = StandardNormal.sample(&mut random);
        (n, LAW.throughput(n) * (noise * error).exp())
    };
    let all: Vec<(f64, f64)> =
        LEVELS.iter().flat_map(|n| (0..runs).map(|_| *n)).map(&mut run).collect();
    ScalabilityFit::of(&all, seed).expect("eight levels")
}

/// Of 200 such studies the four intervals covered 93.5 to 94.5 % with three runs a level, 93.5 to
/// 95 % with five and 94 to 97.5 % with ten, and none had a misfit. Of 40 a share has a deviation
/// of 3.4 %.
#[test]
fn intervals_cover_the_law_that_runs_were_made_of() {
    for runs in [3, 5] {
        let fits: Vec<ScalabilityFit> =
            (0..STUDIES).map(|seed| study(1000 + seed, runs, 0.02)).collect();
        let share = |is_covered: &dyn Fn(&ScalabilityFit) -> bool| {
            fits.iter().filter(|fit| is_covered(fit)).count() as f64 / STUDIES as f64
        };
        let intervals = |fit: &ScalabilityFit| fit.intervals.expect("repeated runs");
        let covered = [
            share(&|fit| intervals(fit).lambda.covers(LAW.lambda)),
            share(&|fit| intervals(fit).sigma.covers(LAW.sigma)),
            share(&|fit| intervals(fit).kappa.covers(LAW.kappa)),
            share(&|fit| intervals(fit).peak.covers(LAW.peak())),
        ];
        assert!(covered.iter().all(|share| *share > 0.83), "{runs} {covered:?}");
        let missed = share(&|fit| fit.misfits().next().is_some());
        assert!(missed < 0.11, "{runs} runs a level: {missed}");
        assert!(fits.iter().all(|fit| fit.peak.is_some()));
    }
}
