//! Which rows one result has and another one lacks.
//!
//! A first pass over both counts rows by their hashes, a second one keeps the first rows of which
//! the other side has fewer. Floating-point numbers count by their first 12 digits.

use super::row_encoding::RowEncoder;
use dbtime_engines::server::{CellValue, RowVisitor};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// How many different rows are counted: 64 MB for each side.
const MAX_DISTINCT: usize = 1_000_000;

/// How many rows are shown of each side.
const SHOWN_ROWS: usize = 3;

/// Longer values are cut. Unit: bytes.
const SHOWN_BYTES: usize = 200;

/// How often each row is there.
#[derive(Clone, Debug, Default)]
pub(super) struct RowCounts {
    seed: u64,
    encoder: RowEncoder,
    counts: FxHashMap<u128, u64>,
    /// Whether there were more different rows than are counted.
    is_cut: bool,
}

impl RowCounts {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, encoder: RowEncoder::new(seed, true), ..Self::default() }
    }

    /// Whether not all rows were counted.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether both have the same rows, however often; not known of those that are cut.
    pub(super) fn has_same_distinct_rows(&self, other: &Self) -> bool {
        !self.is_cut
            && !other.is_cut
            && self.counts.len() == other.counts.len()
            && self.counts.keys().all(|hash| other.counts.contains_key(hash))
    }

    /// Whether this has a row more often.
    fn exceeds(&self, other: &Self, hash: u128) -> bool {
        let count = |counts: &Self| counts.counts.get(&hash).copied().unwrap_or(0);
        count(self) > count(other)
    }
}

impl RowVisitor for RowCounts {
    fn begin(&mut self, _: &[String]) {
        *self = Self::new(self.seed);
    }

    fn cell(&mut self, value: CellValue<'_>) {
        self.encoder.push(value);
    }

    fn end_row(&mut self) {
        let hash = self.encoder.finish();
        match self.counts.len() < MAX_DISTINCT || self.counts.contains_key(&hash) {
            true => *self.counts.entry(hash).or_default() += 1,
            false => self.is_cut = true,
        }
    }
}

/// The first rows of a result of which another one has fewer, each once.
#[derive(Debug)]
pub(super) struct ExcessRows<'c> {
    own: &'c RowCounts,
    other: &'c RowCounts,
    encoder: RowEncoder,
    row: Vec<Option<String>>,
    found: FxHashSet<u128>,
    rows: Vec<Vec<Option<String>>>,
}

impl<'c> ExcessRows<'c> {
    /// One for the result that was counted in `own`.
    pub(super) fn new(own: &'c RowCounts, other: &'c RowCounts) -> Self {
        let encoder = RowEncoder::new(own.seed, true);
        let found = FxHashSet::default();
        Self { own, other, encoder, row: Vec::new(), found, rows: Vec::new() }
    }

    /// The rows as text; `None` is NULL.
    pub(super) fn into_rows(self) -> Vec<Vec<Option<String>>> {
        self.rows
    }
}

impl RowVisitor for ExcessRows<'_> {
    fn begin(&mut self, _: &[String]) {
        *self = Self::new(self.own, self.other);
    }

    fn cell(&mut self, value: CellValue<'_>) {
        if self.rows.len() < SHOWN_ROWS {
            self.encoder.push(value);
            self.row.push(shown(value));
        }
    }

    fn end_row(&mut self) {
        if self.rows.len() == SHOWN_ROWS {
            return;
        }
        let hash = self.encoder.finish();
        let row = std::mem::take(&mut self.row);
        if self.own.exceeds(self.other, hash) && self.found.insert(hash) {
            self.rows.push(row);
        }
    }
}

