//! How SQLite writes a workload's tables, indexes and inserts.

use dbtime_load::workload::{ColumnType, WorkloadColumn, WorkloadTable};

/// A name as SQL takes it, whatever it contains.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn quoted_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(quoted).collect::<Vec<_>>().join(", ")
}

/// CREATE TABLE with its primary key.
pub(super) fn create_table(table: &WorkloadTable) -> String {
    let key: Vec<&WorkloadColumn> =
        table.columns.iter().filter(|column| column.primary_key).collect();
    let is_alone = key.len() == 1;
    let mut lines: Vec<String> = table.columns.iter().map(|c| column(c, is_alone)).collect();
    if key.len() > 1 {
        let names = quoted_list(key.iter().map(|column| column.name.as_str()));
        lines.push(format!("PRIMARY KEY ({names})"));
    }
    format!("CREATE TABLE {} ({})", quoted(&table.name), lines.join(", "))
}

fn column(column: &WorkloadColumn, is_only_key: bool) -> String {
    let name = quoted(&column.name);
    match column.primary_key && is_only_key {
        true => format!("{name} {} PRIMARY KEY", type_name(column.kind)),
        false => format!("{name} {}", type_name(column.kind)),
    }
}

/// INTEGER whatever the width: only by that very name is a primary key the row's own number, and
/// SQLite assigns it where it is left out.
fn type_name(kind: ColumnType) -> String {
    match kind {
        ColumnType::Integer | ColumnType::BigInt => "INTEGER".to_owned(),
        ColumnType::Double => "REAL".to_owned(),
        ColumnType::Char(length) => format!("CHAR({length})"),
        ColumnType::Varchar(length) => format!("VARCHAR({length})"),
        ColumnType::Text => "TEXT".to_owned(),
        ColumnType::Timestamp => "TIMESTAMP".to_owned(),
    }
}

/// INSERT of one row, without the columns the database assigns.
pub(super) fn insert_row(table: &WorkloadTable) -> String {
    let columns: Vec<&str> =
        table.columns.iter().filter(|c| !c.auto).map(|c| c.name.as_str()).collect();
    let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
    let names = quoted_list(columns.into_iter());
    format!("INSERT INTO {} ({names}) VALUES ({})", quoted(&table.name), places.join(", "))
}

/// CREATE INDEX for each secondary index.
pub(super) fn create_indexes(table: &WorkloadTable) -> Vec<String> {
    let create = |index: &dbtime_load::workload::TableIndex| {
        let unique = if index.unique { "UNIQUE " } else { "" };
        let columns = quoted_list(index.columns.iter().map(String::as_str));
        let name = quoted(&index.name);
        let table = quoted(&table.name);
        format!("CREATE {unique}INDEX {name} ON {table} ({columns})")
    };
    table.indexes.iter().map(create).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbtime_load::workload::TableIndex;

    #[test]
    fn tables_are_written_for_sqlite() {
        let column = |name: &str, kind, primary_key, auto| WorkloadColumn {
            name: name.to_owned(),
            kind,
            primary_key,
            auto,
        };
        let index =
            TableIndex { name: "by_c".to_owned(), columns: vec!["c".to_owned()], unique: true };
        let mut table = WorkloadTable {
            name: "odd\"name".to_owned(),
            rows: 1,
            per_scale: true,
            columns: vec![
                column("id", ColumnType::BigInt, true, true),
                column("c", ColumnType::Char(84), false, false),
            ],
            indexes: vec![index],
        };
        assert_eq!(
            create_table(&table),
            r#"CREATE TABLE "odd""name" ("id" INTEGER PRIMARY KEY, "c" CHAR(84))"#
        );
        assert_eq!(insert_row(&table), r#"INSERT INTO "odd""name" ("c") VALUES (?1)"#);
        assert_eq!(create_indexes(&table), [r#"CREATE UNIQUE INDEX "by_c" ON "odd""name" ("c")"#]);
        table.columns[1].primary_key = true;
        assert!(create_table(&table).ends_with(r#"PRIMARY KEY ("id", "c"))"#));
    }
}
