//! No file of another tool makes a parser panic or hang; what was read is compared with itself,
//! differs from itself in nothing, and is shown.
#![cfg_attr(feature = "link", no_main)]

use dbtime_report::compare::{
    ForeignComparison, ForeignFile, GroupOutcome, foreign_document, foreign_junit,
    short_foreign_document,
};
use dbtime_report::terminal::PageStyle;
use dbtime_stats::VerdictRule;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(file) = ForeignFile::read(&text) else { return };
    let side = [("a".to_owned(), file)];
    let compared = ForeignComparison::of(&side, &side, VerdictRule::new(0.01));
    let compared = compared.expect("every name has itself");
    assert_ne!(compared.outcome, GroupOutcome::Worse);
    let short = short_foreign_document(&compared).text(PageStyle::default());
    let document = foreign_document(&compared);
    let is_control = |c: char| c.is_control() && c != '\n';
    for form in [short, document.text(PageStyle::default()), document.html(), document.markdown()] {
        assert!(!form.contains(is_control), "a control character was shown");
    }
    let _ = foreign_junit(&compared);
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
