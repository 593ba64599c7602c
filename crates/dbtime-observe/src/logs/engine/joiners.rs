//! What joins the records of a file: anew, going on with the file before, or with what the digest
//! before has left open.

use super::formats::OpenFormat;
use super::input::LogInput;
use super::open_log::OpenLog;
use super::primed::{header_before, primed_begin, primed_joiner};
use crate::logs::{ClassNamer, RecordJoiner, RecordSink};
use dbtime_model::log_digest::InputKind;
use dbtime_model::units::counted;
use std::io;

/// What joins the records of a log from where its reading begins, and the line before that which
/// gives them their form, with the input at that offset.
///
/// Errors: as reading.
pub(super) fn joiner_at(
    input: &mut LogInput,
    log: &OpenLog,
    format: &OpenFormat,
    namer: &mut dyn ClassNamer,
) -> io::Result<(Box<dyn RecordJoiner>, Vec<u8>)> {
    let (reader, offset) = (format.reader.as_ref(), log.from);
    match format.kind {
        InputKind::Slow | InputKind::General => {
            Ok((primed_joiner(input, offset, reader, namer)?, Vec::new()))
        }
        InputKind::Access => {
            let header = header_before(input, offset, reader)?;
            Ok((reader.joiner(), header))
        }
        _ if log.resumes_open => {
            let mut joiner = primed_joiner(input, offset, reader, namer)?;
            joiner.forget_counted();
            Ok((joiner, Vec::new()))
        }
        // What they have open at the offset, the digest before has counted.
        _ => {
            input.skip_to(offset)?;
            Ok((reader.joiner(), Vec::new()))
        }
    }
}

/// The joiner of the file before, where it goes on in a log that begins at this time; else it hands
/// on what it has. Unit: microseconds since 1970-01-01.
pub(super) fn following(
    before: Option<Box<dyn RecordJoiner>>,
    begin_us: i64,
    sink: &mut dyn RecordSink,
) -> Option<Box<dyn RecordJoiner>> {
    let mut joiner = before?;
    if joiner.follow(begin_us, sink) {
        return Some(joiner);
    }
    joiner.end(sink);
    None
}

/// Leaves what is open at the end of a log to the next digest, and notes it.
pub(super) fn leave_open(
    joiner: &mut dyn RecordJoiner,
    end: u64,
    sink: &mut dyn RecordSink,
) -> Option<String> {
    let left = joiner.leave_open(primed_begin(end), sink);
    let left = (left > 0).then(|| counted(left, "statement"))?;
    Some(format!("Open at its end, and left for the digest that goes on there: {left}."))
}
