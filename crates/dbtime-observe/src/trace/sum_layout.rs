//! Sums and counts of the kernel's side, as `bpf/capture.h` lays them out.

use super::layout::{parts_of, query_cache, text_until_zero};
use dbtime_model::Nanos;
use dbtime_model::traced::{Ledger, QueryCache, RequestParts};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_totals::{Preemption, Totals};

/// Bytes of a file's name.
const FILE_NAME: usize = 40;

/// Bytes of `struct file_row`, and of the shape that goes before it.
pub(super) const FILE_ROW: usize = FILE_NAME + 8;
const SHAPE: usize = 8;

/// Buckets of `struct totals`.
const FINE: usize = 368;
const COARSE: usize = 40;
const PARTS: usize = 12;

/// Numbers before those.
const HEAD: usize = 7;

/// One processor's `struct totals`; nothing of what is too short.
pub(super) fn totals(bytes: &[u8]) -> Totals {
    let numbers: Vec<u64> =
        bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
    let at = |index: usize| numbers.get(index).copied().unwrap_or_default();
    let some = |from: usize, length: usize| (from..from + length).map(at).collect();
    Totals {
        count: at(0),
        response: Nanos(at(1)),
        errors: at(2),
        longest: Nanos(at(3)),
        executes: at(4),
        queued: at(5),
        server_queue: Nanos(at(6)),
        parts: parts_of(|index| Nanos(at(HEAD + index))),
        files: Vec::new(),
        fine: some(HEAD + PARTS, FINE),
        coarse: some(HEAD + PARTS + FINE, COARSE),
    }
}

/// One processor's `struct cost`: what the kernel's side took there, estimated from the runs that
/// were timed, and how many probes were hit. Zeros of what is too short.
pub(super) fn cost(bytes: &[u8]) -> (Nanos, u64) {
    let number = |index: usize| {
        let numbers = bytes.as_chunks::<8>().0;
        numbers.get(index).map_or(0, |number| u64::from_le_bytes(*number))
    };
    let (runs, timed, length) = (number(0), number(1), number(2));
    let all = u128::from(length) * u128::from(runs) / u128::from(timed.max(1));
    (Nanos(all as u64), number(3))
}

/// A `struct row`: the shape, whether it was pre-empted, and what the query cache had. Shape: zeros
/// of what is too short.
pub(super) fn row(key: &[u8]) -> (u64, bool, QueryCache) {
    let part = |at: usize| key.get(at..at + 4).and_then(|bytes| bytes.first_chunk());
    let number = |at| part(at).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    (u64::from(number(0)) | u64::from(number(4)) << 32, number(8) > 0, query_cache(number(12)))
}

/// A row of the table of those who had the CPU: `struct name` and `struct tally`.
pub(super) fn preemption(name: &[u8], row: &[u8]) -> Preemption {
    let name = text_until_zero(name);
    let (count, length) = tally(row);
    Preemption { name: (!name.is_empty()).then_some(name), count, length }
}

/// A row of the table of files: `struct shape_file`, of which the shape comes first, and
/// `struct tally`; `None` where it is none of this version.
pub(super) fn shape_file(key: &[u8], row: &[u8]) -> Option<(u64, FileWait)> {
    let (shape, key) = key.split_first_chunk()?;
    Some((u64::from_le_bytes(*shape), file_wait(key, row)?))
}

/// A `struct file_wait`.
pub(super) fn file_wait(key: &[u8], row: &[u8]) -> Option<FileWait> {
    let (name, numbers) = key.split_at_checked(FILE_NAME)?;
    let [part, kind] = [0, 4].map(|at| numbers.get(at).copied());
    let (part, _) = RequestParts::default().named().get(usize::from(part?)).copied()?;
    let (count, length) = tally(row);
    let file = match kind? {
        0 => FileName::Named(text_until_zero(name)),
        1 => FileName::Mapped,
        _ => FileName::Others,
    };
    Some(FileWait { file, part: part.to_owned(), count, length })
}

/// The key of the row that files share which have none, in a part.
pub(super) fn other_files(part: u8) -> [u8; SHAPE + FILE_ROW] {
    let mut key = [0; SHAPE + FILE_ROW];
    (key[SHAPE + FILE_NAME], key[SHAPE + FILE_NAME + 4]) = (part, 2);
    key
}

/// A `struct tally`.
fn tally(row: &[u8]) -> (u64, Nanos) {
    let number = |index: usize| {
        row.as_chunks::<8>().0.get(index).map_or(0, |number| u64::from_le_bytes(*number))
    };
    (number(0), Nanos(number(1)))
}

