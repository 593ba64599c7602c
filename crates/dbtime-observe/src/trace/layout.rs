//! What the kernel's side hands over, as `bpf/capture.h` lays it out.

use super::executed::{RawExecuted, executed, length_behind, portal};
use super::sum_layout::{FILE_ROW, file_wait};
use dbtime_model::traced::{Blocker, ErrorCode, Fate, Preemptor, QueryCache};
use dbtime_model::traced_files::FileWait;
use dbtime_model::{Nanos, Part, Parts, WireProtocol};

/// Bytes of `struct request`.
pub(super) const REQUEST: usize = 208;
/// Bytes of `struct waits`, which goes before a request that has waited.
const WAITS: usize = 80;
/// Bytes of `struct file_waits`, which goes before that where the wait was for a file: a mark, and
/// so many places for a `struct file_wait`.
const FILE_WAITS: usize = 8 + 11 * FILE_WAIT;
const FILE_WAIT: usize = FILE_ROW + 16;

/// What the kernel's side says of what it has not seen.
pub(super) const NOT_KNOWN: u64 = u64::MAX;

/// The text is longer than what was kept.
pub(super) const CUT: u16 = 1;
/// The text was not in memory.
pub(super) const UNREAD: u16 = 2;
/// The statement is one that an earlier request prepared.
pub(super) const NAMED: u16 = 4;
/// The server told of the text, which stands behind what the request said of itself.
pub(super) const TOLD: u16 = 8;
/// It executes several statements.
pub(super) const SEVERAL: u16 = 16;
/// It goes on with a portal that an earlier request has made.
pub(super) const FETCHES: u16 = 128;
/// Its answer says that a transaction is open, or that none is.
pub(super) const WITHIN: u16 = 32;
pub(super) const OUTSIDE: u16 = 64;
/// It is handed on alone for a lock that it waited for, or let go.
pub(super) const FOR_LOCKS: u16 = 512;
/// `enum release`: of these two, and of others.
const NOBODY: u32 = 0;
const LEAVING: u32 = 3;
/// `TOLD_AT`.
const TOLD_AT: usize = 64;

/// A request as the kernel's side tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawRequest<'a> {
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
    pub(super) error: Option<ErrorCode>,
    pub(super) protocol: WireProtocol,
    pub(super) flags: u16,
    pub(super) command: u8,
    pub(super) executes: u16,
    pub(super) reply: u8,
    pub(super) fate: Fate,
    pub(super) server_queue: Option<u64>,
    /// Of PostgreSQL's those of the last command.
    pub(super) rows: Option<u64>,
    pub(super) parts: Parts,
    /// The number of the last system call among [`Part::Other`].
    pub(super) other_call: Option<u16>,
    /// Without the lock's name.
    pub(super) blocker: Option<Blocker>,
    /// When the blocker's request had begun.
    pub(super) blocker_start: u64,
    /// What the server says of that wait, as a number.
    pub(super) blocker_wait: u32,
    pub(super) preemptor: Option<Preemptor>,
    pub(super) files: Vec<FileWait>,
    pub(super) cache: QueryCache,
    /// Behind the command's first byte; of PostgreSQL's the text alone.
    pub(super) text: &'a [u8],
    /// That of the statement which is prepared or executed (PostgreSQL).
    pub(super) name: &'a [u8],
    /// That of the portal which is made or gone on with; nothing: it has none.
    pub(super) portal: &'a [u8],
    /// Where there are several: each of them, and which of them text and name are.
    pub(super) executed: Vec<RawExecuted<'a>>,
    pub(super) chief: usize,
    /// The kernel's number of the statement, where it was added up.
    pub(super) shape: u64,
}

