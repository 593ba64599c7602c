//! Rows and keys of the tables in which the kernel's side adds up.

use super::fields::{query_cache, queue_parts, request_parts};
use crate::kernel_layout::capture::{
    CostRow, CountsRow, FileRow, ShapeFileRow, StatementRow, TallyRow, ThreadName, TotalsRow,
};
use crate::kernel_layout::numbers::*;
use crate::kernel_layout::{read_record, split_record, text_until_zero};
use dbtime_model::Nanos;
use dbtime_model::traced::QueryCache;
use dbtime_model::traced_ledger::TraceLedger;
use dbtime_model::traced_totals::{Preemption, TraceTotals};

/// Tables that are there for sums alone.
pub(crate) const SUM_TABLES: [&str; 4] = ["totals", "examples", "prepared_shapes", "files"];

/// Which statements share a row in the kernel's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowKey {
    /// `enum shape`, or a hash.
    pub(crate) shape: u64,
    pub(crate) was_preempted: bool,
    pub(crate) cache: QueryCache,
}

/// What the statements of a row come to; `None` where the row is too short.
pub(crate) fn totals(row: &[u8]) -> Option<TraceTotals> {
    let row: TotalsRow = read_record(row)?;
    Some(TraceTotals {
        count: row.count,
        response: Nanos(row.length),
        errors: row.errors,
        longest: Nanos(row.longest),
        executes: row.executes,
        queued: row.queued,
        server_queue: Nanos(row.server_queue),
        queue_parts: queue_parts(&row.early),
        parts: request_parts(&row.parts),
        files: Vec::new(),
        responses: row.fine.into_iter().collect(),
        coarse: row.coarse.into_iter().collect(),
    })
}

/// What the kernel's side took on one processor, estimated from the runs that were timed, how many
/// there were, and how many probes were hit; `None` where the row of `processors` is too short.
pub(crate) fn cost(row: &[u8]) -> Option<(Nanos, u64, u64)> {
    let (_, behind) = split_record::<CountsRow>(row)?;
    let CostRow { runs, timed, length, traps } = read_record(behind)?;
    let all = u128::from(length) * u128::from(runs) / u128::from(timed.max(1));
    Some((Nanos(all as u64), runs, traps))
}

/// Which statements share a row, and its side; `None` where the key is too short.
pub(crate) fn row(key: &[u8]) -> Option<(RowKey, u32)> {
    let StatementRow { shape, is_preempted, side, cache } = read_record(key)?;
    let cache = query_cache(cache);
    Some((RowKey { shape, was_preempted: is_preempted > 0, cache }, side.into()))
}

/// The key of a row: the reverse of that, but for the cache's `enum cache`.
pub(crate) fn row_key(shape: u64, was_preempted: bool, cache: u32, side: u32) -> StatementRow {
    StatementRow { shape, is_preempted: was_preempted.into(), side: side as u16, cache }
}

/// A row of the table of those who had the CPU; `None` where it is too short.
pub(crate) fn preemption(key: &[u8], row: &[u8]) -> Option<Preemption> {
    let name = text_until_zero(&read_record::<ThreadName>(key)?.text);
    let TallyRow { count, length } = read_record(row)?;
    let name = Some(name).filter(|name| !name.is_empty());
    Some(Preemption { name, count, length: Nanos(length) })
}

/// A key of the table of files: the shape, the file of no side, and the side; `None` where it is
/// too short.
pub(crate) fn shape_file(key: &[u8]) -> Option<(u64, FileRow, u32)> {
    let ShapeFileRow { shape, file } = read_record(key)?;
    Some((shape, FileRow { side: 0, ..file }, file.side.into()))
}

/// Whether it is a file by its name.
pub(crate) fn is_named(file: &FileRow) -> bool {
    file.kind == FILE_NAMED
}

/// What stands for further files in the part of one.
pub(crate) fn further_files(file: &FileRow) -> FileRow {
    FileRow { part: file.part, kind: FILE_OTHERS, ..FileRow::default() }
}

/// The key of the row that files share which have none, in a part (`enum part`) and of a side.
pub(crate) fn other_files(part: usize, side: u32) -> ShapeFileRow {
    let (part, side) = (part as u32, side as u16);
    let file = FileRow { part, kind: FILE_OTHERS, side, ..FileRow::default() };
    ShapeFileRow { shape: SHAPE_OTHER, file }
}

