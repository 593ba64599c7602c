//! Values in rows.

use crate::bytes::ByteCursor;

/// A column as RowDescription tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostgresColumn<'a> {
    /// Its name, as the server wrote it.
    pub name: &'a [u8],
    /// Number of its type in `pg_type`.
    pub kind: u32,
    /// Whether its values are written in the type's own binary form.
    pub is_binary: bool,
}

/// The columns of a RowDescription; ends early where it is malformed.
pub fn columns(payload: &[u8]) -> impl Iterator<Item = PostgresColumn<'_>> {
    let mut bytes = ByteCursor(payload);
    let mut left = bytes.u16_be().unwrap_or(0);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let name = bytes.until_zero()?;
        bytes.take(6)?; // table and column number
        let kind = bytes.u32_be()?;
        bytes.take(6)?; // length and modifier
        let is_binary = bytes.u16_be()? == 1;
        Some(PostgresColumn { name, kind, is_binary })
    })
}

/// The values of a DataRow, `None` for NULL; ends early where it is malformed.
pub fn cells(payload: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut bytes = ByteCursor(payload);
    let mut left = bytes.u16_be().unwrap_or(0);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        match bytes.u32_be()? {
            u32::MAX => Some(None),
            length => Some(Some(bytes.take(length as usize)?)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_are_cells() {
        let row = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0";
        assert_eq!(cells(row).collect::<Vec<_>>(), [Some(&b"ab"[..]), None, Some(b"")]);
        assert_eq!(cells(&row[..7]).count(), 0, "cut off");
    }

    #[test]
    fn columns_have_names_and_types() {
        let mut payload = b"\0\x01id\0\0\0\x40\0\0\x01".to_vec();
        payload.extend_from_slice(b"\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0");
        let column = PostgresColumn { name: b"id", kind: 23, is_binary: false };
        assert_eq!(columns(&payload).collect::<Vec<_>>(), [column]);
    }

    proptest! {
        #[test]
        fn no_row_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(cells(&bytes).count() <= bytes.len());
            prop_assert!(columns(&bytes).count() <= bytes.len());
        }
    }
}
