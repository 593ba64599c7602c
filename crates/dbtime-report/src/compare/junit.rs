//! Verdicts as JUnit XML, which CI systems show as tests.
//!
//! A test suite is a comparison, a test case one of its metrics. Worse by the margin or more has
//! failed; what nobody knows was skipped; what could not be compared is an error.

use super::groups::{GroupComparison, GroupFigure, GroupOutcome};
use super::study::StudyComparison;
use std::fmt::Write as _;

/// What became of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseResult {
    Passed,
    Failed,
    Skipped,
    Broken,
}

/// One test case, with its text.
struct JunitCase {
    name: String,
    result: CaseResult,
    text: String,
}

/// The verdicts on two groups of runs.
///
/// Shape: a whole XML document.
pub fn groups_junit(compared: &GroupComparison) -> String {
    document(&[suite("A against B", &compared.verdict, compared.outcome, compared)])
}

/// The verdicts of a study, the control among them.
///
/// Shape: as [`groups_junit`].
pub fn study_junit(compared: &StudyComparison) -> String {
    let suites = compared.control.iter().chain(&compared.comparisons).map(|one| {
        let name = format!("{}: {} against {}", compared.name, one.cell, one.baseline);
        suite(&name, &one.verdict, one.outcome, &one.comparison)
    });
    // Verdicts on a part of it may come out otherwise in the end.
    let unfinished = (!compared.is_finished).then(|| {
        let text = compared.state.clone();
        let case = JunitCase { name: "finished".to_owned(), result: CaseResult::Skipped, text };
        suite_of(&compared.name, &[case])
    });
    document(&suites.chain(unfinished).collect::<Vec<_>>())
}

fn document(suites: &[String]) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{}</testsuites>\n",
        suites.concat()
    )
}

/// The verdict of the primary metric is that of the comparison: it may be none although the metric
/// differs.
fn suite(name: &str, verdict: &str, outcome: GroupOutcome, compared: &GroupComparison) -> String {
    let further = compared.metrics.iter().skip(1);
    let case = |figure: &GroupFigure| JunitCase {
        name: figure.name.clone(),
        result: result(figure.outcome, &figure.text),
        text: figure.text.clone(),
    };
    let primary = compared.metrics.first().map_or("verdict", |metric| metric.name.as_str());
    let first = JunitCase {
        name: primary.to_owned(),
        result: result(outcome, verdict),
        text: verdict.to_owned(),
    };
    let cases: Vec<JunitCase> = std::iter::once(first).chain(further.map(case)).collect();
    suite_of(name, &cases)
}

fn suite_of(name: &str, cases: &[JunitCase]) -> String {
    let count = |of: CaseResult| cases.iter().filter(|case| case.result == of).count();
    let mut text = format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"{}\">\n",
        escaped(name),
        cases.len(),
        count(CaseResult::Failed),
        count(CaseResult::Skipped),
        count(CaseResult::Broken)
    );
    for case in cases {
        show(&mut text, name, case);
    }
    text + "  </testsuite>\n"
}

fn show(text: &mut String, suite: &str, case: &JunitCase) {
    let (class, name, message) = (escaped(suite), escaped(&case.name), escaped(&case.text));
    let element = match case.result {
        CaseResult::Passed => format!("<system-out>{message}</system-out>"),
        CaseResult::Failed => format!("<failure message=\"{message}\"/>"),
        CaseResult::Skipped => format!("<skipped message=\"{message}\"/>"),
        CaseResult::Broken => format!("<error message=\"{message}\"/>"),
    };
    // Writing into a `String` cannot fail.
    let _ =
        writeln!(text, "    <testcase classname=\"{class}\" name=\"{name}\">{element}</testcase>");
}

fn result(outcome: GroupOutcome, verdict: &str) -> CaseResult {
    let is_broken = verdict.starts_with("Unstable") || verdict.starts_with("Invalid");
    match outcome {
        _ if is_broken => CaseResult::Broken,
        GroupOutcome::Good => CaseResult::Passed,
        GroupOutcome::Worse => CaseResult::Failed,
        GroupOutcome::Undecided => CaseResult::Skipped,
    }
}

/// A text in an attribute or an element; what XML 1.0 has no place for is replaced.
fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => plain += "&lt;",
            '>' => plain += "&gt;",
            '&' => plain += "&amp;",
            '"' => plain += "&quot;",
            '\t' | '\n' | '\r' => plain.push(' '),
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => plain.push('\u{fffd}'),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_verdict_comes_to_is_what_the_case_becomes() {
        for (outcome, verdict, expected) in [
            (GroupOutcome::Good, "Same within 1 %", CaseResult::Passed),
            (GroupOutcome::Worse, "B slower than A", CaseResult::Failed),
            (GroupOutcome::Undecided, "Undecided: +1 %", CaseResult::Skipped),
            (GroupOutcome::Undecided, "Unstable: A/A control differs", CaseResult::Broken),
            (GroupOutcome::Undecided, "Invalid: no run", CaseResult::Broken),
        ] {
            assert_eq!(result(outcome, verdict), expected, "{verdict}");
        }
    }

    #[test]
    fn no_name_breaks_the_document() {
        let hostile = "a<b>&\"c\"\u{1}\n]]>";
        let case = JunitCase {
            name: hostile.to_owned(),
            result: CaseResult::Failed,
            text: hostile.to_owned(),
        };
        let mut text = String::new();
        show(&mut text, hostile, &case);
        let plain = "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd} ]]&gt;";
        assert_eq!(text.matches(plain).count(), 3, "{text}");
        assert_eq!(text.matches('<').count(), 3, "{text}");
    }
}
