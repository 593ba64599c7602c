//! How often the verdicts are wrong, on simulated studies of which the truth is known.

use crate::simulated::{RULE, differs, normal, uniform};
use dbtime_stats::{GroupSplit, GroupVerdict, RunValues, VerdictRule, look_level, pairs_needed};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const STUDIES: u64 = if cfg!(feature = "long") { 40_000 } else { 4_000 };

/// What the values of runs have in them besides the configuration, as shares.
#[derive(Clone, Copy, Debug, Default)]
struct RunNoise {
    /// Of each run alone.
    deviation: f64,
    /// From the first run to the last.
    drift: f64,
    /// How much of the noise of a run is left in the next, which starts minutes later.
    correlation: f64,
    /// The share of runs that are slow, by 15 % at most.
    slow: f64,
}

/// A study of so many pairs, each in random order, of which B is different by this share.
fn study(seed: u64, pairs: usize, noise: RunNoise, change: f64) -> RunValues {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut kept = 0.0;
    let new = (1.0 - noise.correlation * noise.correlation).sqrt();
    let mut run = |at: usize, random: &mut Xoshiro256PlusPlus| {
        kept = noise.correlation * kept + new * normal(random);
        let slow = if uniform(random) < noise.slow { 0.15 * uniform(random) } else { 0.0 };
        let drift = noise.drift * at as f64 / (2 * pairs) as f64;
        (drift + noise.deviation * kept - slow).exp() * 1000.0
    };
    let pair = |at: usize| {
        let [first, second] = [2 * at, 2 * at + 1].map(|at| run(at, &mut random));
        let (a, b) = if random.next_u64() & 1 == 0 { (first, second) } else { (second, first) };
        (a, b * (1.0 + change))
    };
    RunValues::Paired((0..pairs).map(pair).collect())
}

/// In which share of all studies the verdict is one of those.
fn share(
    pairs: usize,
    noise: RunNoise,
    change: f64,
    is_one: impl Fn(&GroupVerdict) -> bool,
) -> f64 {
    let verdict = |seed| RULE.verdict(&study(seed, pairs, noise, change)).expect("enough runs");
    let found = (0..STUDIES).filter(|seed| is_one(&verdict(*seed))).count();
    found as f64 / STUDIES as f64
}

#[test]
fn identical_configurations_differ_in_one_study_of_twenty() {
    let calm = RunNoise { deviation: 0.01, ..RunNoise::default() };
    for noise in [
        calm,
        RunNoise { drift: 0.05, ..calm },
        RunNoise { correlation: 0.7, ..calm },
        RunNoise { drift: 0.02, correlation: 0.5, deviation: 0.03, slow: 0.0 },
    ] {
        for pairs in [3, 5, 10, 15] {
            let alarms = share(pairs, noise, 0.0, differs);
            assert!((0.035..=0.065).contains(&alarms), "{noise:?}, {pairs} pairs: {alarms}");
        }
    }
    // Slow tails make the interval wider than it would have to be, never narrower.
    let slow = share(15, RunNoise { slow: 0.15, ..calm }, 0.0, differs);
    assert!(slow <= 0.065, "{slow}");
}

#[test]
fn a_change_of_the_margin_is_found_by_as_many_pairs_as_are_needed() {
    for deviation in [0.004, 0.01, 0.02] {
        let noise = RunNoise { deviation, ..RunNoise::default() };
        let pairs = pairs_needed(deviation * 2f64.sqrt(), RULE.margin).expect("not too many");
        let found = share(pairs, noise, RULE.margin, differs);
        assert!((0.78..0.9).contains(&found), "{deviation}, {pairs} pairs: {found}");
    }
}

#[test]
fn what_differs_by_the_margin_is_called_the_same_in_one_study_of_twenty() {
    for (deviation, pairs) in [(0.002, 5), (0.005, 15), (0.01, 30)] {
        let noise = RunNoise { deviation, ..RunNoise::default() };
        let is_same = |verdict: &GroupVerdict| {
            matches!(verdict, GroupVerdict::Same(_) | GroupVerdict::Small(..))
        };
        let wrong = share(pairs, noise, RULE.margin, is_same);
        assert!(wrong <= 0.06, "{deviation}, {pairs} pairs: {wrong}");
    }
}

/// In which share of studies of so many configurations that are all the same one is said to differ.
fn family_alarms(pairs: usize, configurations: usize) -> f64 {
    let rule = VerdictRule { comparisons: configurations, ..RULE };
    let alarms = |seed: u64| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut value = || (0.01 * normal(&mut random)).exp();
        let baseline: Vec<f64> = (0..pairs).map(|_| value()).collect();
        (0..configurations).any(|_| {
            let of = baseline.iter().map(|a| (*a, value())).collect();
            rule.verdict(&RunValues::Paired(of)).is_some_and(|verdict| differs(&verdict))
        })
    };
    (0..STUDIES).filter(|seed| alarms(*seed)).count() as f64 / STUDIES as f64
}

#[test]
fn one_of_several_configurations_differs_in_one_study_of_twenty() {
    for (pairs, configurations) in [(5, 3), (10, 3), (10, 11)] {
        let alarms = family_alarms(pairs, configurations);
        assert!((0.03..=0.06).contains(&alarms), "{pairs} {configurations}: {alarms}");
    }
}

#[test]
fn planned_looks_find_a_difference_in_one_study_of_twenty_where_there_is_none() {
    let noise = RunNoise { deviation: 0.01, ..RunNoise::default() };
    for looks in [2, 3, 5] {
        let each = 6;
        let alarms = |seed: u64| {
            let RunValues::Paired(all) = study(seed, each * looks, noise, 0.0) else {
                return false;
            };
            (1..=looks).any(|look| {
                let level = look_level(look as u32, looks as u32).expect("a look");
                let rule = VerdictRule { level, ..RULE };
                let so_far = RunValues::Paired(all[..each * look].to_vec());
                rule.verdict(&so_far).is_some_and(|verdict| differs(&verdict))
            })
        };
        let found = (0..STUDIES).filter(|seed| alarms(*seed)).count() as f64 / STUDIES as f64;
        assert!((0.035..=0.065).contains(&found), "{looks} looks: {found}");
    }
}

/// In which share of samples two groups are found, of values made by `value`.
fn split_share(runs: usize, value: impl Fn(usize, &mut Xoshiro256PlusPlus) -> f64) -> f64 {
    let is_split = |seed: &u64| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
        let values: Vec<f64> = (0..runs).map(|at| value(at, &mut random)).collect();
        GroupSplit::find(&values, 0.0).is_some()
    };
    (0..STUDIES).filter(is_split).count() as f64 / STUDIES as f64
}

#[test]
fn one_group_is_seldom_called_two_and_two_are_found() {
    for (runs, least) in [(6, 0.1), (15, 0.5), (30, 0.9)] {
        let one = split_share(runs, |_, random| (0.02 * normal(random)).exp());
        assert!(one <= 0.02, "{runs} runs: {one}");
        let two = split_share(runs, |at, random| {
            let group = if at < runs / 2 { 0.0 } else { 10.0 };
            (0.02 * (group + normal(random))).exp()
        });
        assert!(two >= least, "{runs} runs: {two}");
    }
}
