//! What statements had come to when they lost their rows, by a hash of which statement it was.
//!
//! Each has a cell in two lists that it shares with others; a cell holds at least what any of its
//! statements has lost, and so does the smaller of a statement's two. A cell is only raised to what
//! its statement may have lost: not by what others in it have lost, too.

use dbtime_model::Nanos;

/// Cells of a list; a power of two.
const CELLS: usize = 1 << 15;

/// Multipliers that spread numbers over cells: the golden ratio's, and that of another hash.
const SPREADS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

/// What statements come to, as far as it says how heavy they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatementWeight {
    pub(crate) calls: u64,
    /// Their responses together, by which rows are compared.
    pub(crate) time: Nanos,
}

impl StatementWeight {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { calls: self.calls + other.calls, time: self.time + other.time }
    }

    /// The greater of each.
    pub(super) fn or_more(self, other: Self) -> Self {
        Self { calls: self.calls.max(other.calls), time: self.time.max(other.time) }
    }

    fn or_less(self, other: Self) -> Self {
        Self { calls: self.calls.min(other.calls), time: self.time.min(other.time) }
    }
}

/// What may have been lost of each statement. It takes no memory before anything was.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostWeights {
    /// Shape: none, or one list behind the other.
    cells: Vec<StatementWeight>,
}

impl LostWeights {
    /// The most that a statement may have lost.
    pub(crate) fn of(&self, statement: u64) -> StatementWeight {
        let [one, other] =
            places(statement).map(|place| self.cells.get(place).copied().unwrap_or_default());
        one.or_less(other)
    }

    /// A statement loses its row. Returns the most that it may have lost with this.
    pub(crate) fn add(&mut self, statement: u64, weight: StatementWeight) -> StatementWeight {
        self.cells.resize(2 * CELLS, StatementWeight::default());
        let lost = self.of(statement).plus(weight);
        for place in places(statement) {
            self.cells[place] = self.cells[place].or_more(lost);
        }
        lost
    }
}

fn places(statement: u64) -> [usize; 2] {
    let cell = |spread| (statement.wrapping_mul(spread) >> (64 - CELLS.ilog2())) as usize;
    let [one, other] = SPREADS.map(cell);
    [one, CELLS + other]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn what_few_have_lost_is_known_exactly() {
        let mut lost = LostWeights::default();
        assert_eq!((lost.of(7), lost.cells.len()), (StatementWeight::default(), 0));
        let weight = StatementWeight { calls: 2, time: Nanos(30) };
        assert_eq!(lost.add(7, weight), weight);
        assert_eq!(lost.add(7, weight), StatementWeight { calls: 4, time: Nanos(60) });
        assert_eq!((lost.of(7).calls, lost.of(8)), (4, StatementWeight::default()));
    }

    #[test]
    fn what_many_have_lost_once_is_known_within_a_few() {
        let mut lost = LostWeights::default();
        let number = |index: u64| index.wrapping_mul(0x1000_0000_01b3) ^ index << 40;
        let once = StatementWeight { calls: 1, time: Nanos(100) };
        let most = (0..300_000).map(|index| lost.add(number(index), once).calls).max();
        assert!((1..40).contains(&most.expect("some")), "{most:?}");
    }

    proptest! {
        #[test]
        fn it_is_never_less_than_what_was_lost(
            losses in prop::collection::vec((any::<u8>(), 0u64..9, 0u64..9), 0..200)
        ) {
            let mut lost = LostWeights::default();
            let mut exact = HashMap::<u8, StatementWeight>::new();
            for (statement, calls, time) in losses {
                let weight = StatementWeight { calls, time: Nanos(time) };
                let all = exact.entry(statement).or_default();
                *all = all.plus(weight);
                let told = lost.add(statement.into(), weight);
                prop_assert!(told.calls >= all.calls && told.time >= all.time);
            }
            for (statement, all) in exact {
                let told = lost.of(statement.into());
                prop_assert!(told.calls >= all.calls && told.time >= all.time);
            }
        }
    }
}
