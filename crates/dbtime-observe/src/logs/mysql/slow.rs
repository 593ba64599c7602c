//! The slow log: where its records begin, and what one looks like.
//!
//! A record has lines of comment, which begin with `# Time:` or `# User@Host:`, and then the
//! statement up to its last `;`. Servers write it so that a line before a record ends in `;`.

use super::count_strays;
use super::entry_head::EntryHead;
use super::lines::{is_header, records, whole_lines};
use super::log_time::instant_us;
use super::slow_joiner::SlowJoiner;
use super::slow_record::{SlowRecord, given_seconds};
use crate::logs::lines::last_start;
use crate::logs::numbers::SECOND_US;
use crate::logs::{BorderState, ClassNamer, LogReader, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::TimeMeaning;
use memchr::memchr;

/// What the line begins with that has a time.
pub(super) const TIME: &[u8] = b"# Time:";

/// What the line begins with that has the account.
pub(super) const ACCOUNT: &[u8] = b"# User@Host:";

/// A slow log of MySQL, MariaDB or Percona Server, in any of their versions, or of what imitates
/// them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlowLog {
    /// How far the clock of its times is ahead of UTC, which `SET timestamp` is of. Unit:
    /// microseconds; `None`: its times name a zone, or the log does not show it.
    ahead_us: Option<i64>,
    /// Whether records get their times in UTC, where that is known.
    is_in_utc: bool,
}

/// Zones are whole quarters of an hour, and no further from UTC than so many of them.
const ZONE_STEP_US: i64 = 900 * SECOND_US;
const MOST_ZONE_STEPS: i64 = 15 * 4;

impl SlowLog {
    /// One that begins like this.
    pub(crate) fn of(head: &[u8]) -> Self {
        if !Self::has_local_time(head) {
            return Self::default();
        }
        let mut local = None;
        let zone_us = whole_lines(head).find_map(|line| {
            if let Some(rest) = line.strip_prefix(TIME) {
                let time = instant_us(time_of(rest)).filter(|(_, has_zone)| !has_zone);
                local = time.map(|(instant, _)| instant);
            }
            let given_us = given_seconds(line)?.saturating_mul(SECOND_US);
            let ahead_us = local.take()?.saturating_sub(given_us);
            let steps = ahead_us.saturating_add(ZONE_STEP_US / 2).div_euclid(ZONE_STEP_US);
            (steps.abs() <= MOST_ZONE_STEPS).then_some(steps * ZONE_STEP_US)
        });
        Self { ahead_us: zone_us, is_in_utc: false }
    }

    /// How far the clock of its times is ahead of UTC. Unit: microseconds; `None`: its times name a
    /// zone, or the log does not show it.
    pub(crate) const fn ahead_us(&self) -> Option<i64> {
        self.ahead_us
    }

    /// The same with the times of its records in UTC, where the log shows how.
    pub(crate) const fn in_utc(self) -> Self {
        Self { is_in_utc: true, ..self }
    }

    /// Whether the beginning of a file looks like a slow log: it has an account or a time, and a
    /// duration. Statements of a general log may have such lines too, but behind an entry.
    pub(crate) fn looks_like(head: &[u8]) -> bool {
        let is_entry = |line: &[u8]| EntryHead::read(line).is_some_and(|entry| entry.is_known);
        let is_mark = |line: &[u8]| line.starts_with(TIME) || line.starts_with(ACCOUNT);
        let mut lines = whole_lines(head);
        let is_first = lines.find(|&line| is_mark(line) || is_entry(line)).is_some_and(is_mark);
        is_first && lines.any(|line| line.starts_with(b"# Query_time:"))
    }

    /// Whether the times of a log that begins like this are of the server's local time, because the
    /// first of them names no zone.
    pub(crate) fn has_local_time(head: &[u8]) -> bool {
        let time = |line: &[u8]| instant_us(time_of(line.strip_prefix(TIME)?));
        whole_lines(head).find_map(time).is_some_and(|(_, has_zone)| !has_zone)
    }
}

/// The time in a line, given what is behind its mark: an account may follow.
pub(super) fn time_of(rest: &[u8]) -> &[u8] {
    rest[..memchr(b'#', rest).unwrap_or(rest.len())].trim_ascii()
}

/// Whether a record begins at a line, given the line before it.
fn begins(before: &[u8], line: &[u8]) -> bool {
    let is_mark = line.starts_with(TIME) || line.starts_with(ACCOUNT) && !before.starts_with(TIME);
    is_mark && {
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        before.ends_with(b";") || is_header(before)
    }
}

impl LogReader for SlowLog {
    fn last_start(&self, bytes: &[u8], _: BorderState) -> Option<usize> {
        last_start(bytes, begins)
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        let mut name = String::new();
        for range in records(block, begins) {
            let record = &block[range.clone()];
            if record.starts_with(TIME) || record.starts_with(ACCOUNT) {
                let slow = SlowRecord::new(block, range.start, self.ahead_us.unwrap_or(0), batch);
                slow.read(range, namer, &mut name);
            } else {
                count_strays(block, range, batch);
            }
        }
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        let ahead_us = self.ahead_us.unwrap_or(0);
        Box::new(SlowJoiner::new(ahead_us, if self.is_in_utc { ahead_us } else { 0 }))
    }

    fn time_meaning(&self) -> TimeMeaning {
        TimeMeaning::End
    }
}
