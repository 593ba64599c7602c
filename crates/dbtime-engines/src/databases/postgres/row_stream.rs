//! Rows that are looked at as they come.

use super::row_sink::{INTEGERS, REALS};
use crate::server::{ArrivedPart, ArrivedRows, CellValue, RowVisitor};
use dbtime_wire::postgres::{cells, columns};

/// What has come of a request's results, and what is known of the present one.
#[derive(Default)]
pub(super) struct PostgresRowStream {
    arrived: ArrivedRows,
    /// Types of the columns of the result that is handed over.
    kinds: Vec<u32>,
    /// Whether the result that is being read has columns.
    is_described: bool,
    /// Rows of that result so far.
    seen: u64,
    unseen: u64,
}

/// Numbers in `pg_type`: numeric; bytea.
const NUMERIC: u32 = 1700;
const BYTEA: u32 = 17;

impl PostgresRowStream {
    /// A request is next.
    pub(super) fn begin(&mut self) {
        self.arrived.clear();
        self.kinds.clear();
        (self.is_described, self.seen, self.unseen) = (false, 0, 0);
    }

    /// A result begins that is described so.
    pub(super) fn columns(&mut self, description: &[u8]) {
        self.is_described = true;
        self.arrived.push(ArrivedPart::Columns(description));
    }

    #[inline]
    pub(super) fn row(&mut self, payload: &[u8]) {
        self.seen += 1;
        self.arrived.push(ArrivedPart::Row(payload));
    }

    /// The result is complete, with so many rows: those that were not there were too long.
    pub(super) fn ended(&mut self, rows: u64) {
        if self.is_described {
            self.unseen += rows.saturating_sub(self.seen);
        }
        (self.is_described, self.seen) = (false, 0);
    }

    /// Rows of the request that are not handed over.
    pub(super) fn unseen(&self) -> u64 {
        self.unseen
    }

    /// Hands over what has come.
    pub(super) fn hand_over(&mut self, rows: &mut dyn RowVisitor) {
        for part in self.arrived.parts() {
            match part {
                ArrivedPart::Columns(description) => {
                    self.kinds.clear();
                    self.kinds.extend(columns(description).map(|column| column.kind));
                    rows.begin(&names(description));
                }
                ArrivedPart::Row(payload) => {
                    let mut cells = cells(payload);
                    for kind in &self.kinds {
                        // Each row has as many values as there are columns, whatever the server
                        // sends.
                        let cell = cells.next().flatten();
                        rows.cell(cell.map_or(CellValue::Null, |bytes| value(bytes, *kind)));
                    }
                    rows.end_row();
                }
                ArrivedPart::End => {}
            }
        }
        self.arrived.clear();
    }
}

/// The names of the columns of a RowDescription.
pub(super) fn names(description: &[u8]) -> Vec<String> {
    let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    columns(description).map(|column| name(column.name)).collect()
}

/// What the server wrote of a type.
fn value(bytes: &[u8], kind: u32) -> CellValue<'_> {
    let text = || std::str::from_utf8(bytes).ok();
    let number = match kind {
        kind if INTEGERS.contains(&kind) => {
            text().and_then(|text| text.parse().ok()).map(CellValue::Integer)
        }
        kind if REALS.contains(&kind) => {
            text().and_then(|text| text.parse().ok()).map(CellValue::Real)
        }
        NUMERIC => Some(CellValue::Decimal(bytes)),
        BYTEA => Some(CellValue::Bytes(bytes)),
        _ => None,
    };
    number.unwrap_or(CellValue::Text(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_values_by_the_types_of_their_columns() {
        let cases: [(&[u8], u32, CellValue<'_>); 8] = [
            (b"-7", 20, CellValue::Integer(-7)),
            (b"4294967295", 26, CellValue::Integer(4_294_967_295)),
            (b"no number", 23, CellValue::Text(b"no number")),
            (b"-Infinity", 701, CellValue::Real(f64::NEG_INFINITY)),
            (b"1.50", 1700, CellValue::Decimal(b"1.50")),
            (b"\\x00ff", 17, CellValue::Bytes(b"\\x00ff")),
            (b"t", 16, CellValue::Text(b"t")),
            (b"\xff", 25, CellValue::Text(b"\xff")),
        ];
        for (bytes, kind, expected) in cases {
            assert_eq!(value(bytes, kind), expected, "{kind}");
        }
    }

    #[test]
    fn rows_that_are_missing_were_too_long() {
        let mut stream = PostgresRowStream::default();
        for (described, rows, missing) in [(true, 5, 3), (true, 2, 0), (false, 7, 0)] {
            stream.begin();
            if described {
                stream.columns(b"\0\0");
                (0..2).for_each(|_| stream.row(b"\0\0"));
            }
            stream.ended(rows);
            assert_eq!(stream.unseen(), missing, "{rows} rows");
        }
    }
}
