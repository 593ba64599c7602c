//! Verdicts as JUnit XML, which CI systems show as tests.
//!
//! A test suite is a comparison, a test case one of its metrics. It goes by the gate: worse by the
//! margin or more has failed; what is undecided was skipped; what could not be compared is an
//! error. Of a single run the suite is the run, and a case is a limit.

use super::foreign::{ForeignComparison, ForeignRow};
use super::groups::{GroupComparison, GroupFigure, GroupGate, GroupOutcome, Verdict};
use super::study::StudyComparison;
use crate::facts::{check_measured, check_required};
use crate::unended::unended_text;
use dbtime_model::record::{Check, CheckOutcome, RunRecord};
use std::fmt::Write as _;

/// Of a run without a limit: a file without a case would be taken for one in which all have passed.
const NO_LIMIT: &str = "no limit was set: give one with --limit, or in the workload";

/// What a suite of two sides is called.
const AGAINST: &str = "A against B";

/// What became of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaseResult {
    Passed,
    Failed,
    Skipped,
    Broken,
}

impl CaseResult {
    fn of(verdict: &Verdict, gate: &GroupGate) -> Self {
        match (verdict, gate.outcome()) {
            (Verdict::Unstable { .. } | Verdict::Invalid(_), _) => Self::Broken,
            (_, outcome) => Self::of_outcome(outcome),
        }
    }

    fn of_outcome(outcome: GroupOutcome) -> Self {
        match outcome {
            GroupOutcome::Good => Self::Passed,
            GroupOutcome::Worse => Self::Failed,
            GroupOutcome::Undecided => Self::Skipped,
        }
    }
}

/// One test case, with its text.
struct JunitCase {
    name: String,
    result: CaseResult,
    text: String,
}

impl JunitCase {
    /// A metric with its verdict, in this sentence, and how the gate comes out.
    fn new(name: &str, (verdict, sentence): (&Verdict, String), gate: &GroupGate) -> Self {
        let result = CaseResult::of(verdict, gate);
        let text = match gate.has_bounds() {
            true => format!("{sentence}; gate {gate}"),
            false => sentence,
        };
        Self { name: name.to_owned(), result, text }
    }

    /// A limit on an operation, or on the whole run. In a run without a verdict a missed one has
    /// not failed: its exit code does not say so either.
    fn of_limit(place: &str, check: &Check, has_verdict: bool) -> Self {
        let result = match check.outcome() {
            CheckOutcome::Passed => CaseResult::Passed,
            CheckOutcome::Failed if has_verdict => CaseResult::Failed,
            CheckOutcome::Failed | CheckOutcome::Undecided => CaseResult::Skipped,
        };
        let name = format!("{place}: {}", check.metric);
        let (required, measured) = (check_required(check), check_measured(check));
        Self { name, result, text: format!("required {required}, measured {measured}") }
    }

    /// What leaves a run without a verdict.
    fn broken(why: &str) -> Self {
        Self { name: "verdict".to_owned(), result: CaseResult::Broken, text: why.to_owned() }
    }
}

/// The verdicts on two groups of runs.
///
/// Shape: a whole XML document.
pub fn groups_junit(compared: &GroupComparison) -> String {
    let text = compared.verdict.to_string();
    document(&[suite(AGAINST, (&compared.verdict, text), compared)])
}

/// The verdicts on files of other tools: a case is a name in one unit, or one that B does not have.
///
/// Shape: as [`groups_junit`].
pub fn foreign_junit(compared: &ForeignComparison) -> String {
    let case = |row: &ForeignRow| JunitCase {
        name: format!("{} {}", row.name, row.unit),
        result: CaseResult::of_outcome(row.outcome),
        text: match &row.gate {
            Some(gate) => format!("{}; gate {gate}", row.verdict),
            None => row.verdict.clone(),
        },
    };
    let absent = |name: &String| JunitCase {
        name: name.clone(),
        result: CaseResult::Skipped,
        text: "B does not have it".to_owned(),
    };
    let absent = compared.a.alone.iter().map(absent);
    let cases: Vec<JunitCase> = compared.rows.iter().map(case).chain(absent).collect();
    document(&[suite_of(AGAINST, &cases)])
}

/// How the limits of a run came out, and why the run has no verdict, where that is not for its
/// limits.
///
/// Shape: as [`groups_junit`].
pub fn run_junit(record: &RunRecord, error: Option<&str>) -> String {
    let deciding = record.checks().filter(|(_, check)| check.decides());
    let limits = deciding.map(|(place, check)| JunitCase::of_limit(place, check, error.is_none()));
    let without = record.limits_outcome().is_none().then_some(NO_LIMIT);
    let broken = error.into_iter().chain(without).map(JunitCase::broken);
    let cases: Vec<JunitCase> = limits.chain(broken).collect();
    document(&[suite_of(&record.workload.name, &cases)])
}

/// What stands in the place of a result that is to come, or for this reason in place of one that
/// will not come, so that none of before is taken for it.
/// `command`: what is under way, such as `dbtime run`.
///
/// Shape: as [`groups_junit`], with one case, which is an error.
pub fn unended_junit(command: &str, reason: Option<&str>) -> String {
    document(&[suite_of(command, &[JunitCase::broken(&unended_text(reason))])])
}

