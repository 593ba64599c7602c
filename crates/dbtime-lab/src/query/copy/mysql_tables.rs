//! How tables of MySQL and MariaDB are made and read.

use super::server_copy::NewDatabase;
use super::table_copy::{TableCopy, cell, no_table, rows_of};
use crate::error::LabError;
use crate::query::session::QuerySession;
use dbtime_engines::server::ServerDialect;

/// What a session of the copy needs to take rows as they are.
pub(super) const FOR_COPY: [&str; 4] = [
    "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'",
    "SET SESSION foreign_key_checks = 0",
    "SET SESSION unique_checks = 0",
    "SET SESSION time_zone = '+00:00'",
];

/// What a session of the original needs to give them.
pub(super) const FOR_ORIGINAL: [&str; 2] = [
    // Definitions come with the quotes of this mode, which all servers read.
    "SET SESSION sql_mode = ''",
    "SET SESSION time_zone = '+00:00'",
];

/// The database of the session, and how it is made anew.
pub(super) fn database(
    session: &mut QuerySession<'_>,
    dialect: &dyn ServerDialect,
) -> Result<NewDatabase, LabError> {
    let rows = rows_of(session, "SELECT DATABASE()")?;
    let name = rows.first().map_or("", |row| cell(row, 0)).to_owned();
    if name.is_empty() {
        return Err(LabError::Usage(format!(
            "{} names no database whose tables could be copied: write \
             mysql://USER@HOST/DATABASE",
            session.place.url()
        )));
    }
    let create = format!("SHOW CREATE DATABASE {}", dialect.quoted(&name));
    let rows = rows_of(session, &create)?;
    let plain = format!("CREATE DATABASE {}", dialect.quoted(&name));
    let create = rows.first().map_or(plain.clone(), |row| cell(row, 1).to_owned());
    // In other modes a statement means something else, or nothing.
    let mode = rows_of(session, "SELECT @@GLOBAL.sql_mode")?;
    let mode = mode.first().map_or("", |row| cell(row, 0));
    let setting = format!("SET GLOBAL sql_mode = {}", dialect.text(mode));
    Ok(NewDatabase { name, create, plain, setting: Some(setting) })
}

pub(super) fn table(
    session: &mut QuerySession<'_>,
    dialect: &dyn ServerDialect,
    name: &str,
) -> Result<TableCopy, LabError> {
    let (quoted, text) = (dialect.quoted(name), dialect.text(name));
    let of_table = format!("table_schema = DATABASE() AND table_name = {text}");
    let size = format!("SELECT data_length FROM information_schema.tables WHERE {of_table}");
    let size = rows_of(session, &size)?;
    let Some(size) = size.first() else { return Err(no_table(session, name)) };
    let columns = format!(
        "SELECT column_name, data_type FROM information_schema.columns WHERE {of_table} AND extra \
         NOT LIKE '%VIRTUAL%' AND extra NOT LIKE '%STORED%' AND extra NOT LIKE '%PERSISTENT%' \
         ORDER BY ordinal_position"
    );
    let columns = rows_of(session, &columns)?;
    let names: Vec<String> = columns.iter().map(|row| dialect.quoted(cell(row, 0))).collect();
    // What comes as bytes is no text that JSON is made of.
    let read = |row: &Vec<Option<String>>| match cell(row, 1) {
        "json" => format!("CAST({} AS CHAR)", dialect.quoted(cell(row, 0))),
        _ => dialect.quoted(cell(row, 0)),
    };
    let read: Vec<String> = columns.iter().map(read).collect();
    let create = rows_of(session, &format!("SHOW CREATE TABLE {quoted}"))?;
    let create = create.first().map_or("", |row| cell(row, 1));
    let (create, keys) = without_foreign_keys(create);
    let note = || format!("{name} has no foreign keys on the copy");
    Ok(TableCopy {
        bytes: cell(size, 0).parse().unwrap_or(0),
        before: vec![create],
        select: format!("SELECT {} FROM {quoted}", read.join(", ")),
        insert: format!("INSERT INTO {quoted} ({}) VALUES ", names.join(", ")),
        behind: Vec::new(),
        notes: (keys > 0).then(note).into_iter().collect(),
        name: quoted,
    })
}

/// A definition without what refers to tables that may not be copied, and how many such keys there
/// were. Each part of a definition is a line of its own.
fn without_foreign_keys(create: &str) -> (String, usize) {
    let is_key = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("FOREIGN KEY (")
            || line.starts_with("CONSTRAINT `") && line.contains("` FOREIGN KEY (")
    };
    let keys = create.lines().filter(is_key).count();
    let lines: Vec<&str> = create.lines().filter(|line| !is_key(line)).collect();
    (lines.join("\n").replace(",\n)", "\n)"), keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_keys_are_left_out_and_nothing_else() {
        let create = "CREATE TABLE `a` (\n  `id` int NOT NULL,\n  `b` int,\n  KEY `b` (`b`),\n  \
                      CONSTRAINT `c` CHECK (`b` > 0),\n  CONSTRAINT `f` FOREIGN KEY (`b`) \
                      REFERENCES `o` (`id`)\n) ENGINE=InnoDB";
        let (left, keys) = without_foreign_keys(create);
        assert_eq!(keys, 1);
        assert!(left.ends_with("CONSTRAINT `c` CHECK (`b` > 0)\n) ENGINE=InnoDB"), "{left}");
        let (same, keys) = without_foreign_keys(&left);
        assert_eq!((same, keys), (left, 0));
    }
}
