//! One check of a server: a rule with its name, and the finding that becomes of its verdict.

use super::examined::ExaminedServer;
use dbtime_model::doctor::{DoctorFinding, FindingScope};
use dbtime_model::plain_text::legible;
pub(super) use dbtime_observe::doctor::CheckVerdict;
use dbtime_observe::doctor::FindingFrame;

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

impl ServerCheck {
    /// What becomes of the check. Values come from the server: they are shown on one line and cut.
    pub(super) fn finding(&self, server: &ExaminedServer) -> DoctorFinding {
        let Self { id, scope, expected, source, rule } = *self;
        let verdict = rule(server).unwrap_or_else(CheckVerdict::unknown);
        let shown = CheckVerdict {
            value: legible(&verdict.value),
            because: legible(&verdict.because),
            fix: legible(&verdict.fix),
            undo: legible(&verdict.undo),
            ..verdict
        };
        FindingFrame { id, scope, expected, source }.finding(shown)
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
