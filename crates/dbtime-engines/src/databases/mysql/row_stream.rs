//! Rows that are looked at as they come, in the text form and in the binary one.

use super::row_sink::{INTEGERS, REALS};
use crate::server::{ArrivedPart, ArrivedRows, CellValue, RowVisitor};
use dbtime_wire::ResultRows;
use dbtime_wire::mysql::{MAX_PAYLOAD, MysqlCell, MysqlColumn, binary_cells, column, text_cells};

/// What has come of a request's results, and what is known of the present one.
#[derive(Default)]
pub(super) struct MysqlRowStream {
    arrived: ArrivedRows,
    columns: Vec<MysqlColumn>,
    /// Whether the visitor knows of the present result.
    has_begun: bool,
    unseen: u64,
}

/// Letters of a column's name that are kept: no server gives it more, but another one may.
const MAX_NAME_LETTERS: usize = 256;

/// Types whose values are decimals.
const DECIMALS: [u8; 2] = [0, 246];

/// Types whose values are bytes: BIT, VECTOR, GEOMETRY.
const BYTES: [u8; 3] = [16, 242, 255];

/// Types whose values are texts, or bytes where they have no character set.
const TEXTS: [u8; 7] = [15, 249, 250, 251, 252, 253, 254];

impl MysqlRowStream {
    /// A request is next.
    pub(super) fn begin(&mut self) {
        self.arrived.clear();
        self.columns.clear();
        (self.has_begun, self.unseen) = (false, 0);
    }

    /// Rows of the request that are not handed over.
    pub(super) fn unseen(&self) -> u64 {
        self.unseen
    }

    /// The names of the columns that were described last.
    pub(super) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Hands over what has come.
    pub(super) fn hand_over(&mut self, is_binary: bool, rows: &mut dyn RowVisitor) {
        let arrived = std::mem::take(&mut self.arrived);
        for part in arrived.parts() {
            match part {
                ArrivedPart::Columns(payload) => self.columns.push(described(payload)),
                ArrivedPart::Row(payload) => {
                    self.result_begins(rows);
                    match is_binary {
                        true => self.binary_row(payload, rows),
                        false => self.text_row(payload, rows),
                    }
                }
                ArrivedPart::End => {
                    self.result_begins(rows);
                    self.columns.clear();
                    self.has_begun = false;
                }
            }
        }
        self.arrived = arrived;
        self.arrived.clear();
    }

    /// Tells of a result that has columns, once.
    fn result_begins(&mut self, rows: &mut dyn RowVisitor) {
        if !self.has_begun && !self.columns.is_empty() {
            self.has_begun = true;
            rows.begin(&self.names());
        }
    }

    fn text_row(&self, payload: &[u8], rows: &mut dyn RowVisitor) {
        let mut cells = text_cells(payload);
        for column in &self.columns {
            // Each row has as many values as there are columns, whatever the server sends.
            let cell = cells.next().flatten();
            rows.cell(cell.map_or(CellValue::Null, |bytes| text_value(bytes, column)));
        }
        rows.end_row();
    }

    fn binary_row(&mut self, payload: &[u8], rows: &mut dyn RowVisitor) {
        let Some(cells) = binary_cells(payload, &self.columns) else {
            self.unseen += 1;
            return;
        };
        for (cell, column) in cells.iter().zip(&self.columns) {
            rows.cell(match cell {
                MysqlCell::Null => CellValue::Null,
                MysqlCell::Integer(n) => CellValue::Integer(*n),
                MysqlCell::Unsigned(n) => CellValue::Unsigned(*n),
                MysqlCell::Real(x) => CellValue::Real(*x),
                MysqlCell::Bytes(bytes) => written(bytes, column),
                MysqlCell::Text(text) => CellValue::Text(text.as_bytes()),
            });
        }
        rows.end_row();
    }
}

impl ResultRows for MysqlRowStream {
    fn column(&mut self, payload: &[u8]) {
        self.arrived.push(ArrivedPart::Columns(payload));
    }

