//! `[[table]]`: names, rows, columns, indexes, and the data of the columns.

use super::dictionary::WordDictionaries;
use super::key::{self, KeyContext, KeyScope};
use super::{distinct, order, sql_name};
use crate::keys::{KeyKind, KeySpec};
use crate::program::SqlValue;
use crate::workload::data::DataSpec;
use crate::workload::document::{DocumentNode, DocumentResult, DocumentSection};
use crate::workload::{ColumnType, TableIndex, WorkloadColumn, WorkloadTable};
use std::collections::BTreeMap;

/// More tables, columns or indexes than these are a mistake.
const TABLES_MAX: usize = 1000;
const COLUMNS_MAX: usize = 1000;

/// Reads the tables, all but the data of their columns.
pub(super) fn read(root: &DocumentSection<'_, '_>) -> DocumentResult<Vec<WorkloadTable>> {
    let sections = root.sections("table")?;
    if sections.len() > TABLES_MAX {
        return Err(sections[TABLES_MAX].unexpected("a table too many", "at most 1000 tables"));
    }
    let mut tables: Vec<WorkloadTable> = Vec::new();
    for section in sections {
        let table = table(section, &tables)?;
        tables.push(table);
    }
    Ok(tables)
}

fn table(
    mut section: DocumentSection<'_, '_>,
    earlier: &[WorkloadTable],
) -> DocumentResult<WorkloadTable> {
    let name_node = section.need("name", "the table's name in quotes")?;
    let name = sql_name(&name_node)?.to_owned();
    section.title = format!("table `{name}`");
    section.allow(&["name", "rows", "rows_per_scale", "columns", "indexes"])?;
    distinct(&name_node, "table", &name, earlier.iter().map(|t| t.name.as_str()))?;
    let (rows, per_scale) = match (section.get("rows"), section.get("rows_per_scale")) {
        (Some(rows), None) => (rows, false),
        (None, Some(rows)) => (rows, true),
        (None, None) => (section.need("rows", "how many rows it has; or `rows_per_scale`")?, false),
        (Some(_), Some(rows)) => {
            return Err(rows.refuse("`rows_per_scale` beside `rows`", "one of them"));
        }
    };
    let rows = rows.integer(0..=i64::MAX)?.cast_unsigned();
    let columns = columns(&section)?;
    let indexes = indexes(&section, &columns)?;
    Ok(WorkloadTable { name, rows, per_scale, columns, indexes })
}

fn columns(section: &DocumentSection<'_, '_>) -> DocumentResult<Vec<WorkloadColumn>> {
    let list = section.need("columns", "a list of columns")?;
    let nodes = list.list()?;
    if nodes.is_empty() || nodes.len() > COLUMNS_MAX {
        return Err(list.refuse(format!("{} columns", nodes.len()), "1 to 1000 columns"));
    }
    let mut columns: Vec<WorkloadColumn> = Vec::new();
    for node in nodes {
        let mut section = node.section("a column")?;
        let name_node = section.need("name", "the column's name in quotes")?;
        let name = sql_name(&name_node)?.to_owned();
        section.title = format!("column `{name}`");
        section.allow(&["name", "type", "primary_key", "auto", "data"])?;
        distinct(&name_node, "column", &name, columns.iter().map(|c| c.name.as_str()))?;
        let kind = column_type(&section.need("type", TYPES)?)?;
        let primary_key = section.flag("primary_key")?;
        let auto = section.flag("auto")?;
        let is_integer = matches!(kind, ColumnType::Integer | ColumnType::BigInt);
        if auto && !(primary_key && is_integer) {
            return Err(section.unexpected(
                format!("`auto` in {}", section.title),
                "it in an integer or bigint column that is the primary key",
            ));
        }
        columns.push(WorkloadColumn { name, kind, primary_key, auto });
    }
    let keys = columns.iter().filter(|c| c.primary_key).count();
    if keys > 1 && columns.iter().any(|c| c.auto) {
        return Err(list.refuse("an `auto` column in a primary key of several", "it alone"));
    }
    Ok(columns)
}

const TYPES: &str =
    "\"integer\", \"bigint\", \"double\", \"char(N)\", \"varchar(N)\", \"text\" or \"timestamp\"";