/// One processor's counts, added to what others have counted. Shape: `counts` in the order of
/// `enum count`; what is not there counts nothing.
pub(super) fn add_counts(ledger: &mut Ledger, counts: &[u8]) {
    let fields = [
        &mut ledger.started,
        &mut ledger.ended,
        &mut ledger.in_flight,
        &mut ledger.aborted,
        &mut ledger.partial,
        &mut ledger.streamed,
        &mut ledger.dropped,
        &mut ledger.cut,
        &mut ledger.unread,
        &mut ledger.overlaid,
        &mut ledger.no_storage,
        &mut ledger.out_of_step,
        &mut ledger.tls,
        &mut ledger.compressed,
        &mut ledger.not_understood,
        &mut ledger.connections,
        &mut ledger.nameless,
        &mut ledger.unseen_arrivals,
        &mut ledger.logins,
        &mut ledger.batches,
        &mut ledger.withheld,
    ];
    for (field, count) in fields.into_iter().zip(counts.as_chunks::<8>().0) {
        *field += u64::from_le_bytes(*count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_in_the_kernels_order() {
        let numbers: Vec<u8> =
            (0..(HEAD + PARTS + FINE + COARSE) as u64).flat_map(u64::to_le_bytes).collect();
        let read = totals(&numbers);
        assert_eq!((read.count, read.response, read.errors), (0, Nanos(1), 2));
        assert_eq!((read.longest, read.executes), (Nanos(3), 4));
        assert_eq!((read.queued, read.server_queue), (5, Nanos(6)));
        assert_eq!((read.parts.cpu, read.parts.other), (Nanos(7), Nanos(16)));
        assert_eq!((read.parts.throttled, read.parts.stopped), (Nanos(17), Nanos(18)));
        assert_eq!((read.fine[0], read.coarse[0], read.coarse[39]), (19, 387, 426));
        assert_eq!(totals(&numbers[..9]).fine.len(), FINE);
        let row = preemption(b"sh\0\0", &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((row.name.as_deref(), row.count, row.length), (Some("sh"), 1, Nanos(9)));
        assert_eq!(preemption(&[0; 16], &[]).name, None);
    }

    #[test]
    fn a_file_has_a_name_or_is_one_of_many() {
        let mut key = other_files(6);
        let read = |key: &[u8]| shape_file(key, &[2, 0, 0, 0, 0, 0, 0, 0, 9]);
        let (shape, others) = read(&key).expect("a row");
        assert_eq!((shape, others.file, &*others.part), (0, FileName::Others, "sync"));
        assert_eq!((others.count, others.length), (2, Nanos::ZERO));
        (key[0], key[SHAPE + FILE_NAME + 4]) = (7, 1);
        let (shape, mapped) = read(&key).expect("a row");
        assert_eq!((shape, mapped.file), (7, FileName::Mapped));
        (key[SHAPE + FILE_NAME + 4], key[SHAPE]) = (0, b'f');
        assert_eq!(read(&key).expect("a row").1.file, FileName::Named("f".to_owned()));
        key[SHAPE + FILE_NAME] = 99;
        assert_eq!(read(&key), None);
        assert_eq!(read(&key[..9]), None);
    }

    #[test]
    fn what_was_timed_stands_for_the_rest() {
        let bytes = |numbers: [u64; 5]| numbers.map(u64::to_le_bytes).as_flattened().to_vec();
        assert_eq!(cost(&bytes([610, 10, 2000, 7, 3])), (Nanos(122_000), 7));
        assert_eq!(cost(&bytes([60, 0, 0, 1, 1])), (Nanos::ZERO, 1));
        assert_eq!(cost(&[]), (Nanos::ZERO, 0));
    }

    #[test]
    fn counts_of_all_processors_add_up() {
        let counts: Vec<u8> = (1..=21u64).flat_map(u64::to_le_bytes).collect();
        let mut ledger = Ledger::default();
        add_counts(&mut ledger, &counts);
        add_counts(&mut ledger, &counts[..20]);
        assert_eq!((ledger.started, ledger.ended, ledger.aborted), (2, 4, 4));
        assert_eq!((ledger.connections, ledger.in_flight), (16, 3));
        assert_eq!((ledger.nameless, ledger.unseen_arrivals), (17, 18));
        assert_eq!((ledger.logins, ledger.batches, ledger.withheld), (19, 20, 21));
    }
}
