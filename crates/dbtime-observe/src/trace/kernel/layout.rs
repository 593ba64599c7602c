//! Requests as the kernel's side hands them over: a record, what stands before it and behind it.

use super::executed::{RawExecuted, executed, length_behind, portal};
use super::fields::{file_wait, known, query_cache, queue_parts, request_parts};
use crate::kernel_layout::capture::{
    BlockerRecord, FileWaitsRecord, NOT_KNOWN, PreemptorRecord, RequestRecord, ServerRow,
    WaitsRecord,
};
use crate::kernel_layout::numbers::*;
use crate::kernel_layout::{split_record, text_until_zero};
use dbtime_model::traced::{Blocker, ErrorCode, Preemptor, QueryCache, RequestOutcome};
use dbtime_model::traced_files::FileWait;
use dbtime_model::{Nanos, Parts, ServerQueueParts, WireProtocol};

/// A request as the kernel's side tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawRequest<'a> {
    /// Of several statements the flags and the rows are those of the one that it is known by.
    pub(crate) record: RequestRecord,
    pub(crate) protocol: WireProtocol,
    pub(crate) outcome: RequestOutcome,
    /// Without the lock's name.
    pub(crate) blocker: Option<Blocker>,
    /// When the blocker's request had begun.
    pub(crate) blocker_start: u64,
    /// What the server says of that wait, as a number.
    pub(crate) blocker_wait: u32,
    /// Longest first.
    pub(crate) preemptors: Vec<Preemptor>,
    pub(crate) files: Vec<FileWait>,
    /// Behind the command's first byte; of PostgreSQL's the text alone.
    pub(crate) text: &'a [u8],
    /// That of the statement which is prepared or executed (PostgreSQL).
    pub(crate) name: &'a [u8],
    /// That of the portal which is made or gone on with; nothing: it has none.
    pub(crate) portal: &'a [u8],
    /// Where there are several: each of them, and which of them text and name are.
    pub(crate) executed: Vec<RawExecuted<'a>>,
}

impl<'a> RawRequest<'a> {
    /// Reads one that others follow; what follows it.
    pub(crate) fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (.., behind) = waits_of(bytes);
        let (record, rest) = split_record(behind)?;
        let length = bytes.len() - rest.len() + length_behind(&record);
        let (own, rest) = bytes.split_at_checked(length)?;
        Some((Self::read(own)?, rest))
    }

    /// Reads one; `None` where it is none of this version.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (files, waits, behind) = waits_of(bytes);
        let (record, rest): (RequestRecord, _) = split_record(behind)?;
        let waits = waits.unwrap_or_default();
        let request = Self {
            protocol: protocol(record.protocol)?,
            outcome: outcome(record.outcome)?,
            blocker: blocker(&waits.blocker),
            blocker_start: waits.blocker.start,
            blocker_wait: waits.blocker.wait,
            preemptors: preemptors(&waits),
            files: files.map_or_else(Vec::new, |files| file_waits(&files)),
            text: rest.get(..record.text_length as usize)?,
            name: name(&record, rest)?,
            portal: portal(&record, rest)?,
            executed: executed(&record, rest)?,
            record,
        };
        // Of several statements it is known by one.
        let chief = request.executed.get(request.chief()).copied();
        Some(match chief {
            Some(chief) => request.only(&chief),
            None => request,
        })
    }

    /// The same with another statement of its own.
    pub(crate) fn only(&self, executed: &RawExecuted<'a>) -> Self {
        let own = REQUEST_CUT | REQUEST_UNREAD | REQUEST_NAMED;
        let flags = self.record.flags & !own | executed.flags & own;
        let rows = executed.rows.unwrap_or(NOT_KNOWN);
        let record = RequestRecord { flags, rows, ..self.record };
        Self { record, text: executed.text, name: executed.name, ..self.clone() }
    }

    /// Whether it has some of these flags.
    pub(crate) fn has(&self, flags: u16) -> bool {
        self.record.flags & flags != 0
    }

    /// Of several statements the place of the one that it is known by.
    pub(crate) fn chief(&self) -> usize {
        self.record.chief.into()
    }

    /// The text that the server told of.
    pub(crate) fn server_text(&self) -> Option<&'a [u8]> {
        self.has(REQUEST_SERVER_TEXT).then(|| self.text.get(SERVER_TEXT_AT..)).flatten()
    }

    /// The error that its answer is. PostgreSQL's five signs have six bits each, from the sign `0`.
    pub(crate) fn error(&self) -> Option<ErrorCode> {
        let error = self.record.error;
        let sign = |index: u32| char::from(b'0' + (error >> (24 - 6 * index) & 63) as u8);
        (error > 0).then(|| match self.protocol {
            WireProtocol::Mysql => ErrorCode::Number(error as u16),
            WireProtocol::Postgres => ErrorCode::SqlState((0..5).map(sign).collect()),
        })
    }

    /// How long it was there before it was read.
    pub(crate) fn server_queue(&self) -> Option<Nanos> {
        known(self.record.server_queue).map(Nanos)
    }

    /// What of that its thread could not run.
    pub(crate) fn queue_parts(&self) -> Option<ServerQueueParts> {
        self.server_queue().map(|_| queue_parts(&self.record.early))
    }

    /// How many it sent or changed; of PostgreSQL's those of the last command.
    pub(crate) fn rows(&self) -> Option<u64> {
        known(self.record.rows)
    }

    /// Where its time went.
    pub(crate) fn parts(&self) -> Parts {
        request_parts(&self.record.parts)
    }

    /// The number of the last system call among `Part::Other`.
    pub(crate) fn other_call(&self) -> Option<u16> {
        (self.record.parts[PART_OTHER] > 0).then_some(self.record.other_call)
    }

    pub(crate) fn cache(&self) -> QueryCache {
        query_cache(self.record.cache.into())
    }
}

