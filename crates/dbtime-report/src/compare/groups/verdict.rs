//! Verdicts on two groups of runs: one enum, on which everything matches that depends on a verdict.
//!
//! Its sentence is [`fmt::Display`], all of whose words are in `wording`; nothing reads that
//! sentence to find out what was found.

use crate::compare::figures::FigureUnit;
use dbtime_stats::{ChangeBasis, ConfidenceInterval};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::fmt;

/// What a verdict or a gate means where B must be no worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupOutcome {
    /// B is better, or as good but for the margin.
    Good,
    /// B is worse, by more than the margin as far as is known.
    Worse,
    /// Neither is known.
    Undecided,
}

/// The verdict on B against A in one metric, with the figures of its sentence. In JSON it is that
/// sentence. Unit: shares, where no other is named.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They differ, and by the margin or more as far as is known.
    Different(VerdictDifference),
    /// They differ, and by less than the margin.
    Small {
        /// By how much.
        difference: VerdictDifference,
        /// The margin.
        margin: f64,
    },
    /// They are the same but for the margin.
    Same {
        /// The change with the interval of both one-sided tests, of 90 %.
        change: ConfidenceInterval,
        /// Of how many runs.
        runs: ComparedRuns,
        /// The margin.
        margin: f64,
    },
    /// Neither is shown.
    Undecided {
        /// The change.
        change: ConfidenceInterval,
        /// Of how many runs.
        runs: ComparedRuns,
        /// The margin.
        margin: f64,
        /// How many pairs, or runs a side, more would show a change of the margin.
        more: Option<usize>,
        /// How long the load of one run of each side takes. Unit: seconds.
        run_s: f64,
        /// What alone keeps a verdict away; `None`: no single run does.
        odd: Option<OddChange>,
    },
    /// The metric is 0 in these runs, which are all.
    Equal(ComparedRuns),
    /// Not all runs have it above zero, so that there is no ratio.
    InUnit(UnitDifference),
    /// They differ in this metric alone, and no more so among several.
    OneOfSeveral {
        /// How many further metrics there are.
        metrics: usize,
        /// The verdict on this one alone.
        alone: Box<Self>,
    },
    /// Fewer runs than a verdict takes.
    TooFew {
        /// What the sides are called.
        names: [String; 2],
        /// How many valid runs they have.
        runs: [usize; 2],
    },
    /// The baseline of a study differs from itself.
    Unstable {
        /// The verdict on the control.
        control: Box<CellVerdict>,
        /// What would be the verdict if it did not.
        withdrawn: Box<CellVerdict>,
    },
    /// There is nothing to compare.
    Invalid(InvalidGroups),
}

/// How B differs from A.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictDifference {
    /// What the sides are called.
    pub(super) names: [String; 2],
    /// What more and less of the metric are called: better, worse.
    pub(super) words: [&'static str; 2],
    pub(super) is_better: bool,
    pub(super) change: ConfidenceInterval,
    /// What shows it.
    pub(super) basis: ChangeBasis,
    pub(super) runs: ComparedRuns,
    /// The other of the mean and the median change, where that shows no difference.
    pub(super) other: Option<ConfidenceInterval>,
}

/// How B differs from A where there is no ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitDifference {
    /// What the sides are called.
    pub(super) names: [String; 2],
    /// What more and less of the metric are called: better, worse.
    pub(super) words: [&'static str; 2],
    pub(super) is_better: bool,
    /// The difference of the means. Unit: that of the metric.
    pub(super) difference: ConfidenceInterval,
    pub(super) unit: FigureUnit,
    pub(super) runs: ComparedRuns,
}

/// The change without the one run, or pair, that makes it uncertain.
#[derive(Clone, Debug, PartialEq)]
pub struct OddChange {
    /// Which one, in words.
    pub(super) place: String,
    pub(super) without: ConfidenceInterval,
    /// The median change of all runs; `None`: too few.
    pub(super) median: Option<ConfidenceInterval>,
}

