//! What follows a request of the kernel's side: its text, and where it executes several statements
//! each of them.

use super::layout::{NOT_KNOWN, REQUEST, u16_at, u32_at, u64_at};
use dbtime_model::Nanos;

/// Bytes of `struct text`, all of which are there where there are several statements.
const TEXT_ROOM: usize = 1024;

/// Bytes of a `struct executed`, and how many there are.
const EXECUTED: usize = 32;
const MOST_EXECUTED: usize = 8;

/// One of several statements of a PostgreSQL request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawExecuted<'a> {
    pub(super) length: Option<Nanos>,
    pub(super) rows: Option<u64>,
    pub(super) executes: u32,
    /// As those of a request; `SEVERAL`: there was no room for further ones, which are in it.
    pub(super) flags: u16,
    pub(super) text: &'a [u8],
    pub(super) name: &'a [u8],
}

/// How many statements are told apart; 0: there are not several.
fn statements(head: &[u8; REQUEST]) -> usize {
    u16_at(head, 198).into()
}

/// Bytes that follow a request.
pub(super) fn length_behind(head: &[u8; REQUEST]) -> usize {
    let parts = u32_at(head, 60) as usize + usize::from(head[77]) + usize::from(u16_at(head, 194));
    match statements(head) {
        0 => parts.min(TEXT_ROOM),
        _ => TEXT_ROOM + MOST_EXECUTED * EXECUTED,
    }
}

/// The name of its portal; nothing: it has none. `None` where it is none of this version.
pub(super) fn portal<'a>(head: &[u8; REQUEST], rest: &'a [u8]) -> Option<&'a [u8]> {
    place(rest, u16_at(head, 192), u16_at(head, 194))
}

/// The statements, where there are several. `None` where they are none of this version.
pub(super) fn executed<'a>(head: &[u8; REQUEST], rest: &'a [u8]) -> Option<Vec<RawExecuted<'a>>> {
    let count = statements(head);
    if count == 0 {
        return Some(Vec::new());
    }
    let (texts, list) = rest.split_at_checked(TEXT_ROOM)?;
    let (list, _) = list.as_chunks::<EXECUTED>();
    list.get(..count)?.iter().map(|one| read(one, texts)).collect()
}

fn read<'a>(one: &[u8; EXECUTED], texts: &'a [u8]) -> Option<RawExecuted<'a>> {
    let known = |at| Some(u64_at(one, at)).filter(|number| *number != NOT_KNOWN);
    Some(RawExecuted {
        length: known(0).map(Nanos),
        rows: known(8),
        executes: u32_at(one, 16),
        flags: u16_at(one, 22),
        text: place(texts, u16_at(one, 24), u16_at(one, 26))?,
        name: place(texts, u16_at(one, 28), u16_at(one, 30))?,
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
pub(super) mod tests {
    use super::super::layout::RawRequest;
    use super::super::layout::tests::written;
    use super::*;

    /// A request that executes BEGIN without a name and another statement by one.
    pub(in crate::trace) fn batch(name: &[u8], chief: u8) -> Vec<u8> {
        let mut texts = b"BEGIN".to_vec();
        texts.extend_from_slice(name);
        texts.resize(TEXT_ROOM, 0);
        let mut list = [[0; EXECUTED]; MOST_EXECUTED];
        list[0][..17].copy_from_slice(&[7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        list[0][8..16].fill(0xff);
        list[0][26] = 5;
        list[1][..8].fill(0xff);
        (list[1][8], list[1][16], list[1][22]) = (3, 2, 4);
        (list[1][28], list[1][30]) = (5, name.len() as u8);
        let request = written(7, b'E', b"", |head| {
            (head[68], head[76], head[78]) = (16, 2, 3);
            (head[196], head[198]) = (chief, 2);
        });
        [&request[..], &texts, list.as_flattened()].concat()
    }

    #[test]
    fn several_statements_have_each_their_own() {
        let bytes = [batch(b"s_1", 1), written(8, 3, b"DO 1", |_| {})].concat();
        let (request, rest) = RawRequest::split(&bytes).expect("two");
        assert_eq!((request.text, request.name, request.rows), (&b""[..], &b"s_1"[..], Some(3)));
        let [first, second] = &request.executed[..] else { panic!("{request:?}") };
        assert_eq!((first.text, first.rows), (&b"BEGIN"[..], None));
        assert_eq!((first.length, first.executes), (Some(Nanos(7)), 1));
        assert_eq!((second.length, second.rows, second.executes), (None, Some(3), 2));
        assert_eq!(request.only(first).text, b"BEGIN");
        assert_eq!(RawRequest::read(rest).map(|next| next.connection), Some(8));
        assert_eq!(RawRequest::read(&bytes[..REQUEST + TEXT_ROOM + 40]), None);
    }
}
