//! A record with what all sums need of it, worked out once.

use super::samples::mixed;
use crate::logs::JoinedRecord;
use crate::logs::record::began_us;

/// A record, as it is added to its class.
pub(super) struct SeenRecord<'a> {
    pub(super) record: &'a JoinedRecord<'a>,
    /// The index of its file.
    pub(super) input: u32,
    /// For how many records it stands.
    pub(super) weight: u64,
    /// When it began. Unit: microseconds.
    pub(super) start_us: Option<i64>,
    /// When it ended. Unit: microseconds.
    pub(super) end_us: Option<i64>,
    /// How long it took. Unit: nanoseconds.
    pub(super) duration_ns: Option<u64>,
    /// Whether the log shows whether it failed.
    pub(super) shows_outcome: bool,
    /// A number by chance that depends on its place alone.
    pub(super) draw: u64,
}

impl<'a> SeenRecord<'a> {
    pub(super) fn of(record: &'a JoinedRecord<'a>, input: u32) -> Self {
        let duration_ns = record.duration.map(|duration| duration.0);
        let end = || Some(record.start_us?.saturating_add_unsigned(duration_ns? / 1000));
        Self {
            record,
            input,
            weight: u64::from(record.weight.max(1)),
            start_us: record.start_us.or_else(|| began_us(record.end_us, record.duration)),
            end_us: record.end_us.or_else(end),
            duration_ns,
            shows_outcome: record.shows_outcome || !record.error.is_empty(),
            draw: mixed(mixed(u64::from(input)) ^ record.offset),
        }
    }

    /// When it was: its end, or its beginning where nothing else is known. Unit: microseconds.
    pub(super) fn at_us(&self) -> Option<i64> {
        self.end_us.or(self.start_us)
    }

    /// From when to when it ran; `None`: not both are known. Unit: microseconds.
    pub(super) fn interval_us(&self) -> Option<(i64, i64)> {
        let (start, end) = (self.start_us?, self.end_us?);
        (start <= end).then_some((start, end))
    }
}