impl<'a> RawRequest<'a> {
    /// The text that the server told of.
    pub(super) fn told(&self) -> Option<&'a [u8]> {
        (self.flags & TOLD != 0).then(|| self.text.get(TOLD_AT..)).flatten()
    }

    /// Reads one that others follow; what follows it.
    pub(super) fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (.., behind) = waits_of(bytes);
        let head = behind.first_chunk::<REQUEST>()?;
        let waits = bytes.len() - behind.len();
        let length = waits + REQUEST + length_behind(head);
        let (own, rest) = bytes.split_at_checked(length)?;
        Some((Self::read(own)?, rest))
    }

    /// Reads one; `None` where it is none of this version.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (files, waits, behind) = waits_of(bytes);
        let (head, rest) = behind.split_first_chunk::<REQUEST>()?;
        let text_length = u32_at(head, 60) as usize;
        let protocol = match head[76] {
            1 => WireProtocol::Mysql,
            2 => WireProtocol::Postgres,
            _ => return None,
        };
        let request = Self {
            connection: u64_at(head, 0),
            start: u64_at(head, 8),
            first_sent: u64_at(head, 16),
            end: u64_at(head, 24),
            sent_bytes: u64_at(head, 32),
            sends: u32_at(head, 40),
            length: u32_at(head, 44),
            process: u32_at(head, 48),
            thread: u32_at(head, 52),
            statement: u32_at(head, 56),
            error: error(head, protocol),
            protocol,
            flags: u16_at(head, 68),
            command: head[72],
            executes: u16_at(head, 78),
            reply: head[73],
            fate: match head[74] {
                1 => Fate::Ended,
                2 => Fate::Aborted,
                _ => return None,
            },
            server_queue: Some(u64_at(head, 80)).filter(|length| *length != NOT_KNOWN),
            rows: Some(u64_at(head, 88)).filter(|rows| *rows != NOT_KNOWN),
            parts: parts(head),
            other_call: (parts(head).get(Part::Other) > 0).then(|| u16_at(head, 70)),
            blocker: waits.and_then(blocker),
            blocker_start: waits.map_or(0, |waits| u64_at(waits, 24)),
            blocker_wait: waits.map_or(0, |waits| u32_at(waits, 36)),
            preemptor: waits.and_then(preemptor),
            files: files.map_or_else(Vec::new, file_waits),
            cache: query_cache(head[75].into()),
            text: rest.get(..text_length)?,
            name: name(head, rest, text_length)?,
            portal: portal(head, rest)?,
            executed: executed(head, rest)?,
            chief: u16_at(head, 196).into(),
            shape: u64_at(head, 200),
        };
        // Of several statements it is known by one.
        let chief = request.executed.get(request.chief).copied();
        Some(chief.map_or(request.clone(), |chief| request.only(&chief)))
    }

    /// The same with another statement of its own.
    pub(super) fn only(&self, executed: &RawExecuted<'a>) -> Self {
        let own = CUT | UNREAD | NAMED;
        let (text, name) = (executed.text, executed.name);
        let flags = self.flags & !own | executed.flags & own;
        Self { flags, text, name, rows: executed.rows, ..self.clone() }
    }
}

/// A `struct glance`: what goes before a request that may be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Glance {
    pub(super) now: u64,
    pub(super) is_at_work: bool,
    /// An index of [`Part::TRACED`]; their number: not known.
    pub(super) part: u32,
    pub(super) wait: u32,
}

impl Glance {
    /// Reads one, and what follows it.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<24>()?;
        let number = |at: usize| head[at..at + 4].first_chunk().map(|b| u32::from_le_bytes(*b));
        let now = u64::from(number(0)?) | u64::from(number(4)?) << 32;
        let is_at_work = number(8)? > 0;
        Some((Self { now, is_at_work, part: number(12)?, wait: number(16)? }, rest))
    }
}

/// PostgreSQL's five signs have six bits each, from the sign `0`.
fn error(head: &[u8; REQUEST], protocol: WireProtocol) -> Option<ErrorCode> {
    let error = u32_at(head, 64);
    let sign = |index: u32| char::from(b'0' + (error >> (24 - 6 * index) & 63) as u8);
    (error > 0).then(|| match protocol {
        WireProtocol::Mysql => ErrorCode::Number(error as u16),
        WireProtocol::Postgres => ErrorCode::SqlState((0..5).map(sign).collect()),
    })
}

/// `enum cache`.
pub(super) fn query_cache(number: u32) -> QueryCache {
    match number {
        1 => QueryCache::Miss,
        2 => QueryCache::Hit,
        _ => QueryCache::NotAsked,
    }
}

/// It is what the request began with, or stands behind the text that it brought.
fn name<'a>(head: &[u8; REQUEST], rest: &'a [u8], text_length: usize) -> Option<&'a [u8]> {
    let from = if u16_at(head, 68) & NAMED != 0 { 0 } else { text_length };
    rest.get(from..from + usize::from(head[77]))
}

fn parts(head: &[u8; REQUEST]) -> Parts {
    Parts::traced(|index| Nanos(u64_at(head, 96 + 8 * index)))
}

