//! No record, whatever its figures and names, makes a report panic or hang, or lets a text of the
//! record become markup.
#![cfg_attr(feature = "link", no_main)]

use dbtime_report::reports::run_document;
use dbtime_report::{html, terminal};
use libfuzzer_sys::fuzz_target;

/// What the page may run.
const OWN_SCRIPT: &str =
    concat!("<script>", include_str!("../../crates/dbtime-report/src/html/report.js"));

fuzz_target!(|bytes: &[u8]| {
    let run = dbtime_fuzz::run(bytes);
    // The page's own script, where it has one, is there once and unchanged.
    let page = html::report(&run).replacen(OWN_SCRIPT, "", 1);
    assert!(!page.contains("<script"), "a text of the record became markup");
    let options =
        terminal::TerminalOptions { histogram: true, threads: true, ..Default::default() };
    let text = terminal::run_report(&run, &options);
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(is_control), "a control character reached the terminal");
    let markdown = run_document(&run, &options).markdown();
    assert!(!markdown.contains(is_control), "a control character reached the Markdown");
    let short = terminal::TerminalOptions { short: true, ..Default::default() };
    let short = terminal::run_report(&run, &short);
    assert!(!short.contains(is_control), "a control character reached the terminal");
    assert!(short.lines().count() <= terminal::SHORT_LINES, "a short report is long");
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