/// The verdicts of a study, the control among them.
///
/// Shape: as [`groups_junit`].
pub fn study_junit(compared: &StudyComparison) -> String {
    let suites = compared.control.iter().chain(&compared.comparisons).map(|one| {
        let name = format!("{}: {} against {}", compared.name, one.cell, one.baseline);
        suite(&name, (&one.verdict.verdict, one.verdict.to_string()), &one.comparison)
    });
    // Verdicts on a part of it may come out otherwise in the end.
    let unfinished = (!compared.is_finished).then(|| ("finished", compared.state.clone()));
    let lost = compared.lost.clone().map(|text| ("complete", text));
    let changed = compared.plan_changed.clone().map(|text| ("plan", text));
    let runs = compared.runs_changed.clone().map(|text| ("runs", text));
    let partial = unfinished.into_iter().chain(lost).chain(changed).chain(runs);
    let partial = partial.map(|(name, text)| {
        let case = JunitCase { name: name.to_owned(), result: CaseResult::Skipped, text };
        suite_of(&compared.name, &[case])
    });
    // A configuration that could not run has not passed.
    let left_out = compared.left_out.iter().map(|one| {
        let (name, text) = (format!("{} can run", one.cell), one.reason.clone());
        suite_of(&compared.name, &[JunitCase { name, result: CaseResult::Broken, text }])
    });
    // A file without a case would be taken for one in which all have passed.
    let without = compared.lacks_verdicts().map(|why| {
        let is_due = compared.is_finished && compared.cells.len() > 1;
        let result = if is_due { CaseResult::Broken } else { CaseResult::Skipped };
        let case = JunitCase { name: "verdict".to_owned(), result, text: why.to_owned() };
        suite_of(&compared.name, &[case])
    });
    document(&suites.chain(without).chain(left_out).chain(partial).collect::<Vec<_>>())
}

fn document(suites: &[String]) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{}</testsuites>\n",
        suites.concat()
    )
}

/// The verdict of the primary metric, with its sentence, is that of the comparison: it may be none
/// although the metric differs. The groups that its runs fall into are named behind it.
fn suite(
    name: &str,
    (verdict, sentence): (&Verdict, String),
    compared: &GroupComparison,
) -> String {
    let primary = compared.metrics.first().map_or("verdict", |metric| metric.name.as_str());
    let first = JunitCase::new(primary, (verdict, compared.qualified(sentence)), &compared.gate);
    let case = |figure: &GroupFigure| {
        let verdict = (&figure.verdict, figure.verdict.to_string());
        JunitCase::new(&figure.name, verdict, &figure.gate)
    };
    let further = compared.metrics.iter().skip(1).map(case);
    let cases: Vec<JunitCase> = std::iter::once(first).chain(further).collect();
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
    use super::super::groups::{gates, verdicts};
    use super::*;
    use dbtime_model::record::CheckOrigin;

    #[test]
    fn what_a_gate_comes_to_is_what_the_case_becomes() {
        for (verdict, _, sentence) in verdicts("B") {
            let is_broken =
                ["Unstable: ", "Invalid: "].iter().any(|begin| sentence.starts_with(begin));
            for (gate, outcome, reason) in gates("B") {
                let expected = match outcome {
                    _ if is_broken => CaseResult::Broken,
                    GroupOutcome::Good => CaseResult::Passed,
                    GroupOutcome::Worse => CaseResult::Failed,
                    GroupOutcome::Undecided => CaseResult::Skipped,
                };
                let case = JunitCase::new("p99", (&verdict, sentence.clone()), &gate);
                assert_eq!(case.result, expected, "{sentence} {reason}");
                let has_bound = case.text == format!("{sentence}; gate {reason}");
                assert_eq!(has_bound, gate.has_bounds(), "{}", case.text);
            }
        }
    }

    #[test]
    fn a_limit_is_a_case_and_a_run_without_one_is_an_error() {
        let none = run_junit(&RunRecord::default(), None);
        assert!(none.contains("errors=\"1\"") && none.contains(NO_LIMIT), "{none}");
        let failed = Check { text: "<= 5ms".to_owned(), ..Check::default() };
        let open = Check { undecided: true, ..Check::default() };
        let met = Check { passed: true, origin: CheckOrigin::Given, ..Check::default() };
        let record = RunRecord { limits: vec![failed, open, met], ..RunRecord::default() };
        let all = run_junit(&record, None);
        let counts = "tests=\"3\" failures=\"1\" skipped=\"1\" errors=\"0\"";
        assert!(all.contains(counts), "{all}");
        assert!(all.contains("<failure message=\"required &lt;= 5ms, measured "), "{all}");
        // Without a verdict what was missed has not failed.
        let unserved = run_junit(&record, Some("most of it failed"));
        let counts = "tests=\"4\" failures=\"0\" skipped=\"2\" errors=\"1\"";
        assert!(unserved.contains(counts), "{unserved}");
        assert!(unserved.contains("<error message=\"most of it failed\"/>"), "{unserved}");
    }

    #[test]
    fn what_has_not_ended_is_an_error() {
        let begun = unended_junit("dbtime run", None);
        let counts = "name=\"dbtime run\" tests=\"1\" failures=\"0\" skipped=\"0\" errors=\"1\"";
        assert!(begun.contains(counts) && begun.contains("has not ended yet"), "{begun}");
        let ended = unended_junit("dbtime run", Some("no \"room\""));
        let why = "<error message=\"dbtime ended without a result: no &quot;room&quot;\"/>";
        assert!(ended.contains(counts) && ended.contains(why), "{ended}");
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
