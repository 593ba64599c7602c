//! Single transactions kept whole: the slowest and a random choice, with all their parts.

use crate::Parts;
use crate::sample::{Sample, StatementId};
use crate::traced::Blocker;
use crate::units::{MonoNanos, Nanos};
use std::sync::Arc;

/// How many of each kind are kept per operation.
pub const MAX_KEPT: usize = 100;

/// How many statements of a transaction are kept; those behind them are in its parts alone.
pub const MAX_STATEMENTS: usize = 64;

/// One transaction with its parts.
#[derive(Clone, Debug)]
pub struct Exemplar {
    /// Its instants and outcome.
    pub sample: Sample,
    /// Its parts, closed against its response.
    pub parts: Parts,
    /// Its statements where it was traced, in the order in which they were sent.
    pub statements: Vec<StatementExemplar>,
}

/// A statement that was traced, with its instants on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementExemplar {
    /// Which statement of the workload; `None`: a script's, which has no place in it.
    pub statement: Option<StatementId>,
    /// Before its first byte was handed to the kernel.
    pub sent: MonoNanos,
    /// When the last byte of its answer had been read.
    pub read: MonoNanos,
    /// How long the answer lay in the driver's socket because the driver had no CPU.
    pub late: Nanos,
    /// Its instants at the server; `None`: it shared a request with others.
    pub served: Option<ServedTimes>,
    /// Wire, server's queue, the server's parts and what these leave unexplained.
    pub parts: Parts,
    /// Its longest wait for a lock, and who let that go.
    pub blocker: Option<Arc<Blocker>>,
    /// The name of the thread that had the CPU for longest while the server could have run for it.
    pub preemptor: Option<Arc<str>>,
}

/// When and where a server dealt with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedTimes {
    /// The tracer's number of the connection.
    pub connection: u64,
    /// The thread that read it.
    pub thread: u32,
    /// When it came to the server's socket; `None` where that was not seen.
    pub arrived: Option<MonoNanos>,
    /// When its first byte had been read.
    pub start: MonoNanos,
    /// When the last write of its answer had returned: the client may have read it before.
    pub end: MonoNanos,
}

/// The slowest [`MAX_KEPT`] and a random [`MAX_KEPT`] of the transactions shown to it.
///
/// The random choice is reservoir sampling (Vitter 1985, algorithm R): every transaction has the
/// same chance. Merging weighs each side by how many transactions it saw.
#[derive(Clone, Debug)]
pub struct Exemplars {
    slowest: Vec<Exemplar>,
    random: Vec<Exemplar>,
    seen: u64,
    state: u64,
}