/// A value as text; `None` is NULL.
fn shown(value: CellValue<'_>) -> Option<String> {
    match value {
        CellValue::Null => None,
        CellValue::Integer(value) => Some(value.to_string()),
        CellValue::Unsigned(value) => Some(value.to_string()),
        CellValue::Real(value) => Some(value.to_string()),
        CellValue::Decimal(bytes) | CellValue::Text(bytes) => Some(cut(bytes)),
        CellValue::Bytes(bytes) => Some(match std::str::from_utf8(bytes) {
            Ok(_) => cut(bytes),
            Err(_) => hexadecimal(bytes),
        }),
    }
}

/// The beginning of a text; U+FFFD stands for what is no UTF-8.
fn cut(bytes: &[u8]) -> String {
    let mut end = SHOWN_BYTES;
    if bytes.len() <= end {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    // A character, which has four bytes at most, is not cut in two.
    while end > SHOWN_BYTES - 3 && bytes[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    format!("{}…", String::from_utf8_lossy(&bytes[..end]))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = "x'".to_owned();
    for byte in bytes.iter().take(SHOWN_BYTES / 2) {
        // Writing into memory never fails.
        let _ = write!(text, "{byte:02x}");
    }
    text.push_str(if bytes.len() > SHOWN_BYTES / 2 { "…'" } else { "'" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use CellValue::{Bytes, Integer, Null, Real, Text};

    fn counts(rows: &[i64]) -> RowCounts {
        let mut counts = RowCounts::new(9);
        visit(&mut counts, rows);
        counts
    }

    fn visit(visitor: &mut dyn RowVisitor, rows: &[i64]) {
        visitor.begin(&["a".to_owned(), "b".to_owned()]);
        for row in rows {
            visitor.cell(Integer(*row));
            visitor.cell(Null);
            visitor.end_row();
        }
    }

    #[test]
    fn rows_are_shown_that_the_other_side_lacks_or_has_less_often() {
        let (a, b) = ([1, 2, 2, 3, 5, 6, 7, 8], [1, 2, 3, 4, 4]);
        let (counts_a, counts_b) = (counts(&a), counts(&b));
        let mut only_in_a = ExcessRows::new(&counts_a, &counts_b);
        visit(&mut only_in_a, &a);
        let mut only_in_b = ExcessRows::new(&counts_b, &counts_a);
        visit(&mut only_in_b, &b);
        let row = |value: &str| vec![Some(value.to_owned()), None];
        assert_eq!(only_in_a.into_rows(), [row("2"), row("5"), row("6")]);
        assert_eq!(only_in_b.into_rows(), [row("4")]);
    }

    #[test]
    fn different_rows_are_compared_as_sets() {
        assert!(counts(&[1, 2, 2]).has_same_distinct_rows(&counts(&[2, 1])));
        assert!(!counts(&[1, 2]).has_same_distinct_rows(&counts(&[1, 3])));
        assert!(!counts(&[1, 2]).has_same_distinct_rows(&counts(&[1])));
        let mut cut = counts(&[1]);
        cut.is_cut = true;
        assert!(cut.is_cut() && !cut.has_same_distinct_rows(&counts(&[1])));
    }

    #[test]
    fn values_are_texts_of_bounded_length() {
        let long = "é".repeat(150);
        for (value, text) in [
            (Null, None),
            (Integer(-1), Some("-1".to_owned())),
            (Real(1.5), Some("1.5".to_owned())),
            (Text(b"a\xff"), Some("a\u{fffd}".to_owned())),
            (Bytes(b"ab"), Some("ab".to_owned())),
            (Bytes(b"\xff\x00"), Some("x'ff00'".to_owned())),
            (Bytes(&[0xfe; 101]), Some(format!("x'{}…'", "fe".repeat(100)))),
            (Text(&long.as_bytes()[..SHOWN_BYTES]), Some("é".repeat(100))),
            (Text(long.as_bytes()), Some(format!("{}…", "é".repeat(100)))),
            (Text(format!("a{long}").as_bytes()), Some(format!("a{}…", "é".repeat(99)))),
        ] {
            assert_eq!(shown(value), text, "{value:?}");
        }
    }
}
