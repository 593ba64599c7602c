//! Every view that `dbtime trace FILE` has of a recording, one behind the other, and what holds of
//! any of them. The fuzz target `trace_shown` has this file too.

use dbtime_model::Nanos;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{RecordedPart, TraceBegin, TraceEnd, TraceLineWriter, TraceReader};
use dbtime_report::reports::{TracedReport, short_trace_document, trace_document, trace_histogram};
use dbtime_report::terminal::{
    PageStyle, SCREEN_LINES, ThroughputTicks, cost_line, ledger_lines, request_line,
};
use dbtime_report::{plain_json, trace_json};

/// What views may come to, beside so many times the recording. Unit: bytes.
const SMALL_BYTES: usize = 1 << 20;
const MOST_TIMES: usize = 100;

/// The interval between lines of throughput, as `--every` has it by itself.
const EVERY: Nanos = Nanos::from_secs(3);

/// Shows a recording in every view, up to where it cannot be read. Returns whether it has an end.
///
/// # Panics
/// A view is longer than it may be, or drives a terminal.
pub(crate) fn show(recording: &[u8]) -> bool {
    let Ok((begin, mut reader)) = TraceReader::begin(recording) else { return false };
    let mut views = RecordingViews::begin(&begin);
    let (mut length, mut has_end) = (recording.len(), false);
    while let Ok(Some(part)) = reader.next() {
        match part {
            RecordedPart::Requests(requests) => {
                length += requests.iter().map(shared_bytes).sum::<usize>();
                requests.iter().for_each(|request| views.request(request, &begin));
            }
            RecordedPart::End(end) => {
                views.end(&begin, &end);
                has_end = true;
                break;
            }
        }
    }
    views.check(SMALL_BYTES + MOST_TIMES * length);
    has_end
}

/// What a block has once for all of its requests.
fn shared_bytes(request: &TracedRequest) -> usize {
    let names = [request.user(), request.database()].into_iter().flatten();
    request.text.len() + names.map(str::len).sum::<usize>()
}

/// What was shown so far.
struct RecordingViews {
    lines: String,
    json: TraceLineWriter<Vec<u8>>,
    ticks: ThroughputTicks,
    /// The sums as JSON.
    sums: String,
}

impl RecordingViews {
    fn begin(begin: &TraceBegin) -> Self {
        Self {
            lines: String::new(),
            json: TraceLineWriter::begin(Vec::new(), begin).expect("memory"),
            ticks: ThroughputTicks::new(begin.since, EVERY),
            sums: String::new(),
        }
    }

    fn request(&mut self, request: &TracedRequest, begin: &TraceBegin) {
        for room in [None, Some(100)] {
            request_line(request, begin.since, "QUERY", room, &mut self.lines);
        }
        self.ticks.take(request.end, true, &mut self.lines);
        self.json.request(request, "QUERY").expect("memory");
    }

    fn end(&mut self, begin: &TraceBegin, end: &TraceEnd) {
        let report = TracedReport::of(end, begin.step);
        let short = short_trace_document(&report, begin, end).text(PageStyle::default());
        assert!(short.lines().count() <= SCREEN_LINES, "a short view is long");
        self.lines += &short;
        self.lines += &trace_document(&report).text(PageStyle::default());
        self.lines += &trace_histogram(&end.totals, begin.step);
        self.lines += &ledger_lines(&end.ledger);
        self.lines +=
            &end.cost.map_or(String::new(), |cost| cost_line(&cost, end.ledger.ended, end.length));
        self.json.end(end).expect("memory");
        self.sums = trace_json(&report, end).expect("plain data");
    }

    fn check(mut self, most: usize) {
        let json = std::mem::take(self.json.get_mut());
        let json = String::from_utf8(json).expect("JSON is UTF-8");
        let texts = [self.lines.as_str(), &plain_json(&json), &plain_json(&self.sums)];
        let is_control = |c: char| c.is_control() && c != '\n';
        for text in texts {
            assert!(!text.contains(is_control), "a control character reached the terminal");
        }
        let length = texts.iter().map(|text| text.len()).sum::<usize>();
        assert!(length <= most, "{length} bytes of views, of at most {most}");
    }
}
