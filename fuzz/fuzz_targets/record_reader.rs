//! No bytes in the files of a run folder make a reader panic or hang, and what was read can be
//! written and read again.
#![no_main]

use dbtime_model::record::{csv, file, read_run_json};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let run = dbtime_fuzz::run(bytes);
    let json = serde_json::to_string(&run.record).expect("a record is plain data");
    let again = read_run_json(&json, Path::new(file::RUN)).expect("what was written can be read");
    assert_eq!(serde_json::to_string(&again).expect("as before"), json);
    let text = [json, csv::series_text(&run.series), csv::transactions_text(&run.transactions)];
    let again = dbtime_fuzz::run(text.join("\0").as_bytes());
    assert_eq!(again.series.len(), run.series.len());
    assert_eq!(again.transactions.len(), run.transactions.len());
});
