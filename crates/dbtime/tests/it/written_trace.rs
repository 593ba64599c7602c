//! Recordings that no tracer has made, so that what is in them is known to the last byte.

use crate::sandbox::Sandbox;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceEnd, TraceWriter, VERSION};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_totals::TracedTotals;
use dbtime_model::{MonoNanos, Nanos};
use std::fs::File;

/// Writes a recording `it.trace`.
pub(crate) fn write_trace(sandbox: &Sandbox, requests: &[TracedRequest], ledger: TraceLedger) {
    let begin = TraceBegin {
        version: VERSION,
        since: MonoNanos(0),
        clock: "then".to_owned(),
        clock_id: None,
        servers: Vec::new(),
        raw_sql: true,
        step: Nanos::ZERO,
    };
    let end = TraceEnd {
        length: Nanos::from_secs(1),
        added_up: None,
        clock: "later".to_owned(),
        ledger,
        cost: None,
        totals: TracedTotals::default(),
    };
    let file = File::create(sandbox.path("it.trace")).expect("a file");
    let mut writer = TraceWriter::begin(file, &begin).expect("written");
    requests.iter().for_each(|request| writer.request(request, "QUERY").expect("written"));
    writer.end(&end).expect("written");
}
