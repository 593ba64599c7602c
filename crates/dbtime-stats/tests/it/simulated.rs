//! What simulated studies have in common.

use dbtime_stats::{GroupVerdict, VerdictRule};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

pub(crate) const RULE: VerdictRule = VerdictRule { margin: 0.01, comparisons: 1, level: 0.95 };

pub(crate) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(random)
}

pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

pub(crate) fn differs(verdict: &GroupVerdict) -> bool {
    matches!(verdict, GroupVerdict::Different(..) | GroupVerdict::Small(..))
}
