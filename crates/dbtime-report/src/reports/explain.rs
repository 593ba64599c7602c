//! What to look at or to try next, by the budget of a run: all of it.

use crate::advice::{DOUBT, INTRODUCTION, RunAdvice, TITLE, facts, place_of_flags};
use crate::document::ReportDocument;
use crate::story;
use crate::terminal::TextRole;
use dbtime_model::record::RunRecord;

/// All advice on a run.
pub fn advice_document(record: &RunRecord, advice: &RunAdvice) -> ReportDocument {
    let mut document = ReportDocument::new("dbtime explain", &story::headline(record));
    if let Some(why) = &advice.doubt {
        document.fact("NOT VALID", &format!("{DOUBT}: {why}"), TextRole::Bad);
    }
    document.fact("where it goes", &story::where_it_goes(record), TextRole::Bold);
    document.heading(TITLE);
    if let Some(why) = &advice.nothing {
        document.paragraph(why, TextRole::Plain);
    }
    for one in &advice.advice {
        document.facts(&facts(one, advice, usize::MAX));
    }
    if !advice.advice.is_empty() {
        document.paragraph(INTRODUCTION, TextRole::Dim);
    }
    if let Some(place) = place_of_flags(record, advice.advice.iter().flat_map(|one| &one.steps)) {
        document.paragraph(place, TextRole::Dim);
    }
    document
}
