//! The random numbers of `sysbench.rand`, with the formulas of sysbench 1.0.20 and 1.1.
//!
//! Arguments and results are unsigned 32-bit numbers that wrap, as they do there.

use super::options::RandomType;
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoroshiro128Plus;
use rand_xoshiro::Xoshiro128Plus as Small;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What the `--rand-…` options say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RandomShape {
    /// `--rand-type`.
    pub(super) kind: RandomType,
    /// `--rand-spec-iter`: draws that a bell is the mean of.
    pub(super) iterations: u32,
    /// `--rand-spec-pct`: per cent of the range that the special values lie in.
    pub(super) special_percent: f64,
    /// `--rand-spec-res`: per cent of the draws that go there.
    pub(super) special_share: f64,
    /// `--rand-pareto-h`.
    pub(super) pareto_h: f64,
    /// `--rand-zipfian-exp`.
    pub(super) zipfian_exponent: f64,
}

impl Default for RandomShape {
    fn default() -> Self {
        Self {
            kind: RandomType::Special,
            iterations: 12,
            special_percent: 1.0,
            special_share: 75.0,
            pareto_h: 0.2,
            zipfian_exponent: 0.8,
        }
    }
}

/// The generator of one client.
#[derive(Clone, Debug)]
pub(super) struct SysbenchRandom {
    state: Xoroshiro128Plus,
    /// That of `math.random`, so that one does not disturb the other.
    math: Small,
}

impl SysbenchRandom {
    /// The generator of a client: a pure function of the seed and its number.
    pub(super) fn new(seed: u64, client: u32) -> Self {
        let own = seed ^ (u64::from(client) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { state: Xoroshiro128Plus::seed_from_u64(own), math: Small::seed_from_u64(own) }
    }

    /// 64 random bits.
    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        self.state.next_u64()
    }

    /// In `0.0..1.0`, with 52 bits.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 12) as f64 * (1.0 / (1u64 << 52) as f64)
    }

    /// `math.random()`.
    pub(super) fn math_unit(&mut self) -> f64 {
        f64::from(self.math.next_u32()) * (1.0 / 4_294_967_296.0)
    }

    /// `math.randomseed()`.
    pub(super) fn seed_math(&mut self, seed: u64) {
        self.math = Small::seed_from_u64(seed);
    }

    /// As `--rand-type` says.
    pub(super) fn default(&mut self, shape: &RandomShape, a: u32, b: u32) -> u32 {
        match shape.kind {
            RandomType::Uniform => self.uniform(a, b),
            RandomType::Gaussian => self.gaussian(shape, a, b),
            RandomType::Special => self.special(shape, a, b),
            RandomType::Pareto => self.pareto(shape, a, b),
            RandomType::Zipfian => self.zipfian(shape, a, b),
        }
    }

    /// All of `a..=b` alike.
    #[inline]
    pub(super) fn uniform(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_add((self.unit() * width(a, b)) as u32)
    }

    /// The mean of some uniform draws.
    pub(super) fn gaussian(&mut self, shape: &RandomShape, a: u32, b: u32) -> u32 {
        a.wrapping_add((self.mean(shape.iterations) * width(a, b)) as u32)
    }

    fn mean(&mut self, iterations: u32) -> f64 {
        let count = iterations.max(1);
        (0..count).map(|_| self.unit()).sum::<f64>() / f64::from(count)
    }

    /// A bell over the range, and most draws from a narrow middle.
    pub(super) fn special(&mut self, shape: &RandomShape, a: u32, b: u32) -> u32 {
        let range = f64::from(b.wrapping_sub(a));
        let unit = self.unit();
        if unit * range * 100.0 / (100.0 - shape.special_share) < range {
            return a.wrapping_add((range * self.mean(shape.iterations)) as u32);
        }
        // The same draw again: it is at least 1 - share, so the lower part of the middle is left
        // out. That is how sysbench does it.
        let narrow = range * shape.special_percent / 100.0;
        a.wrapping_add((unit * (narrow + 1.0) + range / 2.0 - narrow / 2.0) as u32)
    }

    /// A power law.
    pub(super) fn pareto(&mut self, shape: &RandomShape, a: u32, b: u32) -> u32 {
        let power = shape.pareto_h.ln() / (1.0 - shape.pareto_h).ln();
        a.wrapping_add((width(a, b) * self.unit().powf(power)) as u32)
    }

    /// Zipf's law by rejection and inversion; the first rank is `a`.
    pub(super) fn zipfian(&mut self, shape: &RandomShape, a: u32, b: u32) -> u32 {
        match Zipf::new(width(a, b), shape.zipfian_exponent) {
            Ok(zipf) => a.wrapping_add(zipf.sample(&mut self.state) as u32 - 1),
            Err(_) => a,
        }
    }

    /// A text after a template: `#` is a digit, `@` a lower-case letter.
    pub(super) fn fill(&mut self, template: &[u8], out: &mut Vec<u8>) {
        out.clear();
        out.extend(template.iter().map(|&byte| match byte {
            b'#' => b'0' + self.below(10) as u8,
            b'@' => b'a' + self.below(26) as u8,
            other => other,
        }));
    }

    /// A text of some length, of the characters from `0` to `z`.
    pub(super) fn varied(&mut self, shortest: u32, longest: u32, out: &mut Vec<u8>) {
        out.clear();
        let length = self.uniform(shortest, longest.max(shortest));
        out.extend((0..length).map(|_| b'0' + self.below(u32::from(b'z' - b'0') + 1) as u8));
    }

    #[inline]
    fn below(&mut self, count: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(count)) >> 32) as u32
    }
}

