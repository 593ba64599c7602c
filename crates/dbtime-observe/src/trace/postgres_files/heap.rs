//! Rows of PostgreSQL's tables, as they lie in its files: pages, each with pointers to its rows,
//! from a header on.
//!
//! ```text
//!   page   header (24 bytes), pointers ──► … free … ◄── rows
//!   row    header: who made it, who has deleted it, hints what became of these, where it begins
//! ```
//!
//! A file is whoever's it is, and may be written while it is read: what does not look as expected
//! is no row.

/// Bytes of a page's header.
const PAGE_HEAD: usize = 24;
/// Bytes of a pointer to a row.
const POINTER: usize = 4;
/// Bytes of a row's header, of those that are always there.
const ROW_HEAD: usize = 23;

/// What a page may be built for. Unit: bytes.
const PAGES: [usize; 6] = [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10];

/// `t_infomask`: the row's number stands at the end of its header (before version 12).
const HAS_OID: u16 = 0x0008;
/// Who is said to have deleted it has only locked it.
const XMAX_LOCK_ONLY: u16 = 0x0080;
/// Who made it was known to have done so, or not to; both: long ago.
const XMIN_COMMITTED: u16 = 0x0100;
const XMIN_INVALID: u16 = 0x0200;
/// Who deleted it was known to have done so, or not to.
const XMAX_COMMITTED: u16 = 0x0400;
const XMAX_INVALID: u16 = 0x0800;

/// A row that is not known to be deleted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeapRow<'a> {
    /// Its object identifier.
    pub(super) oid: u32,
    /// What follows that.
    pub(super) columns: &'a [u8],
    /// Who made it; `None`: that was long ago.
    maker: Option<u32>,
    /// Whether somebody may have deleted it.
    may_be_gone: bool,
}

impl HeapRow<'_> {
    /// Whether it is what became of another: the later of two versions.
    pub(crate) fn follows(&self, other: &Self) -> bool {
        if self.may_be_gone != other.may_be_gone {
            return other.may_be_gone;
        }
        match (self.maker, other.maker) {
            // Transactions' numbers go round.
            (Some(maker), Some(other)) => maker.wrapping_sub(other).cast_signed() >= 0,
            (maker, other) => maker.is_some() || other.is_none(),
        }
    }
}

/// The rows of a file that have a number.
pub(crate) fn rows(file: &[u8]) -> impl Iterator<Item = HeapRow<'_>> {
    // The lower byte is a version.
    let size = file.get(18..20).map_or(0, |bytes| usize::from(u16_of(bytes)) & 0xff00);
    let pages = PAGES.contains(&size).then(|| file.chunks_exact(size));
    pages.into_iter().flatten().flat_map(rows_of)
}

fn rows_of(page: &[u8]) -> impl Iterator<Item = HeapRow<'_>> {
    let end = usize::from(u16_of(&page[12..14]));
    let pointers = page.get(PAGE_HEAD..end).unwrap_or_default().chunks_exact(POINTER);
    pointers.filter_map(|pointer| {
        let pointer = u32_of(pointer);
        let (at, kind) = ((pointer & 0x7fff) as usize, pointer >> 15 & 3);
        let row = page.get(at..at + (pointer >> 17) as usize)?;
        // Others lead to another pointer, or nowhere.
        if kind == 1 { row_of(row) } else { None }
    })
}

fn row_of(row: &[u8]) -> Option<HeapRow<'_>> {
    let head = row.first_chunk::<ROW_HEAD>()?;
    let hints = u16_of(&head[20..22]);
    let is_old = hints & XMIN_COMMITTED > 0 && hints & XMIN_INVALID > 0;
    let is_kept = hints & (XMAX_INVALID | XMAX_LOCK_ONLY) > 0;
    if (hints & XMIN_INVALID > 0 && !is_old) || (hints & XMAX_COMMITTED > 0 && !is_kept) {
        return None;
    }
    let begin = usize::from(head[22]);
    let columns = row.get(begin..)?;
    let (oid, columns) = match hints & HAS_OID {
        0 => columns.split_at_checked(4)?,
        _ => (row.get(begin.checked_sub(4)?..begin)?, columns),
    };
    Some(HeapRow {
        oid: u32_of(oid),
        columns,
        maker: (!is_old).then(|| u32_of(&head[..4])),
        may_be_gone: !is_kept && u32_of(&head[4..8]) > 0,
    })
}

