//! What a database says of a table: its columns and its indexes.

use super::is_same_name;
use crate::query::session::QuerySession;
use dbtime_engines::socket::QueryTable;
use dbtime_model::SqlDialect;

/// A table as its database describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TableFacts {
    /// As the statement writes it.
    pub(crate) name: String,
    /// Rows, as the database estimates them; `None`: it does not.
    pub(crate) rows: Option<f64>,
    pub(crate) columns: Vec<ColumnFacts>,
    /// Those of whole columns, for all rows.
    pub(crate) indexes: Vec<IndexFacts>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ColumnFacts {
    pub(crate) name: String,
    pub(crate) is_nullable: bool,
    /// Different values, as the database estimates them; `None`: it does not.
    pub(crate) distinct: Option<f64>,
}

/// An index, or a key that is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexFacts {
    pub(crate) name: String,
    /// Names of its columns, in order.
    pub(crate) columns: Vec<String>,
    pub(crate) is_unique: bool,
    pub(crate) is_primary: bool,
}

impl TableFacts {
    /// How many different values a column has; 0: that is not known.
    pub(super) fn distinct(&self, column: &str) -> f64 {
        let facts = self.columns.iter().find(|facts| is_same_name(&facts.name, column));
        facts.and_then(|facts| facts.distinct).unwrap_or_default()
    }
}

/// Asks for the table that a statement names so.
///
/// # Errors
/// What the database says, and when there is no such table.
pub(crate) fn table_facts(
    session: &mut QuerySession<'_>,
    table: &str,
) -> Result<TableFacts, String> {
    let queries = FactQueries::of(session.product.dialect(), table)?;
    let mut answer = |sql: &str| session.table(sql).map_err(|failure| failure.message);
    let columns = columns_of(&answer(&queries.columns)?);
    if columns.is_empty() {
        return Err(format!("there is no table {table} whose columns can be read"));
    }
    let indexes = indexes_of(&answer(&queries.indexes)?);
    // Tables of SQLite without a rowid have no such estimate.
    let rows = answer(&queries.rows).ok();
    let rows: Option<f64> = rows.and_then(|rows| rows.value()?.parse().ok());
    // PostgreSQL's -1 is of a table that was never analysed.
    let rows = rows.filter(|rows| *rows >= 0.0);
    Ok(TableFacts { name: table.to_owned(), rows, columns, indexes })
}

/// What is asked. Columns have a name, `1` if they may be NULL, and their number of values; indexes
/// a row for each column: name, column, `1` if unique, `1` if primary.
struct FactQueries {
    columns: String,
    indexes: String,
    rows: String,
}

impl FactQueries {
    /// # Errors
    /// When the name has what could end a string.
    fn of(dialect: SqlDialect, table: &str) -> Result<Self, String> {
        if table.contains(['\'', '\\', '\0']) {
            return Err(format!("no facts are read of a table whose name has quotes: {table}"));
        }
        Ok(match dialect {
            SqlDialect::Mysql => Self::of_mysql(table),
            SqlDialect::Postgres => Self::of_postgres(table),
            SqlDialect::Sqlite => Self::of_sqlite(table),
        })
    }

    fn of_mysql(table: &str) -> Self {
        let bare = table.replace(['`', '"'], "");
        let (schema, name) = match bare.rsplit_once('.') {
            Some((schema, name)) => (format!("'{schema}'"), name),
            None => ("DATABASE()".to_owned(), bare.as_str()),
        };
        let place = format!("TABLE_SCHEMA = {schema} AND TABLE_NAME = '{name}'");
        Self {
            columns: format!(
                "SELECT COLUMN_NAME, IS_NULLABLE = 'YES', NULL FROM information_schema.COLUMNS \
                 WHERE {place} ORDER BY ORDINAL_POSITION"
            ),
            // A part of a column is none, and an expression has no name.
            indexes: format!(
                "SELECT INDEX_NAME, IF(SUB_PART IS NULL, COLUMN_NAME, NULL), NON_UNIQUE = 0, \
                 INDEX_NAME = 'PRIMARY' FROM information_schema.STATISTICS \
                 WHERE {place} AND INDEX_TYPE = 'BTREE' ORDER BY INDEX_NAME, SEQ_IN_INDEX"
            ),
            rows: format!("SELECT TABLE_ROWS FROM information_schema.TABLES WHERE {place}"),
        }
    }

    fn of_postgres(table: &str) -> Self {
        let place = match table.contains(['.', '"']) {
            // As a statement writes it.
            true => format!("to_regclass('{table}')"),
            // As the catalog has it, or as a statement may write that.
            false => format!(
                "(SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE \
                 c.relname IN ('{table}', lower('{table}')) AND c.relkind IN ('r', 'p') AND \
                 n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY \
                 pg_table_is_visible(c.oid) DESC, c.relname = '{table}' DESC, n.nspname LIMIT 1)"
            ),
        };
        Self {
            columns: format!(
                "SELECT a.attname, CASE WHEN a.attnotnull THEN 0 ELSE 1 END, \
                 CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END \
                 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
                 JOIN pg_namespace n ON n.oid = c.relnamespace \
                 LEFT JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname \
                 AND s.attname = a.attname \
                 WHERE a.attrelid = {place} AND a.attnum > 0 AND NOT a.attisdropped \
                 ORDER BY a.attnum"
            ),
            indexes: format!(
                "SELECT c.relname, a.attname, CASE WHEN i.indisunique THEN 1 ELSE 0 END, \
                 CASE WHEN i.indisprimary THEN 1 ELSE 0 END FROM pg_index i \
                 JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam \
                 JOIN pg_attribute a ON a.attrelid = i.indexrelid \
                 WHERE i.indrelid = {place} AND i.indpred IS NULL AND i.indexprs IS NULL \
                 AND i.indisvalid AND m.amname = 'btree' ORDER BY c.relname, a.attnum"
            ),
            rows: format!("SELECT reltuples FROM pg_class WHERE oid = {place}"),
        }
    }