/// A `struct server`; a child of one is forgotten as it ends.
pub(super) fn server(
    protocol: WireProtocol,
    wait_event: u64,
    hears_tls: bool,
    is_child: bool,
) -> [u8; 16] {
    let mut row = [0; 16];
    row[12] = u8::from(is_child);
    row[..8].copy_from_slice(&wait_event.to_ne_bytes());
    row[8] = match protocol {
        WireProtocol::Mysql => 1,
        WireProtocol::Postgres => 2,
    };
    row[14] = u8::from(hears_tls);
    row
}

/// What goes before a request, and that request: its first number, where connections have theirs,
/// is all ones of files and 0 of other waits.
fn waits_of(bytes: &[u8]) -> (Option<&[u8; FILE_WAITS]>, Option<&[u8; WAITS]>, &[u8]) {
    let begins = |bytes: &[u8], with: u64| bytes.starts_with(&with.to_le_bytes());
    let files = bytes.split_first_chunk().filter(|_| begins(bytes, u64::MAX));
    let (files, bytes) = files.map_or((None, bytes), |(files, rest)| (Some(files), rest));
    let waits = bytes.split_first_chunk().filter(|_| begins(bytes, 0));
    let (waits, bytes) = waits.map_or((None, bytes), |(waits, rest)| (Some(waits), rest));
    (files, waits, bytes)
}

fn blocker(waits: &[u8; WAITS]) -> Option<Blocker> {
    let (length, connection) = (Nanos(u64_at(waits, 8)), u64_at(waits, 16));
    let (thread, release) = (u32_at(waits, 32), u32_at(waits, 40));
    let wait = Blocker { length, ..Blocker::default() };
    (length > Nanos::ZERO).then(|| match release {
        NOBODY => wait,
        _ => Blocker {
            thread: Some(thread),
            connection: (connection > 0).then_some(connection),
            has_left: release == LEAVING,
            ..wait
        },
    })
}

fn preemptor(waits: &[u8; WAITS]) -> Option<Preemptor> {
    let thread = u32_at(waits, 72);
    let length = Nanos(u64_at(waits, 48));
    (length > Nanos::ZERO).then(|| Preemptor {
        thread,
        name: text_until_zero(&waits[56..72]),
        length,
    })
}

/// Longest first.
fn file_waits(files: &[u8; FILE_WAITS]) -> Vec<FileWait> {
    let places = files[8..].as_chunks::<FILE_WAIT>().0.iter();
    let waits = places.filter_map(|place| file_wait(&place[..FILE_ROW], &place[FILE_ROW..]));
    let mut waits: Vec<FileWait> = waits.filter(|wait| wait.count > 0).collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.length));
    waits
}

pub(crate) fn text_until_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

pub(super) fn u64_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

pub(super) fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

