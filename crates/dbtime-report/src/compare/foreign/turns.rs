//! Which values of two sides are pairs, by the turns in which they were measured.

use super::row::FEWEST;
use super::sample::ForeignValue;
use dbtime_stats::RunValues;
use std::collections::BTreeMap;

/// The values of both sides, as pairs where they have enough turns in common, and the turns that
/// are left out of these, as one side alone has them.
pub(super) fn run_values(a: &[ForeignValue], b: &[ForeignValue]) -> (RunValues, Vec<u64>) {
    let numbers = |side: &[ForeignValue]| side.iter().map(|one| one.value).collect();
    match pairs(a, b) {
        Some((pairs, left_out)) => (RunValues::Paired(pairs), left_out),
        None => (RunValues::Unpaired(numbers(a), numbers(b)), Vec::new()),
    }
}

/// Values of A and of B that were measured in one turn.
type ValuePairs = Vec<(f64, f64)>;

fn pairs(a: &[ForeignValue], b: &[ForeignValue]) -> Option<(ValuePairs, Vec<u64>)> {
    let [a, b] = [by_block(a)?, by_block(b)?];
    let pair = |(block, value): (&u64, &f64)| Some((*value, *b.get(block)?));
    let pairs: Vec<(f64, f64)> = a.iter().filter_map(pair).collect();
    let of_a = a.keys().filter(|block| !b.contains_key(*block));
    let of_b = b.keys().filter(|block| !a.contains_key(*block));
    let mut left_out: Vec<u64> = of_a.chain(of_b).copied().collect();
    left_out.sort_unstable();
    (pairs.len() >= FEWEST).then_some((pairs, left_out))
}

/// The values by their turns; `None`: one has none, or two have the same.
fn by_block(side: &[ForeignValue]) -> Option<BTreeMap<u64, f64>> {
    let each = side.iter().map(|one| Some((one.block?, one.value)));
    let all: Option<BTreeMap<u64, f64>> = each.collect();
    all.filter(|all| all.len() == side.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(blocks: &[Option<u64>]) -> Vec<ForeignValue> {
        let value = |(at, block): (usize, &Option<u64>)| ForeignValue {
            value: at as f64 + 1.0,
            block: *block,
        };
        blocks.iter().enumerate().map(value).collect()
    }

    #[test]
    fn turns_of_both_sides_are_pairs_and_others_are_left_out() {
        let a = side(&[Some(1), Some(2), Some(7), Some(3)]);
        let found = run_values(&a, &side(&[Some(3), Some(2), Some(1), Some(9)]));
        let pairs = vec![(1.0, 3.0), (2.0, 2.0), (4.0, 1.0)];
        assert_eq!(found, (RunValues::Paired(pairs), vec![7, 9]));
    }

    #[test]
    fn without_enough_turns_of_both_or_with_one_twice_nothing_is_a_pair() {
        let a = side(&[Some(1), Some(2), Some(3)]);
        for other in [
            side(&[Some(1), Some(2), Some(4)]),
            side(&[Some(1), Some(2), None]),
            side(&[Some(1), Some(2), Some(3), Some(3)]),
        ] {
            let (values, left_out) = run_values(&a, &other);
            assert!(matches!(values, RunValues::Unpaired(..)), "{values:?}");
            assert!(left_out.is_empty(), "{left_out:?}");
        }
    }
}