    #[inline]
    fn row(&mut self, payload: &[u8]) {
        if payload.len() < MAX_PAYLOAD {
            self.arrived.push(ArrivedPart::Row(payload));
        } else {
            // It goes on in the next packets, which are not handed over.
            self.unseen += 1;
        }
    }

    fn ended(&mut self, _affected: u64) {
        self.arrived.push(ArrivedPart::End);
    }
}

/// A column as it is kept.
fn described(payload: &[u8]) -> MysqlColumn {
    let mut column = column(payload).unwrap_or_default();
    if column.name.len() > MAX_NAME_LETTERS {
        column.name = column.name.chars().take(MAX_NAME_LETTERS).collect();
    }
    column
}

/// A value of the text form.
fn text_value<'a>(bytes: &'a [u8], column: &MysqlColumn) -> CellValue<'a> {
    let text = || std::str::from_utf8(bytes).ok();
    let number = match column.kind {
        kind if INTEGERS.contains(&kind) => text().and_then(|text| {
            let signed = text.parse().map(CellValue::Integer);
            signed.or_else(|_| text.parse().map(CellValue::Unsigned)).ok()
        }),
        kind if REALS.contains(&kind) => {
            text().and_then(|text| text.parse().ok()).map(CellValue::Real)
        }
        _ => None,
    };
    number.unwrap_or_else(|| written(bytes, column))
}

/// A value that both forms write alike.
fn written<'a>(bytes: &'a [u8], column: &MysqlColumn) -> CellValue<'a> {
    match column.kind {
        kind if DECIMALS.contains(&kind) => CellValue::Decimal(bytes),
        kind if BYTES.contains(&kind) => CellValue::Bytes(bytes),
        kind if column.is_binary && TEXTS.contains(&kind) => CellValue::Bytes(bytes),
        // Dates and JSON have no character set either.
        _ => CellValue::Text(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: u8, is_binary: bool) -> MysqlColumn {
        MysqlColumn { kind, is_binary, ..MysqlColumn::default() }
    }

    #[test]
    fn texts_become_values_by_the_types_of_their_columns() {
        let cases: [(&[u8], u8, CellValue<'_>); 8] = [
            (b"-7", 8, CellValue::Integer(-7)),
            (b"0042", 3, CellValue::Integer(42)),
            (b"18446744073709551615", 8, CellValue::Unsigned(u64::MAX)),
            (b"no number", 8, CellValue::Text(b"no number")),
            (b"1.5", 5, CellValue::Real(1.5)),
            (b"1.50", 246, CellValue::Decimal(b"1.50")),
            (b"2024-02-29", 10, CellValue::Text(b"2024-02-29")),
            (b"{}", 245, CellValue::Text(b"{}")),
        ];
        for (bytes, kind, expected) in cases {
            // As servers describe all that is no text.
            assert_eq!(text_value(bytes, &of(kind, true)), expected, "{kind}");
        }
    }

    #[test]
    fn what_has_no_character_set_is_bytes() {
        let odd = b"\xff\0";
        for kind in TEXTS {
            assert_eq!(written(odd, &of(kind, true)), CellValue::Bytes(odd), "{kind}");
            assert_eq!(written(odd, &of(kind, false)), CellValue::Text(odd), "{kind}");
        }
        for kind in BYTES {
            assert_eq!(written(odd, &of(kind, false)), CellValue::Bytes(odd), "{kind}");
        }
    }

    #[test]
    fn a_name_without_end_is_cut() {
        let name = vec![b'n'; 1 << 16];
        let head = b"\x03def\0\0\0\xfd\0\0\x01";
        let rest = [0, 0x0c, 45, 0, 0, 0, 0, 0, 253, 0, 0, 0, 0, 0];
        let column = described(&[&head[..], &name, &rest].concat());
        assert_eq!((column.name.len(), column.kind), (MAX_NAME_LETTERS, 253));
        assert_eq!(described(b"cut off"), MysqlColumn::default());
    }
}
