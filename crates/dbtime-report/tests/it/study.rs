//! The report of a study as it is kept in `snapshots`: text, Markdown, JUnit, and the page.

use crate::fixtures;
use dbtime_model::study::RecordedStudy;
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
        if let (1, Some(dbtime_model::study::TrialRecord::Run(record))) = (run.trial.cell, record) {
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
}
