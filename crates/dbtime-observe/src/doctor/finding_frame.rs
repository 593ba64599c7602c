//! What all findings of one check have in common, and how one is made.

use super::{MachineTree, PlannedUse};
use dbtime_model::doctor::{DoctorFinding, FindingGrade, FindingScope};

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

    /// That it is as it should be.
    pub fn good(&self, value: impl Into<String>, because: impl Into<String>) -> DoctorFinding {
        self.graded(FindingGrade::Good, [value.into(), because.into(), String::new()])
    }

    /// That it may change figures: what is the case, why that matters, what it costs.
    pub fn mind(
        &self,
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> DoctorFinding {
        self.graded(FindingGrade::Mind, [value.into(), because.into(), costs.into()])
    }

    /// That it spoils figures or production, likewise.
    pub fn bad(
        &self,
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> DoctorFinding {
        self.graded(FindingGrade::Bad, [value.into(), because.into(), costs.into()])
    }

    /// That it could not be examined, and why.
    pub fn unknown(&self, because: impl Into<String>) -> DoctorFinding {
        self.graded(FindingGrade::Unknown, [String::new(), because.into(), String::new()])
    }

    fn graded(&self, grade: FindingGrade, texts: [String; 3]) -> DoctorFinding {
        let [value, because, costs] = texts;
        DoctorFinding {
            id: self.id.to_owned(),
            scope: self.scope,
            grade,
            value,
            expected: self.expected.to_owned(),
            source: self.source.to_owned(),
            because,
            costs,
            fix: String::new(),
            undo: String::new(),
        }
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
