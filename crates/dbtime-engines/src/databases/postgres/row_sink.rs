//! Rows that somebody wants: the first of a statement as values, all of a query as texts.

use crate::socket::{KeptTable, QueryTable};
use dbtime_load::program::SqlValue;
use dbtime_wire::ResultRows;
use dbtime_wire::postgres::{ExpectedResponse, cells, columns};

/// Which rows are kept, and those that were.
#[derive(Default)]
pub(super) struct PostgresRowSink {
    retention: ExpectedResponse,
    /// Types of each statement's columns, once the server has described them; the last are those of
    /// the query that is no statement of the workload.
    types: Box<[Vec<u32>]>,
    present: usize,
    /// The first row; its texts are used again, so only so many values of it count.
    first: Vec<SqlValue>,
    width: usize,
    table: KeptTable,
}

impl PostgresRowSink {
    pub(super) fn new(statements: usize) -> Self {
        Self { types: vec![Vec::new(); statements + 1].into(), ..Self::default() }
    }

    /// The first row of a statement is wanted.
    pub(super) fn first_of(&mut self, statement: usize) {
        (self.retention, self.present, self.width) = (ExpectedResponse::FirstRow, statement, 0);
    }

    /// All rows of a query are wanted.
    pub(super) fn all(&mut self) {
        (self.retention, self.present) = (ExpectedResponse::Rows, self.types.len() - 1);
        self.table.begin();
    }

    /// The first row, when it was wanted and there was one.
    pub(super) fn first(&self) -> &[SqlValue] {
        &self.first[..self.width]
    }

    pub(super) fn take_table(&mut self) -> Option<QueryTable> {
        self.table.take()
    }
}

impl ResultRows for PostgresRowSink {
    fn columns(&mut self, payload: &[u8]) {
        let types = &mut self.types[self.present];
        types.clear();
        types.extend(columns(payload).map(|column| column.kind));
        if self.retention == ExpectedResponse::Rows {
            let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
            self.table.name_columns(columns(payload).map(|column| name(column.name)).collect());
        }
    }

    fn row(&mut self, payload: &[u8]) {
        if self.retention == ExpectedResponse::Rows {
            return self.table.push(cells(payload));
        }
        self.width = 0;
        for (index, cell) in cells(payload).enumerate() {
            if index == self.first.len() {
                self.first.push(SqlValue::Null);
            }
            let kind = self.types[self.present].get(index).copied().unwrap_or_default();
            set(&mut self.first[index], cell, kind);
            self.width = index + 1;
        }
    }
}

/// Numbers in `pg_type`: int8, int2, int4, oid; float4, float8.
pub(super) const INTEGERS: [u32; 4] = [20, 21, 23, 26];
pub(super) const REALS: [u32; 2] = [700, 701];

/// Makes `value` what the server wrote of a type. Numbers that a double does not hold stay texts.
fn set(value: &mut SqlValue, cell: Option<&[u8]>, kind: u32) {
    let Some(bytes) = cell else { return *value = SqlValue::Null };
    let written = String::from_utf8_lossy(bytes);
    let number = match kind {
        kind if INTEGERS.contains(&kind) => written.parse().ok().map(SqlValue::Integer),
        kind if REALS.contains(&kind) => written.parse().ok().map(SqlValue::Real),
        _ => None,
    };
    match (number, &mut *value) {
        (Some(number), _) => *value = number,
        (None, SqlValue::Text(text)) => {
            text.clear();
            text.push_str(&written);
        }
        (None, _) => *value = SqlValue::Text(written.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_values_by_the_types_of_their_columns() {
        let mut description = b"\0\x04".to_vec();
        for kind in [20u32, 701, 1700, 25] {
            description.extend_from_slice(b"x\0\0\0\0\0\0\0");
            description.extend_from_slice(&kind.to_be_bytes());
            description.extend_from_slice(b"\0\x08\xff\xff\xff\xff\0\0");
        }
        let row = b"\0\x04\0\0\0\x02-7\0\0\0\x031.5\0\0\0\x042.50\xff\xff\xff\xff";
        let mut kept = PostgresRowSink::new(1);
        kept.first_of(0);
        kept.columns(&description);
        kept.row(row);
        let text = SqlValue::Text("2.50".to_owned());
        assert_eq!(
            kept.first(),
            [SqlValue::Integer(-7), SqlValue::Real(1.5), text, SqlValue::Null]
        );
        kept.first_of(0);
        assert_eq!(kept.first(), [], "not this statement's");
        kept.all();
        kept.columns(&description);
        kept.row(row);
        let table = kept.take_table().expect("one row");
        assert_eq!((table.columns.len(), table.value()), (4, Some("-7")));
    }
}
