//! Whether two forms that are the same are told apart, on servers as they are: keys that cost
//! different times, machines that drift, noise that lasts.

use crate::simulated::{normal, uniform};
use dbtime_stats::{PairedKeys, PairedVerdict};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const COMPARISONS: u64 = if cfg!(feature = "long") { 10_000 } else { 1000 };

/// Smaller than what these comparisons resolve, so that few are the same but for it.
const MARGIN: f64 = 0.001;

/// A server whose level drifts and wanders; each execution has noise of its own, too.
struct SimulatedServer {
    random: Xoshiro256PlusPlus,
    wandering: f64,
    executions: u32,
}

impl SimulatedServer {
    fn new(seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, wandering: 0.0, executions: 0 }
    }

    fn execute(&mut self, cost: f64) -> f64 {
        self.executions += 1;
        self.wandering = 0.9 * self.wandering + 0.05 * normal(&mut self.random);
        let drift = 0.0005 * f64::from(self.executions);
        cost * (drift + self.wandering + 0.05 * normal(&mut self.random)).exp()
    }

    /// Of keys whose costs spread over a decade, both forms in the order of a coin.
    fn pair(&mut self) -> (f64, f64) {
        let cost = 10f64.powf(uniform(&mut self.random));
        let (first, second) = (self.execute(cost), self.execute(cost));
        if uniform(&mut self.random) < 0.5 { (first, second) } else { (second, first) }
    }
}

/// The share of comparisons that find a difference.
fn false_verdicts(pairs: impl Fn(u64) -> Vec<(f64, f64)>) -> f64 {
    let is_false = |seed: &u64| {
        let keys = PairedKeys::new(pairs(*seed)).expect("times above zero");
        matches!(keys.verdict(MARGIN), PairedVerdict::Faster | PairedVerdict::Slower)
    };
    (0..COMPARISONS).filter(is_false).count() as f64 / COMPARISONS as f64
}

fn on_server(seed: u64, count: usize) -> Vec<(f64, f64)> {
    let mut server = SimulatedServer::new(seed);
    (0..count).map(|_| server.pair()).collect()
}

#[test]
fn a_form_is_not_told_apart_from_itself() {
    let share = false_verdicts(|seed| on_server(seed, 300));
    assert!(share <= 0.08, "{share}");
    let of_few = false_verdicts(|seed| on_server(seed, 9));
    assert!(of_few <= 0.08, "{of_few}");
}

/// Batches see what lasts; without them four in ten such comparisons would be false.
#[test]
fn noise_that_lasts_in_one_form_is_no_difference() {
    let share = false_verdicts(|seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut wandering = 0.0;
        let pair = |_| {
            wandering = 0.7 * wandering + 0.05 * normal(&mut random);
            (1.0, f64::exp(wandering))
        };
        (0..600).map(pair).collect()
    });
    assert!(share <= 0.1, "{share}");
}

#[test]
fn intervals_of_pairs_are_a_third_of_those_without_them_at_most() {
    for seed in 0..20 {
        let keys = PairedKeys::new(on_server(seed, 300)).expect("times above zero");
        let paired = keys.ratio(0.95).expect("pairs").interval;
        let unpaired = keys.unpaired(0.95).expect("pairs");
        let widths = [paired, unpaired].map(|interval| (interval.high / interval.low).ln());
        assert!(3.0 * widths[0] <= widths[1], "{seed}: {widths:?}");
    }
}
