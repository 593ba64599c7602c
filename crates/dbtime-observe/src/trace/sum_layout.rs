//! Sums and counts of the kernel's side, as `bpf/capture.h` lays them out.

use super::heavy_rows::RowKey;
use super::layout::{query_cache, text_until_zero};
use dbtime_model::traced_files::{FileName, FileWait};
use dbtime_model::traced_ledger::Ledger;
use dbtime_model::traced_totals::{COARSE_BUCKETS, Preemption, Totals};
use dbtime_model::{Nanos, Part, Parts};

/// Bytes of a file's name.
const FILE_NAME: usize = 40;

/// Bytes of `struct file_row`, and of the shape that goes before it.
pub(super) const FILE_ROW: usize = FILE_NAME + 8;
const SHAPE: usize = 8;

/// Where its part, its kind and its side are.
const PART: usize = FILE_NAME;
const KIND: usize = FILE_NAME + 4;
const FILE_SIDE: usize = FILE_NAME + 6;

/// `enum file_kind`: those with a name, and those that share a row.
const NAMED_FILE: u8 = 0;
const FURTHER: u8 = 2;

/// A `struct file_row`, of no side.
pub(super) type FileRow = [u8; FILE_ROW];

/// A `struct tally`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) count: u64,
    pub(super) length: Nanos,
}

impl Tally {
    /// Zeros of what is too short.
    pub(super) fn read(row: &[u8]) -> Self {
        let numbers = row.as_chunks::<8>().0;
        let at = |index: usize| numbers.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Self { count: at(0), length: Nanos(at(1)) }
    }

    /// As waits for a file; `None` where it is none of this version.
    pub(super) fn of(self, file: &FileRow) -> Option<FileWait> {
        let part = *Part::TRACED.get(usize::from(file[PART]))?;
        let name = match file[KIND] {
            NAMED_FILE => FileName::Named(text_until_zero(&file[..FILE_NAME])),
            1 => FileName::Mapped,
            _ => FileName::Others,
        };
        let Self { count, length } = self;
        Some(FileWait { file: name, part, count, length })
    }
}

/// Bytes of `struct row`.
const ROW: usize = 16;

/// Buckets of `struct totals`.
const FINE: usize = 368;
const COARSE: usize = COARSE_BUCKETS as usize;
const PARTS: usize = 12;

/// Numbers before those.
const HEAD: usize = 7;

/// One processor's `struct totals`; nothing of what is too short.
pub(super) fn totals(bytes: &[u8]) -> Totals {
    let numbers = bytes.as_chunks::<8>().0;
    let at = |index: usize| numbers.get(index).map_or(0, |number| u64::from_le_bytes(*number));
    Totals {
        count: at(0),
        response: Nanos(at(1)),
        errors: at(2),
        longest: Nanos(at(3)),
        executes: at(4),
        queued: at(5),
        server_queue: Nanos(at(6)),
        parts: Parts::traced(|index| Nanos(at(HEAD + index))),
        files: Vec::new(),
        responses: (0..FINE).map(|bucket| at(HEAD + PARTS + bucket)).collect(),
        coarse: (0..COARSE).map(|bucket| at(HEAD + PARTS + FINE + bucket)).collect(),
    }
}

/// One processor's `struct cost`: what the kernel's side took there, estimated from the runs that
/// were timed, how many there were, and how many probes were hit. Zeros of what is too short.
pub(super) fn cost(bytes: &[u8]) -> (Nanos, u64, u64) {
    let number = |index: usize| {
        let numbers = bytes.as_chunks::<8>().0;
        numbers.get(index).map_or(0, |number| u64::from_le_bytes(*number))
    };
    let (runs, timed, length) = (number(0), number(1), number(2));
    let all = u128::from(length) * u128::from(runs) / u128::from(timed.max(1));
    (Nanos(all as u64), runs, number(3))
}

/// A `struct row`, and its side. Shape: zeros of what is too short.
pub(super) fn row(key: &[u8]) -> (RowKey, u32) {
    let part = |at: usize| key.get(at..at + 4).and_then(|bytes| bytes.first_chunk());
    let number = |at| part(at).map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let shape = u64::from(number(0)) | u64::from(number(4)) << 32;
    let (preempted, side) = (number(8) & 0xffff, number(8) >> 16);
    (RowKey { shape, was_preempted: preempted > 0, cache: query_cache(number(12)) }, side)
}

/// The key of a row: the reverse of that, but for the cache's `enum cache`.
pub(super) fn row_key(shape: u64, was_preempted: bool, cache: u32, side: u32) -> [u8; ROW] {
    let mut key = [0; ROW];
    key[..8].copy_from_slice(&shape.to_le_bytes());
    key[8..12].copy_from_slice(&(u32::from(was_preempted) | side << 16).to_le_bytes());
    key[12..].copy_from_slice(&cache.to_le_bytes());
    key
}

/// A row of the table of those who had the CPU: `struct name` and `struct tally`.
pub(super) fn preemption(name: &[u8], row: &[u8]) -> Preemption {
    let name = text_until_zero(name);
    let Tally { count, length } = Tally::read(row);
    Preemption { name: (!name.is_empty()).then_some(name), count, length }
}

