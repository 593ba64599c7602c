//! What a check makes of what it has seen, of a machine or of a server.

use dbtime_model::doctor::FindingGrade;

/// What is the case, what it does, and how to mend it: as in
/// [`DoctorFinding`](dbtime_model::doctor::DoctorFinding).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckVerdict {
    /// What the check makes of it.
    pub grade: FindingGrade,
    /// What is the case; of what is not known empty.
    pub value: String,
    /// Why that matters, or why it is not known.
    pub because: String,
    /// What it costs, measured or cited with its source; empty where it is good.
    pub costs: String,
    /// How to mend it; empty: there is no command or setting for it.
    pub fix: String,
    /// How to undo that.
    pub undo: String,
}

impl CheckVerdict {
    /// It is as it should be.
    pub fn good(value: impl Into<String>, because: impl Into<String>) -> Self {
        Self::graded(FindingGrade::Good, [value.into(), because.into(), String::new()])
    }

    /// It may change figures: what is the case, why that matters, what it costs.
    pub fn note(
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> Self {
        Self::graded(FindingGrade::Note, [value.into(), because.into(), costs.into()])
    }

    /// It spoils figures or production, likewise.
    pub fn bad(
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> Self {
        Self::graded(FindingGrade::Bad, [value.into(), because.into(), costs.into()])
    }

    /// It could not be examined, and why.
    pub fn unknown(because: impl Into<String>) -> Self {
        Self::graded(FindingGrade::Unknown, [String::new(), because.into(), String::new()])
    }

    /// The same with what mends it, and what undoes that.
    #[must_use]
    pub fn mended(self, fix: impl Into<String>, undo: impl Into<String>) -> Self {
        Self { fix: fix.into(), undo: undo.into(), ..self }
    }

    fn graded(grade: FindingGrade, [value, because, costs]: [String; 3]) -> Self {
        Self { grade, value, because, costs, fix: String::new(), undo: String::new() }
    }
}
