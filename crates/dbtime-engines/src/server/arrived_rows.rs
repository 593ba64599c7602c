//! What has come of results and is still to be looked at, as the server wrote it.
//!
//! It is filled while a socket is read and emptied behind every wait, so it never holds more than
//! one wait brings: a megabyte, and a row that had begun before.

/// Parts of results, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct ArrivedRows {
    bytes: Vec<u8>,
}

/// A part of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivedPart<'a> {
    /// The description of a column, or of all.
    Columns(&'a [u8]),
    /// A row.
    Row(&'a [u8]),
    /// The result is complete.
    End,
}

/// Bytes before each part: what it is, and its length.
const HEADER: usize = 5;

const COLUMNS: u8 = 0;
const ROW: u8 = 1;
const END: u8 = 2;

/// Room that is kept for what comes next; a long row has its own.
const KEPT_BYTES: usize = 4 << 20;

impl ArrivedRows {
    /// Puts a part behind the others. Shape: below 4 GiB, as what a reader of answers hands over.
    #[inline]
    pub(crate) fn push(&mut self, part: ArrivedPart<'_>) {
        let (kind, payload) = match part {
            ArrivedPart::Columns(payload) => (COLUMNS, payload),
            ArrivedPart::Row(payload) => (ROW, payload),
            ArrivedPart::End => (END, &[][..]),
        };
        let [a, b, c, d] = (payload.len() as u32).to_le_bytes();
        self.bytes.extend_from_slice(&[kind, a, b, c, d]);
        self.bytes.extend_from_slice(payload);
    }

    /// The parts in their order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = ArrivedPart<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let ([kind, a, b, c, d], after) = rest.split_first_chunk::<HEADER>()?;
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            let (payload, next) = after.split_at_checked(length as usize)?;
            rest = next;
            Some(match *kind {
                COLUMNS => ArrivedPart::Columns(payload),
                ROW => ArrivedPart::Row(payload),
                _ => ArrivedPart::End,
            })
        })
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_in_their_order() {
        let long = vec![7; 2 * KEPT_BYTES];
        let parts = [
            ArrivedPart::Columns(b"c"),
            ArrivedPart::Row(b""),
            ArrivedPart::Row(&long),
            ArrivedPart::End,
        ];
        let mut arrived = ArrivedRows::default();
        for _ in 0..2 {
            parts.iter().for_each(|part| arrived.push(*part));
            assert!(arrived.parts().eq(parts));
            arrived.clear();
            assert_eq!(arrived.parts().next(), None);
            assert!(arrived.bytes.capacity() < long.len(), "a long row's room is given back");
        }
    }
}
