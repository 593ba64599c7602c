//! The report of a run, each section of it a file that makes blocks of the record.
//!
//! The whole report is for a terminal or for Markdown, the short one for a screen. A page has the
//! sections of the whole one, and what can be drawn, below an answer of its own ([`crate::html`]).

mod advice;
mod answer;
mod budget;
mod counted;
mod drawings;
mod holders;
mod largest_parts;
mod layers;
mod machine;
mod operations;
mod stacks;
mod statements;
mod times;

use crate::document::ReportDocument;
use crate::story;
use crate::terminal::TerminalOptions;
use dbtime_model::record::Run;

/// A run, and what its report is to have.
struct RunView<'a> {
    run: &'a Run,
    options: &'a TerminalOptions,
}

/// A section adds its blocks; one with nothing to show adds none.
type RunSection = fn(&RunView<'_>, &mut ReportDocument);

/// The sections in reading order: the answer, its reasons, the checks, everything else.
const SECTIONS: [RunSection; 20] = [
    answer::section,
    budget::section,
    budget::tail_section,
    operations::section,
    times::section,
    times::histogram,
    times::errors,
    statements::section,
    statements::lock_holders,
    holders::lock_chains,
    holders::cpu_holders,
    holders::file_waits,
    stacks::section,
    counted::section,
    layers::section,
    layers::files,
    advice::section,
    machine::section,
    machine::server_threads,
    machine::repeat,
];

/// The sections of a short report. Histogram and threads are there where they were asked for.
const SHORT_SECTIONS: [RunSection; 6] = [
    answer::section,
    largest_parts::section_with_bars,
    advice::first_steps,
    times::histogram,
    machine::server_threads,
    answer::more,
];

/// The sections of a page below its answer.
const PAGE_SECTIONS: [RunSection; 19] = [
    budget::section,
    budget::tail_section,
    advice::whole_section,
    drawings::charts,
    operations::section,
    times::errors,
    times::section,
    statements::section,
    statements::lock_holders,
    holders::lock_chains,
    holders::cpu_holders,
    holders::file_waits,
    stacks::section,
    counted::section,
    layers::section,
    layers::files,
    drawings::transactions,
    machine::section,
    machine::repeat,
];

/// The report of one run: the answer first, then its reasons.
///
/// Shape: of a short report, the text has at most [`crate::terminal::SHORT_LINES`] lines in
/// [`crate::terminal::COLUMNS`] columns.
pub fn run_document(run: &Run, options: &TerminalOptions) -> ReportDocument {
    let document = ReportDocument::new("dbtime run", &story::headline(&run.record));
    let view = RunView { run, options };
    match options.short {
        true => filled(document.short(), &view, &SHORT_SECTIONS),
        false => filled(document, &view, &SECTIONS),
    }
}

/// The sections of the page of a run.
pub(crate) fn run_page(run: &Run) -> ReportDocument {
    let (options, title) = (TerminalOptions::default(), story::headline(&run.record));
    let document = ReportDocument::untitled("dbtime run", &title);
    filled(document, &RunView { run, options: &options }, &PAGE_SECTIONS)
}

fn filled(
    mut document: ReportDocument,
    view: &RunView<'_>,
    sections: &[RunSection],
) -> ReportDocument {
    sections.iter().for_each(|section| section(view, &mut document));
    document
}
