//! How MySQL and MariaDB take rows, and how they write tables.

use super::protocol::MysqlProtocol;
use super::request::literal;
use crate::server::{RowLoader, ServerDialect, loaded_columns};
use crate::socket::SocketClient;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::workload::{ColumnType, WorkloadColumn, WorkloadTable};
use std::ops::Range;

/// How MySQL and MariaDB write tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MysqlDialect;

/// Bytes of one INSERT: MySQL 5.5 takes a packet of 1 MiB by default.
const INSERT_BYTES: usize = 512 << 10;

/// Bytes of one transaction while loading: its undo stays small, its end is worth a sync.
const TRANSACTION_BYTES: usize = 8 << 20;

impl RowLoader for MysqlProtocol {
    fn load_rows(
        client: &mut SocketClient<Self>,
        table: &WorkloadTable,
        rows: Range<u64>,
        fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Box<DatabaseFailure>> {
        let name = MysqlDialect.quoted(&table.name);
        let columns = loaded_columns(&MysqlDialect, table);
        let backslash = client.protocol().reads_backslashes();
        let head = format!("INSERT INTO {name} ({columns}) VALUES ");
        let mut sql = head.clone().into_bytes();
        let mut values = Vec::new();
        let mut reported = rows.start;
        let mut open = 0;
        client.query("SET unique_checks = 0, foreign_key_checks = 0, autocommit = 0")?;
        for row in rows.clone() {
            fill(row, &mut values);
            if sql.len() > head.len() {
                sql.push(b',');
            }
            tuple(&values, backslash, &mut sql);
            if sql.len() < INSERT_BYTES && row + 1 < rows.end {
                continue;
            }
            open += sql.len();
            client.query(&String::from_utf8_lossy(&sql))?;
            sql.truncate(head.len());
            if open >= TRANSACTION_BYTES {
                client.query("COMMIT")?;
                open = 0;
            }
            if !progress(row + 1 - reported) {
                break;
            }
            reported = row + 1;
        }
        client.query("COMMIT").map(drop)
    }
}

fn tuple(values: &[SqlValue], backslash: bool, sql: &mut Vec<u8>) {
    sql.push(b'(');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            sql.push(b',');
        }
        literal(value, backslash, sql);
    }
    sql.push(b')');
}

impl ServerDialect for MysqlDialect {
    fn quoted(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn type_of(&self, column: &WorkloadColumn) -> String {
        let kind = match column.kind {
            ColumnType::Integer => "INT".to_owned(),
            ColumnType::BigInt => "BIGINT".to_owned(),
            ColumnType::Double => "DOUBLE".to_owned(),
            ColumnType::Char(length @ 0..=255) => format!("CHAR({length})"),
            ColumnType::Char(length) | ColumnType::Varchar(length) => format!("VARCHAR({length})"),
            ColumnType::Text => "TEXT".to_owned(),
            ColumnType::Timestamp => "DATETIME".to_owned(),
        };
        let key = if column.primary_key { " NOT NULL" } else { "" };
        let auto = if column.auto { " AUTO_INCREMENT" } else { "" };
        format!("{kind}{key}{auto}")
    }

    fn text(&self, text: &str) -> String {
        let mut out = Vec::new();
        literal(&SqlValue::Text(text.to_owned()), true, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn table_options(&self) -> &'static str {
        " ENGINE = InnoDB"
    }

    fn count_tables(&self, name: &str) -> String {
        format!(
            "COUNT(*) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = {name}"
        )
    }

    fn analyze(&self, table: &str) -> String {
        format!("ANALYZE TABLE {table}")
    }

    fn version_query(&self) -> &'static str {
        "SELECT VERSION()"
    }

    fn data_folder_query(&self) -> &'static str {
        "SELECT @@datadir"
    }

    /// InnoDB keeps rows in the order of the key: it must be there first.
    fn adds_key_after_loading(&self) -> bool {
        false
    }
}