fn protocol(number: u8) -> Option<WireProtocol> {
    match number {
        PROTOCOL_MYSQL => Some(WireProtocol::Mysql),
        PROTOCOL_POSTGRES => Some(WireProtocol::Postgres),
        _ => None,
    }
}

fn outcome(number: u8) -> Option<RequestOutcome> {
    match number {
        OUTCOME_ENDED => Some(RequestOutcome::Ended),
        OUTCOME_ABORTED => Some(RequestOutcome::Aborted),
        _ => None,
    }
}

/// It is what the request began with, or stands behind the text that it brought.
fn name<'a>(record: &RequestRecord, rest: &'a [u8]) -> Option<&'a [u8]> {
    let is_first = record.flags & REQUEST_NAMED != 0;
    let from = if is_first { 0 } else { record.text_length as usize };
    rest.get(from..from + usize::from(record.name_length))
}

/// The row of a server's process; that of a child is forgotten as it ends.
pub(crate) fn server(
    protocol: WireProtocol,
    wait_event: u64,
    has_tls_probes: bool,
    is_child: bool,
) -> ServerRow {
    let protocol = match protocol {
        WireProtocol::Mysql => PROTOCOL_MYSQL,
        WireProtocol::Postgres => PROTOCOL_POSTGRES,
    };
    let (is_child, has_tls_probes) = (is_child.into(), has_tls_probes.into());
    ServerRow { wait_event, protocol: protocol.into(), is_child, has_tls_probes }
}

/// What goes before a request, and the request. Its first number is a connection's, which is
/// neither 0, as of waits, nor all ones, as of waits for files.
fn waits_of(bytes: &[u8]) -> (Option<FileWaitsRecord>, Option<WaitsRecord>, &[u8]) {
    let files =
        split_record::<FileWaitsRecord>(bytes).filter(|(files, _)| files.marker == u64::MAX);
    let (files, bytes) = files.map_or((None, bytes), |(files, rest)| (Some(files), rest));
    let waits = split_record::<WaitsRecord>(bytes).filter(|(waits, _)| waits.marker == 0);
    let (waits, bytes) = waits.map_or((None, bytes), |(waits, rest)| (Some(waits), rest));
    (files, waits, bytes)
}

fn blocker(record: &BlockerRecord) -> Option<Blocker> {
    let wait = Blocker { length: Nanos(record.length), ..Blocker::default() };
    (record.length > 0).then(|| match record.release {
        RELEASE_NONE => wait,
        release => Blocker {
            thread: Some(record.tid),
            connection: (record.connection > 0).then_some(record.connection),
            server_id: (record.number > 0).then_some(record.number.into()),
            has_left: release == RELEASE_LEAVING,
            ..wait
        },
    })
}

