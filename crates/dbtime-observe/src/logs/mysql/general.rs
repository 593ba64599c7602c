//! The general log: every command that came, when it came.

use super::count_strays;
use super::entry_head::EntryHead;
use super::general_joiner::GeneralJoiner;
use super::general_piece::GeneralEntry;
use super::lines::{records, whole_lines};
use super::log_time::instant_us;
use crate::logs::lines::last_start;
use crate::logs::{BorderState, ClassNamer, LogReader, RecordBatch, RecordJoiner};
use dbtime_model::log_digest::TimeMeaning;

/// A general log of MySQL, MariaDB or Percona Server. It has no durations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GeneralLog;

impl GeneralLog {
    /// Whether the beginning of a file looks like a general log: it has a known command.
    pub(crate) fn looks_like(head: &[u8]) -> bool {
        whole_lines(head).filter_map(EntryHead::read).any(|entry| entry.is_known)
    }

    /// Whether the times of a log that begins like this are of the server's local time, because the
    /// first of them names no zone.
    pub(crate) fn has_local_time(head: &[u8]) -> bool {
        let times = whole_lines(head).filter_map(EntryHead::read).map(|entry| entry.time);
        let mut instants = times.filter_map(instant_us);
        instants.next().is_some_and(|(_, has_zone)| !has_zone)
    }
}

/// Whether an entry begins at a line. The line before it does not matter.
fn begins(_: &[u8], line: &[u8]) -> bool {
    EntryHead::read(line).is_some()
}

impl LogReader for GeneralLog {
    fn last_start(&self, bytes: &[u8], _: BorderState) -> Option<usize> {
        last_start(bytes, begins)
    }

    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch) {
        let mut name = String::new();
        for range in records(block, begins) {
            match GeneralEntry::read(block, range.clone()) {
                Some(entry) => entry.add(namer, &mut name, batch),
                None => count_strays(block, range, batch),
            }
        }
    }

    fn joiner(&self) -> Box<dyn RecordJoiner> {
        Box::new(GeneralJoiner::default())
    }

    fn time_meaning(&self) -> TimeMeaning {
        TimeMeaning::Start
    }
}
