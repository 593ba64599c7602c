//! A record that is whole, and who takes it.

use dbtime_model::Nanos;
use dbtime_model::log_digest::{ClassKind, LogFigure, UnreadReason};

/// A record with everything that the log has of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct JoinedRecord<'a> {
    /// Where it begins in its file. Unit: bytes.
    pub(crate) offset: u64,
    /// What it is.
    pub(crate) kind: ClassKind,
    /// The text of its class.
    pub(crate) class: &'a str,
    /// The statement or request line; may be cut behind 4 KiB.
    pub(crate) text: &'a [u8],
    /// When it began. Unit: microseconds since 1970-01-01.
    pub(crate) start_us: Option<i64>,
    /// When it ended. Unit: microseconds since 1970-01-01.
    pub(crate) end_us: Option<i64>,
    /// How long it took.
    pub(crate) duration: Option<Nanos>,
    /// The server's number of the session; 0: unknown.
    pub(crate) session: u64,
    /// The web server's process; 0: unknown.
    pub(crate) process: u64,
    /// Who; empty: unknown.
    pub(crate) user: &'a [u8],
    /// The server's own account for it, where that may be another one; empty: unknown.
    pub(crate) account: &'a [u8],
    /// From where; empty: unknown.
    pub(crate) host: &'a [u8],
    /// In which database; empty: unknown.
    pub(crate) database: &'a [u8],
    /// The code of its error; empty: none, or unknown.
    pub(crate) error: &'a [u8],
    /// Whether the log shows whether it failed; what has an error shows it.
    pub(crate) shows_outcome: bool,
    /// The server's own ID of the statement; empty: unknown.
    pub(crate) query_id: &'a [u8],
    /// Its figures; times in nanoseconds.
    pub(crate) figures: &'a [(LogFigure, u64)],
    /// What dbtime does not know, by key and value.
    pub(crate) unknown: &'a [(&'a [u8], &'a [u8])],
    /// For how many records it stands; 0 and 1: for itself.
    pub(crate) weight: u32,
}

/// When a record began that ended then and took so long. Unit: microseconds; `None`: either is not
/// known.
pub(super) fn began_us(end_us: Option<i64>, duration: Option<Nanos>) -> Option<i64> {
    Some(end_us?.saturating_sub_unsigned(duration?.0 / 1000))
}

/// Takes whole records, in the order of their ends as the log has them.
pub(crate) trait RecordSink {
    /// One record.
    fn take(&mut self, record: &JoinedRecord<'_>);

    /// What is counted by its name alone, and when it was logged. Unit: microseconds since
    /// 1970-01-01.
    fn count_event(&mut self, name: &str, at_us: Option<i64>);

    /// What the joiner cannot make a record of, with its offset in the file.
    fn count_unread(&mut self, why: UnreadReason, offset: u64);
}