/// Longest first.
fn preemptors(waits: &WaitsRecord) -> Vec<Preemptor> {
    let mut preemptors: Vec<_> = waits.preemptors.iter().filter_map(preemptor).collect();
    preemptors.sort_by_key(|preemptor| std::cmp::Reverse(preemptor.length));
    preemptors
}

fn preemptor(record: &PreemptorRecord) -> Option<Preemptor> {
    (record.length > 0).then(|| Preemptor {
        thread: record.tid,
        name: text_until_zero(&record.name.text),
        length: Nanos(record.length),
    })
}

/// Longest first.
fn file_waits(files: &FileWaitsRecord) -> Vec<FileWait> {
    let waits = files.waits.iter().filter_map(|wait| file_wait(&wait.row, wait.tally));
    let mut waits: Vec<FileWait> = waits.filter(|wait| wait.count > 0).collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.length));
    waits
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::logins::login;
    use super::*;
    use crate::kernel_layout::padded;
    use dbtime_model::Part;
    use proptest::prelude::*;
    use zerocopy::IntoBytes;

    /// A request of a connection as the kernel's side would write it.
    pub(in crate::trace) fn written(
        connection: u64,
        command: u8,
        text: &[u8],
        change: impl FnOnce(&mut RequestRecord),
    ) -> Vec<u8> {
        let mut record = RequestRecord {
            connection,
            start: 1,
            end: 9,
            length: text.len() as u32 + 1,
            text_length: text.len() as u32,
            command,
            outcome: OUTCOME_ENDED,
            protocol: PROTOCOL_MYSQL,
            ..RequestRecord::default()
        };
        change(&mut record);
        [record.as_bytes(), text].concat()
    }

    /// What goes before one that has waited for a lock.
    pub(in crate::trace) fn blocked_by(length: u64, connection: u64, start: u64) -> Vec<u8> {
        let blocker =
            BlockerRecord { length, connection, start, release: 1, ..BlockerRecord::default() };
        WaitsRecord { blocker, ..WaitsRecord::default() }.as_bytes().to_vec()
    }

    /// What goes before that of one that has waited for the file `f` to be on disk.
    fn synced(count: u64, length: u64) -> FileWaitsRecord {
        let mut files = FileWaitsRecord { marker: u64::MAX, ..FileWaitsRecord::default() };
        files.waits[0].row.name = padded("f");
        files.waits[0].row.part = PART_SYNC as u32;
        (files.waits[0].tally.count, files.waits[0].tally.length) = (count, length);
        files
    }

    #[test]
    fn waits_go_before_a_request() {
        let (length, connection, start) = (300, 7, 11);
        let blocker =
            BlockerRecord { length, connection, start, tid: 12, wait: 3, release: 1, number: 0 };
        let mut waits = WaitsRecord { blocker, ..WaitsRecord::default() };
        for (place, name, length) in [(0, "sh", 3), (1, "cron", 5)] {
            let of = &mut waits.preemptors[place];
            (of.length, of.tid, of.name.text) = (length, 99, padded(name));
        }
        let (one, other) = (written(4, 3, b"DO 1", |_| {}), written(5, 3, b"DO 2", |_| {}));
        let (files, waits) = (synced(2, 8), waits.as_bytes());
        let all = [files.as_bytes(), waits, &one, waits, &one, &other].concat();
        let (request, rest) = RawRequest::split(&all).expect("three");
        assert_eq!((request.record.connection, request.text), (4, &b"DO 1"[..]));
        let blocker = request.blocker.as_ref().expect("one");
        assert_eq!((blocker.length, blocker.connection), (Nanos(300), Some(7)));
        assert_eq!((request.blocker_wait, request.blocker_start), (3, 11));
        assert!(blocker.thread == Some(12) && !blocker.has_left);
        let named = |name: &str, length| Preemptor {
            thread: 99,
            name: name.to_owned(),
            length: Nanos(length),
        };
        assert_eq!(request.preemptors, [named("cron", 5), named("sh", 3)]);
        let [file] = &request.files[..] else { panic!("{request:?}") };
        let named = dbtime_model::traced_files::FileName::Named("f".to_owned());
        assert_eq!((&file.file, file.part), (&named, Part::Sync));
        assert_eq!((file.count, file.length), (2, Nanos(8)));
        let (request, rest) = RawRequest::split(rest).expect("two");
        assert_eq!((request.record.connection, request.files.len()), (4, 0));
        assert!(request.blocker.is_some());
        let (request, rest) = RawRequest::split(rest).expect("one");
        assert_eq!((request.record.connection, request.blocker, rest), (5, None, &[][..]));
        let cut = files.as_bytes().len() + waits.len() + 20;
        assert_eq!(RawRequest::read(&all[..cut]), None);
    }

    #[test]
    fn a_request_is_read_where_the_kernel_wrote_it() {
        let bytes = written(7, 3, b"SELECT 1", |record| {
            (record.error, record.outcome, record.rows) = (1064, OUTCOME_ABORTED, 5);
            (record.parts[PART_OTHER], record.other_call) = (3, 219);
        });
        let request = RawRequest::read(&bytes).expect("a request");
        assert_eq!((request.record.connection, request.text), (7, &b"SELECT 1"[..]));
        let error = Some(ErrorCode::Number(1064));
        assert_eq!((request.error(), request.outcome), (error, RequestOutcome::Aborted));
        assert_eq!((request.rows(), request.other_call()), (Some(5), Some(219)));
        let silent = written(7, 3, b"", |record| record.rows = NOT_KNOWN);
        assert_eq!(RawRequest::read(&silent).and_then(|request| request.rows()), None);
    }

    #[test]
    fn what_a_request_waited_for_in_the_socket_is_known_where_its_arrival_is() {
        let queue = |server_queue| {
            let bytes = written(7, 3, b"", |record| {
                (record.server_queue, record.early) = (server_queue, [1, 2, 3, 4]);
            });
            RawRequest::read(&bytes).expect("a request").queue_parts()
        };
        let parts = queue(11).expect("it was seen to come");
        assert_eq!(parts.named().map(|(_, length)| length.0), [1, 2, 3, 4]);
        assert_eq!(queue(NOT_KNOWN), None);
    }

    #[test]
    fn a_request_of_postgresql_has_a_name_and_a_state_of_five_signs() {
        let bytes = [
            written(7, b'E', b"SELECT 1", |record| {
                let signs = b"42P01".iter();
                record.error = signs.fold(0, |state, sign| state << 6 | u32::from(sign - b'0'));
                (record.protocol, record.name_length) = (PROTOCOL_POSTGRES, 3);
            }),
            b"s_1".to_vec(),
        ]
        .concat();
        let request = RawRequest::read(&bytes).expect("a request");
        assert_eq!((request.text, request.name), (&b"SELECT 1"[..], &b"s_1"[..]));
        assert_eq!(request.error().map(|error| error.to_string()).as_deref(), Some("42P01"));
        assert_eq!(RawRequest::read(&bytes[..bytes.len() - 1]), None);
    }

    /// What fuzzing begins with is what the kernel's side would hand over.
    #[test]
    fn the_seed_of_the_fuzz_target_is_of_this_layout() {
        let mut bytes = &include_bytes!("../../../../../fuzz/seeds/trace/stream")[..];
        let mut requests = 0;
        while let Some((length, rest)) = bytes.split_first_chunk() {
            let (record, rest) = rest.split_at(u16::from_le_bytes(*length).into());
            let is_request = RawRequest::read(record).is_some();
            assert!(is_request || login(record).is_some(), "{record:?}");
            requests += u32::from(is_request);
            bytes = rest;
        }
        assert_eq!(requests, 9);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..600),
            (protocol, outcome) in (0..3u8, 0..3u8),
        ) {
            // Most of what is random is refused at these two, and has no waits before it.
            let has_waits = bytes.len() > size_of::<WaitsRecord>() + size_of::<RequestRecord>();
            bytes.iter_mut().take(8).filter(|_| has_waits).for_each(|byte| *byte = 0);
            let from = if has_waits { size_of::<WaitsRecord>() } else { 0 };
            if let Some((record, _)) = split_record(&bytes[from.min(bytes.len())..]) {
                let record = RequestRecord { protocol, outcome, ..record };
                bytes[from..from + size_of::<RequestRecord>()].copy_from_slice(record.as_bytes());
            }
            if let Some(request) = RawRequest::read(&bytes) {
                prop_assert!(request.text.len() + size_of::<RequestRecord>() <= bytes.len());
            }
        }
    }
}
