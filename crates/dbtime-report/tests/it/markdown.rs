//! The Markdown of hand-made runs, and that every form of a report has the same sections.

use crate::fixtures;
use dbtime_model::record::Run;
use dbtime_report::html;
use dbtime_report::reports::run_document;
use dbtime_report::terminal::{TerminalOptions, run_report};

fn markdown(run: &Run, options: &TerminalOptions) -> String {
    run_document(run, options).markdown()
}

#[test]
fn every_section_is_in_every_form() {
    let options = TerminalOptions::default();
    for (name, run) in fixtures::all() {
        let (text, page) = (run_report(&run, &options), html::report(&run));
        let markdown = markdown(&run, &options);
        let headings: Vec<_> = markdown.lines().filter_map(|l| l.strip_prefix("### ")).collect();
        assert!(headings.len() >= 3, "{name}: {markdown}");
        for heading in headings {
            assert!(text.contains(&format!("\n{heading}\n")), "{name}: {heading} in {text}");
            let heading = heading.replace('\'', "&#39;");
            assert!(page.contains(&format!(">{heading}</h2>")), "{name}: {heading} in the page");
        }
    }
}

#[test]
fn no_name_of_a_record_is_markup_in_markdown() {
    for (name, run) in fixtures::all() {
        for short in [false, true] {
            let options =
                TerminalOptions { short, histogram: true, threads: true, ..Default::default() };
            let markdown = markdown(&run, &options);
            let is_driving = |sign: char| sign.is_control() && sign != '\n';
            assert!(!markdown.contains(is_driving), "{name}: {markdown}");
            // Of a command, which is indented, nothing is markup.
            let mut lines = markdown.lines().filter(|line| !line.starts_with("    "));
            assert!(!lines.any(|line| line.contains("<script")), "{name}: {markdown}");
            assert!(markdown.ends_with('\n') && !markdown.contains("NaN"), "{name}: {markdown}");
        }
    }
}

#[test]
fn the_short_report_is_a_comment() {
    let options = TerminalOptions { short: true, ..TerminalOptions::default() };
    let markdown = markdown(&fixtures::open(), &options);
    for expected in [
        "## atm at scale 10 on sqlite 3.50.4\n\n- load: open loop: ",
        "\n- response: **p50 1.00 ms, p99 5.43 ms, max 25.1 ms**\n  - measured from the instant",
        "\n### Where the time goes\n\n| part | mean |  |",
        "\n| sync | 614 µs | 60 % | ██████ | 1.61 ms | 17 % | blocked in fsync |\n",
        "\n### What to look at or to try next\n\n- log sync: → use a log device",
    ] {
        assert!(markdown.contains(expected), "no `{expected}` in\n{markdown}");
    }
    assert!(!markdown.contains("### Operations"), "{markdown}");
}
