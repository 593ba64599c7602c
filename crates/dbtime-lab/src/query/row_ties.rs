//! Whether two results are the same but for the order of rows that their order does not tell apart.
//!
//! ```text
//!   ORDER BY day LIMIT 5      A: 1a 2b 2c 3d 3e      B: 1a 2c 2b 3f 3d
//!   days                         1  2  2  3  3          1  2  2  3  3   the same sequence
//!   complete groups              {a} {b c}              {a} {c b}       the same rows in each
//!   the group that LIMIT cuts              {d e}                {f d}   may differ
//! ```

use super::row_digest::OrderedHash;
use super::row_encoding::RowEncoder;
use dbtime_engines::server::{CellValue, RowVisitor};
use dbtime_sql::StatementOutline;

/// The digest of a result by groups of rows that have the same values in the columns that it is
/// ordered by. Floating-point numbers count by their first 12 digits.
#[derive(Clone, Debug, Default)]
pub(super) struct TieDigest {
    /// The columns of the order.
    order: Vec<usize>,
    row: RowEncoder,
    key: RowEncoder,
    /// The next column of the row.
    column: usize,
    rows: u64,
    /// The keys of all rows in their order.
    keys: OrderedHash,
    /// The group that the last row belongs to.
    last: Option<TieGroup>,
    /// The first group, once there is another one.
    first: Option<u128>,
    /// The groups between both.
    between: OrderedHash,
}

/// Rows that follow each other with the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TieGroup {
    key: u128,
    sum: u128,
}

impl TieDigest {
    /// One for a result that is ordered by these columns.
    pub(super) fn new(seed: u64, order: Vec<usize>) -> Self {
        let encoder = RowEncoder::new(seed, true);
        Self { order, row: encoder.clone(), key: encoder, ..Self::default() }
    }

    /// Whether both results are the same but for rows that the order of this query does not tell
    /// apart.
    pub(super) fn is_same_up_to_ties(&self, other: &Self, query: &StatementOutline) -> bool {
        let sum = |digest: &Self| digest.last.map(|group| group.sum);
        let is_only_group = self.first.is_none();
        let is_cut = query.has_limit && query.limit.is_none_or(|limit| self.rows >= limit);
        let may_last_differ = is_cut || query.has_offset && is_only_group;
        self.rows == other.rows
            && self.keys == other.keys
            && self.between == other.between
            && (self.first == other.first || query.has_offset)
            && (sum(self) == sum(other) || may_last_differ)
    }

    fn end_group(&mut self, group: TieGroup) {
        match self.first {
            None => self.first = Some(group.sum),
            Some(_) => self.between.push(group.sum),
        }
    }
}

impl RowVisitor for TieDigest {
    fn begin(&mut self, _: &[String]) {
        let Self { order, mut row, mut key, .. } = std::mem::take(self);
        row.restart();
        key.restart();
        *self = Self { order, row, key, ..Self::default() };
    }

    fn cell(&mut self, value: CellValue<'_>) {
        self.row.push(value);
        if self.order.contains(&self.column) {
            self.key.push(value);
        }
        self.column += 1;
    }

    fn end_row(&mut self) {
        let (key, hash) = (self.key.finish(), self.row.finish());
        self.column = 0;
        self.rows += 1;
        self.keys.push(key);
        let sum = match self.last {
            Some(group) if group.key == key => group.sum.wrapping_add(hash),
            Some(group) => {
                self.end_group(group);
                hash
            }
            None => hash,
        };
        self.last = Some(TieGroup { key, sum });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CellValue::{Integer, Text};
    use dbtime_model::SqlDialect;
    use dbtime_sql::LexicalRules;

    /// A word for each row: its key, and what else it has.
    fn digest(rows: &str) -> TieDigest {
        let mut digest = TieDigest::new(5, vec![0]);
        digest.begin(&["day".to_owned(), "name".to_owned()]);
        for row in rows.split(' ') {
            let (key, name) = row.split_at(1);
            digest.cell(Integer(key.parse().expect("a digit")));
            digest.cell(Text(name.as_bytes()));
            digest.end_row();
        }
        digest
    }

    fn is_same(end: &str, a: &str, b: &str) -> bool {
        let sql = format!("SELECT day, name FROM t ORDER BY day{end}");
        let query = StatementOutline::of(&sql, &LexicalRules::defaults(SqlDialect::Postgres));
        digest(a).is_same_up_to_ties(&digest(b), &query)
    }

    #[test]
    fn groups_may_be_in_any_order_within() {
        assert!(is_same("", "1a 2b 2c 3d", "1a 2c 2b 3d"));
        assert!(!is_same("", "1a 2b 2c 3d", "2b 2c 1a 3d"), "another order of keys");
        assert!(!is_same("", "1a 2b 2c 3d", "1a 2b 2b 3d"), "another row");
        assert!(!is_same("", "1a 2b 2c 3d", "1a 2b 3d 3c"), "another key");
        assert!(!is_same("", "1a 2b 2c", "1a 2b 2d"), "nothing cuts the last group");
    }

    #[test]
    fn the_group_that_is_cut_may_have_other_rows() {
        assert!(is_same(" LIMIT 5", "1a 2b 2c 3d 3e", "1a 2c 2b 3f 3d"));
        assert!(!is_same(" LIMIT 5", "1a 2b 2c 3d 3e", "1a 2x 2b 3f 3d"), "a complete group");
        assert!(!is_same(" LIMIT 5", "1a 2b 2c 3d 3e", "1x 2b 2c 3d 3e"), "the first group");
        assert!(is_same(" LIMIT 5 OFFSET 1", "1a 2b 2c 3d 3e", "1x 2b 2c 3d 3e"));
        assert!(!is_same(" LIMIT 5 OFFSET 1", "1a 2b 2c 3d 3e", "1a 2b 2x 3d 3e"));
        assert!(is_same(" OFFSET 1", "1a 1b", "1c 1b"), "the first group is the last one");
        assert!(!is_same(" LIMIT 5", "1a 2b", "1a 2b 2c"), "more rows");
        assert!(!is_same(" LIMIT 5", "1a 2b", "1a 2c"), "nothing is cut");
        assert!(is_same(" LIMIT $1", "1a 2b", "1a 2c"), "it may be");
    }
}