pub(super) fn u16_at<const N: usize>(bytes: &[u8; N], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::logins::login;
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
        head[..8].copy_from_slice(&connection.to_le_bytes());
        head[8] = 1;
        head[24] = 9;
        head[44..48].copy_from_slice(&(text.len() as u32 + 1).to_le_bytes());
        head[60..64].copy_from_slice(&(text.len() as u32).to_le_bytes());
        head[72] = command;
        head[74] = 1;
        head[76] = 1;
        change(&mut head);
        [&head[..], text].concat()
    }

    /// What goes before one that has waited for a lock.
    pub(in crate::trace) fn blocked_by(length: u64, connection: u64) -> Vec<u8> {
        let mut waits = [0, length, connection].map(u64::to_le_bytes).concat();
        waits.resize(WAITS, 0);
        waits[40] = 1;
        waits
    }

    /// What goes before that of one that has waited for the file `f` to be on disk.
    fn synced(count: u64, length: u64) -> Vec<u8> {
        let mut files = u64::MAX.to_le_bytes().to_vec();
        files.push(b'f');
        files.resize(8 + 40, 0);
        files.extend_from_slice(&6u64.to_le_bytes());
        files.extend_from_slice([count, length].map(u64::to_le_bytes).as_flattened());
        files.resize(FILE_WAITS, 0);
        files
    }

    #[test]
    fn waits_go_before_a_request() {
        let mut waits = blocked_by(300, 7);
        (waits[24], waits[32], waits[36]) = (11, 12, 3);
        waits[48..56].copy_from_slice(&5u64.to_le_bytes());
        waits[56..60].copy_from_slice(b"cron");
        waits[72] = 99;
        let (one, other) = (written(4, 3, b"DO 1", |_| {}), written(5, 3, b"DO 2", |_| {}));
        let all = [&synced(2, 8)[..], &waits, &one, &waits, &one, &other].concat();
        let (request, rest) = RawRequest::split(&all).expect("three");
        assert_eq!((request.connection, request.text), (4, &b"DO 1"[..]));
        let blocker = request.blocker.as_ref().expect("one");
        assert_eq!((blocker.length, blocker.connection), (Nanos(300), Some(7)));
        assert_eq!((request.blocker_wait, request.blocker_start), (3, 11));
        assert!(blocker.thread == Some(12) && !blocker.has_left);
        let name = "cron".to_owned();
        assert_eq!(request.preemptor, Some(Preemptor { thread: 99, name, length: Nanos(5) }));
        let [file] = &request.files[..] else { panic!("{request:?}") };
        let named = dbtime_model::traced_files::FileName::Named("f".to_owned());
        assert_eq!((&file.file, file.part), (&named, Part::Sync));
        assert_eq!((file.count, file.length), (2, Nanos(8)));
        let (request, rest) = RawRequest::split(rest).expect("two");
        assert_eq!((request.connection, request.files.len()), (4, 0));
        assert!(request.blocker.is_some());
        let (request, rest) = RawRequest::split(rest).expect("one");
        assert_eq!((request.connection, request.blocker, rest), (5, None, &[][..]));
        assert_eq!(RawRequest::read(&all[..FILE_WAITS + WAITS + 20]), None);
    }

    #[test]
    fn a_request_is_read_where_the_kernel_wrote_it() {
        let bytes = written(7, 3, b"SELECT 1", |head| {
            head[40] = 2;
            head[56..60].copy_from_slice(&4711u32.to_le_bytes());
            head[64..66].copy_from_slice(&1064u16.to_le_bytes());
            head[74] = 2;
            head[88] = 5;
        });
        let request = RawRequest::read(&bytes).expect("a request");
        assert_eq!((request.connection, request.start, request.end), (7, 1, 9));
        assert_eq!((request.sends, request.length, request.statement), (2, 9, 4711));
        let error = Some(ErrorCode::Number(1064));
        assert_eq!((request.error, request.fate), (error, Fate::Aborted));
        assert_eq!((request.command, request.text), (3, &b"SELECT 1"[..]));
        assert_eq!(request.rows, Some(5));
        let silent = written(7, 3, b"", |head| head[88..96].fill(0xff));
        assert_eq!(RawRequest::read(&silent).and_then(|request| request.rows), None);
    }

    #[test]
    fn a_request_of_postgresql_has_a_name_and_a_state_of_five_signs() {
        let bytes = [
            written(7, b'E', b"SELECT 1", |head| {
                let state =
                    b"42P01".iter().fold(0u32, |state, sign| state << 6 | u32::from(sign - b'0'));
                head[64..68].copy_from_slice(&state.to_le_bytes());
                head[76] = 2;
                head[77] = 3;
            }),
            b"s_1".to_vec(),
        ]
        .concat();
        let request = RawRequest::read(&bytes).expect("a request");
        assert_eq!((request.text, request.name), (&b"SELECT 1"[..], &b"s_1"[..]));
        assert_eq!(request.error.map(|error| error.to_string()).as_deref(), Some("42P01"));
        assert_eq!(RawRequest::read(&bytes[..bytes.len() - 1]), None);
    }

    /// What fuzzing begins with is what the kernel's side would hand over.
    #[test]
    fn the_seed_of_the_fuzz_target_is_of_this_layout() {
        let mut bytes = &include_bytes!("../../../../fuzz/seeds/trace/stream")[..];
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
        fn no_bytes_are_too_odd(mut bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            // Most of what is random is refused at these two, and has no waits before it.
            let has_waits = bytes.len() > WAITS + REQUEST;
            bytes.iter_mut().take(8).filter(|_| has_waits).for_each(|byte| *byte = 0);
            let from = if has_waits { WAITS } else { 0 };
            for (at, below) in [(from + 74, 3), (from + 76, 3)] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte %= below;
                }
            }
            if let Some(request) = RawRequest::read(&bytes) {
                prop_assert!(request.text.len() + REQUEST <= bytes.len());
            }
        }
    }
}