fn u16_of(bytes: &[u8]) -> u16 {
    bytes.first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// The number that stands first; 0 of what is too short.
pub(super) fn u32_of(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A row: who made and deleted it, hints, and what follows its number, which is the first
    /// column, or before the columns with `HAS_OID`.
    #[derive(Clone, Copy)]
    pub(in crate::trace) struct TupleHeader<'a>(pub u32, pub u32, pub u16, pub u32, pub &'a [u8]);

    /// Of one that is there.
    pub(in crate::trace) const LIVE: u16 = XMIN_COMMITTED | XMAX_INVALID;

    /// A page of 8 KiB with these rows.
    pub(in crate::trace) fn page(rows: &[TupleHeader<'_>]) -> Vec<u8> {
        let mut page = vec![0; 8192];
        let (mut end, mut pointers) = (page.len(), Vec::new());
        for TupleHeader(maker, deleter, hints, oid, columns) in rows {
            let mut row = [maker.to_le_bytes(), deleter.to_le_bytes()].concat();
            row.resize(ROW_HEAD + 5, 0);
            row[20..22].copy_from_slice(&hints.to_le_bytes());
            row.extend_from_slice(&oid.to_le_bytes());
            row[22] = if hints & HAS_OID > 0 { 32 } else { 28 };
            row.extend_from_slice(columns);
            end = (end - row.len()) & !7;
            page[end..end + row.len()].copy_from_slice(&row);
            pointers.push(end as u32 | 1 << 15 | (row.len() as u32) << 17);
        }
        let pointers: Vec<u8> = pointers.iter().flat_map(|one| one.to_le_bytes()).collect();
        let end = PAGE_HEAD + pointers.len();
        page[PAGE_HEAD..end].copy_from_slice(&pointers);
        page[12..14].copy_from_slice(&(end as u16).to_le_bytes());
        page[18..20].copy_from_slice(&(8192u16 | 4).to_le_bytes());
        page
    }

    #[test]
    fn rows_are_those_that_are_not_known_to_be_deleted() {
        let file = [
            page(&[
                TupleHeader(9, 0, LIVE, 1, b"one"),
                TupleHeader(9, 10, XMIN_COMMITTED | XMAX_COMMITTED, 2, b"deleted"),
            ]),
            vec![0; 8192],
            page(&[
                TupleHeader(9, 0, XMIN_INVALID, 3, b"never made"),
                TupleHeader(
                    9,
                    10,
                    XMIN_COMMITTED | XMIN_INVALID | XMAX_COMMITTED | XMAX_LOCK_ONLY,
                    4,
                    b"locked",
                ),
                TupleHeader(9, 10, XMIN_COMMITTED | HAS_OID, 5, b"five"),
            ]),
            vec![0xff; 100],
        ];
        let file = file.concat();
        let found: Vec<_> = rows(&file).map(|row| (row.oid, row.columns)).collect();
        assert_eq!(found, [(1, &b"one"[..]), (4, b"locked"), (5, b"five")]);
        assert_eq!(rows(&file[..8000]).count(), 0, "no page");
    }

    #[test]
    fn the_later_of_two_versions_counts() {
        let file = page(&[
            TupleHeader(7, 0, XMIN_COMMITTED | XMIN_INVALID, 1, b""),
            TupleHeader(u32::MAX, 0, LIVE, 1, b""),
            TupleHeader(3, 0, LIVE, 1, b""),
            TupleHeader(5, 6, XMIN_COMMITTED, 1, b""),
        ]);
        let [old, before, newest, gone] = rows(&file).collect::<Vec<_>>()[..] else {
            panic!("four rows")
        };
        assert!(before.follows(&old) && !old.follows(&before));
        assert!(newest.follows(&before) && !before.follows(&newest));
        assert!(newest.follows(&gone) && old.follows(&gone) && !gone.follows(&old));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_file(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..9000), size in 0usize..6,
            end: u16, pointers in proptest::collection::vec(any::<u32>(), 0..20)
        ) {
            let page = |bytes: &[u8]| rows(bytes).map(|row| row.columns.len()).sum::<usize>();
            page(&bytes);
            bytes.resize(9000, 1);
            for (place, pointer) in pointers.iter().enumerate() {
                let at = PAGE_HEAD + POINTER * place;
                let pointer = pointer & !(3 << 15) | 1 << 15;
                bytes[at..at + POINTER].copy_from_slice(&pointer.to_le_bytes());
            }
            bytes[12..14].copy_from_slice(&end.to_le_bytes());
            bytes[18..20].copy_from_slice(&(PAGES[size] as u16).to_le_bytes());
            page(&bytes);
        }
    }
}
