//! Stacks as the kernel's side hands them over.

use super::fields::kernel_part;
use crate::kernel_layout::capture::{StackEventRecord, StackRow};
use crate::kernel_layout::read_record;
use dbtime_model::Nanos;
use dbtime_model::traced_stacks::TracedStack;
use zerocopy::FromBytes;

/// Where a request was at an instant, or from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackEvent {
    pub(crate) connection: u64,
    /// When the request began.
    pub(crate) start: u64,
    pub(crate) at: u64,
    pub(crate) stack: TracedStack,
}

/// Reads one; `None` where it is something else: no other record has the same length.
pub(crate) fn stack_event(bytes: &[u8]) -> Option<StackEvent> {
    let record = StackEventRecord::read_from_bytes(bytes).ok()?;
    let StackEventRecord { connection, start, at, length, user, kernel, part, .. } = record;
    let part = kernel_part(part as usize)?;
    let stack = TracedStack { part, user, kernel, count: 1, length: Nanos(length) };
    Some(StackEvent { connection, start, at, stack })
}

/// A row of the table of stacks: the first process that had it, and its addresses, the innermost
/// first; `None` where it is too short.
pub(crate) fn stack(row: &[u8]) -> Option<(u32, Vec<u64>)> {
    let StackRow { tgid, frames, addresses } = read_record(row)?;
    Some((tgid, addresses.into_iter().take(frames as usize).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_layout::capture::{LoginRecord, RequestRecord};
    use crate::kernel_layout::numbers::{PART_SYNC, PARTS};
    use dbtime_model::Part;
    use zerocopy::IntoBytes;

    #[test]
    fn an_event_is_known_by_its_length() {
        let record = StackEventRecord {
            connection: 7,
            start: 100,
            at: 150,
            length: 40,
            user: 11,
            kernel: 12,
            part: PART_SYNC as u32,
            reserved: 0,
        };
        let stack =
            TracedStack { part: Part::Sync, user: 11, kernel: 12, count: 1, length: Nanos(40) };
        let event = StackEvent { connection: 7, start: 100, at: 150, stack };
        assert_eq!(stack_event(record.as_bytes()), Some(event));
        let odd = StackEventRecord { part: PARTS as u32, ..record };
        assert_eq!(stack_event(odd.as_bytes()), None);
        const { assert!(size_of::<StackEventRecord>() < size_of::<LoginRecord>()) };
        const { assert!(size_of::<StackEventRecord>() < size_of::<RequestRecord>()) };
    }

    #[test]
    fn a_stack_has_no_more_frames_than_there_is_room() {
        let mut row = StackRow { tgid: 9, frames: 2, ..StackRow::default() };
        row.addresses[..3].copy_from_slice(&[30, 20, 10]);
        assert_eq!(stack(row.as_bytes()), Some((9, vec![30, 20])));
        row.frames = u32::MAX;
        assert_eq!(stack(row.as_bytes()).map(|(_, frames)| frames.len()), Some(127));
        assert_eq!(stack(&row.as_bytes()[1..]), None);
    }
}