/// How many runs were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedRuns {
    /// So many pairs.
    Pairs(usize),
    /// So many of A and of B, which had nothing in common.
    Unpaired([usize; 2]),
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidGroups {
    /// These sides have no valid run.
    NoValidRun(Vec<String>),
    /// These sides have valid runs, each in a block that does not count.
    NoWholeBlock(Vec<String>),
    /// Runs have no such metric.
    Unmeasured(UnmeasuredMetric),
}

/// A metric that was not measured by every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmeasuredMetric {
    pub(super) metric: String,
    /// What the sides are called.
    pub(super) names: [String; 2],
    /// How many runs of each side do not have it.
    pub(super) lacking: [usize; 2],
    /// How many runs each side has.
    pub(super) runs: [usize; 2],
    /// What measures it.
    pub(super) source: &'static str,
}

/// The verdict on a configuration, whose sentence names it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellVerdict {
    /// The configuration.
    pub(in crate::compare) cell: String,
    pub(in crate::compare) verdict: Verdict,
}

impl Verdict {
    /// What it means where B must be no worse.
    pub fn outcome(&self) -> GroupOutcome {
        match self {
            Self::Different(difference) if !difference.is_better => GroupOutcome::Worse,
            Self::InUnit(found) if found.is_shown() && !found.is_better => GroupOutcome::Worse,
            Self::InUnit(found) if found.is_shown() => GroupOutcome::Good,
            Self::Different(_) | Self::Small { .. } | Self::Same { .. } | Self::Equal(_) => {
                GroupOutcome::Good
            }
            Self::Undecided { .. }
            | Self::InUnit(_)
            | Self::OneOfSeveral { .. }
            | Self::TooFew { .. }
            | Self::Unstable { .. }
            | Self::Invalid(_) => GroupOutcome::Undecided,
        }
    }

    /// Whether both sides are known to differ, by however much.
    pub(super) fn is_difference(&self) -> bool {
        match self {
            Self::InUnit(found) => found.is_shown(),
            _ => matches!(self, Self::Different(_) | Self::Small { .. }),
        }
    }

    /// Whether its sentence names what the verdict is on: `B faster than A`.
    pub(super) fn names_subject(&self) -> bool {
        self.is_difference() || matches!(self, Self::Unstable { .. })
    }

    /// As the fields `verdict` and `outcome` of a comparison.
    pub(super) fn as_verdict<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        with_outcome("verdict", self, self.outcome(), serializer)
    }

    /// As the fields `text` and `outcome` of a metric.
    pub(super) fn as_text<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        with_outcome("text", self, self.outcome(), serializer)
    }
}

impl UnitDifference {
    /// Whether there is one as far as is known.
    pub(super) fn is_shown(&self) -> bool {
        !self.difference.covers(0.0)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl CellVerdict {
    /// What it means where the configuration must be no worse than its baseline.
    pub fn outcome(&self) -> GroupOutcome {
        self.verdict.outcome()
    }

    /// Takes it back: by the verdict on its control the baseline differs from itself.
    pub(in crate::compare) fn withdraw(&mut self, control: &Self) {
        let (control, withdrawn) = (Box::new(control.clone()), Box::new(self.clone()));
        self.verdict = Verdict::Unstable { control, withdrawn };
    }

    /// As the fields `verdict` and `outcome` of a comparison.
    pub(in crate::compare) fn as_verdict<S: Serializer>(
        &self,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        with_outcome("verdict", self, self.outcome(), serializer)
    }
}

/// Two fields of a comparison: the sentence of its verdict or its gate by this name, and what that
/// means.
pub(super) fn with_outcome<S: Serializer>(
    name: &'static str,
    sentence: &impl fmt::Display,
    outcome: GroupOutcome,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_struct("Verdict", 2)?;
    fields.serialize_field(name, &sentence.to_string())?;
    fields.serialize_field("outcome", &outcome)?;
    fields.end()
}
