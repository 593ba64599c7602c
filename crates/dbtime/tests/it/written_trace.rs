//! Recordings that no tracer has made, so that what is in them is known to the last byte.

use crate::sandbox::Sandbox;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{
    RecordedPart, TraceBegin, TraceEnd, TraceReader, TraceWriter, VERSION,
};
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_totals::TracedTotals;
use dbtime_model::{MonoNanos, Nanos};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A recording in memory.
pub(crate) struct TestRecording {
    pub(crate) begin: TraceBegin,
    pub(crate) requests: Vec<TracedRequest>,
    /// `None`: it is cut short.
    pub(crate) end: Option<TraceEnd>,
}

impl TestRecording {
    pub(crate) fn read(path: &Path) -> Self {
        let file = BufReader::new(File::open(path).expect("a recording"));
        let (begin, mut reader) = TraceReader::begin(file).expect("a beginning");
        let mut recording = Self { begin, requests: Vec::new(), end: None };
        while let Some(part) = reader.next().expect("a block") {
            match part {
                RecordedPart::Requests(requests) => recording.requests.extend(requests),
                RecordedPart::End(end) => recording.end = Some(*end),
            }
        }
        recording
    }

    /// Writes a block for each request.
    pub(crate) fn write(mut self, path: &Path) {
        let file = File::create(path).expect("a file");
        let mut writer = TraceWriter::begin(file, &self.begin).expect("written");
        for request in self.requests.chunks_mut(1) {
            writer.requests(request).expect("written");
        }
        if let Some(end) = self.end {
            writer.end(&end).expect("written");
        }
    }
}

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
    let recording = TestRecording { begin, requests: requests.to_vec(), end: Some(end) };
    recording.write(&sandbox.path("it.trace"));
}
