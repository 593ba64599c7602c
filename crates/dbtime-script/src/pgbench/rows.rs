//! The rows of the standard tables, one after the other: nothing about them is random.

#[cfg(test)]
use dbtime_load::program::SqlValue;
use dbtime_model::named_variants;

named_variants! {
    /// A table that is filled, in the order in which foreign keys want it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ResultTable {
        /// `pgbench_branches`
        Branches = "pgbench_branches",
        /// `pgbench_tellers`
        Tellers = "pgbench_tellers",
        /// `pgbench_accounts`
        Accounts = "pgbench_accounts",
    }
}

/// A row. Columns that it leaves out are NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResultRow {
    /// Branch, teller or account.
    pub id: u64,
    /// The branch of a teller or an account.
    pub branch: Option<u64>,
    /// Whether there is a filler: an empty text, not NULL.
    pub has_filler: bool,
}

impl ResultTable {
    /// Its columns, in the order of [`ResultRow::values`].
    pub(crate) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Branches => &["bid", "bbalance", "filler"],
            Self::Tellers => &["tid", "bid", "tbalance", "filler"],
            Self::Accounts => &["aid", "bid", "abalance", "filler"],
        }
    }

    /// How many rows each branch has.
    pub(crate) fn per_branch(self) -> u64 {
        match self {
            Self::Branches => 1,
            Self::Tellers => 10,
            Self::Accounts => 100_000,
        }
    }

    /// How many rows there are at a scale.
    pub(crate) fn count(self, scale: u64) -> u64 {
        scale * self.per_branch()
    }

    /// The rows at a scale.
    pub(crate) fn rows(self, scale: u64) -> impl ExactSizeIterator<Item = ResultRow> + Clone {
        // A range of `usize` knows its length.
        (0..self.count(scale) as usize).map(move |index| {
            let index = index as u64;
            let branch = (self != Self::Branches).then_some(index / self.per_branch() + 1);
            ResultRow { id: index + 1, branch, has_filler: self == Self::Accounts }
        })
    }
}

impl ResultRow {
    #[cfg(test)]
    pub(crate) fn values(&self) -> impl Iterator<Item = SqlValue> + use<> {
        let integer = |value: u64| SqlValue::Integer(value as i64);
        let filler = if self.has_filler { SqlValue::Text(String::new()) } else { SqlValue::Null };
        std::iter::once(integer(self.id))
            .chain(self.branch.map(integer))
            .chain([SqlValue::Integer(0), filler])
    }

    /// Appends it as a line of COPY in its text format.
    pub(crate) fn write_copy(&self, out: &mut Vec<u8>) {
        let mut number = itoa::Buffer::new();
        out.extend_from_slice(number.format(self.id).as_bytes());
        if let Some(branch) = self.branch {
            out.push(b'\t');
            out.extend_from_slice(number.format(branch).as_bytes());
        }
        out.extend_from_slice(if self.has_filler { b"\t0\t\n" } else { b"\t0\t\\N\n" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_branch_has_its_tellers_and_accounts() {
        assert_eq!(ResultTable::ALL.map(|table| table.rows(2).len()), [2, 20, 200_000]);
        let last = ResultTable::Accounts.rows(2).last().expect("a row");
        assert_eq!(last, ResultRow { id: 200_000, branch: Some(2), has_filler: true });
        let teller = ResultTable::Tellers.rows(2).nth(10).expect("a row");
        assert_eq!((teller.id, teller.branch), (11, Some(2)));
    }

    #[test]
    fn rows_have_a_value_for_each_column() {
        for table in ResultTable::ALL {
            let row = table.rows(1).next().expect("a row");
            assert_eq!(row.values().count(), table.columns().len());
        }
        let mut out = Vec::new();
        ResultTable::ALL
            .iter()
            .for_each(|table| table.rows(1).take(1).for_each(|r| r.write_copy(&mut out)));
        assert_eq!(out, b"1\t0\t\\N\n1\t1\t0\t\\N\n1\t1\t0\t\n");
    }
}
