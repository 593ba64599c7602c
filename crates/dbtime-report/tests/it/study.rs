//! The report of a study as it is kept in `snapshots`: text, Markdown, JUnit, and the page.

use crate::fixtures;
use dbtime_model::study::RecordedStudy;
use dbtime_report::compare::{StudyComparison, study_document, study_junit};
use dbtime_report::terminal::PageStyle;

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
