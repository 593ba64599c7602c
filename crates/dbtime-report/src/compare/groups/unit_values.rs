//! The values that a verdict is on: one for each run, or one for each block where runs are slices.
//! Slices share the life of their server, so that they are never the unit.

use super::{PlacedRun, PlacedSides, are_paired};
use std::collections::BTreeMap;

/// Which slice of which block a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SliceUnit {
    /// The block, from 1.
    pub block: u32,
    /// Which time the block was begun, from 1.
    pub attempt: u32,
    /// Its round in the block, from 1.
    pub round: u32,
}

/// The values of both sides, unit by unit.
pub(super) struct UnitValues {
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    /// Whether those at the same place are a pair.
    pub(super) is_paired: bool,
}

impl UnitValues {
    /// Those of these runs; of slices the mean of each block, over the rounds of which both sides
    /// have a slice. `None`: a run has no value.
    pub(super) fn of(
        sides: &PlacedSides<'_>,
        value: &dyn Fn(&PlacedRun<'_>) -> Option<f64>,
        mean: fn(&[f64]) -> f64,
    ) -> Option<Self> {
        if most_slices(sides).is_some() {
            return of_blocks(sides, value, mean);
        }
        let values = |side: &[PlacedRun<'_>]| side.iter().map(value).collect::<Option<Vec<f64>>>();
        let (a, b) = (values(&sides[0])?, values(&sides[1])?);
        Some(Self { a, b, is_paired: are_paired(sides) })
    }

    /// The pairs, of values that are paired.
    pub(super) fn pairs(&self) -> Vec<(f64, f64)> {
        self.a.iter().copied().zip(self.b.iter().copied()).collect()
    }
}

/// How many slices a block has at most; `None`: runs are whole.
pub(super) fn most_slices(sides: &PlacedSides<'_>) -> Option<u32> {
    let rounds = sides.iter().flatten().map(|run| Some(run.unit?.round));
    rounds.collect::<Option<Vec<u32>>>()?.into_iter().max()
}

/// The arithmetic mean, of values whose differences are of interest.
pub(super) fn arithmetic_mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn of_blocks(
    sides: &PlacedSides<'_>,
    value: &dyn Fn(&PlacedRun<'_>) -> Option<f64>,
    mean: fn(&[f64]) -> f64,
) -> Option<UnitValues> {
    let rounds = |side: &[PlacedRun<'_>]| {
        let runs = side.iter().map(|run| Some((run.unit?, value(run)?)));
        runs.collect::<Option<BTreeMap<SliceUnit, f64>>>()
    };
    let (of_a, of_b) = (rounds(&sides[0])?, rounds(&sides[1])?);
    let mut blocks: BTreeMap<(u32, u32), [Vec<f64>; 2]> = BTreeMap::new();
    for (unit, a) in of_a {
        if let Some(b) = of_b.get(&unit) {
            let [in_a, in_b] = blocks.entry((unit.block, unit.attempt)).or_default();
            in_a.push(a);
            in_b.push(*b);
        }
    }
    let means = |side: usize| blocks.values().map(|block| mean(&block[side])).collect();
    Some(UnitValues { a: means(0), b: means(1), is_paired: true })
}
