//! What a server loses in a crash: the class that its settings make, one scale for all products.

use super::check::CheckVerdict;
use std::fmt;

/// What is left of commits and data after a crash or a loss of power, from nothing to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DurabilityClass {
    /// D0: commits may be lost, and the data damaged.
    Damage,
    /// D1: the last commits may be lost.
    Loss,
    /// D2: commits are kept, but torn pages are not mended or a log is not in step.
    Gap,
    /// D3: commits and data are kept.
    Full,
}

impl DurabilityClass {
    fn meaning(self) -> &'static str {
        match self {
            Self::Damage => "a loss of power may lose commits and damage data",
            Self::Loss => "a crash or a loss of power may lose the last commits",
            Self::Gap => {
                "commits are kept, but a loss of power may leave a torn page or logs out of step"
            }
            Self::Full => "commits and data survive a loss of power, if the disk is honest",
        }
    }

    /// The verdict on settings that make this class: one that may damage data is bad. `manual` is
    /// where the product describes them.
    pub(super) fn verdict(self, settings: &str, manual: &str) -> CheckVerdict {
        let value = format!("{self} ({settings})");
        if self == Self::Full {
            return CheckVerdict::good(value, self.meaning());
        }
        let costs = format!(
            "Not measured here. Commits that wait for no sync are faster than those of production, \
             so runs of different classes do not compare ({manual})"
        );
        match self {
            Self::Damage => CheckVerdict::bad(value, self.meaning(), costs),
            _ => CheckVerdict::note(value, self.meaning(), costs),
        }
    }
}

impl fmt::Display for DurabilityClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Damage => "D0",
            Self::Loss => "D1",
            Self::Gap => "D2",
            Self::Full => "D3",
        })
    }
}