impl Exemplars {
    /// An empty gallery whose random choice follows from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let with_room = || Vec::with_capacity(MAX_KEPT);
        Self { slowest: with_room(), random: with_room(), seen: 0, state: seed }
    }

    /// Shows it one transaction, whose statements are made only where it is kept.
    #[inline]
    pub(crate) fn add(
        &mut self,
        sample: &Sample,
        parts: &Parts,
        statements: impl Fn() -> Vec<StatementExemplar>,
    ) {
        let exemplar = || Exemplar { sample: *sample, parts: *parts, statements: statements() };
        self.add_slowest(sample.response(), exemplar);
        self.seen += 1;
        if self.random.len() < MAX_KEPT {
            self.random.push(exemplar());
        } else {
            let place = self.draw(self.seen);
            if place < MAX_KEPT as u64 {
                self.random[place as usize] = exemplar();
            }
        }
    }

    /// Adds another gallery's transactions.
    pub(crate) fn merge(&mut self, other: &Self) {
        for exemplar in &other.slowest {
            self.add_slowest(exemplar.sample.response(), || exemplar.clone());
        }
        let (mut mine, mut theirs) = (std::mem::take(&mut self.random), other.random.clone());
        let (mut my_weight, mut their_weight) = (self.seen, other.seen);
        while self.random.len() < MAX_KEPT && !(mine.is_empty() && theirs.is_empty()) {
            let from_mine = theirs.is_empty()
                || !mine.is_empty() && self.draw(my_weight + their_weight) < my_weight;
            let (side, weight) = if from_mine {
                (&mut mine, &mut my_weight)
            } else {
                (&mut theirs, &mut their_weight)
            };
            let place = self.draw(side.len() as u64) as usize;
            let exemplar = side.swap_remove(place);
            *weight = weight.saturating_sub(1);
            self.random.push(exemplar);
        }
        self.seen += other.seen;
    }

    /// The slowest, slowest first.
    pub fn slowest(&self) -> Vec<Exemplar> {
        let mut sorted = self.slowest.clone();
        sorted.sort_by_key(|exemplar| std::cmp::Reverse(exemplar.sample.response()));
        sorted
    }

    /// The random choice, in no order.
    pub fn random(&self) -> &[Exemplar] {
        &self.random
    }

    /// `slowest` is a binary heap with the least slow at its root: most transactions cost one
    /// comparison.
    fn add_slowest(&mut self, response: Nanos, exemplar: impl FnOnce() -> Exemplar) {
        let key = |t: &Exemplar| t.sample.response();
        if self.slowest.len() < MAX_KEPT {
            self.slowest.push(exemplar());
            if self.slowest.len() == MAX_KEPT {
                self.slowest.sort_by_key(key); // a sorted list is a heap
            }
            return;
        }
        if response <= key(&self.slowest[0]) {
            return;
        }
        self.slowest[0] = exemplar();
        let mut at = 0;
        loop {
            let children = (2 * at + 1)..(2 * at + 3).min(MAX_KEPT);
            let Some(least) = children.min_by_key(|&child| key(&self.slowest[child])) else {
                break;
            };
            if key(&self.slowest[least]) >= key(&self.slowest[at]) {
                break;
            }
            self.slowest.swap(at, least);
            at = least;
        }
    }

    /// A number in `0..below`, by SplitMix64 and a 128-bit product; zero when `below` is zero.
    fn draw(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * u128::from(below)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use crate::sample::OperationId;

    fn sample(response: u64) -> Sample {
        let at = MonoNanos(0);
        let done = MonoNanos(response);
        let operation = OperationId(0);
        let outcome = Outcome::Completed;
        Sample {
            operation,
            outcome,
            due: at,
            ready: at,
            sent: at,
            done,
            late: Nanos::ZERO,
            retries: 0,
        }
    }

    fn add(exemplars: &mut Exemplars, response: u64) {
        exemplars.add(&sample(response), &Parts::default(), Vec::new);
    }

    #[test]
    fn the_slowest_are_exactly_the_slowest() {
        let mut exemplars = Exemplars::new(1);
        for i in 0..5000u64 {
            add(&mut exemplars, i * 7919 % 5000);
        }
        let slowest: Vec<u64> = exemplars.slowest().iter().map(|t| t.sample.response().0).collect();
        assert_eq!(slowest, (4900..5000).rev().collect::<Vec<_>>());
    }

    #[test]
    fn statements_are_made_for_what_is_kept_alone() {
        let (mut exemplars, made) = (Exemplars::new(1), std::cell::Cell::new(0));
        for i in 0..20_000u64 {
            exemplars.add(&sample(20_000 - i), &Parts::default(), || {
                made.set(made.get() + 1);
                Vec::new()
            });
        }
        // The first hundred twice, and of the others those that the random choice took.
        assert!((200..1_500).contains(&made.get()), "{}", made.get());
    }

    #[test]
    fn merged_random_choice_weighs_by_what_was_seen() {
        let mut from_small = 0;
        for seed in 0..200 {
            let mut small = Exemplars::new(seed);
            let mut large = Exemplars::new(seed + 1000);
            (0..1000).for_each(|_| add(&mut small, 1));
            (0..3000).for_each(|_| add(&mut large, 2));
            small.merge(&large);
            assert_eq!(small.random().len(), MAX_KEPT);
            from_small += small.random().iter().filter(|t| t.sample.response().0 == 1).count();
        }
        // A quarter of 20 000, give or take five standard deviations (√(20000·¼·¾) = 61).
        assert!((4694..=5306).contains(&from_small), "{from_small}");
    }
}
