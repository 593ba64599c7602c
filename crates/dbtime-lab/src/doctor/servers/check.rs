//! One check of a server: a rule with its name, and the finding that becomes of its verdict.

use super::examined::ExaminedServer;
use dbtime_model::doctor::{DoctorFinding, FindingGrade, FindingScope};
use dbtime_model::plain_text::legible;

/// What a rule makes of a server, or why that is not known.
pub(super) type RuleResult = Result<CheckVerdict, String>;

/// How many names a finding shows; queries and looks have one more, so that it is known of.
const MOST_NAMES: usize = 5;

/// Names, the first few, with whether there are more.
pub(super) fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(MOST_NAMES)].join(", ");
    match names.len() > MOST_NAMES {
        true => format!("{shown} and more"),
        false => shown,
    }
}

/// A check.
pub(super) struct ServerCheck {
    /// As in [`DoctorFinding`].
    pub(super) id: &'static str,
    /// As in [`DoctorFinding`].
    pub(super) scope: FindingScope,
    /// As in [`DoctorFinding`].
    pub(super) expected: &'static str,
    /// As in [`DoctorFinding`].
    pub(super) source: &'static str,
    /// What it makes of what was read.
    pub(super) rule: fn(&ExaminedServer) -> RuleResult,
}

/// What is the case, what it does, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckVerdict {
    grade: FindingGrade,
    value: String,
    because: String,
    costs: String,
    fix: String,
    undo: String,
}

impl ServerCheck {
    /// What becomes of the check. Values come from the server: they are shown on one line and cut.
    pub(super) fn finding(&self, server: &ExaminedServer) -> DoctorFinding {
        let verdict = (self.rule)(server).unwrap_or_else(CheckVerdict::unknown);
        DoctorFinding {
            id: self.id.to_owned(),
            scope: self.scope,
            grade: verdict.grade,
            value: legible(&verdict.value),
            expected: self.expected.to_owned(),
            source: self.source.to_owned(),
            because: legible(&verdict.because),
            costs: verdict.costs,
            fix: legible(&verdict.fix),
            undo: legible(&verdict.undo),
        }
    }
}

impl CheckVerdict {
    /// It is as it should be.
    pub(super) fn good(value: impl Into<String>, because: impl Into<String>) -> Self {
        Self::graded(FindingGrade::Good, value.into(), because.into(), String::new())
    }

    /// It may change figures. `costs` is measured or has its source.
    pub(super) fn mind(
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> Self {
        Self::graded(FindingGrade::Mind, value.into(), because.into(), costs.into())
    }

    /// It spoils figures, or production. `costs` as of [`Self::mind`].
    pub(super) fn bad(
        value: impl Into<String>,
        because: impl Into<String>,
        costs: impl Into<String>,
    ) -> Self {
        Self::graded(FindingGrade::Bad, value.into(), because.into(), costs.into())
    }

    /// The same with the statements that mend it, and those that undo that.
    pub(super) fn mended(self, fix: impl Into<String>, undo: impl Into<String>) -> Self {
        Self { fix: fix.into(), undo: undo.into(), ..self }
    }

    fn unknown(why: String) -> Self {
        Self::graded(FindingGrade::Unknown, String::new(), why, String::new())
    }

    fn graded(grade: FindingGrade, value: String, because: String, costs: String) -> Self {
        Self { grade, value, because, costs, fix: String::new(), undo: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_shown_are_known_of() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c", "d", "e"]), "a, b, c, d, e");
        assert_eq!(listed(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d, e and more");
    }
}
