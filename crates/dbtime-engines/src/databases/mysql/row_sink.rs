//! Rows that somebody wants: the first of a statement as values, all of a query as texts.

use crate::socket::{KeptTable, QueryTable};
use dbtime_load::program::SqlValue;
use dbtime_wire::ResultRows;
use dbtime_wire::mysql::{MysqlCell, MysqlColumn, binary_cells, column, text_cells};

/// A result has no more columns (`MAX_FIELDS` of MySQL is 4096), and what dbtime asks has one
/// result.
const MAX_COLUMNS: usize = 65_535;

/// Which rows are kept, and those that were.
#[derive(Default)]
pub(super) struct MysqlRowSink {
    keep: RowRetention,
    columns: Vec<MysqlColumn>,
    first: Vec<SqlValue>,
    table: KeptTable,
}

/// Which rows of an answer are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RowRetention {
    #[default]
    Nothing,
    FirstText,
    FirstBinary,
    All,
}

impl MysqlRowSink {
    /// An answer is next, of which so much is wanted.
    #[inline]
    pub(super) fn begin(&mut self, keep: RowRetention) {
        self.keep = keep;
        self.columns.clear();
        match keep {
            RowRetention::Nothing => {}
            RowRetention::FirstText | RowRetention::FirstBinary => self.first.clear(),
            RowRetention::All => self.table.begin(),
        }
    }

    #[inline]
    pub(super) fn is_kept(&self) -> bool {
        self.keep != RowRetention::Nothing
    }

    /// The first row, when it was wanted and there was one.
    pub(super) fn first(&self) -> &[SqlValue] {
        &self.first
    }

    pub(super) fn take_table(&mut self) -> Option<QueryTable> {
        self.table.name_columns(self.columns.iter().map(|column| column.name.clone()).collect());
        self.table.take()
    }
}

impl ResultRows for MysqlRowSink {
    fn column(&mut self, payload: &[u8]) {
        if self.columns.len() < MAX_COLUMNS {
            self.columns.push(column(payload).unwrap_or_default());
        }
    }

    fn row(&mut self, payload: &[u8]) {
        match self.keep {
            RowRetention::FirstText if self.first.is_empty() => {
                let cells = text_cells(payload).zip(&self.columns);
                self.first = cells.map(|(cell, column)| text_value(cell, column)).collect();
            }
            RowRetention::FirstBinary if self.first.is_empty() => {
                let cells = binary_cells(payload, &self.columns).unwrap_or_default();
                self.first = cells.into_iter().map(value).collect();
            }
            RowRetention::All => {
                self.table.push(text_cells(payload));
            }
            _ => {}
        }
    }

    fn ended(&mut self, _affected: u64) {
        // Another result has columns of its own, and there may be results without end.
        if self.keep != RowRetention::All {
            self.columns.clear();
        }
    }
}

/// Types whose values are whole numbers, and those with a fraction that a double holds.
pub(super) const INTEGERS: [u8; 6] = [1, 2, 3, 8, 9, 13];
pub(super) const REALS: [u8; 2] = [4, 5];

fn text_value(cell: Option<&[u8]>, column: &MysqlColumn) -> SqlValue {
    let Some(bytes) = cell else { return SqlValue::Null };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let number = match column.kind {
        kind if INTEGERS.contains(&kind) => text.parse().ok().map(SqlValue::Integer),
        kind if REALS.contains(&kind) => text.parse().ok().map(SqlValue::Real),
        _ => None,
    };
    number.unwrap_or(SqlValue::Text(text))
}

fn value(cell: MysqlCell<'_>) -> SqlValue {
    match cell {
        MysqlCell::Null => SqlValue::Null,
        MysqlCell::Integer(n) => SqlValue::Integer(n),
        MysqlCell::Unsigned(n) => SqlValue::Text(n.to_string()),
        MysqlCell::Real(x) => SqlValue::Real(x),
        MysqlCell::Bytes(bytes) => SqlValue::Text(String::from_utf8_lossy(bytes).into_owned()),
        MysqlCell::Text(text) => SqlValue::Text(text),
    }
}
