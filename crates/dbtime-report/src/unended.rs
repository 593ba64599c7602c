//! What stands in the place of a result that is to come, so that none of before is taken for it,
//! and of one that will not come.

use crate::document::ReportDocument;
use crate::format::one_line;

/// Of a file that was begun and not yet written to its end.
const NOT_ENDED: &str = "dbtime has not ended yet, or ended before it had a result: see what it \
                         printed";

/// What a page or Markdown is until there is a result, or for this reason in place of one.
/// `command`: what is under way, such as `dbtime compare`.
pub fn unended_document(command: &'static str, reason: Option<&str>) -> ReportDocument {
    let title = if reason.is_some() { "No result" } else { "No result yet" };
    let mut document = ReportDocument::new(command, title);
    document.callout(&unended_text(reason));
    document
}

/// Why there is no result; without a reason dbtime is at work.
pub(crate) fn unended_text(reason: Option<&str>) -> String {
    match reason {
        None => NOT_ENDED.to_owned(),
        Some(reason) => format!("dbtime ended without a result: {}", one_line(reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_and_markdown_say_that_there_is_no_result() {
        let document = unended_document("dbtime ps", None);
        assert!(document.html().contains("dbtime ps"));
        for text in [document.html(), document.markdown()] {
            assert!(text.contains("No result yet") && text.contains("has not ended"), "{text}");
        }
        let ended = unended_document("dbtime ps", Some("no room\nis left"));
        for text in [ended.html(), ended.markdown()] {
            assert!(text.contains("ended without a result: no room is left"), "{text}");
            assert!(!text.contains("No result yet") && !text.contains("has not ended"), "{text}");
        }
    }
}