    fn of_sqlite(table: &str) -> Self {
        let bare = table.replace(['`', '"', '[', ']'], "");
        let name = bare.rsplit('.').next().unwrap_or_default();
        Self {
            columns: format!(
                "SELECT name, CASE WHEN \"notnull\" THEN 0 ELSE 1 END, NULL \
                 FROM pragma_table_info('{name}')"
            ),
            // The key that a table is stored by is no index of the list.
            indexes: format!(
                "SELECT name, column, is_unique, is_primary FROM (SELECT l.name, i.name AS column, \
                 l.\"unique\" AS is_unique, l.origin = 'pk' AS is_primary, i.seqno AS place \
                 FROM pragma_index_list('{name}') l JOIN pragma_index_info(l.name) i \
                 WHERE NOT l.partial UNION ALL \
                 SELECT 'PRIMARY', name, 1, 1, pk FROM pragma_table_info('{name}') WHERE pk > 0 \
                 AND NOT EXISTS (SELECT 1 FROM pragma_index_list('{name}') WHERE origin = 'pk')) \
                 ORDER BY name, place"
            ),
            rows: format!("SELECT max(rowid) FROM \"{name}\""),
        }
    }
}

fn columns_of(table: &QueryTable) -> Vec<ColumnFacts> {
    let column = |row: &Vec<Option<String>>| match row.as_slice() {
        [Some(name), nullable, distinct] => Some(ColumnFacts {
            name: name.clone(),
            is_nullable: nullable.as_deref() == Some("1"),
            distinct: distinct.as_ref().and_then(|text| text.parse().ok()),
        }),
        _ => None,
    };
    table.rows.iter().filter_map(column).collect()
}

/// The indexes; one with something that is no whole column is left out.
fn indexes_of(table: &QueryTable) -> Vec<IndexFacts> {
    let mut indexes: Vec<(IndexFacts, bool)> = Vec::new();
    for row in &table.rows {
        let [Some(name), column, unique, primary] = row.as_slice() else { continue };
        if indexes.last().is_none_or(|(last, _)| last.name != *name) {
            let is_set = |value: &Option<String>| value.as_deref() == Some("1");
            let (is_unique, is_primary) = (is_set(unique), is_set(primary));
            let (name, columns) = (name.clone(), Vec::new());
            indexes.push((IndexFacts { name, columns, is_unique, is_primary }, true));
        }
        if let Some((index, is_whole)) = indexes.last_mut() {
            index.columns.extend(column.clone());
            *is_whole &= column.is_some();
        }
    }
    indexes.into_iter().filter_map(|(index, is_whole)| is_whole.then_some(index)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[Option<&str>]]) -> QueryTable {
        let cells = |row: &&[Option<&str>]| {
            row.iter().map(|cell| cell.map(str::to_owned)).collect::<Vec<_>>()
        };
        QueryTable { columns: Vec::new(), rows: rows.iter().map(cells).collect() }
    }

    #[test]
    fn indexes_have_their_columns_in_order_and_prefixes_are_none() {
        let read = indexes_of(&table(&[
            &[Some("PRIMARY"), Some("id"), Some("1"), Some("1")],
            &[Some("by_name"), None, Some("0"), Some("0")],
            &[Some("by_date"), Some("day"), Some("0"), Some("0")],
            &[Some("by_date"), Some("place"), Some("0"), Some("0")],
        ]));
        let names: Vec<(&str, usize)> =
            read.iter().map(|one| (one.name.as_str(), one.columns.len())).collect();
        assert_eq!(names, [("PRIMARY", 1), ("by_date", 2)]);
        assert!(read[0].is_primary && read[0].is_unique && !read[1].is_unique);
    }

    #[test]
    fn columns_say_whether_they_may_be_null() {
        let read = columns_of(&table(&[
            &[Some("id"), Some("0"), Some("100")],
            &[Some("note"), Some("1"), None],
        ]));
        assert_eq!((read[0].is_nullable, read[1].is_nullable), (false, true));
        let facts = TableFacts { columns: read, ..TableFacts::default() };
        assert_eq!((facts.distinct("\"ID\""), facts.distinct("note")), (100.0, 0.0));
    }

    #[test]
    fn names_of_the_catalog_are_looked_up_there() {
        let of = |table| FactQueries::of(SqlDialect::Postgres, table).expect("queries").rows;
        assert!(of("Order Lines").contains("c.relname IN ('Order Lines', lower('Order Lines'))"));
        assert!(of("s.\"Order Lines\"").contains("to_regclass('s.\"Order Lines\"')"));
    }

    #[test]
    fn a_name_cannot_end_the_string_that_it_is_in() {
        for dialect in [SqlDialect::Mysql, SqlDialect::Postgres, SqlDialect::Sqlite] {
            assert!(FactQueries::of(dialect, "t' OR '1'='1").is_err());
            assert!(FactQueries::of(dialect, "shop.t").is_ok());
        }
    }
}
