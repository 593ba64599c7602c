//! What is to be known of a digest and its files, in sentences.

use super::input::LogInput;
use dbtime_model::log_digest::{DigestClass, DigestInput};
use dbtime_model::units::counted;

/// That reading was ended early, and where.
pub(super) fn stopped(offset: u64, input: &LogInput) -> String {
    match input.file() {
        Some((_, size)) if !input.is_packed() => {
            format!("Reading ended early at byte {offset} of {size}.")
        }
        _ => format!("Reading ended early at byte {offset}."),
    }
}

/// That a packed log is damaged, behind the last record of it that was read.
pub(super) fn damaged(offset: u64, why: &str) -> String {
    format!(
        "Behind byte {offset}, once unpacked, it is {why}: the rest is missing, and what was read \
         before may be garbled."
    )
}

/// How many records of all logs were not in the time of the plan.
pub(super) fn left_out(count: u64) -> Option<String> {
    let records = (count > 0).then(|| counted(count, "record"))?;
    Some(format!("Outside of the time of --since and --until, and left out: {records}."))
}

/// What the figures of these logs are of, with all their records together.
pub(super) fn basis(inputs: &[DigestInput], total: &DigestClass) -> String {
    // An empty one is of no kind.
    let has = |requests| {
        let mut inputs = inputs.iter().filter(|input| input.from > 0 || input.bytes > 0);
        inputs.any(|input| input.kind.has_requests() == requests)
    };
    let figures = match (total.times.is_some(), has(false), has(true)) {
        (false, false, true) => {
            "how many records each class has: none of them has a duration ($request_time of nginx \
             and %D of Apache add it)"
        }
        (false, ..) => "how many records each class has: none of them has a duration",
        (true, true, true) => {
            "each statement's and each request's duration as its server logged it"
        }
        (true, false, true) => "each request's duration as the web server logged it",
        (true, _, false) => {
            "each statement's duration as the server logged it, from the read of the request"
        }
    };
    let failures = match has(true) && total.errors.is_some() {
        true => "; a request failed whose status is 400 or more",
        false => "",
    };
    format!("{figures}{failures}")
}
