//! The answers of comparisons of hand-made runs: what they have room for, and what must not be
//! missing.

use crate::fixtures;
use crate::terminal::fits_in;
use dbtime_model::record::{FactorValue, PrimaryMetric, RunRecord};
use dbtime_model::study::RecordedStudy;
use dbtime_report::ReportDocument;
use dbtime_report::compare::{
    GroupComparison, GroupOptions, PlacedRun, RunComparison, SweepComparison, groups_document,
    runs_document, short_groups_document, short_runs_document, short_sweeps_document,
    sweeps_document,
};
use dbtime_report::terminal::{COLUMNS, Charset, PageStyle, SCREEN_LINES};
use dbtime_stats::VerdictRule;

/// The text of a document that fits on a screen, and whose lines fit in any terminal.
fn on_a_screen(name: &str, document: &ReportDocument) -> String {
    for columns in [72, 120] {
        fits_in(name, &document.text(PageStyle::default().within(columns)), columns);
    }
    let ascii = PageStyle { charset: Charset::Ascii, ..PageStyle::default() };
    assert!(document.text(ascii).is_ascii(), "{name}");
    let text = document.text(PageStyle::default());
    let lines = text.lines().count();
    assert!(lines <= SCREEN_LINES, "{name}: {lines} lines\n{text}");
    fits_in(name, &text, COLUMNS);
    text
}

/// All of these stand in a text in this order.
fn stand_in_order(text: &str, expected: &[&str]) {
    let mut rest = text;
    for one in expected {
        let at = rest.find(one).unwrap_or_else(|| panic!("no `{one}` in its place in\n{text}"));
        rest = &rest[at + one.len()..];
    }
}

/// So many runs, two minutes apart from that minute on, whose responses are so many times as long.
fn runs(number: u32, minute: u32, factor: f64) -> Vec<RunRecord> {
    let run = |at: u32| {
        let mut record = fixtures::open().record;
        record.validity.valid = true;
        record.started_at = format!("2026-11-20T10:{:02}:00Z", minute + 2 * at);
        let response = &mut record.latency_us.response;
        response.mean *= factor * (1.0 + 0.001 * f64::from((at + minute) % 3));
        record
    };
    (0..number).map(run).collect()
}

fn placed(side: &[RunRecord]) -> Vec<PlacedRun<'_>> {
    let place = |record| PlacedRun { place: "folder/run", record, excluded: None, unit: None };
    side.iter().map(|record| place(record.into())).collect()
}

fn compared(a: &[RunRecord], b: &[RunRecord]) -> GroupComparison {
    compared_by(None, a, b)
}

fn compared_by(
    primary: Option<PrimaryMetric>,
    a: &[RunRecord],
    b: &[RunRecord],
) -> GroupComparison {
    let (rule, names) = (VerdictRule::new(0.01), ["A", "B"]);
    let options = GroupOptions { rule, primary, program: None, names };
    GroupComparison::of(&placed(a), &placed(b), options)
}

/// A sweep of so many combinations with long names.
fn sweep(combinations: u64, record: &RunRecord) -> RecordedStudy {
    let run = |number: u64| {
        let query = format!("SELECT {number} FROM {}", "a_table, ".repeat(30));
        let factor = |name: &str, value: String| FactorValue { name: name.to_owned(), value };
        let factors = vec![factor("query", query), factor("workers", number.to_string())];
        (factors, record.clone())
    };
    fixtures::sweep::sweep(1, (1..=combinations).map(run).collect())
}

#[test]
fn any_two_runs_fit_on_a_screen() {
    let all = fixtures::all();
    for (name_a, a) in &all {
        for (name_b, b) in &all {
            let compared = RunComparison::of([(name_a, &a.record), (name_b, &b.record)]);
            on_a_screen(&format!("{name_a} and {name_b}"), &short_runs_document(&compared));
        }
    }
}

#[test]
fn two_runs_have_what_decides_and_the_rest_is_in_the_details() {
    let (a, mut b) = (fixtures::open(), fixtures::open());
    b.record.throughput_tps *= 0.5;
    b.record.environment.steal_pct += 5.0;
    for number in 0..9 {
        b.record.target.settings.insert(format!("new_{number}"), "on".to_owned());
    }
    let compared = RunComparison::of([("a", &a.record), ("b", &b.record)]);
    let short = on_a_screen("open twice", &short_runs_document(&compared));
    let expected = [
        "Two runs side by side\n  A             atm at scale 10 on ",
        "\n  B             atm at scale 10 on ",
        "\n  load          open loop: ",
        "\n  verdict       No verdict: single runs cannot tell",
        "\nFigures\n",
        "\n  throughput per second ",
        "\n  response mean ",
        "\n  response p50 ",
        "\n  response p99 ",
        "\n  failed ",
        "\nWhere the time goes",
        "\n  total ",
        "\nDiffers\n",
        "\n  setting new_0 ",
        "further differences; ",
        "\n  → for a verdict repeat both",
        "\n  --details prints the rest: ",
    ];
    stand_in_order(&short, &expected);
    let whole = runs_document(&compared).text(PageStyle::default());
    for left_out in ["\n  machine steal ", "\nOperations, ", "\nStatements, ", "\n  response max "]
    {
        assert!(whole.contains(left_out) && !short.contains(left_out), "{left_out}: {short}");
    }
    assert!(!whole.contains("--details"), "{whole}");
}

