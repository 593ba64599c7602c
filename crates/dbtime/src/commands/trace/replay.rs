//! `dbtime trace FILE`: a recording, in any view.

use super::view::TraceView;
use crate::cli::TraceArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::{pipes, recording_end, screen};
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_file::{
    RecordedPart, RecordingFile, TraceBegin, TraceEnd, TraceFileError,
};
use dbtime_observe::trace::{LiteralFilter, is_statement};
use dbtime_report::reports::{TracedReport, short_trace_document};
use dbtime_report::terminal::{ThroughputTicks, throughput_gap};
use std::fs::File;
use std::path::Path;

/// Lines of throughput that are kept until it is known whether there is an end. Unit: bytes.
const MOST_HELD_BACK: usize = 1 << 20;

pub(super) fn run(args: &TraceArgs, file: &Path) -> Result<ProcessExit, CommandFailure> {
    args.document.begin("dbtime trace", &args.file)?;
    let failed =
        |error: TraceFileError| CommandFailure::environment(format!("{}: {error}", file.display()));
    let begun = pipes::awaited(file, || -> Result<_, TraceFileError> {
        RecordingFile::begin(File::open(file)?)
    });
    let (begin, mut reader) = begun.map_err(failed)?;
    refuse_what_was_not_recorded(args, &begin)?;
    let mut view = TraceView::new(args, begin.since);
    if !args.is_short() {
        note_servers(&begin);
    }
    view.begin(&begin)?;
    let keeps_texts = args.raw_sql || !begin.raw_sql;
    let mut literals = LiteralFilter::new(keeps_texts, args.matching.as_deref());
    let mut ticks = ThroughputTicks::new(begin.since, args.every);
    let mut held_back = HeldBack::default();
    loop {
        let part = match reader.next() {
            Ok(Some(part)) => part,
            Ok(None) => break,
            Err(error) => {
                held_back.show(args, &begin);
                return Err(failed(error));
            }
        };
        match part {
            RecordedPart::Requests(requests) if args.is_short() => {
                held_back.add(&throughput(&requests, &mut ticks));
            }
            RecordedPart::Requests(requests) if args.has_ticks() => {
                let lines = throughput(&requests, &mut ticks);
                if !lines.is_empty() {
                    screen::result(&lines);
                }
            }
            RecordedPart::Requests(mut requests) => {
                requests.iter_mut().for_each(|request| literals.request(request));
                view.show(&requests)?;
            }
            RecordedPart::End(mut end) => {
                literals.totals(&mut end.totals);
                let exit = finish(args, view, &begin, &end)?;
                let file_end = reader.end().map_err(|error| failed(error.into()))?;
                return Ok(recording_end::judged(file, file_end, args.strict, exit));
            }
        }
    }
    held_back.show(args, &begin);
    let file_end = reader.end().map_err(|error| failed(error.into()))?;
    Ok(recording_end::judged(file, file_end, args.strict, ProcessExit::Fine))
}

/// Throughput, which is all that there is of a recording without an end where its answer was wanted
/// alone.
#[derive(Default)]
struct HeldBack {
    lines: String,
    /// Whether there were more of them than are kept.
    is_cut: bool,
}

impl HeldBack {
    fn add(&mut self, lines: &str) {
        self.is_cut |= !lines.is_empty() && self.lines.len() >= MOST_HELD_BACK;
        if !self.is_cut {
            self.lines += lines;
        }
    }

    fn show(&self, args: &TraceArgs, begin: &TraceBegin) {
        if !args.is_short() {
            return;
        }
        note_servers(begin);
        screen::result(&self.lines);
        if self.is_cut {
            screen::error("the rest of the throughput is left out: --details prints it");
        }
    }
}

fn note_servers(begin: &TraceBegin) {
    begin.servers.iter().for_each(|name| screen::note(&format!("watched {name}")));
}

fn finish(
    args: &TraceArgs,
    view: TraceView<'_>,
    begin: &TraceBegin,
    end: &TraceEnd,
) -> Result<ProcessExit, CommandFailure> {
    if let Some(gap) = throughput_gap(&end.ledger).filter(|_| args.has_ticks()) {
        screen::result(&gap);
    }
    if args.is_short() {
        let report = TracedReport::of(end, begin.step);
        let document = short_trace_document(&report, begin, end);
        screen::result(&document.text(screen::style()));
    } else {
        view.end(begin, end)?;
    }
    let is_whole = end.ledger.is_whole() && !end.totals.all().lack_parts();
    Ok(if args.strict && !is_whole { ProcessExit::Undecided } else { ProcessExit::Fine })
}

fn refuse_what_was_not_recorded(
    args: &TraceArgs,
    begin: &TraceBegin,
) -> Result<(), CommandFailure> {
    if args.raw_sql && !begin.raw_sql {
        return Err(CommandFailure::usage(
            "the recording holds no literals: it was made without --raw-sql",
        ));
    }
    if (args.summary || args.histogram) && (args.user.is_some() || args.database.is_some()) {
        return Err(CommandFailure::usage(
            "a recording sums over all users and databases: --user and --db select only lines",
        ));
    }
    if args.step.is_some_and(|step| step != begin.step) {
        return Err(CommandFailure::usage(
            "the steps of a distribution are fixed by its recording: give --step with --record",
        ));
    }
    Ok(())
}

/// Throughput, every so often, of what is in the file.
fn throughput(requests: &[TracedRequest], ticks: &mut ThroughputTicks) -> String {
    let mut lines = String::new();
    for request in requests {
        let is_statement = is_statement(request.protocol, request.command);
        ticks.take(request.end, is_statement, &mut lines);
    }
    lines
}
