//! Random numbers and hashes, bit for bit as pgbench 15 draws them: xoroshiro128** filled by
//! splitmix64, and the distributions on top of it.
//!
//! Ranges and parameters are checked by whoever calls ([`super::evaluate`]), not here.
//!
//! Sources: Blackman and Vigna, xoroshiro128** 1.0; Box and Muller 1958; Devroye, Non-Uniform
//! Random Variate Generation, p. 550; Appleby, MurmurHash2; Fowler, Noll and Vo, FNV-1a.

use rand_xoshiro::Xoroshiro128StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::f64::consts::PI;

/// One stream of random numbers. A copy of it repeats what the original draws next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgbenchRandom(Xoroshiro128StarStar);

impl PgbenchRandom {
    /// The stream of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoroshiro128StarStar::seed_from_u64(seed))
    }

    /// A stream seeded by the next draw of this one.
    pub(crate) fn split(&mut self) -> Self {
        Self::new(self.bits())
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in `0.0..1.0` with 52 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 12) as f64 * (1.0 / (1u64 << 52) as f64)
    }

    /// A uniform number in `0.0..=1.0` without zero.
    #[inline]
    fn unit_above_zero(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// A uniform number in `0..=most`.
    #[inline]
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        // As many bits as `most` has; what is above it is drawn again, every second time at worst.
        let shift = most.leading_zeros();
        loop {
            let drawn = self.bits() >> shift;
            if drawn <= most {
                return drawn;
            }
        }
    }

    /// A uniform number in `low..=high`, whose difference is below 2⁶³.
    #[inline]
    pub(crate) fn uniform(&mut self, low: i64, high: i64) -> i64 {
        low.wrapping_add(self.up_to(high.wrapping_sub(low) as u64) as i64)
    }

    /// A number in `low..=high`, the lower ones more often: the density at `high` is e^−`parameter`
    /// of that at `low`. `parameter` is above zero.
    pub(crate) fn exponential(&mut self, low: i64, high: i64, parameter: f64) -> i64 {
        let cut = (-parameter).exp();
        let uniform = self.unit_above_zero();
        let drawn = -(cut + (1.0 - cut) * uniform).ln() / parameter;
        low.wrapping_add((span(low, high) * drawn) as i64)
    }

    /// A number in `low..=high`, the middle ones more often: the bell is cut at `parameter`
    /// standard deviations on both sides. `parameter` is at least [`MIN_GAUSSIAN_PARAMETER`].
    pub(crate) fn gaussian(&mut self, low: i64, high: i64, parameter: f64) -> i64 {
        let deviation = loop {
            let first = self.unit_above_zero();
            let second = self.unit_above_zero();
            let drawn = (-2.0 * first.ln()).sqrt() * (2.0 * PI * second).sin();
            if drawn >= -parameter && drawn < parameter {
                break drawn;
            }
        };
        let drawn = (deviation + parameter) / (parameter * 2.0);
        low.wrapping_add((span(low, high) * drawn) as i64)
    }

    /// A number in `low..=high`, the k-th of them with a weight of k^−`parameter`. `parameter` lies
    /// in [`ZIPFIAN`]. Cost: a few draws; many close to 1.
    pub(crate) fn zipfian(&mut self, low: i64, high: i64, parameter: f64) -> i64 {
        let count = high.wrapping_sub(low).wrapping_add(1);
        low.wrapping_sub(1).wrapping_add(self.zipfian_rank(count, parameter))
    }

    /// A rank in `1..=count`, by rejection.
    fn zipfian_rank(&mut self, count: i64, s: f64) -> i64 {
        if count <= 1 {
            return 1;
        }
        let b = 2f64.powf(s - 1.0);
        loop {
            let u = self.unit();
            let v = self.unit();
            let x = u.powf(-1.0 / (s - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(s - 1.0);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= count as f64 {
                return x as i64;
            }
        }
    }
}

/// The least parameter of [`PgbenchRandom::gaussian`]: below it too many draws fall outside.
pub(crate) const MIN_GAUSSIAN_PARAMETER: f64 = 2.0;

/// The parameters that [`PgbenchRandom::zipfian`] takes.
pub(crate) const ZIPFIAN: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

/// How many numbers there are from `low` to `high`.
fn span(low: i64, high: i64) -> f64 {
    high.wrapping_sub(low).wrapping_add(1) as f64
}

/// Where `value` goes in a random order of `0..size`, which follows from `seed`. `size` is above
/// zero.
pub(crate) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut prng = PgbenchRandom::new(seed as u64);
    let size = size as u64;
    let bits = size.ilog2();
    let mask = (1u64 << bits) - 1;
    let mut v = (value as u64) % size;
    for _ in 0..6 {
        // The lower and the upper power of two of the range are shuffled in turn; they overlap.
        v = scatter(&mut prng, v, bits, mask).unwrap_or(v);
        let from_top = size - 1 - v;
        v = scatter(&mut prng, from_top, bits, mask).map_or(v, |moved| size - 1 - moved);
        let offset = prng.up_to(size - 1);
        v = ((u128::from(v) + u128::from(offset)) % u128::from(size)) as u64;
    }
    v as i64
}

