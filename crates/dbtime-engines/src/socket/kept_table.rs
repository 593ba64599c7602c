//! The rows of a question of dbtime's own, as they come: none of them where there are too many.

use super::protocol::QueryTable;
use dbtime_load::failure::DatabaseFailure;

/// What all rows together may take in memory: thirty thousand sessions of a server have as much.
const MAX_TABLE_BYTES: usize = 16 << 20;

/// What a value or a row takes beside its text: its place in a vector, and what an allocator has
/// beside an allocation.
const ENTRY_BYTES: usize = 48;

/// Rows as far as there is room for them.
#[derive(Debug, Default)]
pub(crate) struct KeptTable {
    table: QueryTable,
    bytes: usize,
}

impl KeptTable {
    /// Other rows begin.
    pub(crate) fn begin(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn name_columns(&mut self, columns: Vec<String>) {
        self.table.columns = columns;
    }

    /// Keeps a row, where there is room for it.
    pub(crate) fn push<'a>(&mut self, cells: impl Iterator<Item = Option<&'a [u8]>>) {
        let mut row = Vec::new();
        self.bytes = self.bytes.saturating_add(ENTRY_BYTES);
        for cell in cells {
            let arrived = cell.map_or(0, <[u8]>::len);
            if self.bytes.saturating_add(ENTRY_BYTES + arrived) > MAX_TABLE_BYTES {
                return self.overflow();
            }
            // Bytes that are no UTF-8 become longer.
            let text = cell.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            self.bytes += ENTRY_BYTES + text.as_ref().map_or(0, String::len);
            row.push(text);
        }
        if self.bytes > MAX_TABLE_BYTES {
            return self.overflow();
        }
        row.shrink_to_fit();
        self.table.rows.push(row);
    }

    /// Takes the rows out; `None`: there were too many.
    pub(crate) fn take(&mut self) -> Option<QueryTable> {
        let Self { table, bytes } = std::mem::take(self);
        (bytes <= MAX_TABLE_BYTES).then_some(table)
    }

    /// Nothing is kept from here on, and nothing of what was.
    #[cold]
    fn overflow(&mut self) {
        self.table = QueryTable::default();
        self.bytes = usize::MAX;
    }
}

/// That an answer had too many rows. Another one over the same connection may have fewer.
pub(super) fn no_room() -> DatabaseFailure {
    let text = format!("its answer takes more than {} MiB, and is not kept", MAX_TABLE_BYTES >> 20);
    DatabaseFailure::statement("too long", "", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_fit_are_kept_as_they_are() {
        let mut kept = KeptTable::default();
        kept.name_columns(vec!["a".to_owned(), "b".to_owned()]);
        kept.push([Some(&b"1"[..]), None].into_iter());
        let rows = vec![vec![Some("1".to_owned()), None]];
        let columns = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(kept.take(), Some(QueryTable { columns, rows }));
        assert_eq!(kept.take(), Some(QueryTable::default()), "taken");
    }

    #[test]
    fn rows_without_end_take_no_memory() {
        let long = vec![0xff; 6 << 20];
        let rows: [&[Option<&[u8]>]; 4] = [&[], &[None], &[Some(b"x")], &[Some(&long)]];
        for row in rows {
            let mut kept = KeptTable::default();
            for _ in 0..1_000_000 {
                kept.push(row.iter().copied());
                assert!(kept.table.rows.len() * ENTRY_BYTES <= MAX_TABLE_BYTES);
                if kept.bytes > MAX_TABLE_BYTES {
                    break;
                }
            }
            assert!(kept.table.rows.is_empty());
            kept.push(std::iter::once(Some(&b"behind it"[..])));
            assert_eq!(kept.take(), None);
            kept.begin();
            kept.push(std::iter::once(Some(&b"another"[..])));
            assert!(kept.take().is_some());
        }
    }

    #[test]
    fn a_row_of_millions_of_values_is_given_up_on_the_way() {
        let mut kept = KeptTable::default();
        let mut seen = 0;
        kept.push((0..16 << 20).map(|_| {
            seen += 1;
            None
        }));
        assert_eq!(kept.take(), None);
        assert!(seen <= MAX_TABLE_BYTES / ENTRY_BYTES + 1, "{seen}");
    }
}
