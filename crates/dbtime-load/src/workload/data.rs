//! The rows a table is loaded with.

use super::{ColumnType, WorkloadTable};
use crate::keys::bound::KeyBinding;
use crate::keys::{BoundKey, KeySpec};
use crate::program::SqlValue;
use crate::random::{RandomSource, RandomStream, draw};

/// How a table is filled, as read from its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataSpec {
    /// The generators of the columns that are inserted, in their order. Slots are positions here;
    /// the slot after the last is the number of the row.
    pub(crate) columns: Vec<KeySpec>,
    /// The order in which they are drawn: each after those it reads.
    pub(crate) order: Vec<u16>,
}

/// The rows of one table at a scale and a seed.
#[derive(Clone, Debug)]
pub struct TableData {
    seed: u64,
    rows: u64,
    columns: Vec<String>,
    draws: Vec<(usize, BoundKey)>,
    is_random: bool,
}

impl TableData {
    pub(super) fn new(
        position: usize,
        table: &WorkloadTable,
        data: &DataSpec,
        binding: &KeyBinding<'_>,
        scale: u64,
    ) -> Self {
        // Rows of different tables draw from different streams.
        let seed = draw(binding.seed, RandomStream::Data, !(position as u64));
        let binding = KeyBinding { seed, ..*binding };
        let bind = |&slot: &u16| {
            let slot = slot as usize;
            (slot, BoundKey::new(&data.columns[slot], &binding, slot as u64))
        };
        let inserted = table.columns.iter().filter(|column| !column.auto);
        Self {
            seed,
            rows: table.row_count(scale),
            columns: inserted.map(|column| column.name.clone()).collect(),
            draws: data.order.iter().map(bind).collect(),
            is_random: data.columns.iter().any(KeySpec::is_random),
        }
    }

    /// How many rows there are.
    pub fn row_count(&self) -> u64 {
        self.rows
    }

    /// The columns that are inserted, in the order of the values: all but those the database
    /// assigns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Replaces `row` by the values of a row, counted from 0, in the order of [`Self::columns`].
    /// A pure function of (seed, table, `index`); buffers of texts in `row` are used again.
    pub fn fill_row(&self, index: u64, row: &mut Vec<SqlValue>) {
        row.resize(self.columns.len() + 1, SqlValue::Null);
        row[self.columns.len()] = SqlValue::Integer(index.wrapping_add(1).cast_signed());
        let random_index = if self.is_random { index } else { 0 };
        let mut random = RandomSource::new(self.seed, RandomStream::Data, random_index);
        for (slot, bound) in &self.draws {
            bound.draw(index, &mut random, row, *slot);
        }
        row.truncate(self.columns.len());
    }
}

/// An estimate of a table on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// The table.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Its bytes with indexes, by a rule of thumb: widths of types and lengths of typical texts,
    /// 24 bytes around each row, 12 around each index entry. Databases differ by a factor of two.
    pub bytes: u64,
}

/// The estimate for a table.
pub(super) fn size(table: &WorkloadTable, data: &DataSpec, scale: u64) -> TableSize {
    const ROW_OVERHEAD: u64 = 24;
    const ENTRY_OVERHEAD: u64 = 12;
    let mut lengths = data.columns.iter().map(KeySpec::length);
    let widths: Vec<u64> = table
        .columns
        .iter()
        .map(|column| {
            let text = if column.auto { None } else { lengths.next().flatten() };
            width(column.kind, text)
        })
        .collect();
    let indexed = |column: &String| {
        let at = table.columns.iter().position(|c| c.name == *column);
        at.map_or(0, |at| widths[at])
    };
    let entry =
        |index: &super::TableIndex| ENTRY_OVERHEAD + index.columns.iter().map(indexed).sum::<u64>();
    let row: u64 = ROW_OVERHEAD + widths.iter().sum::<u64>();
    let entries: u64 = table.indexes.iter().map(entry).sum();
    let rows = table.row_count(scale);
    TableSize { name: table.name.clone(), rows, bytes: rows.saturating_mul(row + entries) }
}

fn width(kind: ColumnType, text: Option<usize>) -> u64 {
    match kind {
        ColumnType::Integer => 4,
        ColumnType::BigInt | ColumnType::Double | ColumnType::Timestamp => 8,
        ColumnType::Char(length) => u64::from(length),
        ColumnType::Varchar(length) => text.map_or(u64::from(length) / 2, |text| text as u64),
        ColumnType::Text => text.map_or(0, |text| text as u64),
    }
}
