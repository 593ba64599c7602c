//! How MySQL and MariaDB take rows, and how they write tables.

use super::protocol::MysqlProtocol;
use super::request::literal;
use crate::server::{RowLoader, ServerDialect, loaded_columns};
use crate::socket::SocketClient;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::workload::{ColumnType, WorkloadColumn, WorkloadTable};
use dbtime_model::ErrorClass;
use std::ops::Range;

/// How MySQL and MariaDB write tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MysqlDialect;

/// Bytes of one INSERT: MySQL 5.5 takes a packet of 1 MiB by default.
const INSERT_BYTES: usize = 512 << 10;

/// Bytes of one transaction while loading: its undo stays small, its end is worth a sync.
const TRANSACTION_BYTES: usize = 8 << 20;

/// So often a transaction of rows is tried where others of the load are in its way.
const LOAD_ATTEMPTS: u32 = 10;

impl RowLoader for MysqlProtocol {
    fn load_rows(
        client: &mut SocketClient<Self>,
        table: &WorkloadTable,
        rows: Range<u64>,
        fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<(), Box<DatabaseFailure>> {
        client.query("SET unique_checks = 0, foreign_key_checks = 0, autocommit = 0")?;
        in_transactions(rows, progress, |rows| load_transaction(client, table, rows, fill))
    }
}

/// Loads rows in as many transactions as `load` makes of them: it takes the rows that are left, and
/// returns the one behind its last.
fn in_transactions(
    rows: Range<u64>,
    progress: &mut dyn FnMut(u64) -> bool,
    mut load: impl FnMut(Range<u64>) -> Result<u64, Box<DatabaseFailure>>,
) -> Result<(), Box<DatabaseFailure>> {
    let mut from = rows.start;
    let mut attempts = 1;
    while from < rows.end {
        match load(from..rows.end) {
            Ok(next) => {
                if !progress(next - from) {
                    break;
                }
                (from, attempts) = (next, 1);
            }
            // MariaDB locks an empty table for its first rows: two connections that both have begun
            // with it are a deadlock, of which the server undoes one.
            Err(failure) if failure.class == ErrorClass::Conflict && attempts < LOAD_ATTEMPTS => {
                attempts += 1;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Loads rows from the first on in one transaction, as many as are worth one; returns the row
/// behind the last.
fn load_transaction(
    client: &mut SocketClient<MysqlProtocol>,
    table: &WorkloadTable,
    rows: Range<u64>,
    fill: &mut dyn FnMut(u64, &mut Vec<SqlValue>),
) -> Result<u64, Box<DatabaseFailure>> {
    let name = MysqlDialect.quoted(&table.name);
    let columns = loaded_columns(&MysqlDialect, table);
    let backslash = client.protocol().reads_backslashes();
    let head = format!("INSERT INTO {name} ({columns}) VALUES ");
    let mut sql = head.clone().into_bytes();
    let mut values = Vec::new();
    let mut next = rows.start;
    let mut sent = 0;
    while next < rows.end && sent < TRANSACTION_BYTES {
        fill(next, &mut values);
        next += 1;
        if sql.len() > head.len() {
            sql.push(b',');
        }
        tuple(&values, backslash, &mut sql);
        if sql.len() < INSERT_BYTES && next < rows.end {
            continue;
        }
        sent += sql.len();
        client.build(&String::from_utf8_lossy(&sql))?;
        sql.truncate(head.len());
    }
    client.build("COMMIT")?;
    Ok(next)
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

    fn client_address_query(&self) -> &'static str {
        "SELECT HOST FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()"
    }

    fn data_folder_query(&self) -> &'static str {
        "SELECT @@datadir"
    }

    /// InnoDB keeps rows in the order of the key: it must be there first.
    fn adds_key_after_loading(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: ErrorClass) -> Box<DatabaseFailure> {
        Box::new(DatabaseFailure { class, ..DatabaseFailure::connection("1213", "Deadlock") })
    }

    /// Loads ten rows in transactions of four, of which some fail first. Returns the rows that the
    /// transactions began with, what was reported, and how it ended.
    fn loaded(failures: &[ErrorClass], goes_on: bool) -> (Vec<u64>, Vec<u64>, Option<ErrorClass>) {
        let (mut begun, mut reported) = (Vec::new(), Vec::new());
        let mut failures = failures.iter();
        let mut progress = |rows| {
            reported.push(rows);
            goes_on
        };
        let ended = in_transactions(0..10, &mut progress, |rows| {
            begun.push(rows.start);
            match failures.next() {
                Some(class) if rows.start >= 4 => Err(failure(*class)),
                _ => Ok(rows.end.min(rows.start + 4)),
            }
        });
        (begun, reported, ended.err().map(|failure| failure.class))
    }

    #[test]
    fn rows_that_a_deadlock_undid_are_loaded_again() {
        assert_eq!(loaded(&[], true), (vec![0, 4, 8], vec![4, 4, 2], None));
        let conflicts = [ErrorClass::Conflict; 3];
        assert_eq!(loaded(&conflicts, true), (vec![0, 4, 4, 4, 8], vec![4, 4, 2], None));
    }

    #[test]
    fn other_failures_and_too_many_deadlocks_end_a_load() {
        let full = [ErrorClass::Full; 2];
        assert_eq!(loaded(&full, true), (vec![0, 4], vec![4], Some(ErrorClass::Full)));
        let (begun, reported, ended) = loaded(&[ErrorClass::Conflict; 99], true);
        assert_eq!((begun.len(), reported, ended), (11, vec![4], Some(ErrorClass::Conflict)));
    }

    #[test]
    fn a_load_stops_where_it_is_to() {
        assert_eq!(loaded(&[], false), (vec![0], vec![4], None));
    }
}