/// How many numbers lie in `a..=b`.
#[inline]
fn width(a: u32, b: u32) -> f64 {
    f64::from(b.wrapping_sub(a)) + 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(mut draw: impl FnMut(&mut SysbenchRandom) -> u32) -> Vec<u32> {
        let mut random = SysbenchRandom::new(7, 3);
        (0..40_000).map(|_| draw(&mut random)).collect()
    }

    fn share(draws: &[u32], range: std::ops::RangeInclusive<u32>) -> f64 {
        draws.iter().filter(|draw| range.contains(draw)).count() as f64 / draws.len() as f64
    }

    #[test]
    fn every_distribution_stays_in_its_range() {
        let shape = RandomShape::default();
        for kind in [
            RandomType::Uniform,
            RandomType::Gaussian,
            RandomType::Special,
            RandomType::Pareto,
            RandomType::Zipfian,
        ] {
            let drawn = draws(|random| random.default(&RandomShape { kind, ..shape }, 11, 1010));
            assert_eq!(share(&drawn, 11..=1010), 1.0, "{kind:?}");
        }
        assert_eq!(share(&draws(|random| random.uniform(5, 5)), 5..=5), 1.0);
        assert!(draws(|random| random.uniform(0, u32::MAX)).iter().any(|&draw| draw > 1 << 31));
    }

    #[test]
    fn the_shapes_are_those_of_the_formulas() {
        let shape = RandomShape::default();
        let special = draws(|random| random.special(&shape, 1, 10_000));
        assert!((share(&special, 4_950..=5_051) - 0.757).abs() < 0.02);
        let gaussian = draws(|random| random.gaussian(&shape, 1, 1_000));
        // Three standard deviations of a mean of twelve: 3 / sqrt(12 * 12) = a quarter.
        assert!(share(&gaussian, 250..=750) > 0.99);
        let pareto = draws(|random| random.pareto(&shape, 1, 1_000));
        // A share h of the range gets 1 - h of the draws.
        assert!((share(&pareto, 1..=200) - 0.8).abs() < 0.02);
        let zipfian = draws(|random| random.zipfian(&shape, 1, 1_000));
        assert!(share(&zipfian, 1..=1) > 0.05 && share(&zipfian, 1..=1) < 0.07);
    }

    #[test]
    fn a_client_draws_the_same_again_and_others_something_else() {
        let first = |seed, client| SysbenchRandom::new(seed, client).bits();
        assert_eq!(first(1, 1), first(1, 1));
        assert_ne!(first(1, 1), first(1, 2));
        assert_ne!(first(1, 1), first(2, 1));
    }

    #[test]
    fn templates_are_filled() {
        let (mut random, mut out) = (SysbenchRandom::new(1, 1), Vec::new());
        random.fill(b"##-@@-x", &mut out);
        assert!(out[0].is_ascii_digit() && out[1].is_ascii_digit() && out[3].is_ascii_lowercase());
        assert_eq!((out[2], out[6], out.len()), (b'-', b'x', 7));
        random.varied(3, 5, &mut out);
        assert!((3..=5).contains(&out.len()));
        assert!(out.iter().all(|byte| (b'0'..=b'z').contains(byte)));
    }
}
