//! What logs of servers come to: the answer and the classes that took the time, on one screen or in
//! all details, and two digests beside each other.

mod class_details;
mod class_facts;
mod class_table;
mod comparison;
mod comparison_document;
mod distilled;
mod document;
mod input_facts;
mod load_line;
mod order;
mod percona;
mod progress;
#[cfg(test)]
mod tests;

pub use comparison::{ClassLoad, ComparedClass, DigestComparison, DigestSide};
pub use comparison_document::{digests_document, short_digests_document};
pub use document::{LogReportOptions, log_document};
pub use order::ClassOrder;
pub use percona::percona_report;
pub use progress::progress_text;

use crate::format::{NONE, finite};
use dbtime_model::log_digest::{DigestClass, FigureSummary, LogDigest, LogFigure, LogFigureUnit};
use jiff::Timestamp;

/// What a page has above its title.
const COMMAND: &str = "dbtime log";

/// An instant of a log: `2026-11-30 10:00:00`, in the zone of its digest.
fn instant_text(us: i64) -> String {
    // Beyond the years that a calendar has there is nothing to show.
    let at = Timestamp::from_microsecond(us).ok();
    at.map_or(NONE.to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// How much of the log's time a class took; of a log without durations, how many of its records.
/// Shape: 0 to 1.
fn share(class: &DigestClass, digest: &LogDigest) -> f64 {
    let (part, whole) = match (&class.times, &digest.total.times) {
        (Some(part), Some(whole)) => (part.total_us, whole.total_us),
        (None, Some(_)) => return 0.0,
        (_, None) => (class.count as f64, digest.total.count as f64),
    };
    finite(part / whole).clamp(0.0, 1.0)
}

/// The mean of a figure over the records that have it, each by its weight.
fn figure_mean(class: &DigestClass, figure: &FigureSummary) -> f64 {
    let weight = class.count as f64 / class.logged.max(1) as f64;
    finite(figure.total / (figure.logged as f64 * weight))
}

/// What a figure of this name is counted in.
fn unit_of(name: &str) -> LogFigureUnit {
    let known = LogFigure::ALL.into_iter().find(|figure| figure.name() == name);
    known.map_or(LogFigureUnit::Count, LogFigure::unit)
}
