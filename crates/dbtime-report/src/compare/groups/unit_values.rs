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
    /// Its round in the block, from 1; zero of a whole run.
    pub round: u32,
}

/// The values of both sides, unit by unit.
pub(super) struct UnitValues<'a> {
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    /// The run of each value; of slices the first of the block.
    pub(super) runs: PlacedSides<'a>,
    /// Whether those at the same place are a pair.
    pub(super) is_paired: bool,
}

impl<'a> UnitValues<'a> {
    /// Those of these runs; of slices, and of a baseline that has several runs in a block, the mean
    /// of each block, over the rounds of which both sides have a run. `None`: a run has no value.
    pub(super) fn of(
        sides: &PlacedSides<'a>,
        value: &dyn Fn(&PlacedRun<'_>) -> Option<f64>,
        mean: fn(&[f64]) -> f64,
    ) -> Option<Self> {
        if are_of_units(sides) {
            return of_blocks(sides, value, mean);
        }
        let values = |side: &[PlacedRun<'_>]| side.iter().map(value).collect::<Option<Vec<f64>>>();
        let (a, b) = (values(&sides[0])?, values(&sides[1])?);
        Some(Self { a, b, runs: sides.clone(), is_paired: are_paired(sides) })
    }

    /// The pairs, of values that are paired.
    pub(super) fn pairs(&self) -> Vec<(f64, f64)> {
        self.a.iter().copied().zip(self.b.iter().copied()).collect()
    }
}

/// Whether all runs are of a known unit, whose values are one.
pub(super) fn are_of_units(sides: &PlacedSides<'_>) -> bool {
    sides.iter().all(|side| !side.is_empty() && side.iter().all(|run| run.unit.is_some()))
}

/// How many slices a block has at most; `None`: runs are whole.
pub(super) fn most_slices(sides: &PlacedSides<'_>) -> Option<u32> {
    let rounds = sides.iter().flatten().map(|run| Some(run.unit?.round));
    rounds.collect::<Option<Vec<u32>>>()?.into_iter().max().filter(|most| *most > 0)
}

/// The arithmetic mean, of values whose differences are of interest.
pub(super) fn arithmetic_mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A slice with its value.
type ValuedSlice<'a> = (PlacedRun<'a>, f64);

fn of_blocks<'a>(
    sides: &PlacedSides<'a>,
    value: &dyn Fn(&PlacedRun<'_>) -> Option<f64>,
    mean: fn(&[f64]) -> f64,
) -> Option<UnitValues<'a>> {
    let rounds = |side: &[PlacedRun<'a>]| {
        let mut rounds: BTreeMap<SliceUnit, Vec<ValuedSlice<'a>>> = BTreeMap::new();
        for run in side {
            rounds.entry(run.unit?).or_default().push((*run, value(run)?));
        }
        Some(rounds)
    };
    let (of_a, of_b) = (rounds(&sides[0])?, rounds(&sides[1])?);
    let mut blocks: BTreeMap<(u32, u32), [Vec<ValuedSlice<'a>>; 2]> = BTreeMap::new();
    for (unit, a) in of_a {
        if let Some(b) = of_b.get(&unit) {
            let [in_a, in_b] = blocks.entry((unit.block, unit.attempt)).or_default();
            in_a.extend(a);
            in_b.extend(b);
        }
    }
    let means = |side: usize| -> Vec<f64> {
        let values = blocks.values().map(|block| block[side].iter().map(|slice| slice.1));
        values.map(|of_block| mean(&of_block.collect::<Vec<f64>>())).collect()
    };
    let firsts = |side: usize| blocks.values().map(|block| block[side][0].0).collect();
    let runs = [firsts(0), firsts(1)];
    Some(UnitValues { a: means(0), b: means(1), runs, is_paired: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::groups::geometric_mean;
    use dbtime_model::record::RunRecord;
    use dbtime_stats::RunValues;

    /// Values of the normal distribution, the same for the same seed (splitmix64, Irwin and Hall).
    struct LifeNoise(u64);

    impl LifeNoise {
        fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
    }

    /// Slices whose places are their values: of each a block, a round and that.
    type ValuedSlices = Vec<(u32, u32, String)>;

    fn units<'a>(sides: [&'a ValuedSlices; 2], record: &'a RunRecord) -> UnitValues<'a> {
        let sides: PlacedSides<'a> = sides.map(|side| {
            let placed = side.iter().map(|(block, round, place)| PlacedRun {
                place,
                record: record.into(),
                excluded: None,
                unit: Some(SliceUnit { block: *block, attempt: 1, round: *round }),
            });
            placed.collect()
        });
        let value = |run: &PlacedRun<'_>| run.place.parse::<f64>().ok();
        UnitValues::of(&sides, &value, geometric_mean).expect("all have a value")
    }

    #[test]
    fn a_block_is_one_value_over_the_rounds_that_both_sides_have() {
        let slice = |block, round, value: f64| (block, round, value.to_string());
        let a = vec![slice(1, 1, 2.0), slice(1, 2, 8.0), slice(2, 1, 5.0), slice(2, 2, 9.0)];
        let b = vec![slice(1, 2, 4.0), slice(1, 1, 4.0), slice(2, 1, 6.0), slice(3, 1, 7.0)];
        let record = RunRecord::default();
        let units = units([&a, &b], &record);
        let firsts = units.runs.each_ref().map(|side| side[0].place);
        assert_eq!((units.is_paired, firsts), (true, ["2", "4"]));
        let pairs = units.pairs();
        assert_eq!(pairs.len(), 2, "{pairs:?}");
        assert!((pairs[0].0 - 4.0).abs() < 1e-9 && (pairs[0].1 - 4.0).abs() < 1e-9, "{pairs:?}");
        assert_eq!(pairs[1], (5.0, 6.0), "the round that one side lacks is in neither");
    }

    /// Lives of servers differ by 5 %, slices of one life by 0.5 %, and both sides are alike.
    #[test]
    fn slices_are_never_the_unit() {
        const STUDIES: u32 = 1_000;
        let (record, mut noise) = (RunRecord::default(), LifeNoise(7));
        let mut alarms = [0u32; 2];
        for _ in 0..STUDIES {
            let mut sides: [ValuedSlices; 2] = Default::default();
            for side in &mut sides {
                for block in 1..=6 {
                    let life = 0.05 * noise.normal();
                    for round in 1..=8 {
                        let value = (life + 0.005 * noise.normal()).exp();
                        side.push((block, round, value.to_string()));
                    }
                }
            }
            let [a, b] = &sides;
            let of_blocks = RunValues::Paired(units([a, b], &record).pairs());
            let value = |slice: &(u32, u32, String)| slice.2.parse::<f64>().expect("a number");
            let of_slices = a.iter().map(value).zip(b.iter().map(value)).collect();
            for (at, values) in [of_blocks, RunValues::Paired(of_slices)].iter().enumerate() {
                let p = values.ratio().map(|ratio| ratio.p_value());
                alarms[at] += u32::from(p.is_some_and(|p| p < 0.05));
            }
        }
        let [of_blocks, of_slices] = alarms;
        assert!((35..=65).contains(&of_blocks), "{alarms:?}");
        assert!(of_slices > 300, "{alarms:?}");
    }
}
