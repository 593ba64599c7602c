//! What a query uses the columns of its tables for, which indexes follow from.

use super::parts::{
    ColumnName, JoinedTable, SelectParts, SqlCondition, StatementTree, TableLink, TermKind,
    is_same_name,
};
use super::{text_bounds, tree};
use dbtime_model::SqlDialect;

/// The columns of one table of a query; each list has a name once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableColumns {
    /// The table, as it is written.
    pub table: String,
    /// How its columns name it: its alias, where it has one.
    pub name: String,
    /// Columns that are equal to a value.
    pub equal: Vec<String>,
    /// Columns that are equal to a column.
    pub joined: Vec<String>,
    /// Columns that a value bounds.
    pub ranges: Vec<String>,
    /// Columns that rows are ordered by, all in one direction; empty: also by something else.
    pub ordered: Vec<String>,
    /// All columns that are named; empty: there is a `*`.
    pub used: Vec<String>,
}

/// The tables of a query and what it uses their columns for. A column that does not say of which of
/// several tables it is counts for none. Empty of a text that is not understood, as for
/// [`rewrites`](super::rewrites).
pub fn table_columns(sql: &str, dialect: SqlDialect) -> Vec<TableColumns> {
    let sql = text_bounds::numbered(sql, dialect);
    match sql.and_then(|sql| tree::read(&sql, dialect)) {
        Some(StatementTree::Select(parts)) => {
            parts.tables.iter().filter_map(|table| columns_of(&parts, table)).collect()
        }
        _ => Vec::new(),
    }
}

fn columns_of(parts: &SelectParts, table: &JoinedTable) -> Option<TableColumns> {
    let is_own = |column: &ColumnName| match &column.qualifier {
        Some(qualifier) => is_same_name(qualifier, &table.name),
        None => parts.tables.len() == 1,
    };
    let mut columns = TableColumns {
        table: table.table.clone()?,
        name: table.name.clone(),
        ..TableColumns::default()
    };
    for condition in all_conditions(parts) {
        let (one, other) = condition.equation().unzip();
        let joined = [one, other].into_iter().flatten().filter(|column| is_own(column));
        joined.for_each(|column| add(&mut columns.joined, column));
        if let Some((column, "=", _)) = condition.column_and_value().filter(|one| is_own(one.0)) {
            add(&mut columns.equal, column);
        }
        if let Some((column, ..)) = condition.range().filter(|one| is_own(one.0)) {
            add(&mut columns.ranges, column);
        }
    }
    let ordered: Vec<_> = parts.order_by.iter().map(|one| (one.term.column(), &one.tail)).collect();
    let is_one_way = ordered.iter().all(|(column, tail)| {
        column.is_some_and(&is_own) && ordered.first().is_some_and(|first| first.1 == *tail)
    });
    if is_one_way {
        ordered.iter().filter_map(|(column, _)| *column).for_each(|c| add(&mut columns.ordered, c));
    }
    if parts.items.iter().all(|item| item.term.kind != TermKind::Star) {
        let used = parts.columns.iter().filter(|column| is_own(column));
        used.for_each(|column| add(&mut columns.used, column));
    }
    Some(columns)
}

/// The conditions of `WHERE` and of joins.
fn all_conditions(parts: &SelectParts) -> impl Iterator<Item = &SqlCondition> {
    let linked = parts.tables.iter().flat_map(|table| match &table.link {
        TableLink::Inner(conditions) => conditions.as_slice(),
        TableLink::Listed | TableLink::Other(_) => &[],
    });
    linked.chain(&parts.conditions)
}

fn add(names: &mut Vec<String>, column: &ColumnName) {
    if !names.iter().any(|name| is_same_name(name, &column.name)) {
        names.push(column.name.clone());
    }
}
