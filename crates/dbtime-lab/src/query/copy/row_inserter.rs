//! Rows of one server written into another, as INSERT statements of many rows.

use crate::query::session::QuerySession;
use dbtime_engines::server::{CellValue, RowVisitor, ServerDialect};
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::SqlDialect;
use std::fmt::Write;

/// Bytes of a statement from which it is sent: a server takes at least this much at a time.
const MOST_BYTES: usize = 512 << 10;

/// Writes the rows that it is shown into a copy.
pub(super) struct RowInserter<'i, 's> {
    copy: &'i mut QuerySession<'s>,
    dialect: &'i dyn ServerDialect,
    /// What stands before the first row.
    insert: &'i str,
    /// The statement in the making; empty: it has no row.
    text: String,
    /// Whether a row has begun.
    is_within: bool,
    failure: Option<Box<DatabaseFailure>>,
}

impl<'i, 's> RowInserter<'i, 's> {
    pub(super) fn new(
        copy: &'i mut QuerySession<'s>,
        dialect: &'i dyn ServerDialect,
        insert: &'i str,
    ) -> Self {
        Self { copy, dialect, insert, text: String::new(), is_within: false, failure: None }
    }

    /// Sends what is left.
    ///
    /// # Errors
    /// What the copy has said of any of the rows.
    pub(super) fn finish(mut self) -> Result<(), Box<DatabaseFailure>> {
        self.send();
        self.failure.map_or(Ok(()), Err)
    }

    fn send(&mut self) {
        if !self.text.is_empty() && self.failure.is_none() {
            self.failure = self.copy.connection.run_text(&self.text, &mut ()).err();
        }
        self.text.clear();
    }
}

impl RowVisitor for RowInserter<'_, '_> {
    fn begin(&mut self, _: &[String]) {
        self.text.clear();
    }

    fn cell(&mut self, value: CellValue<'_>) {
        let before = match (self.text.is_empty(), self.is_within) {
            (true, _) => {
                self.text.push_str(self.insert);
                "("
            }
            (false, false) => ", (",
            (false, true) => ", ",
        };
        self.is_within = true;
        self.text.push_str(before);
        write_value(value, self.dialect, self.copy.product.dialect(), &mut self.text);
    }

    fn end_row(&mut self) {
        self.text.push(')');
        self.is_within = false;
        if self.text.len() >= MOST_BYTES {
            self.send();
        }
    }
}

/// A value as SQL takes it, which the column's type reads as it was.
fn write_value(
    value: CellValue<'_>,
    server: &dyn ServerDialect,
    sql: SqlDialect,
    out: &mut String,
) {
    // Nothing fails that is written to a text.
    let _ = match value {
        CellValue::Null => write!(out, "NULL"),
        CellValue::Integer(number) => write!(out, "{number}"),
        CellValue::Unsigned(number) => write!(out, "{number}"),
        CellValue::Real(number) => write!(out, "'{number:e}'"),
        CellValue::Decimal(bytes) => write!(out, "'{}'", String::from_utf8_lossy(bytes)),
        CellValue::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => write!(out, "{}", server.text(text)),
            Err(_) => write_bytes(bytes, sql, out),
        },
        CellValue::Bytes(bytes) => write_bytes(bytes, sql, out),
    };
}

fn write_bytes(bytes: &[u8], sql: SqlDialect, out: &mut String) -> std::fmt::Result {
    out.push_str(if sql == SqlDialect::Postgres { "'\\x" } else { "x'" });
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
    write!(out, "'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_engines::databases;
    use dbtime_model::Product;

    #[test]
    fn values_are_written_as_each_server_reads_them() {
        let values = [
            CellValue::Null,
            CellValue::Integer(-1),
            CellValue::Unsigned(u64::MAX),
            CellValue::Real(1e300),
            CellValue::Decimal(b"1.50"),
            CellValue::Text(b"it's"),
            CellValue::Text(b"\xff"),
            CellValue::Bytes(b"\x00A"),
            CellValue::Bytes(b""),
        ];
        for (url, product, bytes) in [
            ("mysql://root@127.0.0.1/a", Product::Mysql, "x'ff' x'0041' x''"),
            ("postgres://me@127.0.0.1/a", Product::Postgres, "'\\xff' '\\x0041' '\\x'"),
        ] {
            let server = databases::server(product, url, &|_| None).expect("a server");
            let mut out = String::new();
            for value in values {
                write_value(value, server.dialect(), product.dialect(), &mut out);
                out.push(' ');
            }
            let numbers = "NULL -1 18446744073709551615 '1e300' '1.50'";
            let quoted = server.dialect().text("it's");
            assert_eq!(out.trim_end(), format!("{numbers} {quoted} {bytes}"));
        }
    }
}
