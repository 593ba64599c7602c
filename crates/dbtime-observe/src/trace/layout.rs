//! What the kernel's side hands over, as `bpf/capture.h` lays it out.

use dbtime_model::Nanos;
use dbtime_model::traced::{Blocker, Fate, FileWait, Ledger, Preemptor, RequestParts};
use dbtime_model::traced_totals::{Preemption, Totals};

/// Bytes of `struct request`.
const REQUEST: usize = 288;

/// What the kernel's side says of what it has not seen.
const NOT_KNOWN: u64 = u64::MAX;

/// Bytes of `struct under_way`.
pub(super) const UNDER_WAY: usize = 24;

/// The text is longer than what was kept.
pub(super) const CUT: u16 = 1;
/// The text was not in memory.
pub(super) const UNREAD: u16 = 2;

/// A request as the kernel's side tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawRequest<'a> {
    pub(super) number: u64,
    pub(super) connection: u64,
    pub(super) start: u64,
    pub(super) first_sent: u64,
    pub(super) end: u64,
    pub(super) sent_bytes: u64,
    pub(super) sends: u32,
    pub(super) length: u32,
    pub(super) process: u32,
    pub(super) thread: u32,
    pub(super) statement: u32,
    pub(super) error: u16,
    pub(super) flags: u16,
    pub(super) command: u8,
    pub(super) reply: u8,
    pub(super) fate: Fate,
    pub(super) server_queue: Option<u64>,
    pub(super) parts: RequestParts,
    pub(super) blocker: Option<Blocker>,
    /// When the blocker's request had begun.
    pub(super) blocker_start: u64,
    pub(super) preemptor: Option<Preemptor>,
    pub(super) file: Option<FileWait>,
    /// Behind the command's first byte.
    pub(super) text: &'a [u8],
}

impl<'a> RawRequest<'a> {
    /// Reads one; `None` where it is none of this version.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<REQUEST>()?;
        let text_length = u32_at(head, 68) as usize;
        Some(Self {
            number: u64_at(head, 0),
            connection: u64_at(head, 8),
            start: u64_at(head, 16),
            first_sent: u64_at(head, 24),
            end: u64_at(head, 32),
            sent_bytes: u64_at(head, 40),
            sends: u32_at(head, 48),
            length: u32_at(head, 52),
            process: u32_at(head, 56),
            thread: u32_at(head, 60),
            statement: u32_at(head, 64),
            error: u16_at(head, 72),
            flags: u16_at(head, 74),
            command: head[76],
            reply: head[77],
            fate: match head[78] {
                1 => Fate::Ended,
                2 => Fate::Aborted,
                _ => return None,
            },
            server_queue: Some(u64_at(head, 88)).filter(|length| *length != NOT_KNOWN),
            parts: parts(head),
            blocker: blocker(head),
            blocker_start: u64_at(head, 192),
            preemptor: preemptor(head),
            file: file(head),
            text: rest.get(..text_length)?,
        })
    }
}

fn parts(head: &[u8; REQUEST]) -> RequestParts {
    let parts = parts_of(|index| Nanos(u64_at(head, 96 + 8 * index)));
    let other_call = (parts.other > Nanos::ZERO).then(|| u16_at(head, 80));
    RequestParts { other_call, ..parts }
}

/// In the order of `enum part`.
fn parts_of(part: impl Fn(usize) -> Nanos) -> RequestParts {
    RequestParts {
        cpu: part(0),
        runq_preempted: part(1),
        runq_woken: part(2),
        lock: part(3),
        io_read: part(4),
        io_write: part(5),
        sync: part(6),
        net: part(7),
        sleep: part(8),
        other: part(9),
        other_call: None,
    }
}

/// Buckets of `struct totals`.
const FINE: usize = 368;
const COARSE: usize = 40;
const PARTS: usize = 10;

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
        parts: parts_of(|index| Nanos(at(4 + index))),
        fine: some(4 + PARTS, FINE),
        coarse: some(4 + PARTS + FINE, COARSE),
    }
}

/// A row of the table of those who had the CPU: `struct name` and `struct preemption`.
pub(super) fn preemption(name: &[u8], row: &[u8]) -> Preemption {
    let name = text_until_zero(name);
    let number = |at: usize| row.get(at..at + 8).and_then(|bytes| bytes.first_chunk());
    let number = |at| number(at).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    Preemption {
        name: (!name.is_empty()).then_some(name),
        count: number(0),
        length: Nanos(number(8)),
    }
}

/// What servers call the waits of `enum wait` that are for locks.
const LOCKS: [Option<&str>; 12] = [
    None,
    None,
    None,
    Some("row lock"),
    Some("global lock"),
    Some("metadata lock"),
    Some("table lock"),
    Some("user lock"),
    Some("binlog"),
    Some("group commit"),
    None,
    None,
];

