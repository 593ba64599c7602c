//! How PostgreSQL takes rows, and how it writes tables.

use super::protocol::PostgresProtocol;
use crate::server::{RowLoader, ServerDialect, loaded_columns};
use crate::socket::SocketClient;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::workload::{ColumnType, WorkloadColumn, WorkloadTable};
use memchr::{memchr, memchr3};
use std::io::Write;
use std::ops::Range;

/// How PostgreSQL writes tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PostgresDialect;

/// Bytes that are made before they are sent.
const COPY_BYTES: usize = 256 << 10;

impl RowLoader for PostgresProtocol {
    fn load_rows(
        client: &mut SocketClient<Self>,
        table: &WorkloadTable,
        rows: Range<u64>,
        fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Box<DatabaseFailure>> {
        let name = PostgresDialect.quoted(&table.name);
        let columns = loaded_columns(&PostgresDialect, table);
        let sql = format!("COPY {name} ({columns}) FROM STDIN");
        let mut next = rows.start;
        let mut values = Vec::new();
        let mut goes_on = true;
        client.copy(&sql, |data| {
            let from = next;
            while goes_on && next < rows.end && data.len() < COPY_BYTES {
                fill(next, &mut values);
                line(&values, data);
                next += 1;
            }
            if next > from {
                goes_on = progress(next - from);
            }
        })?;
        Ok(())
    }
}

/// A line of COPY's text format.
fn line(values: &[SqlValue], data: &mut Vec<u8>) {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            data.push(b'\t');
        }
        // Writing to a vector does not fail.
        let _ = match value {
            SqlValue::Null => data.write_all(b"\\N"),
            SqlValue::Integer(n) => write!(data, "{n}"),
            SqlValue::Real(x) => write!(data, "{x:e}"),
            SqlValue::Text(text) => {
                escaped(text, data);
                Ok(())
            }
        };
    }
    data.push(b'\n');
}

fn escaped(text: &str, data: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    if memchr3(b'\\', b'\t', b'\n', bytes).is_none() && memchr(b'\r', bytes).is_none() {
        // As nearly all are: megabytes of them are loaded.
        return data.extend_from_slice(bytes);
    }
    for byte in text.bytes() {
        match byte {
            b'\\' => data.extend_from_slice(b"\\\\"),
            b'\t' => data.extend_from_slice(b"\\t"),
            b'\n' => data.extend_from_slice(b"\\n"),
            b'\r' => data.extend_from_slice(b"\\r"),
            other => data.push(other),
        }
    }
}

impl ServerDialect for PostgresDialect {
    /// Names without anything odd stay bare, so that statements of workloads find them.
    fn quoted(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn type_of(&self, column: &WorkloadColumn) -> String {
        let kind = match (column.kind, column.auto) {
            // SERIAL is older than IDENTITY, and every version still has it.
            (ColumnType::Integer, true) => "SERIAL".to_owned(),
            (ColumnType::BigInt, true) => "BIGSERIAL".to_owned(),
            (ColumnType::Integer, _) => "INTEGER".to_owned(),
            (ColumnType::BigInt, _) => "BIGINT".to_owned(),
            (ColumnType::Double, _) => "DOUBLE PRECISION".to_owned(),
            (ColumnType::Char(length), _) => format!("CHAR({length})"),
            (ColumnType::Varchar(length), _) => format!("VARCHAR({length})"),
            (ColumnType::Text, _) => "TEXT".to_owned(),
            (ColumnType::Timestamp, _) => "TIMESTAMP".to_owned(),
        };
        let key = if column.primary_key { " NOT NULL" } else { "" };
        format!("{kind}{key}")
    }

    fn text(&self, text: &str) -> String {
        let quoted = text.replace('\'', "''");
        match quoted.contains('\\') {
            true => format!("E'{}'", quoted.replace('\\', "\\\\")),
            false => format!("'{quoted}'"),
        }
    }

    fn count_tables(&self, name: &str) -> String {
        format!(
            "COUNT(*) FROM pg_catalog.pg_class \
             WHERE relname = {name} AND relkind IN ('r', 'p') AND pg_table_is_visible(oid)"
        )
    }

    /// Also sets the hint bits, which the first reader would else write.
    fn analyze(&self, table: &str) -> String {
        format!("VACUUM ANALYZE {table}")
    }

    fn version_query(&self) -> &'static str {
        "SHOW server_version"
    }

    fn client_address_query(&self) -> &'static str {
        "SELECT host(inet_client_addr()) || ':' || inet_client_port()"
    }

    fn data_folder_query(&self) -> &'static str {
        "SHOW data_directory"
    }

    /// An index made of what is there is smaller, and faster made.
    fn adds_key_after_loading(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines_that_copy_takes() {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let mut data = Vec::new();
        line(
            &[SqlValue::Integer(-5), SqlValue::Null, text("a\tb\\\nü"), SqlValue::Real(0.5)],
            &mut data,
        );
        assert_eq!(String::from_utf8_lossy(&data), "-5\t\\N\ta\\tb\\\\\\nü\t5e-1\n");
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(PostgresDialect.text("it's"), "'it''s'");
        assert_eq!(PostgresDialect.text("a\\b'"), "E'a\\\\b'''");
    }
}
