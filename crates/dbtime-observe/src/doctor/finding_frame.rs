//! What all findings of one check have in common, and how one is made.

use super::{CheckVerdict, MachineTree, PlannedUse};
use dbtime_model::doctor::{DoctorFinding, FindingScope};

/// What all findings of one check have in common.
#[derive(Clone, Copy, Debug)]
pub struct FindingFrame {
    /// The check's name: `governor`.
    pub id: &'static str,
    /// Where it looks.
    pub scope: FindingScope,
    /// What it reads there.
    pub source: &'static str,
    /// What would be good.
    pub expected: &'static str,
}

impl FindingFrame {
    /// Of a check of the machine.
    pub const fn of_machine(
        id: &'static str,
        source: &'static str,
        expected: &'static str,
    ) -> Self {
        Self { id, scope: FindingScope::Machine, source, expected }
    }

    /// Of a check of dbtime itself.
    pub const fn of_driver(id: &'static str, source: &'static str, expected: &'static str) -> Self {
        Self { id, scope: FindingScope::Driver, source, expected }
    }

    /// What becomes of the check.
    pub fn finding(&self, verdict: CheckVerdict) -> DoctorFinding {
        let CheckVerdict { grade, value, because, costs, fix, undo } = verdict;
        DoctorFinding {
            id: self.id.to_owned(),
            scope: self.scope,
            grade,
            value,
            expected: self.expected.to_owned(),
            source: self.source.to_owned(),
            because,
            costs,
            fix,
            undo,
        }
    }

    /// The finding of [`CheckVerdict::good`].
    pub fn good(&self, value: impl Into<String>, because: impl Into<String>) -> DoctorFinding {
        self.finding(CheckVerdict::good(value, because))
    }

    /// The finding of [`CheckVerdict::note`].
    pub fn note(
        &self,
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> DoctorFinding {
        self.finding(CheckVerdict::note(value, because, costs))
    }

    /// The finding of [`CheckVerdict::bad`].
    pub fn bad(
        &self,
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> DoctorFinding {
        self.finding(CheckVerdict::bad(value, because, costs))
    }

    /// The finding of [`CheckVerdict::unknown`].
    pub fn unknown(&self, because: impl Into<String>) -> DoctorFinding {
        self.finding(CheckVerdict::unknown(because))
    }
}

/// The same finding with how to mend what it is about, and how to undo that.
pub fn mended(
    finding: DoctorFinding,
    fix: impl Into<String>,
    undo: impl Into<String>,
) -> DoctorFinding {
    DoctorFinding { fix: fix.into(), undo: undo.into(), ..finding }
}

/// What a check finds, or why it cannot look.
pub(super) type CheckResult = Result<DoctorFinding, String>;

/// A check of the machine.
#[derive(Clone, Copy, Debug)]
pub struct MachineCheck {
    /// What its findings have in common.
    pub frame: FindingFrame,
    pub(super) find: fn(&MachineTree, &PlannedUse) -> CheckResult,
}

impl MachineCheck {
    /// Looks. What cannot be seen is a finding with the reason.
    pub fn examine(&self, tree: &MachineTree, planned: &PlannedUse) -> DoctorFinding {
        (self.find)(tree, planned).unwrap_or_else(|why| self.frame.unknown(why))
    }
}