fn blocker(head: &[u8; REQUEST]) -> Option<Blocker> {
    let (length, connection) = (Nanos(u64_at(head, 176)), u64_at(head, 184));
    let thread = u32_at(head, 200);
    (length > Nanos::ZERO).then(|| Blocker {
        thread,
        connection: (connection > 0).then_some(connection),
        lock: LOCKS.get(u32_at(head, 204) as usize).copied().flatten(),
        statement: None,
        length,
    })
}

fn preemptor(head: &[u8; REQUEST]) -> Option<Preemptor> {
    let thread = u32_at(head, 216);
    (thread > 0).then(|| Preemptor {
        thread,
        name: text_until_zero(&head[220..236]),
        length: Nanos(u64_at(head, 208)),
    })
}

fn file(head: &[u8; REQUEST]) -> Option<FileWait> {
    let name = text_until_zero(&head[248..288]);
    (!name.is_empty()).then(|| FileWait { name, length: Nanos(u64_at(head, 240)) })
}

fn text_until_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// One processor's counts, added to what others have counted. Shape: `counts` in the order of
/// `enum count`; what is not there counts nothing.
pub(super) fn add_counts(ledger: &mut Ledger, counts: &[u8]) {
    let fields = [
        &mut ledger.started,
        &mut ledger.ended,
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
    ];
    for (field, count) in fields.into_iter().zip(counts.as_chunks::<8>().0) {
        *field += u64::from_le_bytes(*count);
    }
}

fn u64_at(bytes: &[u8; REQUEST], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

fn u32_at(bytes: &[u8; REQUEST], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u16_at(bytes: &[u8; REQUEST], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request of a connection as the kernel's side would write it.
    pub(in crate::trace) fn written(
        connection: u64,
        command: u8,
        text: &[u8],
        change: impl FnOnce(&mut [u8; REQUEST]),
    ) -> Vec<u8> {
        let mut head = [0; REQUEST];
        head[8..16].copy_from_slice(&connection.to_le_bytes());
        head[16] = 1;
        head[32] = 9;
        head[52..56].copy_from_slice(&(text.len() as u32 + 1).to_le_bytes());
        head[68..72].copy_from_slice(&(text.len() as u32).to_le_bytes());
        head[76] = command;
        head[78] = 1;
        change(&mut head);
        [&head[..], text].concat()
    }

    #[test]
    fn a_request_is_read_where_the_kernel_wrote_it() {
        let bytes = written(7, 3, b"SELECT 1", |head| {
            head[48] = 2;
            head[64..68].copy_from_slice(&4711u32.to_le_bytes());
            head[72..74].copy_from_slice(&1064u16.to_le_bytes());
            head[78] = 2;
        });
        let request = RawRequest::read(&bytes).expect("a request");
        assert_eq!((request.connection, request.start, request.end), (7, 1, 9));
        assert_eq!((request.sends, request.length, request.statement), (2, 9, 4711));
        assert_eq!((request.error, request.fate), (1064, Fate::Aborted));
        assert_eq!((request.command, request.text), (3, &b"SELECT 1"[..]));
    }

    #[test]
    fn totals_are_read_in_the_kernels_order() {
        let numbers: Vec<u8> =
            (0..(4 + PARTS + FINE + COARSE) as u64).flat_map(u64::to_le_bytes).collect();
        let read = totals(&numbers);
        assert_eq!((read.count, read.response, read.errors), (0, Nanos(1), 2));
        assert_eq!((read.parts.cpu, read.parts.other), (Nanos(4), Nanos(13)));
        assert_eq!((read.fine[0], read.coarse[0], read.coarse[39]), (14, 382, 421));
        assert_eq!(totals(&numbers[..9]).fine.len(), FINE);
        let row = preemption(b"sh\0\0", &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!((row.name.as_deref(), row.count, row.length), (Some("sh"), 1, Nanos(9)));
        assert_eq!(preemption(&[0; 16], &[]).name, None);
    }

    #[test]
    fn counts_of_all_processors_add_up() {
        let counts: Vec<u8> = (1..=15u64).flat_map(u64::to_le_bytes).collect();
        let mut ledger = Ledger::default();
        add_counts(&mut ledger, &counts);
        add_counts(&mut ledger, &counts[..20]);
        assert_eq!((ledger.started, ledger.ended, ledger.aborted), (2, 4, 3));
        assert_eq!((ledger.connections, ledger.in_flight), (15, 0));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(request) = RawRequest::read(&bytes) {
                prop_assert!(request.text.len() + REQUEST <= bytes.len());
            }
        }
    }
}
