//! What stands in the place of a result that is to come, so that none of before is taken for it.

use crate::document::ReportDocument;

/// Of a file that was begun and not yet written to its end.
pub(crate) const NOT_ENDED: &str = "dbtime has not ended yet, or ended before it had a result: see \
                                    what it printed";

/// What a page or Markdown is until there is a result. `command`: what is under way, such as
/// `dbtime compare`.
pub fn unended_document(command: &'static str) -> ReportDocument {
    let mut document = ReportDocument::new(command, "No result yet");
    document.callout(NOT_ENDED);
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_and_markdown_say_that_there_is_no_result() {
        let document = unended_document("dbtime ps");
        assert!(document.html().contains("dbtime ps"));
        for text in [document.html(), document.markdown()] {
            assert!(text.contains("No result yet") && text.contains("has not ended"), "{text}");
        }
    }
}
