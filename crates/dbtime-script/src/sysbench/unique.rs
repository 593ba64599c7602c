//! The numbers of `sysbench.rand.unique` and `sb_rand_uniq`.

use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers that do not come again within 2³² draws, over all threads.
#[derive(Debug)]
pub(super) struct UniqueNumbers {
    next: AtomicU32,
    offset: u32,
}

impl UniqueNumbers {
    /// A sequence that follows from the seed.
    pub(super) fn new(seed: u64) -> Self {
        let seed = (seed ^ (seed >> 32)) as u32;
        Self {
            next: AtomicU32::new(permuted(permuted(seed).wrapping_add(0x682f_0161))),
            offset: permuted(permuted(seed.wrapping_add(1)).wrapping_add(0x4679_0905)),
        }
    }

    /// The next of them.
    pub(super) fn draw(&self) -> u32 {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        self.number(index)
    }

    #[inline]
    fn number(&self, index: u32) -> u32 {
        permuted(permuted(index).wrapping_add(self.offset) ^ 0x5bf0_3635)
    }

    /// The next of them that lies in a range; `None` where no number does. All others are passed
    /// over, for that is what keeps those of different ranges apart. In a narrow range these are
    /// hundreds of millions, so that nothing but arithmetic is done for each.
    pub(super) fn draw_within(&self, from: f64, to: f64) -> Option<u32> {
        let from = from.ceil().max(0.0);
        let to = to.floor().min(f64::from(u32::MAX));
        if to < from {
            return None;
        }
        let low = from as u32;
        let width = (to - from) as u32;
        let holds = |index: u32| self.number(index).wrapping_sub(low) <= width;
        let mut start = self.next.load(Ordering::Relaxed);
        loop {
            let hit = first(start, holds);
            match self.take(start, hit) {
                Ok(()) => return Some(self.number(hit)),
                Err(present) => start = present,
            }
        }
    }

    /// Takes the number of an index and passes over all before it, the first of which was to come
    /// when it was looked for. The error is what is to come now, where that is behind it: others
    /// have drawn meanwhile.
    fn take(&self, start: u32, hit: u32) -> Result<(), u32> {
        let relaxed = Ordering::Relaxed;
        let mut present = start;
        while present.wrapping_sub(start) <= hit.wrapping_sub(start) {
            match self.next.compare_exchange_weak(present, hit.wrapping_add(1), relaxed, relaxed) {
                Ok(_) => return Ok(()),
                Err(moved) => present = moved,
            }
        }
        Err(present)
    }
}

/// The first number from `start` on that fits; there is one. Blocks without one are passed over
/// without a branch for each of their numbers, so that several are tried at once.
fn first(start: u32, fits: impl Fn(u32) -> bool) -> u32 {
    const BLOCK: u32 = 64;
    let mut block = start;
    while !(0..BLOCK).fold(false, |has, step| has | fits(block.wrapping_add(step))) {
        block = block.wrapping_add(BLOCK);
    }
    while !fits(block) {
        block = block.wrapping_add(1);
    }
    block
}

/// A permutation of the 32-bit numbers: quadratic residues of a prime that is 3 modulo 4 (Jeff
/// Preshing, "How to generate a sequence of unique random integers", 2012).
#[inline]
fn permuted(x: u32) -> u32 {
    const PRIME: u32 = 4_294_967_291;
    let square = u64::from(x) * u64::from(x);
    // 2³² is 5 modulo the prime.
    let folded = (square >> 32) * 5 + u64::from(square as u32);
    let low = folded as u32;
    let sum = low.wrapping_add((folded >> 32) as u32 * 5);
    // One prime less, also where the sum has gone beyond 32 bits.
    let residue = if sum < low || sum >= PRIME { sum.wrapping_add(5) } else { sum };
    let number = if x <= PRIME / 2 { residue } else { PRIME.wrapping_sub(residue) };
    if x >= PRIME { x } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn unique_numbers_are_unique_and_spread() {
        let unique = UniqueNumbers::new(42);
        let drawn: Vec<u32> = (0..100_000).map(|_| unique.draw()).collect();
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), drawn.len());
        let lower = drawn.iter().filter(|number| **number <= u32::MAX / 2).count();
        assert!((lower as f64 / drawn.len() as f64 - 0.5).abs() < 0.02);
    }

    #[test]
    fn unique_numbers_keep_to_their_range() {
        let unique = UniqueNumbers::new(42);
        let drawn: HashSet<u32> =
            (0..50).map(|_| unique.draw_within(1.0, 1e7).expect("a number")).collect();
        assert_eq!(drawn.len(), 50);
        assert!(drawn.iter().all(|number| (1..=10_000_000).contains(number)));
        assert_eq!(unique.draw_within(9.0, 3.0), None);
        assert_eq!(unique.draw_within(0.2, 0.8), None);
    }

    #[test]
    fn those_of_a_range_are_all_that_lie_in_it_in_their_order() {
        let (all, within) = (UniqueNumbers::new(7), UniqueNumbers::new(7));
        let expected: Vec<u32> =
            (0..200_000).map(|_| all.draw()).filter(|number| *number < 100_000_000).collect();
        let drawn: Vec<u32> =
            expected.iter().filter_map(|_| within.draw_within(0.0, 99_999_999.0)).collect();
        assert_eq!(drawn, expected);
    }

    #[test]
    fn threads_that_draw_at_once_never_draw_the_same() {
        let unique = UniqueNumbers::new(3);
        let draw = || (0..2_000).filter_map(|_| unique.draw_within(5.0, 1e8)).collect::<Vec<_>>();
        let drawn = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
            threads.into_iter().flat_map(|one| one.join().expect("no panic")).collect::<Vec<_>>()
        });
        assert_eq!(drawn.len(), 8_000);
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 8_000);
    }

    #[test]
    fn squares_are_taken_modulo_the_prime() {
        const PRIME: u64 = 4_294_967_291;
        let steps = (0..1_000_000_u32).map(|at| at.wrapping_mul(4_294_961));
        for x in steps.chain([0, 1, 2, u32::MAX, PRIME as u32, PRIME as u32 - 1, 1 << 31]) {
            let square = (u64::from(x) * u64::from(x) % PRIME) as u32;
            let expected = match u64::from(x) {
                x if x >= PRIME => x as u32,
                x if x <= PRIME / 2 => square,
                _ => PRIME as u32 - square,
            };
            assert_eq!(permuted(x), expected, "{x}");
        }
    }
}
