//! The report of a study as it is kept in `snapshots`: text, Markdown, JUnit, and the page.

use crate::fixtures;
use dbtime_model::record::ValidityGrade;
use dbtime_model::study::{RecordedStudy, TrialRecord};
use dbtime_report::compare::{StudyComparison, short_study_document, study_document, study_junit};
use dbtime_report::terminal::{PageStyle, SHORT_LINES};

fn recorded() -> RecordedStudy {
    fixtures::study::study(&fixtures::open().record)
}

#[test]
fn the_text_has_the_verdict_first() {
    let text = study_document(&StudyComparison::of(&recorded())).text(PageStyle::default());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    insta::assert_snapshot!("study", text);
}

#[test]
fn the_short_text_has_the_verdict_on_one_screen() {
    let compared = StudyComparison::of(&recorded());
    let style = PageStyle::default();
    let short = short_study_document(&compared).text(style);
    let whole = study_document(&compared).text(style);
    assert!(short.lines().count() <= SHORT_LINES, "{short}");
    assert!(short.lines().all(|line| line.chars().count() <= 100), "{short}");
    for expected in [
        "  verdict       lazy faster than durable: +10.1 %",
        "  A/A control   durable again: Same within 1 %",
        "  runs          18 runs in 6 blocks count",
        "  study         finished",
        "\nChanges with their intervals",
        "--details prints the rest",
    ] {
        assert!(short.contains(expected), "{expected}: {short}");
    }
    for left_out in ["below, A is durable", "\nConfigurations, means", "\nThe runs, in the order"] {
        assert!(whole.contains(left_out) && !short.contains(left_out), "{left_out}: {short}");
    }
}

/// What was set up differently is told of A and B.
#[test]
fn the_short_text_says_which_side_is_which_where_it_names_them() {
    let mut recorded = recorded();
    for (run, record) in recorded.history.runs.iter().zip(&mut recorded.records) {
        if let (2, Some(TrialRecord::Run(record))) = (run.trial.cell, record) {
            record.load.rate = Some("300".to_owned());
        }
    }
    let text = short_study_document(&StudyComparison::of(&recorded)).text(PageStyle::default());
    let [sides, set_up] = ["below, A is durable and B is lazy", "load rate: A auto:50%, B 300"]
        .map(|line| text.find(line).unwrap_or_else(|| panic!("no {line} in {text}")));
    assert!(sides < set_up, "{text}");
}

#[test]
fn the_drawing_is_as_wide_as_the_terminal() {
    let compared = StudyComparison::of(&recorded());
    for columns in [72, 80] {
        let style = PageStyle::default().within(columns);
        let text = short_study_document(&compared).text(style);
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
    }
}

#[test]
fn the_same_is_written_for_a_ci_system() {
    let compared = StudyComparison::of(&recorded());
    insta::assert_snapshot!("study-markdown", study_document(&compared).markdown());
    insta::assert_snapshot!("study-junit", study_junit(&compared));
}

/// What differs from itself is worth no verdict.
#[test]
fn a_baseline_that_differs_from_itself_makes_the_study_unstable() {
    let mut recorded = recorded();
    for (run, record) in recorded.history.runs.iter().zip(&mut recorded.records) {
        if let (1, Some(TrialRecord::Run(record))) = (run.trial.cell, record) {
            record.throughput_tps *= 1.3;
        }
    }
    let text = study_document(&StudyComparison::of(&recorded)).text(PageStyle::default());
    let verdict = text.lines().find(|line| line.contains("verdict")).expect("a verdict");
    assert!(verdict.contains("Unstable"), "{text}");
}

#[test]
fn the_page_is_well_formed_and_has_every_chart() {
    let page = study_document(&StudyComparison::of(&recorded())).html();
    let text = page.strip_prefix("<!DOCTYPE html>\n").expect("a doctype");
    roxmltree::Document::parse(text).unwrap_or_else(|error| panic!("{error}"));
    for title in [
        "What changed, and how sure that is",
        "Which responses changed",
        "Where the time went",
        "Are the runs comparable?",
    ] {
        assert!(page.contains(title), "{title}");
    }
    let answer = page.find("lazy faster than durable").expect("a verdict");
    assert!(page.find("<svg").is_some_and(|drawing| answer < drawing), "the answer is first");
    // The control is the baseline once more.
    assert!(page.contains("A: durable; A′: durable again; B: lazy"), "{page}");
    assert!(page.contains("<a href=\"runs/0001/report.html\">1</a>"), "a run has a page");
    assert!(page.contains("the axis does not begin at 0"), "its values are near each other");
}

#[test]
fn runs_beside_other_work_are_diamonds() {
    let mut recorded = recorded();
    let page = |recorded: &RecordedStudy| study_document(&StudyComparison::of(recorded)).html();
    assert!(!page(&recorded).contains("diamond: noisy"));
    if let Some(TrialRecord::Run(record)) = &mut recorded.records[3] {
        record.validity.grade = Some(ValidityGrade::Noisy);
    }
    let noisy = page(&recorded);
    assert!(noisy.contains("diamond: noisy") && noisy.contains(", noisy: "), "{noisy}");
}
