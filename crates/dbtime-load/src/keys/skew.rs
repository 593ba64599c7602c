//! The uneven distributions, each with its exact definition. All yield offsets from the low end of
//! a range of `n` numbers; offset 0 is the hottest where one end is hot.

use crate::keys::bijection::Bijection;
use crate::random::RandomSource;
use rand_distr::{Distribution, StandardNormal};

/// P(offset = k) ∝ (k + 1)⁻ˢ for 0 ≤ k < n: Zipf's law with exponent `s`, hot at the low end.
///
/// Source: `rand_distr::Zipf`, rejection sampling after J. Crease; exact, O(1).
/// Scrambled, rank k becomes the offset π(k) of one fixed bijection π (the same whatever the seed,
/// so that the hot rows of two runs are the same rows), which spreads the hot keys over the range.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    ranks: rand_distr::Zipf<f64>,
    last: u64,
    scramble: Option<Bijection>,
}

impl Zipf {
    /// Exponents that are read. At 0 the distribution is uniform; at 100 nearly constant.
    pub(crate) const EXPONENTS: std::ops::RangeInclusive<f64> = 0.0..=100.0;
    const SCRAMBLE_SEED: u64 = 0x7a69_7066;

    /// The distribution of `size` numbers, at least one.
    pub(crate) fn new(size: u64, exponent: f64, scramble: bool) -> Self {
        let size = size.max(1);
        // Close to 1 the general form divides by almost nothing; the limit is exact there.
        let exponent = if (exponent - 1.0).abs() < 1e-6 { 1.0 } else { exponent };
        let exponent = exponent.clamp(*Self::EXPONENTS.start(), *Self::EXPONENTS.end());
        let ranks = rand_distr::Zipf::new(size as f64, exponent)
            .unwrap_or_else(|_| unreachable!("size {size} and exponent {exponent} are legal"));
        let scramble = scramble.then(|| Bijection::new(size, Self::SCRAMBLE_SEED));
        Self { ranks, last: size - 1, scramble }
    }

    #[inline]
    pub(crate) fn offset(&self, random: &mut RandomSource) -> u64 {
        let rank = self.ranks.sample(random.generator()) as u64;
        let rank = rank.saturating_sub(1).min(self.last);
        self.scramble.as_ref().map_or(rank, |bijection| bijection.apply(rank))
    }
}

/// ⌊n·(z + p) / 2p⌋ with z standard normal, drawn again until −p ≤ z < p: a bell over the middle
/// of the range; `p` (at least 2) is where it is cut, so the standard deviation is n/2p.
///
/// Source: the function `random_gaussian` of pgbench (PostgreSQL manual, pgbench, "Built-in
/// functions"); normal draws by the ziggurat of `rand_distr`.
#[inline]
pub(crate) fn gaussian(size: u64, parameter: f64, random: &mut RandomSource) -> u64 {
    loop {
        let z: f64 = StandardNormal.sample(random.generator());
        if z >= -parameter && z < parameter {
            return scaled(size, (z + parameter) / (2.0 * parameter));
        }
    }
}

/// ⌊n·(−ln(e⁻ᵖ + (1 − e⁻ᵖ)·(1 − U)) / p)⌋ with U uniform in `[0, 1)`: an exponential of rate `p`
/// per range, cut at the high end, hot at the low end.
///
/// Source: the function `random_exponential` of pgbench (as above).
#[inline]
pub(crate) fn exponential(size: u64, parameter: f64, cut: f64, random: &mut RandomSource) -> u64 {
    let remaining = cut + (1.0 - cut) * (1.0 - random.unit());
    scaled(size, -remaining.ln() / parameter)
}

/// `x + (((random(0..=A) | random(x..=y)) + C) mod (y − x + 1))`.
///
/// Source: TPC-C revision 5.11, clause 2.1.6. A is 255, 1023 or 8191 there; C a constant of the run.
#[inline]
pub(crate) fn nurand(low: i64, high: i64, a: i64, c: i64, random: &mut RandomSource) -> i64 {
    let mixed = random.between(0, a) | random.between(low, high);
    let size = i128::from(high) - i128::from(low) + 1;
    let offset = (i128::from(mixed) + i128::from(c)).rem_euclid(size.max(1));
    low.saturating_add(offset as i64)
}

/// `hot_draws` of the draws fall uniformly on the first `hot_size` numbers, the rest uniformly on
/// the others: "80 % of draws hit 20 % of keys".
///
/// Source: the definition is the name; YCSB's HotspotIntegerGenerator does the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HotSpot {
    hot_size: u64,
    size: u64,
    hot_draws: f64,
}

impl HotSpot {
    /// `draws` of the draws on `keys` of the numbers, both in percent. At least one number is hot.
    pub(crate) fn new(size: u64, draws: f64, keys: f64) -> Self {
        let hot = (size as f64 * keys / 100.0).ceil() as u64;
        Self { hot_size: hot.clamp(1, size.max(1)), size: size.max(1), hot_draws: draws / 100.0 }
    }

    #[inline]
    pub(crate) fn offset(&self, random: &mut RandomSource) -> u64 {
        let hot = self.hot_size == self.size || random.unit() < self.hot_draws;
        let bits = random.bits();
        if hot {
            crate::random::below(bits, self.hot_size)
        } else {
            self.hot_size + crate::random::below(bits, self.size - self.hot_size)
        }
    }
}

/// ⌊n·part⌋, kept inside the range where rounding would leave it.
#[inline]
fn scaled(size: u64, part: f64) -> u64 {
    ((size as f64 * part) as u64).min(size.saturating_sub(1))
}
