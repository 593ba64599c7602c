//! `dbtime trace`: what running servers are asked, and how long each answer took.

mod holder_notes;
mod live;
mod replay;
mod view;

use crate::cli::TraceArgs;
use crate::exit::{CommandFailure, ProcessExit};
use dbtime_observe::trace::TraceError;

pub(crate) fn run(args: &TraceArgs) -> Result<ProcessExit, CommandFailure> {
    let document = &args.document;
    if document.is_given() && !args.summary {
        return Err(CommandFailure::usage(
            "--html and --markdown show sums, not single requests: add --summary",
        ));
    }
    if document.html.is_some() && args.file.is_none() {
        return Err(CommandFailure::usage(
            "--html needs a recording, since a watching process cannot open files: make one with \
             --record FILE, then `dbtime trace FILE --summary --html PAGE`",
        ));
    }
    if args.details && args.file.is_none() {
        return Err(CommandFailure::usage(
            "--details is for a recording: the sums of what is watched now are always shown whole, \
             so leave it out",
        ));
    }
    match &args.file {
        Some(file) => replay::run(args, file),
        None => live::run(args),
    }
}

/// Is the helper of a `dbtime trace` or `dbtime top` that has started this process.
pub(crate) fn help() -> Result<ProcessExit, CommandFailure> {
    dbtime_observe::trace::help()?;
    Ok(ProcessExit::Fine)
}

/// Is the reader of a `dbtime trace` or `dbtime top` that has started this process.
pub(crate) fn read() -> Result<ProcessExit, CommandFailure> {
    dbtime_lab::tracing::serve_reader()?;
    Ok(ProcessExit::Fine)
}

impl From<TraceError> for CommandFailure {
    fn from(error: TraceError) -> Self {
        Self::Environment(error.into())
    }
}
