//! What follows a request of the kernel's side: its text, and where it executes several statements
//! each of them.

use super::fields::known;
use crate::kernel_layout::capture::{ExampleRow, ExecutedRecord, RequestRecord, TextRecord};
use crate::kernel_layout::numbers::{MAX_EXECUTED, TEXT_ROOM};
use crate::kernel_layout::read_record;
use dbtime_model::Nanos;

/// One of several statements of a PostgreSQL request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawExecuted<'a> {
    pub(crate) length: Option<Nanos>,
    pub(crate) rows: Option<u64>,
    pub(crate) executes: u32,
    /// As those of a request; `SEVERAL`: there was no room for further ones, which are in it.
    pub(crate) flags: u16,
    pub(crate) text: &'a [u8],
    pub(crate) name: &'a [u8],
}

/// Bytes that follow a request.
pub(super) fn length_behind(record: &RequestRecord) -> usize {
    let parts = record.text_length as usize
        + usize::from(record.name_length)
        + usize::from(record.portal_length);
    match record.statements {
        0 => parts.min(TEXT_ROOM),
        // The whole text and all places for statements, as in an example.
        _ => size_of::<ExampleRow>() - size_of::<RequestRecord>(),
    }
}

/// The name of its portal; nothing: it has none. `None` where it is none of this version.
pub(crate) fn portal<'a>(record: &RequestRecord, rest: &'a [u8]) -> Option<&'a [u8]> {
    place(rest, record.portal_from, record.portal_length)
}

/// The statements, where there are several. `None` where they are none of this version.
pub(crate) fn executed<'a>(record: &RequestRecord, rest: &'a [u8]) -> Option<Vec<RawExecuted<'a>>> {
    if record.statements == 0 {
        return Some(Vec::new());
    }
    let (texts, list) = rest.split_at_checked(size_of::<TextRecord>())?;
    let list: [ExecutedRecord; MAX_EXECUTED] = read_record(list)?;
    list.get(..record.statements.into())?.iter().map(|one| read(one, texts)).collect()
}

fn read<'a>(one: &ExecutedRecord, texts: &'a [u8]) -> Option<RawExecuted<'a>> {
    Some(RawExecuted {
        length: known(one.length).map(Nanos),
        rows: known(one.rows),
        executes: one.executes,
        flags: one.flags,
        text: place(texts, one.text_from, one.text_length)?,
        name: place(texts, one.name_from, one.name_length)?,
    })
}

fn place(texts: &[u8], from: u16, length: u16) -> Option<&[u8]> {
    let from = usize::from(from);
    match length {
        0 => Some(&[]),
        _ => texts.get(from..from + usize::from(length)),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::layout::RawRequest;
    use super::super::layout::tests::written;
    use super::*;
    use crate::kernel_layout::capture::NOT_KNOWN;
    use crate::kernel_layout::numbers::{PROTOCOL_POSTGRES, REQUEST_MULTI, REQUEST_NAMED};
    use zerocopy::IntoBytes;

    /// A request that executes BEGIN without a name and another statement by one.
    pub(in crate::trace) fn batch(name: &[u8], chief: u16) -> Vec<u8> {
        let mut texts = b"BEGIN".to_vec();
        texts.extend_from_slice(name);
        texts.resize(TEXT_ROOM, 0);
        let mut list = [ExecutedRecord::default(); MAX_EXECUTED];
        (list[0].length, list[0].rows, list[0].executes) = (7, NOT_KNOWN, 1);
        list[0].text_length = 5;
        (list[1].length, list[1].rows, list[1].executes) = (NOT_KNOWN, 3, 2);
        list[1].flags = REQUEST_NAMED;
        (list[1].name_from, list[1].name_length) = (5, name.len() as u16);
        let request = written(7, b'E', b"", |record| {
            (record.flags, record.protocol) = (REQUEST_MULTI, PROTOCOL_POSTGRES);
            (record.executes, record.chief, record.statements) = (3, chief, 2);
        });
        [&request[..], &texts, list.as_bytes()].concat()
    }

    #[test]
    fn several_statements_have_each_their_own() {
        let bytes = [batch(b"s_1", 1), written(8, 3, b"DO 1", |_| {})].concat();
        let (request, rest) = RawRequest::split(&bytes).expect("two");
        assert_eq!((request.text, request.name), (&b""[..], &b"s_1"[..]));
        assert_eq!(request.rows(), Some(3));
        let [first, second] = &request.executed[..] else { panic!("{request:?}") };
        assert_eq!((first.text, first.rows), (&b"BEGIN"[..], None));
        assert_eq!((first.length, first.executes), (Some(Nanos(7)), 1));
        assert_eq!((second.length, second.rows, second.executes), (None, Some(3), 2));
        assert_eq!(request.only(first).text, b"BEGIN");
        assert_eq!(RawRequest::read(rest).map(|next| next.record.connection), Some(8));
        assert_eq!(RawRequest::read(&bytes[..size_of::<RequestRecord>() + TEXT_ROOM + 40]), None);
    }
}
