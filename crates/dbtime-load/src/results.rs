//! All that a statement brought back, for programs that want to see it.
//!
//! One buffer is used again and again: nothing is allocated once it has grown.

/// The result sets of one request, in their order, with their values as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultSets {
    sets: Vec<RowSet>,
    /// Every name and value, one behind the other.
    bytes: Vec<u8>,
    /// Where each of them ends in `bytes`; NULL has [`NULL`] set.
    ends: Vec<usize>,
}

/// The highest bit marks a NULL.
const NULL: usize = 1 << (usize::BITS - 1);

/// What one statement brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RowSet {
    columns: usize,
    rows: u64,
    affected: u64,
    /// Where its names begin in `ends`; its values follow them.
    first: usize,
}

impl ResultSets {
    /// Forgets everything, and keeps the room.
    pub fn clear(&mut self) {
        self.sets.clear();
        self.bytes.clear();
        self.ends.clear();
    }

    /// A statement's result begins; its columns and rows follow.
    pub fn begin_set(&mut self) {
        self.sets.push(RowSet { first: self.ends.len(), ..RowSet::default() });
    }

    /// The next column of the set's; all columns come before the first row.
    pub fn push_column(&mut self, name: &[u8]) {
        self.push(Some(name));
        if let Some(set) = self.sets.last_mut() {
            set.columns += 1;
        }
    }

    /// The next value of a row; [`Self::end_row`] follows the last.
    #[inline]
    pub fn push_value(&mut self, value: Option<&[u8]>) {
        self.push(value);
    }

    /// The row is complete.
    #[inline]
    pub fn end_row(&mut self) {
        if let Some(set) = self.sets.last_mut() {
            set.rows += 1;
        }
    }

    /// Rows that the set's statement changed.
    pub fn set_affected(&mut self, affected: u64) {
        if let Some(set) = self.sets.last_mut() {
            set.affected = affected;
        }
    }

    /// Rows that were returned and not kept.
    pub fn count_rows(&mut self, rows: u64) {
        if let Some(set) = self.sets.last_mut() {
            set.rows += rows;
        }
    }

    #[inline]
    fn push(&mut self, value: Option<&[u8]>) {
        if let Some(value) = value {
            self.bytes.extend_from_slice(value);
        }
        let end = self.bytes.len();
        self.ends.push(if value.is_some() { end } else { end | NULL });
    }

    /// How many statements answered.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether nothing answered.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// What the `index`th statement brought back.
    pub fn set(&self, index: usize) -> Option<ResultSet<'_>> {
        self.sets.get(index).map(|set| ResultSet { results: self, set })
    }

    /// Rows returned by all statements together, or changed where none returned any.
    pub fn rows(&self) -> u64 {
        let has_columns = self.sets.iter().any(|set| set.columns > 0);
        let of = |set: &RowSet| if has_columns { set.rows } else { set.affected };
        self.sets.iter().map(of).sum()
    }

    #[inline]
    fn text(&self, at: usize) -> Option<&[u8]> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] & !NULL);
        if end & NULL == 0 { self.bytes.get(start..end) } else { None }
    }
}

/// What one statement brought back.
#[derive(Clone, Copy)]
pub struct ResultSet<'a> {
    results: &'a ResultSets,
    set: &'a RowSet,
}

impl<'a> ResultSet<'a> {
    /// Its columns; 0 where the statement returns no rows.
    pub fn columns(&self) -> usize {
        self.set.columns
    }

    /// The name of a column.
    pub fn name(&self, column: usize) -> Option<&'a [u8]> {
        if column < self.set.columns { self.results.text(self.set.first + column) } else { None }
    }

    /// Rows it returned, whether they were kept or not.
    pub fn rows(&self) -> u64 {
        self.set.rows
    }

    /// Rows it changed.
    pub fn affected(&self) -> u64 {
        self.set.affected
    }

    /// A value; `None` for NULL, and where there is none.
    #[inline]
    pub fn value(&self, row: u64, column: usize) -> Option<&'a [u8]> {
        if column >= self.set.columns || row >= self.set.rows {
            return None;
        }
        self.results.text(self.set.first + (row as usize + 1) * self.set.columns + column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_stand_one_behind_the_other() {
        let mut results = ResultSets::default();
        for _ in 0..2 {
            results.clear();
            results.begin_set();
            results.push_column(b"id");
            results.push_column(b"name");
            for row in [[Some(&b"1"[..]), None], [Some(b"2"), Some(b"")]] {
                row.into_iter().for_each(|value| results.push_value(value));
                results.end_row();
            }
            results.begin_set();
            results.set_affected(7);
        }
        assert_eq!((results.len(), results.rows()), (2, 2));
        let first = results.set(0).expect("a set");
        assert_eq!((first.columns(), first.rows()), (2, 2));
        assert_eq!((first.name(1), first.name(2)), (Some(&b"name"[..]), None));
        assert_eq!((first.value(0, 0), first.value(0, 1)), (Some(&b"1"[..]), None));
        assert_eq!((first.value(1, 1), first.value(2, 0)), (Some(&b""[..]), None));
        let second = results.set(1).expect("a set");
        assert_eq!((second.columns(), second.affected(), second.value(0, 0)), (0, 7, None));
        assert!(results.set(2).is_none());
    }
}