/// Multiplies by an odd number, flips bits and rotates by one; `None` for what is beyond the mask.
fn scatter(prng: &mut PgbenchRandom, v: u64, bits: u32, mask: u64) -> Option<u64> {
    let factor = (prng.bits() & mask) | 1;
    let flipped = prng.bits() & mask;
    if v > mask {
        return None;
    }
    let v = (v.wrapping_mul(factor) ^ flipped) & mask;
    Some(((v << 1) & mask) | (v >> (bits - 1)))
}

/// FNV-1a over the eight bytes of a number, the lowest first.
pub(crate) fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
    value.to_le_bytes().iter().fold(OFFSET ^ seed as u64, step) as i64
}

/// MurmurHash2 over the eight bytes of a number.
pub(crate) fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut key = (value as u64).wrapping_mul(FACTOR);
    key ^= key >> SHIFT;
    key = key.wrapping_mul(FACTOR);
    let mut hash = seed as u64 ^ FACTOR.wrapping_mul(8);
    hash = (hash ^ key).wrapping_mul(FACTOR);
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(FACTOR);
    (hash ^ (hash >> SHIFT)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_are_those_of_pgbench_15() {
        // The first transactions of clients 0 and 1 of four in two threads, seed 42.
        let mut base = PgbenchRandom::new(42);
        let mut clients = [base.split(), base.split(), base.split(), base.split()];
        let of = |p: &mut PgbenchRandom| {
            let j = p.uniform(-5_000_000_000, 4_000_000_000_000_000_000);
            let a = p.uniform(1, 1_000_000);
            let b = p.exponential(1, 1000, 2.5);
            let c = p.gaussian(1, 1000, 3.5);
            let (d, d2) = (p.zipfian(1, 1000, 1.2), p.zipfian(1, 1000, 2.7));
            (j, a, b, c, d, d2)
        };
        let first = (3_713_013_000_470_210_818, 649_374, 288, 508, 1, 1);
        assert_eq!(of(&mut clients[1]), first);
        let second = (3_002_037_376_608_968_007, 897_756, 315, 493, 1, 2);
        assert_eq!(of(&mut clients[1]), second);
        let of_two = (3_527_385_886_943_826_360, 146_794, 376, 548, 1, 1);
        assert_eq!(of(&mut clients[2]), of_two);
        assert_eq!(base.bits() as i64, 273_771_184_284_289_554, "the default seed");
    }

    #[test]
    fn a_range_of_one_draws_nothing() {
        let (mut one, mut other) = (PgbenchRandom::new(1), PgbenchRandom::new(1));
        assert_eq!(one.uniform(7, 7), 7);
        assert_eq!(one.bits(), other.bits());
    }

    #[test]
    fn every_distribution_stays_in_its_range() {
        let mut prng = PgbenchRandom::new(3);
        for _ in 0..10_000 {
            let drawn = [
                prng.uniform(-3, 3),
                prng.exponential(-3, 3, 0.1),
                prng.gaussian(-3, 3, MIN_GAUSSIAN_PARAMETER),
                prng.zipfian(-3, 3, 1.001),
            ];
            assert!(drawn.iter().all(|n| (-3..=3).contains(n)), "{drawn:?}");
        }
    }

    #[test]
    fn a_permutation_reaches_every_place_once() {
        for size in 1..=40 {
            let mut places: Vec<i64> = (0..size).map(|value| permute(value, size, 9)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..size).collect::<Vec<_>>());
        }
    }
}