/// A key of the table of files, `struct shape_file`: the shape, the file, and the side; `None`
/// where it is none of this version.
pub(super) fn shape_file(key: &[u8]) -> Option<(u64, FileRow, u32)> {
    let (shape, key) = key.split_first_chunk()?;
    let mut file: FileRow = *key.first_chunk()?;
    let side = std::mem::take(&mut file[FILE_SIDE]);
    Some((u64::from_le_bytes(*shape), file, side.into()))
}

/// A `struct file_wait`; `None` where it is none of this version.
pub(super) fn file_wait(key: &[u8], row: &[u8]) -> Option<FileWait> {
    Tally::read(row).of(key.first_chunk()?)
}

/// Whether it is a file by its name.
pub(super) fn is_named(file: &FileRow) -> bool {
    file[KIND] == NAMED_FILE
}

/// What stands for further files in the part of one.
pub(super) fn further_files(file: &FileRow) -> FileRow {
    let mut further = [0; FILE_ROW];
    (further[PART], further[KIND]) = (file[PART], FURTHER);
    further
}

/// The key of the row that files share which have none, in a part and of a side.
pub(super) fn other_files(part: u8, side: u8) -> [u8; SHAPE + FILE_ROW] {
    let mut key = [0; SHAPE + FILE_ROW];
    let file = &mut key[SHAPE..];
    (file[PART], file[KIND], file[FILE_SIDE]) = (part, FURTHER, side);
    key
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
        &mut ledger.locks_lost,
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
        let part = |part| read.parts.get(part);
        assert_eq!((part(Part::Cpu), part(Part::Other)), (7, 16));
        assert_eq!((part(Part::Throttled), part(Part::Stopped)), (17, 18));
        assert_eq!((read.responses.of(0), read.coarse.of(0), read.coarse.of(39)), (19, 387, 426));
        let nothing = Totals { parts: Parts::traced(|_| Nanos::ZERO), ..Totals::default() };
        assert_eq!(totals(&numbers[..9]), nothing);
        let row = preemption(b"sh\0\0", &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((row.name.as_deref(), row.count, row.length), (Some("sh"), 1, Nanos(9)));
        assert_eq!(preemption(&[0; 16], &[]).name, None);
    }

    #[test]
    fn a_row_is_of_a_shape_and_of_a_side() {
        let shape = 0x1234_5678_9abc_def0;
        let (row_of, side) = row(&row_key(shape, true, 2, 1));
        let cache = query_cache(2);
        assert_eq!((row_of, side), (RowKey { shape, was_preempted: true, cache }, 1));
        let (row_of, side) = row(&row_key(shape, false, 0, 1));
        assert_eq!((row_of.shape, row_of.was_preempted, side), (shape, false, 1));
    }

    #[test]
    fn a_file_has_a_name_or_is_one_of_many() {
        let mut key = other_files(6, 1);
        let read = |key: &[u8]| {
            let (shape, file, side) = shape_file(key)?;
            Some((shape, side, Tally::read(&[2, 0, 0, 0, 0, 0, 0, 0, 9]).of(&file)?))
        };
        let (shape, side, others) = read(&key).expect("a row");
        assert_eq!((shape, side, others.file, others.part), (0, 1, FileName::Others, Part::Sync));
        assert_eq!((others.count, others.length), (2, Nanos::ZERO));
        (key[0], key[SHAPE + KIND]) = (7, 1);
        let (shape, _, mapped) = read(&key).expect("a row");
        assert_eq!((shape, mapped.file), (7, FileName::Mapped));
        (key[SHAPE + KIND], key[SHAPE]) = (0, b'f');
        assert_eq!(read(&key).expect("a row").2.file, FileName::Named("f".to_owned()));
        let (_, file, _) = shape_file(&key).expect("a row");
        assert!(is_named(&file) && !is_named(&further_files(&file)));
        assert_eq!(further_files(&file), shape_file(&other_files(6, 0)).expect("a row").1);
        key[SHAPE + PART] = 99;
        assert_eq!(read(&key), None);
        assert_eq!(read(&key[..9]), None);
    }

    #[test]
    fn what_was_timed_stands_for_the_rest() {
        let bytes = |numbers: [u64; 5]| numbers.map(u64::to_le_bytes).as_flattened().to_vec();
        assert_eq!(cost(&bytes([610, 10, 2000, 7, 3])), (Nanos(122_000), 610, 7));
        assert_eq!(cost(&bytes([60, 0, 0, 1, 1])), (Nanos::ZERO, 60, 1));
        assert_eq!(cost(&[]), (Nanos::ZERO, 0, 0));
    }

    #[test]
    fn counts_of_all_processors_add_up() {
        let counts: Vec<u8> = (1..=22u64).flat_map(u64::to_le_bytes).collect();
        let mut ledger = Ledger::default();
        add_counts(&mut ledger, &counts);
        add_counts(&mut ledger, &counts[..20]);
        assert_eq!((ledger.started, ledger.ended, ledger.aborted), (2, 4, 4));
        assert_eq!((ledger.connections, ledger.in_flight), (16, 3));
        assert_eq!((ledger.nameless, ledger.unseen_arrivals), (17, 18));
        assert_eq!((ledger.logins, ledger.batches), (19, 20));
        assert_eq!((ledger.locks_lost, ledger.withheld), (21, 22));
    }
}
