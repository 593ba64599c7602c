//! What is printed of requests, as they come or from a recording.

use crate::cli::TraceArgs;
use crate::exit::CommandFailure;
use crate::screen;
use dbtime_model::MonoNanos;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{TraceBegin, TraceEnd, TraceLineWriter};
use dbtime_observe::trace::command_name;
use dbtime_report::reports::{TracedReport, trace_document, trace_histogram, whole_trace_document};
use dbtime_report::terminal::{PageStyle, cost_line, ledger_lines, request_heading, request_line};
use dbtime_report::{one_line, trace_json};

/// The chosen view.
pub(super) struct TraceView<'a> {
    args: &'a TraceArgs,
    pub(super) since: MonoNanos,
    room: Option<usize>,
    shown: u64,
    /// Where `--json` is written before it is printed.
    json: Option<TraceLineWriter<Vec<u8>>>,
}

impl<'a> TraceView<'a> {
    pub(super) fn new(args: &'a TraceArgs, since: MonoNanos) -> Self {
        Self { args, since, room: screen::columns(), shown: 0, json: None }
    }

    /// Whether all requests have been shown that are wanted, or nobody is left to see them.
    pub(super) fn is_done(&self) -> bool {
        self.args.requests.is_some_and(|most| self.has(most)) || screen::is_lost()
    }

    /// Whether so many are shown.
    pub(super) fn has(&self, most: u64) -> bool {
        self.shown >= most
    }

    /// Whether requests are shown one by one.
    fn has_lines(&self) -> bool {
        !self.args.summary && !self.args.histogram && self.args.record.is_none()
    }

    /// What stands above all.
    pub(super) fn begin(&mut self, heading: &TraceBegin) -> Result<(), CommandFailure> {
        let args = self.args;
        if args.json && !args.summary {
            let writer = TraceLineWriter::begin(Vec::new(), heading);
            self.json = Some(writer.map_err(CommandFailure::environment)?);
            self.print_json();
        } else if args.has_ticks() {
            screen::result(&format!("Tracing started at {}\n", one_line(&heading.clock)));
        } else if self.has_lines() && !args.json {
            screen::result(&request_heading());
        }
        Ok(())
    }

    /// Prints what was written since the last time.
    fn print_json(&mut self) {
        let Some(writer) = &mut self.json else { return };
        let text = String::from_utf8(std::mem::take(writer.get_mut()));
        screen::json(&text.expect("JSON is UTF-8"));
    }

    pub(super) fn show(&mut self, requests: &[TracedRequest]) -> Result<(), CommandFailure> {
        let mut text = String::new();
        let requests = if self.has_lines() { requests } else { &[] };
        for request in requests {
            if self.is_done() {
                break;
            }
            if self.passes_filter(request) {
                self.shown += 1;
                self.line(request, &mut text)?;
            }
        }
        if !text.is_empty() {
            screen::result(&text);
        }
        self.print_json();
        Ok(())
    }

    fn passes_filter(&self, request: &TracedRequest) -> bool {
        let args = self.args;
        let name = || command_name(request.protocol, request.command);
        let is = |filter: &Option<String>, name: Option<&str>| {
            filter.is_none() || filter.as_deref() == name
        };
        is(&args.user, request.user())
            && is(&args.database, request.database())
            && args.slow.is_none_or(|slow| request.response() >= slow)
            && (!args.errors || request.error.is_some())
            && (args.commands.is_empty()
                || args.commands.iter().any(|command| command.eq_ignore_ascii_case(name())))
            && (args.matching.is_none() || request.is_match)
    }

    fn line(&mut self, request: &TracedRequest, out: &mut String) -> Result<(), CommandFailure> {
        let command = command_name(request.protocol, request.command);
        match &mut self.json {
            Some(writer) => {
                writer.request(request, command).map_err(CommandFailure::environment)?
            }
            None => request_line(request, self.since, command, self.room, out),
        }
        Ok(())
    }

    /// What stands below all of a trace that began and ended so.
    pub(super) fn end(mut self, begin: &TraceBegin, end: &TraceEnd) -> Result<(), CommandFailure> {
        if self.args.summary {
            return self.sums(begin, end);
        }
        if self.args.histogram {
            screen::result(&trace_histogram(&end.totals, begin.step));
        } else if end.ledger.not_streamed > 0 && !self.args.json {
            // Not all of them have lines.
            screen::result(&summary(&TracedReport::of(end, begin.step)));
        }
        self.ledger(end)
    }

    /// The sums in the form that is wanted.
    fn sums(&mut self, begin: &TraceBegin, end: &TraceEnd) -> Result<(), CommandFailure> {
        let report = TracedReport::of(end, begin.step);
        let (args, document) = (self.args, whole_trace_document(&report, begin, end));
        if args.json {
            let line = trace_json(&report, end).map_err(CommandFailure::environment)?;
            screen::json(&(line + "\n"));
            return args.document.write(&document);
        }
        let (shown, written) = args.document.shown(&document, || summary(&report));
        if args.has_ticks() {
            screen::result(&format!("Tracing ended   at {}\n", one_line(&end.clock)));
        }
        screen::result(&shown);
        written?;
        if args.has_ticks() { self.ledger(end) } else { Ok(()) }
    }

    fn ledger(&mut self, end: &TraceEnd) -> Result<(), CommandFailure> {
        let ledger = &end.ledger;
        if let Some(writer) = &mut self.json {
            writer.end(end).map_err(CommandFailure::environment)?;
            self.print_json();
        } else {
            let cost = end.cost.map(|cost| cost_line(&cost, ledger.ended, end.length));
            screen::result(&format!("\n{}{}", ledger_lines(ledger), cost.unwrap_or_default()));
        }
        Ok(())
    }
}

/// The sums as text.
fn summary(report: &TracedReport<'_>) -> String {
    let style = PageStyle { color: screen::has_color(), ..PageStyle::default() };
    trace_document(report).text(style)
}