fn column_type(node: &DocumentNode<'_, '_>) -> DocumentResult<ColumnType> {
    let text = node.text()?;
    let (word, length) = match text.split_once('(') {
        None => (text, None),
        Some((word, rest)) => (word, rest.strip_suffix(')').and_then(|n| n.trim().parse().ok())),
    };
    // The longest VARCHAR that MySQL can hold in a row, in bytes.
    let length = length.filter(|length| (1..=65_535).contains(length));
    match (word.trim(), length) {
        ("integer", None) if word == text => Ok(ColumnType::Integer),
        ("bigint", None) if word == text => Ok(ColumnType::BigInt),
        ("double", None) if word == text => Ok(ColumnType::Double),
        ("text", None) if word == text => Ok(ColumnType::Text),
        ("timestamp", None) if word == text => Ok(ColumnType::Timestamp),
        ("char", Some(length)) => Ok(ColumnType::Char(length)),
        ("varchar", Some(length)) => Ok(ColumnType::Varchar(length)),
        _ => Err(node.unexpected(TYPES)),
    }
}

fn indexes(
    section: &DocumentSection<'_, '_>,
    columns: &[WorkloadColumn],
) -> DocumentResult<Vec<TableIndex>> {
    let mut indexes: Vec<TableIndex> = Vec::new();
    for mut section in section.sections("indexes")? {
        let name_node = section.need("name", "the index's name in quotes")?;
        let name = sql_name(&name_node)?.to_owned();
        section.title = format!("index `{name}`");
        section.allow(&["name", "columns", "unique"])?;
        distinct(&name_node, "index", &name, indexes.iter().map(|i| i.name.as_str()))?;
        let list = section.need("columns", "a list of column names")?;
        let mut indexed: Vec<String> = Vec::new();
        for node in list.list()? {
            let column = node.text()?;
            if !columns.iter().any(|c| c.name == column) {
                return Err(node.unknown(
                    "column",
                    column,
                    columns.iter().map(|c| c.name.as_str()),
                ));
            }
            distinct(&node, "column", column, indexed.iter().map(String::as_str))?;
            indexed.push(column.to_owned());
        }
        if indexed.is_empty() {
            return Err(list.unexpected("a list of at least one column name"));
        }
        indexes.push(TableIndex { name, columns: indexed, unique: section.flag("unique")? });
    }
    Ok(indexes)
}

/// Reads the data of every table's columns.
pub(super) fn read_data(
    root: &DocumentSection<'_, '_>,
    tables: &[WorkloadTable],
    dictionaries: &WordDictionaries,
) -> DocumentResult<Vec<DataSpec>> {
    let things = KeyContext::new(tables, dictionaries);
    let sections = root.sections("table")?;
    sections.iter().zip(tables).map(|(section, table)| data(section, table, &things)).collect()
}

fn data(
    section: &DocumentSection<'_, '_>,
    table: &WorkloadTable,
    things: &KeyContext<'_>,
) -> DocumentResult<DataSpec> {
    let nodes = section.need("columns", "a list of columns")?.list()?;
    // Pairs of a column that is inserted and its place in the file.
    let inserted: Vec<(&WorkloadColumn, DocumentNode<'_, '_>)> =
        table.columns.iter().zip(nodes).filter(|(column, _)| !column.auto).collect();
    let slots = inserted.iter().enumerate();
    let mut names: BTreeMap<&str, u16> =
        slots.map(|(slot, (column, _))| (column.name.as_str(), slot as u16)).collect();
    // A column of that name can still be filled, but not referred to.
    names.insert("row", inserted.len() as u16);
    let scope = KeyScope { things, names: &names };
    let specs = inserted.iter().map(|(column, node)| column_data(column, node, table, &scope));
    let columns: Vec<KeySpec> = specs.collect::<DocumentResult<_>>()?;
    let mut order = Vec::new();
    let row = inserted.len() as u16;
    let reads = |slot: u16| -> Vec<u16> {
        columns[slot as usize].slots().into_iter().filter(|slot| *slot != row).collect()
    };
    for (slot, (column, node)) in inserted.iter().enumerate() {
        key::integers_only(node, &columns[slot], |other| match inserted.get(other as usize) {
            Some((other_column, _)) => (&other_column.name, columns[other as usize].kind()),
            None => ("row", KeyKind::Integer),
        })?;
        order::after_reads(slot as u16, &reads, &mut order).map_err(|_| {
            node.refuse(
                format!("column `{}` that depends on itself", column.name),
                "columns that are computed from others",
            )
        })?;
    }
    Ok(DataSpec { columns, order })
}

fn column_data(
    column: &WorkloadColumn,
    node: &DocumentNode<'_, '_>,
    table: &WorkloadTable,
    scope: &KeyScope<'_>,
) -> DocumentResult<KeySpec> {
    let title = format!("column `{}`", column.name);
    match node.section(&title)?.get("data") {
        Some(data) => key::spec(&data, &format!("the data of {title}"), &[], scope),
        None if table.rows == 0 => Ok(KeySpec::Constant(SqlValue::Null)),
        None => Err(node.refuse(
            format!("{title} of `{}` without `data`", table.name),
            "a generator, such as `data = \"row\"`, for a table that is loaded with rows",
        )),
    }
}