/// One processor's counts, added to what others have counted. What is too short counts nothing.
pub(crate) fn add_counts(ledger: &mut TraceLedger, row: &[u8]) {
    let Some(CountsRow { count }) = read_record(row) else { return };
    let fields = [
        (COUNT_STARTED, &mut ledger.started),
        (COUNT_ENDED, &mut ledger.ended),
        (COUNT_IN_FLIGHT, &mut ledger.in_flight),
        (COUNT_ABORTED, &mut ledger.aborted),
        (COUNT_PARTIAL, &mut ledger.partial),
        (COUNT_STREAMED, &mut ledger.streamed),
        (COUNT_DROPPED, &mut ledger.dropped),
        (COUNT_CUT, &mut ledger.cut),
        (COUNT_UNREAD, &mut ledger.unread),
        (COUNT_PIPELINED_OVER, &mut ledger.pipelined_over),
        (COUNT_NO_STORAGE, &mut ledger.no_storage),
        (COUNT_RESYNC, &mut ledger.resync),
        (COUNT_TLS, &mut ledger.tls),
        (COUNT_COMPRESSED, &mut ledger.compressed),
        (COUNT_UNPARSED, &mut ledger.unparsed),
        (COUNT_CONNECTIONS, &mut ledger.connections),
        (COUNT_UNRESOLVED, &mut ledger.unresolved),
        (COUNT_UNSEEN_SWITCHES, &mut ledger.unseen_arrivals),
        (COUNT_LOGINS, &mut ledger.logins),
        (COUNT_BATCHES, &mut ledger.batches),
        (COUNT_LOCKS_LOST, &mut ledger.locks_lost),
        (COUNT_NOT_STREAMED, &mut ledger.not_streamed),
        (COUNT_ALL_TAKEN, &mut ledger.missed_events),
        (COUNT_CONNECTION_ERRORS, &mut ledger.connection_errors),
        (COUNT_GSS, &mut ledger.gss),
        (COUNT_OTHER_PROTOCOL, &mut ledger.other_protocol),
        (COUNT_REPLICATION, &mut ledger.replication),
        (COUNT_CANCELS, &mut ledger.cancels),
        (COUNT_REFUSED, &mut ledger.refused),
    ];
    for (number, field) in fields {
        *field += count[number];
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::file_wait;
    use super::*;
    use crate::kernel_layout::capture::{COARSE, FINE};
    use crate::kernel_layout::padded;
    use dbtime_model::Part;
    use dbtime_model::traced_files::FileName;
    use zerocopy::IntoBytes;

    #[test]
    fn totals_are_read_under_their_names() {
        let mut row = TotalsRow { length: 1, errors: 2, longest: 3, ..TotalsRow::default() };
        (row.executes, row.queued, row.server_queue) = (4, 5, 6);
        row.early = [23, 24, 25, 26];
        (row.parts[PART_CPU], row.parts[PART_OTHER]) = (7, 16);
        (row.parts[PART_THROTTLED], row.parts[PART_STOPPED]) = (17, 18);
        (row.fine[0], row.fine[FINE - 1], row.coarse[0], row.coarse[COARSE - 1]) = (19, 20, 21, 22);
        let read = totals(row.as_bytes()).expect("a row");
        assert_eq!((read.count, read.response, read.errors), (0, Nanos(1), 2));
        assert_eq!((read.longest, read.executes), (Nanos(3), 4));
        assert_eq!((read.queued, read.server_queue), (5, Nanos(6)));
        let early = read.queue_parts.named().map(|(_, length)| length.0);
        assert_eq!(early, [23, 24, 25, 26]);
        let part = |part| read.parts.get(part);
        assert_eq!((part(Part::Cpu), part(Part::Other)), (7, 16));
        assert_eq!((part(Part::Throttled), part(Part::Stopped)), (17, 18));
        assert_eq!((read.responses.of(0), read.coarse.of(0), read.coarse.of(39)), (19, 21, 22));
        assert_eq!(totals(&row.as_bytes()[..9]), None);
    }

    #[test]
    fn who_had_the_cpu_has_a_name_or_is_one_of_several() {
        let name = ThreadName { text: padded("sh") };
        let tally = TallyRow { count: 1, length: 9 };
        let row = preemption(name.as_bytes(), tally.as_bytes()).expect("a row");
        assert_eq!((row.name.as_deref(), row.count, row.length), (Some("sh"), 1, Nanos(9)));
        assert_eq!(preemption(&[0; 16], tally.as_bytes()).expect("a row").name, None);
        assert_eq!(preemption(&[0; 16], &[]), None);
    }

    #[test]
    fn a_row_is_of_a_shape_and_of_a_side() {
        let shape = 0x1234_5678_9abc_def0;
        let read = |key: StatementRow| row(key.as_bytes()).expect("a key");
        let (row_of, side) = read(row_key(shape, true, CACHE_HIT, 1));
        let cache = query_cache(CACHE_HIT);
        assert_eq!((row_of, side), (RowKey { shape, was_preempted: true, cache }, 1));
        let (row_of, side) = read(row_key(shape, false, CACHE_NOT_SEARCHED, 1));
        assert_eq!((row_of.shape, row_of.was_preempted, side), (shape, false, 1));
        assert_eq!(row(&[0; 15]), None);
    }

    #[test]
    fn a_file_has_a_name_or_is_one_of_many() {
        let mut key = other_files(PART_SYNC, 1);
        let read = |key: &ShapeFileRow| {
            let (shape, file, side) = shape_file(key.as_bytes())?;
            Some((shape, side, file_wait(&file, TallyRow { count: 2, length: 0 })?))
        };
        let (shape, side, others) = read(&key).expect("a row");
        assert_eq!((shape, side, others.file, others.part), (0, 1, FileName::Others, Part::Sync));
        assert_eq!((others.count, others.length), (2, Nanos::ZERO));
        (key.shape, key.file.kind) = (7, FILE_MAPPED);
        let (shape, _, mapped) = read(&key).expect("a row");
        assert_eq!((shape, mapped.file), (7, FileName::Mapped));
        (key.file.kind, key.file.name) = (FILE_NAMED, padded("f"));
        assert_eq!(read(&key).expect("a row").2.file, FileName::Named("f".to_owned()));
        let (_, file, _) = shape_file(key.as_bytes()).expect("a row");
        assert!(is_named(&file) && !is_named(&further_files(&file)));
        assert_eq!(further_files(&file), other_files(PART_SYNC, 0).file);
        key.file.part = 99;
        assert_eq!(read(&key), None);
        assert_eq!(shape_file(&key.as_bytes()[..9]), None);
    }

    #[test]
    fn what_was_timed_stands_for_the_rest() {
        let counts = CountsRow::default();
        let cost_of = |row: CostRow| cost(&[counts.as_bytes(), row.as_bytes()].concat());
        let row = CostRow { runs: 610, timed: 10, length: 2000, traps: 7 };
        assert_eq!(cost_of(row), Some((Nanos(122_000), 610, 7)));
        let row = CostRow { runs: 60, timed: 0, length: 0, traps: 1 };
        assert_eq!(cost_of(row), Some((Nanos::ZERO, 60, 1)));
        assert_eq!(cost(&[]), None);
    }

    #[test]
    fn counts_of_all_processors_add_up() {
        let mut row = CountsRow::default();
        (1u64..).zip(&mut row.count).for_each(|(number, count)| *count = number);
        let mut ledger = TraceLedger::default();
        add_counts(&mut ledger, row.as_bytes());
        add_counts(&mut ledger, row.as_bytes());
        add_counts(&mut ledger, &row.as_bytes()[..20]);
        assert_eq!((ledger.started, ledger.ended, ledger.aborted), (2, 4, 8));
        assert_eq!((ledger.connections, ledger.in_flight), (32, 6));
        assert_eq!((ledger.unresolved, ledger.unseen_arrivals), (34, 36));
        assert_eq!((ledger.logins, ledger.batches), (38, 40));
        assert_eq!((ledger.locks_lost, ledger.not_streamed), (42, 44));
        assert_eq!((ledger.missed_events, ledger.connection_errors), (48, 50));
        assert_eq!((ledger.gss, ledger.other_protocol), (52, 54));
        assert_eq!((ledger.replication, ledger.cancels, ledger.refused), (56, 58, 60));
    }
}
