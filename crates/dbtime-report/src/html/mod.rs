//! A run as one HTML file: no requests, light and dark, fit to be printed or mailed. The answer is
//! drawn here; its sections are the blocks of [`crate::reports`].
//!
//! All of it is there without scripts. The one script of the page of a run widens timelines that
//! are opened; the page's policy names it by its hash, so that no other can run.
//! The page is also well-formed XML, so that a test can read it with a strict parser.

mod answer;
mod charts;
mod contents;
mod part_colors;
mod run_link;
mod script;
mod single;
mod style;
mod sweep;
mod table;

pub use sweep::sweep_report;

pub(crate) use charts::charts;
pub(crate) use part_colors::chip;
pub(crate) use run_link::run_link;
pub(crate) use single::transactions;
pub(crate) use table::{HtmlCell, HtmlHeading, HtmlTable};

use crate::charts::escape;
use crate::reports::run_page;
use crate::story;
use dbtime_model::record::Run;

/// The report of one run as a self-contained page.
///
/// Shape: UTF-8, well-formed XML after the doctype, no external reference of any kind. Every text
/// of the record is escaped. Single transactions and flame graphs, which would be most of it, have
/// a bound each, so that the page of a short run stays below 700 KB.
pub fn report(run: &Run) -> String {
    let body = answer::markup(run) + &contents::listed(&run_page(run).sections());
    let script = if single::has_timelines(run) { script::SOURCE } else { "" };
    framed(&story::headline(&run.record), &body, script)
}

/// A page around its body, without a script.
pub(crate) fn frame(title: &str, body: &str) -> String {
    framed(title, body, "")
}

fn framed(title: &str, body: &str, script: &str) -> String {
    let (allowed, script) = (script::policy(script), script::element(script));
    let title = escape(&format!("{title} – dbtime"));
    let style = style::sheet();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:\"/>\n\
         <link rel=\"icon\" href=\"data:,\"/>\n<title>{title}</title>\n\
         <style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n{script}</body>\n</html>\n"
    )
}
