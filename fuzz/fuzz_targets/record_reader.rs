//! No bytes in the files of a run folder make a reader panic or hang, and what was read can be
//! written and read again.
#![cfg_attr(feature = "link", no_main)]

use dbtime_model::record::{Run, csv, file, read_run_json, server_seconds};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let run = dbtime_fuzz::run(bytes);
    let json = serde_json::to_string(&run.record).expect("a record is plain data");
    let again = read_run_json(&json, Path::new(file::RUN)).expect("what was written can be read");
    assert_eq!(serde_json::to_string(&again).expect("as before"), json);
    let texts = [
        json,
        csv::series_text(&run.series),
        csv::transactions_text(&run.transactions),
        csv::statements_text(&run.transactions).unwrap_or_default(),
        server_seconds::text(&run.record.sampled_counters, &run.server_seconds).unwrap_or_default(),
    ];
    let again = dbtime_fuzz::run(texts.join("\0").as_bytes());
    assert_eq!(again.series.len(), run.series.len());
    assert_eq!(again.server_seconds.len(), run.server_seconds.len());
    let statements = |run: &Run| -> Vec<usize> {
        run.transactions.iter().map(|transaction| transaction.statements.len()).collect()
    };
    assert_eq!(statements(&again), statements(&run));
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
