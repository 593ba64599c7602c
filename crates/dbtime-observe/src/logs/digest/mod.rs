//! Summing up the records of logs by class, in bounded memory.
//!
//! ```text
//!   record ─► class by its text ─► sums, samples, names      rare classes ─► one for all of them
//!        ├──► timeline                                       beside the slowest: overlaps
//!        └──► what has to do with others ─────────────────►  in a session: repeats
//!                                                            statements of requests
//! ```
//!
//! Reading files, and which bytes are a record, is left to the readers; what is shown, to reports.

mod builder;
mod class_store;
mod class_sums;
mod duration_step;
mod early_record;
mod figures;
mod finish;
mod groups;
#[cfg(test)]
mod memory;
mod names;
mod overlap;
mod overlap_table;
mod parts;
mod percona;
mod repeats;
mod requests;
mod samples;
mod seen;
mod stored_class;
#[cfg(test)]
mod tests;
mod time_step;
mod timeline;

pub(crate) use builder::DigestBuilder;
pub(crate) use finish::DigestSums;

use dbtime_model::log_digest::ClassGrouping;

/// What is summed up, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DigestOptions {
    /// What makes records one class.
    pub(crate) grouping: ClassGrouping,
    /// Whether samples have their text with its literals; passwords are left out all the same.
    pub(crate) is_raw: bool,
    /// Of how many records each stands for one; 1.0: for itself.
    pub(crate) assumed_weight: f64,
    /// Records that ended before are left out. Unit: microseconds since 1970-01-01.
    pub(crate) since_us: Option<i64>,
    /// Records that ended then or later are left out. Unit: microseconds since 1970-01-01.
    pub(crate) until_us: Option<i64>,
    /// So many classes are counted apart.
    pub(crate) max_classes: usize,
    /// So long may their texts be in all. Unit: bytes.
    pub(crate) max_text_bytes: usize,
    /// Whether users are the server's accounts for them, where the log has both.
    pub(crate) names_accounts: bool,
    /// Whether there are logs of both statements and requests, which are to be joined. Costs up to
    /// 60 MB.
    pub(crate) joins_requests: bool,
}

impl Default for DigestOptions {
    fn default() -> Self {
        Self {
            grouping: ClassGrouping::Fingerprint,
            is_raw: false,
            assumed_weight: 1.0,
            since_us: None,
            until_us: None,
            max_classes: 100_000,
            max_text_bytes: 64 << 20,
            names_accounts: false,
            joins_requests: false,
        }
    }
}
