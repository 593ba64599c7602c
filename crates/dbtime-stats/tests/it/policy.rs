//! Whether a planted change is called on machines and servers as they are, not on clean noise
//! alone: no policy about odd runs, states or drift may cost a verdict.

use crate::simulated::{RULE, differs, normal, uniform};
use dbtime_stats::{RunStates, RunValues};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const STUDIES: u64 = if cfg!(feature = "long") { 20_000 } else { 2000 };

const PAIRS: usize = 15;

/// What is done to runs besides the planted change; sizes are shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbance {
    /// Nothing.
    None,
    /// 15 % of runs are slow, by up to 15 %.
    SlowTail,
    /// All become 10 % faster over the session.
    Drift,
    /// The machine is 20 % faster from the middle of the session on.
    MachineRegime,
    /// In each third life a server is 5 % slower for all of it.
    ServerRegime,
}

impl Disturbance {
    /// The logarithm of what a run is multiplied with: by when it is, from 0 to 1.
    fn of(self, time: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
        let [luck, size] = [uniform(random), uniform(random)];
        match self {
            Self::SlowTail if luck < 0.15 => -0.15 * size,
            Self::Drift => 0.1 * time,
            Self::MachineRegime if time >= 0.5 => 0.2f64.ln_1p(),
            Self::ServerRegime if luck < 1.0 / 3.0 => -0.05,
            _ => 0.0,
        }
    }
}

/// A study of pairs, each in random order, in which B is faster by this share.
fn study(seed: u64, disturbance: Disturbance, change: f64) -> RunValues {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let pair = |at: usize| {
        let mut run = |place: usize| {
            let time = (2 * at + place) as f64 / (2 * PAIRS) as f64;
            1000.0 * (0.01 * normal(&mut random) + disturbance.of(time, &mut random)).exp()
        };
        let (first, second) = (run(0), run(1));
        let (a, b) = if uniform(&mut random) < 0.5 { (first, second) } else { (second, first) };
        (a, b * (1.0 + change))
    };
    RunValues::Paired((0..PAIRS).map(pair).collect())
}

/// In which share of all studies with this change the values are such.
fn share(disturbance: Disturbance, change: f64, is_one: impl Fn(&RunValues) -> bool) -> f64 {
    let found = (0..STUDIES).filter(|seed| is_one(&study(*seed, disturbance, change))).count();
    found as f64 / STUDIES as f64
}

fn is_called(values: &RunValues) -> bool {
    differs(&RULE.verdict(values).expect("enough runs"))
}

fn has_states(values: &RunValues) -> bool {
    RunStates::find(values, RULE.margin).is_some()
}

/// In which share of studies on clean noise Student's t alone shows the change.
fn share_on_clean_noise(change: f64) -> f64 {
    let is_shown = |seed: &u64| {
        let ratio = study(*seed, Disturbance::None, change).ratio();
        ratio.is_some_and(|ratio| ratio.p_value() <= 0.05)
    };
    (0..STUDIES).filter(is_shown).count() as f64 / STUDIES as f64
}

const ALL: [Disturbance; 5] = [
    Disturbance::None,
    Disturbance::SlowTail,
    Disturbance::Drift,
    Disturbance::MachineRegime,
    Disturbance::ServerRegime,
];

#[test]
fn five_percent_are_called_whatever_machine_and_server_do() {
    let clean = share_on_clean_noise(0.05);
    for disturbance in ALL {
        let called = share(disturbance, 0.05, is_called);
        assert!(called >= 0.9 * clean, "{disturbance:?}: {called}, on clean noise {clean}");
    }
}

#[test]
fn what_machine_and_server_do_is_called_a_difference_in_one_study_of_twenty() {
    for disturbance in ALL {
        let alarms = share(disturbance, 0.0, is_called);
        assert!((0.025..=0.065).contains(&alarms), "{disturbance:?}: {alarms}");
        let states = share(disturbance, 0.0, has_states);
        assert!(states <= 0.05, "{disturbance:?}: two states in {states}");
    }
}

/// So that a study ends with its time, its last block has half to twice the slices of the others,
/// and other noise.
#[test]
fn a_last_block_of_another_size_makes_no_verdicts() {
    let study = |seed: u64, pairs: usize, size: f64| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let pair = |at: usize| {
            let slices = if at + 1 == pairs { size } else { 1.0 };
            let mut value = || 1000.0 * (0.01 / slices.sqrt() * normal(&mut random)).exp();
            (value(), value())
        };
        RunValues::Paired((0..pairs).map(pair).collect())
    };
    for (pairs, size) in [(4, 0.5), (4, 2.0), (8, 0.5), (8, 2.0)] {
        let alarms = (0..STUDIES).filter(|seed| is_called(&study(*seed, pairs, size))).count();
        let share = alarms as f64 / STUDIES as f64;
        assert!((0.025..=0.07).contains(&share), "{pairs} blocks, {size}: {share}");
    }
}

/// Each of two lives of the faster server is another one: the change stands beside its states.
#[test]
fn a_server_with_two_states_keeps_its_change() {
    let paired = |seed: u64| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut value = || 1000.0 * (0.01 * normal(&mut random)).exp();
        let pair = |at: usize| {
            let state = if at.is_multiple_of(2) { 1.05 } else { 1.25 };
            (value(), state * value())
        };
        RunValues::Paired((0..PAIRS).map(pair).collect())
    };
    let all: Vec<RunValues> = (0..STUDIES / 4).map(paired).collect();
    assert!(all.iter().all(is_called));
    let states = all.iter().filter(|values| has_states(values)).count();
    assert!(states as f64 >= 0.95 * all.len() as f64, "{states} of {}", all.len());
}
