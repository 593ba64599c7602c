//! No bytes in a file of counters make its reader panic or hang; what was read differs from itself
//! in nothing, can be written and read again, and shown.
#![cfg_attr(feature = "link", no_main)]

use dbtime_model::counters::{CounterDocument, CounterReport};
use dbtime_observe::counters::{difference, key_counters, parse};
use dbtime_report::reports::{CounterOptions, counter_document};
use dbtime_report::terminal::PageStyle;
use libfuzzer_sys::fuzz_target;

// Two files, with a zero byte between them.
fuzz_target!(|bytes: &[u8]| {
    let samples: Vec<_> = bytes.splitn(2, |byte| *byte == 0).map(parse).collect();
    for document in samples.iter().flatten() {
        let again = CounterDocument::read(&document.to_json()).expect("what was written");
        assert_eq!(again.to_json(), document.to_json());
        let report = match document {
            CounterDocument::CounterReport(report) => report.clone(),
            CounterDocument::CounterSample(sample) => {
                let itself = difference(sample, sample).expect("one product");
                assert!(itself.counters.iter().all(|delta| delta.is_unchanged()));
                itself
            }
        };
        show(&report);
    }
    use CounterDocument::CounterSample as Sample;
    if let [Ok(Sample(before)), Ok(Sample(after))] = &samples[..]
        && let Ok(report) = difference(before, after)
    {
        show(&report);
    }
});

fn show(report: &CounterReport) {
    let _ = key_counters(report);
    let document = counter_document(report, CounterOptions { per_transaction: true });
    let is_control = |c: char| c.is_control() && c != '\n';
    for form in [document.text(PageStyle::default()), document.html(), document.markdown()] {
        assert!(!form.contains(is_control), "a control character was shown");
    }
}

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
