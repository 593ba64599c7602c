//! Random streams as pure functions of (seed, stream, index).
//!
//! The same seed gives the same draws whatever the number of threads, shards or retries.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What a random stream is for. Streams of different purpose never share a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum RandomStream {
    /// Which operation a transaction is.
    Mix = 1,
    /// The parameters of a transaction.
    Parameters = 2,
    /// When transactions are due.
    Arrivals = 3,
    /// Think times.
    Think = 4,
    /// Pauses before retries.
    Backoff = 5,
    /// Which transactions have their parts measured.
    Budget = 6,
    /// The rows a table is filled with.
    Data = 7,
    /// Which transactions are kept whole.
    Exemplars = 8,
}

/// One draw of 64 bits: a pure function of its arguments. Cost: about 2 ns.
#[inline]
pub fn draw(seed: u64, stream: RandomStream, index: u64) -> u64 {
    // Two rounds of the SplitMix64 finaliser (Steele, Lea, Flood 2014) over distinct odd
    // multiples: one round leaves neighbouring indices of neighbouring seeds correlated.
    let key = seed ^ (stream as u64).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mix(mix(key).wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

#[inline]
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A uniform number in `0.0..1.0` with 53 bits, from 64 random ones.
#[inline]
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A uniform number in `0..below` (Lemire 2019, without the rejection step: the bias is below
/// 2⁻³² for ranges under four thousand million). `below` must be above zero.
#[inline]
pub fn below(bits: u64, below: u64) -> u64 {
    ((u128::from(bits) * u128::from(below)) >> 64) as u64
}

/// A generator for one transaction, or one row: as many draws as it needs.
#[derive(Clone, Debug)]
pub(crate) struct RandomSource(Xoshiro256PlusPlus);

impl RandomSource {
    /// The generator of (seed, stream, index).
    #[inline]
    pub(crate) fn new(seed: u64, stream: RandomStream, index: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(draw(seed, stream, index)))
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in `0.0..1.0`.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// A uniform integer in `low..=high`; `low` when the range is empty.
    #[inline]
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        let span = high.wrapping_sub(low).cast_unsigned().wrapping_add(1);
        let offset = if span == 0 { self.bits() } else { below(self.bits(), span) };
        low.wrapping_add(offset.cast_signed())
    }

    /// The generator itself, for distributions of other crates.
    #[inline]
    pub(crate) fn generator(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_differ_by_seed_stream_and_index() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..20 {
            for stream in [RandomStream::Mix, RandomStream::Parameters, RandomStream::Arrivals] {
                (0..200).for_each(|index| assert!(seen.insert(draw(seed, stream, index))));
            }
        }
        assert_eq!(draw(1, RandomStream::Mix, 2), draw(1, RandomStream::Mix, 2));
    }

    #[test]
    fn uniform_integers_pass_chi_square() {
        let mut counts = [0f64; 37];
        for index in 0..370_000 {
            counts[below(draw(7, RandomStream::Parameters, index), 37) as usize] += 1.0;
        }
        let chi2: f64 = counts.iter().map(|c| (c - 10_000.0).powi(2) / 10_000.0).sum();
        // 36 degrees of freedom: 99.9 % of samples lie below 67.985.
        assert!(chi2 < 67.985, "chi² {chi2}");
    }

    #[test]
    fn the_full_range_of_integers_is_legal() {
        let mut random = RandomSource::new(1, RandomStream::Data, 1);
        random.between(i64::MIN, i64::MAX);
        assert_eq!(random.between(5, 5), 5);
        assert_eq!(random.between(5, 4), 5);
    }
}
