//! Whether runs fall into two groups, whose mean no run has.

use crate::RunValues;
use crate::unimodality::has_two_heaps;

/// Fewer values are never called two groups. Six can be: those of HammerDB's issue 822.
const FEWEST: usize = 6;

/// Fewer are no group: a few odd runs are no state.
const FEWEST_MEMBERS: usize = 3;

/// Nor is a smaller share of the values.
const LEAST_SHARE: f64 = 0.2;

/// How far the groups must be apart, in standard deviations within them.
const LEAST_DISTANCE: f64 = 6.0;

/// Values that fall into two groups: they are no sample of one heap of any shape, and the groups
/// are far apart. Of one heap less than 2.5 % of samples are called two
/// (`tests/it/false_alarms.rs`).
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSplit {
    /// The geometric mean of the lower group.
    pub lower_center: f64,
    /// The same of the higher one.
    pub higher_center: f64,
    /// Which values are in the higher group, in the order that they were given in.
    pub is_higher: Vec<bool>,
}

/// Into which groups the runs of two configurations fall.
#[derive(Clone, Debug, PartialEq)]
pub enum RunStates {
    /// Of pairs: the ratios of B to A.
    Pairs(GroupSplit),
    /// Of runs that had nothing in common: the values of A, and of B; `None`: one group.
    Sides([Option<GroupSplit>; 2]),
}

impl RunStates {
    /// The groups of pairs by their changes, so that a state both sides share is none; else of each
    /// side. Groups nearer to each other than the margin, a share, are of no interest. `None`:
    /// there is one group.
    pub fn find(values: &RunValues, margin: f64) -> Option<Self> {
        let sides = values.sides();
        let step = smallest_step(sides.iter().flatten());
        let split = |values: &[f64]| {
            let split = GroupSplit::find(values, step)?;
            (split.higher_center > split.lower_center * (1.0 + margin)).then_some(split)
        };
        match values {
            RunValues::Paired(pairs) => {
                let ratios: Vec<f64> = pairs.iter().map(|(a, b)| b / a).collect();
                split(&ratios).map(Self::Pairs)
            }
            RunValues::Unpaired(a, b) => {
                let both = [split(a), split(b)];
                both.iter().any(Option::is_some).then_some(Self::Sides(both))
            }
        }
    }
}

impl GroupSplit {
    /// How many are in the lower group.
    pub fn lower(&self) -> usize {
        self.is_higher.len() - self.higher()
    }

    /// How many are in the higher one.
    pub fn higher(&self) -> usize {
        self.is_higher.iter().filter(|is_higher| **is_higher).count()
    }

    /// The best split of the values, where it is one: of those with at least three values and a
    /// fifth of all in each group the one with the narrowest groups. `step`: the smallest
    /// difference that values were recorded with, as a share; 0: any.
    pub fn find(values: &[f64], step: f64) -> Option<Self> {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let mut sorted = logs.clone();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len();
        if count < FEWEST || !logs.iter().all(|log| log.is_finite()) || !has_two_heaps(&sorted) {
            return None;
        }
        let fewest = FEWEST_MEMBERS.max((LEAST_SHARE * count as f64).ceil() as usize);
        let places = fewest..=count - fewest;
        let places = places.filter(|lower| sorted[lower - 1] < sorted[*lower]);
        let spread = |lower: &usize| {
            let (low, high) = sorted.split_at(*lower);
            squares(low) + squares(high)
        };
        let lower = places.min_by(|one, other| spread(one).total_cmp(&spread(other)))?;
        let (low, high) = sorted.split_at(lower);
        // What was recorded in steps is no narrower than a step.
        let width = (spread(&lower) / (count - 2) as f64).max(step * step / 12.0).sqrt();
        let is_far = mean(high) - mean(low) >= LEAST_DISTANCE * width;
        is_far.then(|| Self {
            lower_center: mean(low).exp(),
            higher_center: mean(high).exp(),
            is_higher: logs.iter().map(|log| *log >= high[0]).collect(),
        })
    }
}

/// The smallest share by which two of these values differ that are not equal; 0: all are.
fn smallest_step<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let mut logs: Vec<f64> = values.map(|value| value.ln()).collect();
    logs.sort_by(f64::total_cmp);
    let steps = logs.windows(2).map(|two| two[1] - two[0]).filter(|step| *step > 0.0);
    steps.reduce(f64::min).unwrap_or(0.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squared differences from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six identical runs of three hours, transactions a minute (HammerDB, issue 822).
    const HAMMERDB: [f64; 6] = [298_998.0, 308_659.0, 474_245.0, 456_699.0, 283_805.0, 449_005.0];

    #[test]
    fn six_runs_of_hammerdb_are_two_groups() {
        let split = GroupSplit::find(&HAMMERDB, 0.0).expect("two groups");
        assert_eq!((split.lower(), split.higher()), (3, 3));
        assert_eq!(split.is_higher, [false, false, true, true, false, true]);
        assert!((split.lower_center - 296_976.7).abs() < 1.0, "{split:?}");
        assert!((split.higher_center - 459_862.5).abs() < 1.0, "{split:?}");
    }

    #[test]
    fn one_group_is_none() {
        let even: Vec<f64> = (0..12).map(|at| 100.0 + f64::from(at)).collect();
        assert_eq!(GroupSplit::find(&even, 0.0), None);
        assert_eq!(GroupSplit::find(&[100.0, 100.1, 200.0, 200.1], 0.0), None);
        assert_eq!(GroupSplit::find(&[0.0; 8], 0.0), None);
        assert_eq!(GroupSplit::find(&[5.0; 8], 0.0), None);
    }

    #[test]
    fn two_odd_runs_of_25_are_no_group() {
        let value = |at: u32| if at < 2 { 900.0 } else { 700.0 + f64::from(at * 7 % 25) };
        let values: Vec<f64> = (0..25).map(value).collect();
        assert_eq!(GroupSplit::find(&values, 0.0), None);
        // Nor are values that were rounded to two neighbouring numbers.
        let rounded: Vec<f64> = (0..24).map(|at| 25.0 + f64::from(at % 2)).collect();
        assert_eq!(GroupSplit::find(&rounded, (26.0f64 / 25.0).ln()), None);
    }

    #[test]
    fn what_both_of_a_pair_share_is_no_state() {
        let shared = HAMMERDB.iter().enumerate().map(|(at, a)| (*a, a * (1.0 + 0.001 * at as f64)));
        let shared = RunValues::Paired(shared.collect());
        assert_eq!(RunStates::find(&shared, 0.01), None);
        let alone = HAMMERDB.iter().enumerate().map(|(at, a)| (*a, 300_000.0 + 90.0 * at as f64));
        let alone = RunStates::find(&RunValues::Paired(alone.collect()), 0.01);
        let Some(RunStates::Pairs(split)) = alone else { panic!("{alone:?}") };
        assert!((split.lower_center - 300_200.0 / 459_862.5).abs() < 1e-3, "{split:?}");
        let unpaired = RunValues::Unpaired(HAMMERDB.to_vec(), vec![300_000.0, 300_001.0]);
        let sides = RunStates::find(&unpaired, 0.01);
        assert!(matches!(sides, Some(RunStates::Sides([Some(_), None]))), "{sides:?}");
        assert_eq!(RunStates::find(&unpaired, 0.6), None, "nearer than the margin");
    }
}
