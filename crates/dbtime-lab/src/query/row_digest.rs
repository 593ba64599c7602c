//! A result of any size in constant memory: which rows it has, and in which order.
//!
//! Rows are added up, not combined by XOR: with XOR two equal rows would be none, and rows that
//! are there twice are what goes wrong where a subquery is made a join.

use super::row_encoding::RowEncoder;
use dbtime_engines::server::{CellValue, RowVisitor};

/// What a sequence of hashes is multiplied with at each step: any odd number keeps all of it. This
/// one is good in every bit.
/// Source: M. E. O'Neill, PCG, the multiplier of 128 bits.
const STEP: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// The digest of one result. Two with the same seed can be compared.
#[derive(Clone, Debug, Default)]
pub struct RowDigest {
    encoder: RowEncoder,
    columns: Vec<String>,
    rows: u64,
    order: OrderedHash,
    sum: u128,
}

impl RowDigest {
    /// One that has seen nothing yet.
    pub fn new(seed: u64) -> Self {
        Self { encoder: RowEncoder::new(seed, false), ..Self::default() }
    }

    /// The same, for which floating-point numbers are the same whose first 12 digits are.
    pub fn rounding(seed: u64) -> Self {
        Self { encoder: RowEncoder::new(seed, true), ..Self::default() }
    }

    /// The names of the columns; empty where there was no result.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many rows there were.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether both had the same rows in the same order.
    pub fn is_identical(&self, other: &Self) -> bool {
        self.has_same_rows(other) && self.order == other.order
    }

    /// Whether both had the same rows, each as often.
    pub fn has_same_rows(&self, other: &Self) -> bool {
        self.rows == other.rows
            && self.sum == other.sum
            && self.columns.len() == other.columns.len()
    }

    /// Whether there was a floating-point number.
    pub fn has_reals(&self) -> bool {
        self.encoder.has_reals()
    }
}

impl RowVisitor for RowDigest {
    fn begin(&mut self, columns: &[String]) {
        let mut encoder = std::mem::take(&mut self.encoder);
        encoder.restart();
        *self = Self { encoder, columns: columns.to_vec(), ..Self::default() };
    }

    #[inline]
    fn cell(&mut self, value: CellValue<'_>) {
        self.encoder.push(value);
    }

    #[inline]
    fn end_row(&mut self) {
        let hash = self.encoder.finish();
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hash);
        self.order.push(hash);
    }
}

/// A hash of hashes in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OrderedHash(u128);

impl OrderedHash {
    #[inline]
    pub(super) fn push(&mut self, hash: u128) {
        self.0 = self.0.wrapping_mul(STEP).wrapping_add(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CellValue::{Integer, Null, Text};
    use proptest::prelude::*;

    /// As many rows as one lies hidden among.
    const MANY: usize = 10_000;

    type TestRow = (i64, Option<String>);

    fn rows(seed: i64) -> Vec<TestRow> {
        let text = |at: i64| (at % 7 != 0).then(|| format!("row {}", at.wrapping_mul(seed) % 97));
        (0..MANY as i64).map(|at| (at.wrapping_mul(seed) % 1000, text(at))).collect()
    }

    fn digest<'r>(rows: impl IntoIterator<Item = &'r TestRow>) -> RowDigest {
        let mut digest = RowDigest::new(3);
        digest.begin(&["a".to_owned(), "b".to_owned()]);
        for (number, text) in rows {
            digest.cell(Integer(*number));
            digest.cell(text.as_ref().map_or(Null, |text| Text(text.as_bytes())));
            digest.end_row();
        }
        digest
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]

        #[test]
        fn one_row_among_many_is_found(seed in 1_i64..1 << 40, at in 0..MANY, by in 1_i64..9) {
            let rows = rows(seed);
            let whole = digest(&rows);
            let mut changed = rows.clone();
            changed[at].0 += by;
            let mut doubled = rows.clone();
            doubled.insert(at, rows[at].clone());
            let mut twice = doubled.clone();
            twice.insert(at, rows[at].clone());
            let dropped = rows.iter().enumerate().filter(|(index, _)| *index != at);
            let dropped = digest(dropped.map(|(_, row)| row));
            for other in [digest(&changed), digest(&doubled), digest(&twice), dropped] {
                prop_assert!(!other.has_same_rows(&whole) && !other.is_identical(&whole));
                prop_assert_ne!(other.sum, whole.sum);
            }
            prop_assert!(digest(&rows).is_identical(&whole));
        }

        #[test]
        fn another_order_has_the_same_rows(seed in 1_i64..1 << 40, at in 1..MANY) {
            let rows = rows(seed);
            let whole = digest(&rows);
            let turned = digest(rows[at..].iter().chain(&rows[..at]));
            prop_assert!(turned.has_same_rows(&whole));
            let is_other = rows[at..].iter().chain(&rows[..at]).ne(&rows);
            prop_assert_eq!(turned.is_identical(&whole), !is_other);
            let reversed = digest(rows.iter().rev());
            prop_assert!(reversed.has_same_rows(&whole) && !reversed.is_identical(&whole));
        }
    }

    #[test]
    fn what_was_seen_before_a_result_begins_belongs_to_another_one() {
        let row = (1, None);
        let mut digest = digest([&row]);
        digest.cell(Integer(5));
        digest.begin(&["c".to_owned()]);
        assert_eq!((digest.rows(), digest.columns()), (0, ["c".to_owned()].as_slice()));
        digest.cell(Integer(1));
        digest.end_row();
        let mut fresh = RowDigest::new(3);
        fresh.begin(&["d".to_owned()]);
        fresh.cell(Integer(1));
        fresh.end_row();
        assert!(fresh.is_identical(&digest));
    }

    #[test]
    fn two_equal_rows_are_not_none() {
        let row = (1, None);
        assert!(!digest([&row, &row]).has_same_rows(&digest([])));
        assert_ne!(digest([&row, &row]).sum, digest([]).sum);
    }
}
