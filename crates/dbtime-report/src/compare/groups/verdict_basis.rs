//! From what the values of a metric show to the verdict on it.

use super::metrics::GroupMetric;
use super::verdict::{
    ComparedRuns, InvalidGroups, OddChange, UnitDifference, UnmeasuredMetric, Verdict,
    VerdictDifference,
};
use super::{PlacedRun, PlacedSides};
use crate::format::clean;
use dbtime_model::record::PrimaryMetric;
use dbtime_stats::{
    ChangeBasis, ConfidenceInterval, GroupFinding, GroupVerdict, OddPlace, OddRun, RunValues,
    VerdictRule,
};

/// What a verdict holds besides what the values show.
pub(super) struct VerdictBasis<'a> {
    pub(super) metric: &'a GroupMetric,
    pub(super) rule: VerdictRule,
    pub(super) names: [&'a str; 2],
    pub(super) values: &'a RunValues,
    pub(super) sides: &'a PlacedSides<'a>,
    /// How long the load of one run of each side takes. Unit: seconds.
    pub(super) run_s: f64,
    /// How many values a side can have; `None`: they are of runs, of which there can be any number.
    pub(super) most_values: Option<usize>,
}

impl VerdictBasis<'_> {
    /// The verdict; `None` of the values: there are too few runs.
    pub(super) fn verdict(&self, found: Option<&GroupFinding>) -> Verdict {
        let (runs, margin) = (self.runs(), self.rule.margin);
        let Some(found) = found else { return self.too_few() };
        match found.verdict {
            GroupVerdict::Different(change, basis) => {
                Verdict::Different(self.difference(change, basis, found))
            }
            GroupVerdict::Small(change, basis) => {
                Verdict::Small { difference: self.difference(change, basis, found), margin }
            }
            GroupVerdict::Same(change) => Verdict::Same { change, runs, margin },
            GroupVerdict::Undecided { change, more } => {
                let more = more.filter(|more| self.can_have(*more));
                let median = found.check.map(|check| check.median);
                let odd = found.odd.map(|odd| self.odd_change(odd, median));
                Verdict::Undecided { change, runs, margin, more, run_s: self.run_s, odd }
            }
        }
    }

    /// The verdict where not all values are above zero, on this difference of the means; `None` of
    /// it: there are too few runs.
    pub(super) fn verdict_in_unit(&self, difference: Option<ConfidenceInterval>) -> Verdict {
        let Some(difference) = difference else { return self.too_few() };
        if self.values.sides().iter().flatten().all(|value| *value == 0.0) {
            return Verdict::Equal(self.runs());
        }
        Verdict::InUnit(UnitDifference {
            names: self.owned_names(),
            words: self.metric.words,
            is_better: (difference.estimate > 0.0) == self.metric.is_higher_better,
            difference,
            unit: self.metric.unit,
            runs: self.runs(),
        })
    }

    fn too_few(&self) -> Verdict {
        Verdict::TooFew { names: self.owned_names(), runs: self.counts() }
    }

    /// How B differs, with what the other of means and medians shows where they do not agree.
    fn difference(
        &self,
        change: ConfidenceInterval,
        basis: ChangeBasis,
        found: &GroupFinding,
    ) -> VerdictDifference {
        let other = match basis {
            ChangeBasis::Means => {
                found.check.filter(|check| !check.differs()).map(|check| check.median)
            }
            ChangeBasis::Medians => self.values.ratio().map(|ratio| self.rule.change(&ratio)),
        };
        VerdictDifference {
            names: self.owned_names(),
            words: self.metric.words,
            is_better: (change.estimate > 0.0) == self.metric.is_higher_better,
            change,
            basis,
            runs: self.runs(),
            other,
        }
    }

    fn odd_change(&self, odd: OddRun, median: Option<ConfidenceInterval>) -> OddChange {
        let place = |side: usize, at: usize| Some(clean(self.sides[side].get(at)?.place));
        let place = match odd.place {
            OddPlace::Pair(at) => match place(0, at).zip(place(1, at)) {
                Some((a, b)) => format!("pair {} ({a}, {b})", at + 1),
                None => format!("pair {}", at + 1),
            },
            OddPlace::Run { side, at } => {
                let run = place(side, at).unwrap_or_else(|| format!("value {}", at + 1));
                format!("{run} of {}", self.names[side])
            }
        };
        OddChange { place, without: odd.without, median }
    }

    fn owned_names(&self) -> [String; 2] {
        self.names.map(str::to_owned)
    }

    /// How many runs each side has.
    fn counts(&self) -> [usize; 2] {
        self.values.sides().map(|side| side.len())
    }

    fn runs(&self) -> ComparedRuns {
        let [a, b] = self.counts();
        match self.values {
            RunValues::Paired(_) => ComparedRuns::Pairs(a),
            RunValues::Unpaired(..) if self.most_values.is_some() => ComparedRuns::Values([a, b]),
            RunValues::Unpaired(..) => ComparedRuns::Unpaired([a, b]),
        }
    }

    /// Whether each side can have so many values more.
    fn can_have(&self, more: usize) -> bool {
        let [a, b] = self.counts();
        self.most_values.is_none_or(|most| a.max(b) + more <= most)
    }
}

impl InvalidGroups {
    /// Why not all runs of these sides that count have the metric; `all`: those that do not count
    /// for `primary` too.
    pub(super) fn of(
        (metric, primary): (&GroupMetric, PrimaryMetric),
        [sides, all]: [&PlacedSides<'_>; 2],
        names: [&str; 2],
    ) -> Self {
        let lacks = |run: &&PlacedRun<'_>| metric.finite(run.record).is_none();
        let lacking = sides.each_ref().map(|side| side.iter().filter(lacks).count());
        let is_empty = |side: &usize| sides[*side].is_empty();
        let is_flawed = |side: &usize| all[*side].iter().all(|run| run.is_flawed(primary));
        let empty: Vec<usize> = (0..names.len()).filter(is_empty).collect();
        let flawed: Vec<usize> = empty.iter().copied().filter(is_flawed).collect();
        let named = |of: &[usize]| -> Vec<String> {
            of.iter().map(|side| names[*side].to_owned()).collect()
        };
        match (flawed.is_empty(), empty.is_empty()) {
            (false, _) => return Self::NoValidRun(named(&flawed)),
            (true, false) => return Self::NoWholeBlock(named(&empty)),
            // Each side has runs that count, but none in the same block.
            (true, true) if lacking == [0, 0] => {
                return Self::NoWholeBlock(named(&[0, 1]));
            }
            (true, true) => {}
        }
        Self::Unmeasured(UnmeasuredMetric {
            metric: metric.name.clone(),
            names: names.map(str::to_owned),
            lacking,
            runs: sides.each_ref().map(Vec::len),
            source: metric.source,
        })
    }
}
