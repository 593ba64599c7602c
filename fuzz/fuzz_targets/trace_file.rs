//! No recording makes its reader or a view panic or hang, or brings a control character to the
//! terminal; what was read can be written and read again.
#![cfg_attr(feature = "link", no_main)]

use dbtime_fuzz::{shown, with_check_sums};
use dbtime_model::traced_file::{
    RecordedPart, TraceEnd, TraceLineWriter, TraceReader, TraceWriter,
};
use dbtime_report::terminal::{TracedReport, cost_line, ledger_lines, trace_summary};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&with_check_sums(bytes));
});

fn read(bytes: &[u8]) {
    let Ok((begin, mut reader)) = TraceReader::begin(bytes) else { return };
    let (mut blocks, mut lines) = (Vec::new(), Vec::new());
    let mut writer = TraceWriter::begin(&mut blocks, &begin).expect("memory");
    let mut line_writer = TraceLineWriter::begin(&mut lines, &begin).expect("memory");
    while let Ok(Some(part)) = reader.next() {
        match part {
            RecordedPart::Requests(mut requests) => {
                for request in &requests {
                    shown(request, begin.since);
                    line_writer.request(request, "QUERY").expect("memory");
                }
                writer.requests(&mut requests).expect("memory");
            }
            RecordedPart::End(end) => {
                show_end(&end);
                writer.end(&end).expect("memory");
                line_writer.end(&end).expect("memory");
                for copy in [blocks, lines] {
                    let (again, _) = TraceReader::begin(&copy[..]).expect("what was written");
                    assert_eq!(again.servers, begin.servers);
                }
                return;
            }
        }
    }
}

fn show_end(end: &TraceEnd) {
    let statements = vec![("a statement".to_owned(), end.totals.all())];
    let report = TracedReport {
        locks: Vec::new(),
        totals: &end.totals,
        statements,
        length: end.length,
        only_counted: end.added_up.unwrap_or_default(),
        step: end.length,
    };
    let text = trace_summary(&report, false) + &ledger_lines(&end.ledger);
    let cost = end.cost.map(|cost| cost_line(&cost, end.ledger.ended, end.length));
    let is_control = |c: char| c.is_control() && c != '\n';
    let text = text + &cost.unwrap_or_default();
    assert!(!text.contains(is_control), "a control character reached the terminal");
}

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
