//! Single fields of records: numbers of the kernel's side as values of the model.

use crate::kernel_layout::capture::{FileRow, NOT_KNOWN, TallyRow};
use crate::kernel_layout::numbers::*;
use crate::kernel_layout::text_until_zero;
use dbtime_model::traced::QueryCache;
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::{Nanos, Part, Parts, ServerQueueParts};

/// A number, where it was seen.
pub(crate) fn known(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number != NOT_KNOWN)
}

/// `enum cache`.
pub(super) fn query_cache(number: u32) -> QueryCache {
    match number {
        CACHE_MISS => QueryCache::Miss,
        CACHE_HIT => QueryCache::Hit,
        _ => QueryCache::NotAsked,
    }
}

/// `enum part`.
const KERNEL_PARTS: [(usize, Part); PARTS] = [
    (PART_CPU, Part::Cpu),
    (PART_RUNQ_PREEMPTED, Part::RunqPreempted),
    (PART_RUNQ_WOKEN, Part::RunqWoken),
    (PART_LOCK, Part::Lock),
    (PART_IO_READ, Part::IoRead),
    (PART_IO_WRITE, Part::IoWrite),
    (PART_SYNC, Part::Sync),
    (PART_NET, Part::Net),
    (PART_SLEEP, Part::Sleep),
    (PART_OTHER, Part::Other),
    (PART_THROTTLED, Part::Throttled),
    (PART_STOPPED, Part::Stopped),
];

/// The part of a number; `None`: not known.
pub(crate) fn kernel_part(number: usize) -> Option<Part> {
    KERNEL_PARTS.iter().find(|(known, _)| *known == number).map(|(_, part)| *part)
}

/// By `enum part`. Unit: nanoseconds.
pub(super) fn request_parts(amounts: &[u64; PARTS]) -> Parts {
    let mut parts = Parts::default();
    for (number, part) in KERNEL_PARTS {
        parts.add(part, Nanos(amounts[number]).signed());
    }
    parts
}

/// By `enum early_part`. Unit: nanoseconds.
pub(super) fn queue_parts(early: &[u64; EARLY_PARTS]) -> ServerQueueParts {
    ServerQueueParts {
        runq_preempted: Nanos(early[EARLY_RUNQ_PREEMPTED]),
        runq_woken: Nanos(early[EARLY_RUNQ_WOKEN]),
        throttled: Nanos(early[EARLY_THROTTLED]),
        stopped: Nanos(early[EARLY_STOPPED]),
    }
}

/// Waits for a file, so many and so long; `None` where it is none of this version.
pub(crate) fn file_wait(row: &FileRow, TallyRow { count, length }: TallyRow) -> Option<FileWait> {
    let part = kernel_part(row.part as usize)?;
    let file = match row.kind {
        FILE_NAMED => FileName::Named(text_until_zero(&row.name)),
        FILE_MAPPED => FileName::Mapped,
        _ => FileName::Others,
    };
    Some(FileWait { file, part, count, length: Nanos(length) })
}
