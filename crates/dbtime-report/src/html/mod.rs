//! A run as one HTML file: no scripts, no requests, light and dark, fit to be printed or mailed.
//!
//! The page is also well-formed XML, so that a test can read it with a strict parser.

mod answer;
mod budget;
mod charts;
mod counted;
mod detail;
mod layers;
mod machine;
mod operations;
mod part_colors;
mod slowest;
mod style;
mod sweep;
mod table;

pub use sweep::sweep_report;
pub(crate) use table::{HtmlCell, HtmlHeading, HtmlTable};

use crate::charts::escape;
use crate::story;
use dbtime_model::record::Run;

/// A section appends its markup; one with nothing to show appends nothing.
type HtmlSection = fn(&Run, &mut String);

/// The sections in reading order: the answer, its reasons, the checks, everything else.
const SECTIONS: [HtmlSection; 12] = [
    answer::header,
    answer::warnings,
    answer::section,
    budget::section,
    charts::section,
    operations::section,
    detail::latency,
    detail::section,
    counted::section,
    layers::section,
    slowest::section,
    machine::section,
];

/// The report of one run as a self-contained page.
///
/// Shape: UTF-8, well-formed XML after the doctype, no external reference of any kind. Every text
/// of the record is escaped.
pub fn report(run: &Run) -> String {
    let mut body = String::new();
    for section in SECTIONS {
        section(run, &mut body);
    }
    frame(&story::headline(&run.record), &body)
}

/// A page around its body.
pub(crate) fn frame(title: &str, body: &str) -> String {
    let title = escape(&format!("{title} – dbtime"));
    let style = style::sheet();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n\
         <link rel=\"icon\" href=\"data:,\"/>\n<title>{title}</title>\n\
         <style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}