#[test]
fn what_may_make_a_comparison_wrong_is_there() {
    let (mut a, mut b) = (fixtures::client_limited(), fixtures::client_limited());
    a.record.workload.name = "a name that is long".repeat(9);
    b.record.target.version = "a version that is long".repeat(9);
    b.record.load.connections += 1;
    b.record.statements[0].fingerprint = "SELECT 1".to_owned();
    let compared = RunComparison::of([("a", &a.record), ("b", &b.record)]);
    assert_eq!(compared.unlike.len(), 4, "{:?}", compared.unlike);
    let text = on_a_screen("unlike", &short_runs_document(&compared));
    let different = ["DIFFERENT WORKLOADS", "DIFFERENT TARGETS", "DIFFERENT LOADS"];
    stand_in_order(&text, &different);
    assert!(text.contains("DIFFERENT STATEMENTS") && text.contains("→ make both"), "{text}");
    assert_eq!(text.matches("NOT VALID: client-limited").count(), 2, "{text}");
}

#[test]
fn two_sweeps_have_the_combinations_that_changed_most() {
    let (valid, invalid) = (fixtures::open().record, fixtures::client_limited().record);
    let (of_a, of_b) = (sweep(40, &valid), sweep(40, &invalid));
    let compared = SweepComparison::of([("a", &of_a), ("b", &of_b)]);
    let short = on_a_screen("sweeps", &short_sweeps_document(&compared));
    let expected = [
        "Two sweeps side by side\n  A             a\n  B             b",
        "\n  NOT VALID     40 combinations with a run that is not valid; query=SELECT",
        "\n  verdict       No verdict: ",
        "\nCombinations, most changed first\n",
        "further combinations\n",
        "What changed most: query=SELECT",
        "\nWhere the time goes",
        "\n  --details prints the rest: ",
    ];
    stand_in_order(&short, &expected);
    let whole = sweeps_document(&compared).text(PageStyle::default());
    assert!(whole.contains("\nStatements, ") && !short.contains("\nStatements, "), "{short}");
    let none = SweepComparison::of([("a", &of_a), ("b", &sweep(0, &valid))]);
    let text = on_a_screen("nothing in common", &short_sweeps_document(&none));
    assert!(text.contains("no combination is in both sweeps. only in A: query="), "{text}");
}

#[test]
fn two_groups_have_the_verdict_and_the_figures() {
    let (a, b) = (runs(6, 0, 1.0), runs(6, 1, 1.3));
    let compared = compared(&a, &b);
    let short = on_a_screen("groups", &short_groups_document(&compared));
    let expected = [
        "Two groups of runs\n  verdict       B slower than A: +30",
        "\n                on response mean; runs of A and B alternated",
        "\n  A             atm at scale 10 on ",
        "\n  load          open loop: ",
        "\nFigures, geometric means of the runs\n",
        "\n  response mean ",
        "\n  response p99 ",
        "\n  → `dbtime explain RUN` of a run of each side",
        "\n  --details prints the rest: ",
    ];
    stand_in_order(&short, &expected);
    let whole = groups_document(&compared).text(PageStyle::default());
    for left_out in ["\nChanges with their intervals", "\nThe runs, by their starts"] {
        assert!(whole.contains(left_out) && !short.contains(left_out), "{left_out}: {short}");
    }
}

#[test]
fn where_a_metric_was_not_measured_the_next_step_is_another_one() {
    let (a, b) = (runs(3, 0, 1.0), runs(3, 1, 1.3));
    let primary = PrimaryMetric::parse("server-cpu").expect("a metric");
    let compared = compared_by(Some(primary), &a, &b);
    let text = on_a_screen("no server", &short_groups_document(&compared));
    let expected = ["verdict       Invalid: server CPU", "\n  → compare by a metric that all"];
    stand_in_order(&text, &expected);
}

#[test]
fn two_groups_that_are_unlike_fit_on_a_screen_with_all_that_is() {
    let (mut a, mut b) = (runs(40, 0, 1.0), runs(40, 1, 1.3));
    for (side, text) in [(&mut a, "a"), (&mut b, "b")] {
        for run in side.iter_mut() {
            run.workload.name = format!("{text} name ").repeat(30);
            run.target.version = format!("{text} version ").repeat(30);
            run.load.connections += text.len() as u32;
            run.statements[0].fingerprint = format!("SELECT {text}");
            let setting = |number: u32| (format!("setting_{number}"), text.repeat(200));
            run.target.settings.extend((0..30).map(setting));
        }
        side[3].load.connections += 1;
    }
    b.iter_mut().for_each(|run| run.load.connections += 7);
    a[5].validity.valid = false;
    let compared = compared(&a, &b);
    assert_eq!(compared.unlike.len(), 6, "{:?}", compared.unlike);
    let text = on_a_screen("unlike groups", &short_groups_document(&compared));
    for expected in [
        "DIFFERENT WORKLOADS",
        "DIFFERENT TARGETS",
        "DIFFERENT LOADS",
        "DIFFERENT STATEMENTS",
        "WITHIN A, folder/run",
        "WITHIN B, folder/run",
        "\n  set up ",
        "further settings\n",
        "\n  → make both sides alike",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}
