//! From what the values of a metric show to the verdict on it.

use super::metrics::GroupMetric;
use super::verdict::{
    ComparedRuns, InvalidGroups, SideStates, UnmeasuredMetric, Verdict, VerdictDifference,
};
use super::{PlacedRun, PlacedSides};
use dbtime_stats::{ConfidenceInterval, GroupVerdict, RobustCheck, RunValues, VerdictRule};

/// What a verdict holds besides what the values show.
pub(super) struct VerdictBasis<'a> {
    pub(super) metric: &'a GroupMetric,
    pub(super) rule: VerdictRule,
    pub(super) names: [&'a str; 2],
    pub(super) values: &'a RunValues,
    /// How long the load of one run of each side takes. Unit: seconds.
    pub(super) run_s: f64,
}

impl VerdictBasis<'_> {
    /// The verdict; `None` of the values: there are too few runs.
    pub(super) fn verdict(
        &self,
        found: Option<GroupVerdict>,
        check: Option<RobustCheck>,
    ) -> Verdict {
        let (runs, margin) = (self.runs(), self.rule.margin);
        match found {
            None => Verdict::TooFew { names: self.owned_names(), runs: self.counts() },
            Some(GroupVerdict::Different(change)) => {
                Verdict::Different(self.difference(change, check))
            }
            Some(GroupVerdict::Small(change)) => {
                Verdict::Small { difference: self.difference(change, check), margin }
            }
            Some(GroupVerdict::Same(change)) => Verdict::Same { change, runs, margin },
            Some(GroupVerdict::Undecided { change, more }) => {
                Verdict::Undecided { change, runs, margin, more, run_s: self.run_s }
            }
            Some(GroupVerdict::TwoStates { a, b }) => {
                let sides = self.owned_names().into_iter().zip([a, b]).zip(self.counts());
                let states = sides.filter_map(|((name, split), runs)| {
                    Some(SideStates { name, split: split?, runs, unit: self.metric.unit })
                });
                Verdict::TwoStates(states.collect())
            }
        }
    }

    /// How B differs, with what medians show where they do not agree.
    fn difference(
        &self,
        change: ConfidenceInterval,
        check: Option<RobustCheck>,
    ) -> VerdictDifference {
        VerdictDifference {
            names: self.owned_names(),
            words: self.metric.words,
            is_better: (change.estimate > 0.0) == self.metric.is_higher_better,
            change,
            runs: self.runs(),
            medians: check.filter(|check| !check.differs()).map(|check| check.median),
        }
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
            RunValues::Unpaired(..) => ComparedRuns::Unpaired([a, b]),
        }
    }
}

impl InvalidGroups {
    /// Why not all runs of these sides have the metric above zero.
    pub(super) fn of(metric: &GroupMetric, sides: &PlacedSides<'_>, names: [&str; 2]) -> Self {
        let lacks = |run: &&PlacedRun<'_>| metric.of(run.record).is_none();
        let lacking = sides.each_ref().map(|side| side.iter().filter(lacks).count());
        let empty = names.iter().zip(sides).filter(|(_, side)| side.is_empty());
        let empty: Vec<String> = empty.map(|(name, _)| (*name).to_owned()).collect();
        match lacking {
            _ if !empty.is_empty() => Self::NoValidRun(empty),
            [0, 0] => Self::NotAboveZero(metric.name.clone()),
            _ => Self::Unmeasured(UnmeasuredMetric {
                metric: metric.name.clone(),
                names: names.map(str::to_owned),
                lacking,
                runs: sides.each_ref().map(Vec::len),
                source: metric.source,
            }),
        }
    }
}
